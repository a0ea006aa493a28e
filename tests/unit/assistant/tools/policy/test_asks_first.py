"""Tests that a built-in may ask the person first, whatever the settings allow."""

from collections.abc import Mapping
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Mode, PolicyContext, Tier
from assistant.speech.catalogue import Catalogue, fields
from assistant.tools.builtin.protocol import AskFirst, BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.policy.engine import judge_built_in, wants_words
from assistant.tools.policy.risk import SECURE_RULES
from assistant.tools.policy.rules import Caller, OwnerRule, PolicyDecision, Ruling, Rulings

FREE = Rulings(costly="allow", secure="allow")


def asks(arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
    return None if heard == "remember it" else AskFirst("remember", str(arguments["fact"]))


async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
    raise AssertionError("nothing is run here")


TOOL = BuiltIn("remember", "", {}, Tier.COMFORT, run, asks=asks)


def judged(
    heard: str | None, rulings: Rulings = FREE, mode: Mode = Mode.TRUSTING, text: str = "One"
) -> PolicyDecision:
    caller = Caller(("remember",), "hearth", rulings, PolicyContext(mode))
    return judge_built_in(TOOL, {"fact": text}, caller, heard)


def test_what_the_words_ask_for_runs() -> None:
    assert judged("remember it").decision is Decision.ALLOWED


@pytest.mark.parametrize("heard", [None, "", "something else"])
@pytest.mark.parametrize("mode", [Mode.TRUSTING, Mode.NORMAL, Mode.ASK])
def test_everything_else_is_asked_about(heard: str | None, mode: Mode) -> None:
    verdict = judged(heard, mode=mode)
    assert (verdict.decision, verdict.ruling) == (Decision.NEEDS_CONFIRMATION, Ruling.CONFIRM)
    assert Catalogue().say(verdict.ask, "en", **verdict.values) == "Should I remember this: One?"
    assert Catalogue().say(verdict.left, "en", **verdict.values) == "OK, I didn't save that."


def test_the_whole_of_it_is_in_the_question() -> None:
    """A person can consent only to what they have heard."""
    text = "word " * 55 + "end"
    verdict = judged("", text=text)
    assert text in Catalogue().say(verdict.ask, "en", **verdict.values)


@pytest.mark.parametrize(
    ("decide", "decision"),
    [("pin", Decision.NEEDS_CONFIRMATION), ("deny", Decision.DENIED)],
)
def test_what_the_owner_asks_for_stays(decide: str, decision: Decision) -> None:
    rule = OwnerRule(tool="remember", decide=Ruling(decide))
    rulings = Rulings(rules=(rule,), has_pin=True)
    verdict = judged("", rulings)
    assert (verdict.decision, verdict.ruling) == (decision, Ruling(decide))


@pytest.mark.parametrize(
    ("name", "waits"),
    [("remember", True), ("forget", True), ("correct_memory", True), ("recall", False)],
)
def test_their_words_are_waited_for(name: str, waits: bool) -> None:
    assert wants_words(name, {"fact": "One"}) is waits


OF_THINGS = {
    *(*SECURE_RULES, "several", "script", "scene", "button", "automation", "unknown_thing"),
    *("runs-on", "oven", "water", "heat", "comfort", "rated"),
}
OF_CALLS = {
    *("unknown_tool", "sentence", "later", "note", "read", "built-in", "allow", "set_mode"),
    "unseen_thing",
}
KNOWN = {"names", "others", "degrees"}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("rule", sorted(OF_THINGS | OF_CALLS))
def test_every_rule_has_its_sentences(rule: str, language: str) -> None:
    catalogue = Catalogue()
    asked = catalogue.text(f"confirm.ask_{rule}", language)
    assert asked.endswith("?")
    assert fields(asked) <= KNOWN - {"others"}
    assert fields(catalogue.text(f"confirm.left_{rule}", language)) <= {"names"}
    assert fields(catalogue.text(f"policy.{rule}", language)) <= {"names"}
    if rule in OF_THINGS | {"unknown_tool"}:
        more = catalogue.text(f"confirm.ask_{rule}_more", language)
        assert {"names", "others"} <= fields(more) <= KNOWN
