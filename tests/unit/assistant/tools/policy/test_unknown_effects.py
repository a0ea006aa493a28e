"""Tests of partly unknown scripts, automations and scenes: what is asked and waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import (
    CALLERS,
    CallContext,
    Decision,
    Mode,
    PolicyContext,
    Program,
    SentenceMatch,
    Settlement,
    Status,
    Tier,
    ToolCall,
)
from assistant.tools.catalog.approvals import Consents
from assistant.tools.execution.guards import CallGuards
from assistant.tools.house.intents import TRIGGER
from assistant.tools.policy.engine import judge, judge_sentence
from assistant.tools.policy.judge import Judge, Misfit
from assistant.tools.policy.ratings import unknown_effects
from assistant.tools.policy.rules import STRICT, OwnerRule, PolicyDecision, Ruling, Rulings
from assistant.tools.policy.targeting import named_in
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from tests.fakes.home import StillHome
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.tools.embedded import House as EmbeddedHouse
from tests.unit.assistant.tools.embedded import living
from tests.unit.assistant.tools.policy.test_policy import ON, entry

SCRIPT, SCENE, AUTOMATION = "script.cosy", "scene.away", "automation.party"
LAMP = frozenset({"light.lamp"})
THINGS = {
    one.entity_id: one
    for one in (
        Entity("light.lamp", "Lamp", "off", labels=("mood",)),
        Entity("lock.front", "Front door", "locked"),
        Entity("cover.garage", "Garage", "closed", device_class="garage"),
        Entity(SCRIPT, "Cosy time", "off"),
        Entity("script.inner", "Inner", "off"),
        Entity(SCENE, "Away", "unknown"),
        Entity(AUTOMATION, "Party", "on"),
    )
}
KNOWN = House(
    entities=THINGS,
    touches={SCRIPT: LAMP, SCENE: LAMP},
    ways={SCRIPT: {"light.lamp": "on"}},
)
PARTLY = House(entities=THINGS, partly={SCRIPT: LAMP, SCENE: LAMP})
UNREAD = replace(KNOWN, unread=frozenset({SCRIPT, SCENE, AUTOMATION}))
UNTOLD = House(entities=THINGS, untold=frozenset({SCRIPT, SCENE}))
AGENT, OTHER = Program("mcp:agent", CALLERS), Program("mcp:other", CALLERS)
ALLOWED, ASKED, DENIED = Decision.ALLOWED, Decision.NEEDS_CONFIRMATION, Decision.DENIED


def allow(**fields: Any) -> Rulings:
    return Rulings(rules=(OwnerRule(Ruling.ALLOW, **fields),))


FREE_ALL = Rulings(costly="allow", secure="allow")
FREE, PLAIN = Rulings(costly="allow"), PolicyContext()
RATED = PolicyContext(ratings=dict.fromkeys((SCRIPT, SCENE), Tier.COMFORT))
RATED_COSTLY = PolicyContext(ratings=dict.fromkeys((SCRIPT, SCENE), Tier.COSTLY))
TRUSTING_COSTLY = replace(RATED_COSTLY, mode=Mode.TRUSTING)
TAINTED = PolicyContext(tainted=True)
# The house, the settings, the moment, and the result of starting the script by its name.
ROWS: list[tuple[str, House, Rulings, PolicyContext, Decision]] = [
    ("known", KNOWN, STRICT, PLAIN, ALLOWED),
    ("known to a program", KNOWN, STRICT, PLAIN.asked_by(AGENT), ALLOWED),
    ("known to a guest", KNOWN, STRICT, PolicyContext(mode=Mode.GUEST), ALLOWED),
    ("known in a tainted turn", KNOWN, STRICT, TAINTED, ALLOWED),
    ("in part", PARTLY, STRICT, PLAIN, ASKED),
    ("in part, costly is free", PARTLY, FREE, PLAIN, ASKED),
    ("in part, trusting", PARTLY, STRICT, PolicyContext(mode=Mode.TRUSTING), ASKED),
    ("in part, costly is free, trusting", PARTLY, FREE, PolicyContext(mode=Mode.TRUSTING), ASKED),
    ("in part, costly is free, rated", PARTLY, FREE, RATED, ALLOWED),
    ("in part, costly is free, rated costly", PARTLY, FREE, RATED_COSTLY, ALLOWED),
    ("in part, trusting, rated costly", PARTLY, STRICT, TRUSTING_COSTLY, ALLOWED),
    ("in part, rated costly", PARTLY, STRICT, RATED_COSTLY, ASKED),
    ("in part, rated costly, tainted", PARTLY, FREE, replace(RATED_COSTLY, tainted=True), ASKED),
    ("in part, rated costly, a program", PARTLY, FREE, RATED_COSTLY.asked_by(AGENT), ASKED),
    ("in part, its domain", PARTLY, allow(domain="s*"), PLAIN, ALLOWED),
    ("in part, all is free", PARTLY, FREE_ALL, PLAIN, ALLOWED),
    ("in part, all is free, tainted", PARTLY, FREE_ALL, TAINTED, ASKED),
    ("in part, all is free, a program", PARTLY, FREE_ALL, PLAIN.asked_by(AGENT), ASKED),
    ("of nothing told, costly is free", House(entities=THINGS), FREE, PLAIN, ASKED),
    ("in part, rated", PARTLY, STRICT, RATED, ALLOWED),
    ("in part, rated, a program", PARTLY, STRICT, RATED.asked_by(AGENT), ALLOWED),
    ("in part, rated, tainted", PARTLY, STRICT, replace(RATED, tainted=True), ALLOWED),
    ("in part, a guest", PARTLY, FREE, PolicyContext(mode=Mode.GUEST), DENIED),
    (
        "in part, a guest, a rule",
        PARTLY,
        allow(entity=SCRIPT),
        PolicyContext(mode=Mode.GUEST),
        DENIED,
    ),
    ("in part, tainted", PARTLY, FREE, TAINTED, ASKED),
    (
        "in part, tainted, trusting",
        PARTLY,
        STRICT,
        PolicyContext(Mode.TRUSTING, tainted=True),
        ASKED,
    ),
    ("in part, tainted, its domain", PARTLY, allow(domain="script"), TAINTED, ASKED),
    ("in part, tainted, named", PARTLY, allow(entity=SCRIPT), TAINTED, ALLOWED),
    ("in part, a program", PARTLY, FREE, PLAIN.asked_by(AGENT), ASKED),
    ("in part, a rule for it", PARTLY, allow(satellite="mcp:agent"), PLAIN.asked_by(AGENT), ASKED),
    (
        "in part, a rule for scripts by it",
        PARTLY,
        allow(satellite="mcp:agent", entity="script.*"),
        PLAIN.asked_by(AGENT),
        ASKED,
    ),
    (
        "in part, a rule for this by it",
        PARTLY,
        allow(satellite="mcp:agent", entity=SCRIPT),
        PLAIN.asked_by(AGENT),
        ALLOWED,
    ),
    (
        "in part, a rule for this by another",
        PARTLY,
        allow(satellite="mcp:agent", entity=SCRIPT),
        PLAIN.asked_by(OTHER),
        ASKED,
    ),
    ("unread", UNREAD, STRICT, PLAIN, ASKED),
    ("unread, costly is free", UNREAD, FREE, PLAIN, ASKED),
    ("unread, trusting", UNREAD, STRICT, PolicyContext(mode=Mode.TRUSTING), ASKED),
    ("unread, rated", UNREAD, STRICT, RATED, ASKED),
    ("unread, named", UNREAD, allow(entity=SCRIPT), PLAIN, ASKED),
    ("unread, denied", UNREAD, Rulings(costly="deny"), PLAIN, DENIED),
    ("unread, the PIN", UNREAD, Rulings(costly="pin"), PLAIN, ASKED),
    ("unread, a guest", UNREAD, FREE, PolicyContext(mode=Mode.GUEST), DENIED),
    ("unread, a program", UNREAD, FREE, PLAIN.asked_by(AGENT), ASKED),
    ("untold, costly is free", UNTOLD, FREE, PLAIN, ASKED),
    ("untold, rated", UNTOLD, STRICT, RATED, ALLOWED),
]
NAMED = [("Cosy time", *row[1:]) for row in ROWS]


NAMED += [("Away", *row[1:]) for row in ROWS if not any(one.entity for one in row[2].rules)]


@pytest.mark.parametrize(("name", "house", "rulings", "moment", "decision"), NAMED)
def test_what_becomes_of_it(
    name: str, house: House, rulings: Rulings, moment: PolicyContext, decision: Decision
) -> None:
    verdict = judge(entry(ON), {"name": name}, house, "do", "", rulings=rulings, moment=moment)
    assert verdict.decision is decision
    assert verdict.tier in (Tier.COMFORT, Tier.COSTLY)


def test_a_rule_may_name_the_scripts_tool() -> None:
    tool, by_tool = entry("script__cosy"), allow(tool="script__cosy")
    for moment, decision in ((PLAIN, ALLOWED), (TAINTED, ALLOWED)):
        assert judge(tool, {}, PARTLY, "x", "", rulings=by_tool, moment=moment).decision is decision
    assert judge(tool, {}, UNREAD, "x", "", rulings=by_tool).decision is ASKED


def test_a_stricter_rule_stays_for_what_is_unread() -> None:
    rules = Rulings(rules=(OwnerRule(Ruling.PIN, entity=SCRIPT),), has_pin=True)
    verdict = judge(entry(ON), {"name": "Cosy time"}, UNREAD, "x", "", rulings=rules)
    assert (verdict.ruling, verdict.rule) == (Ruling.PIN, "policy.rules[0]")


@pytest.mark.parametrize(
    ("touched", "way", "rule"),
    [
        ("lock.front", "on", "comfort"),
        ("lock.front", "off", "unlock"),
        ("lock.front", "either", "unlock"),
        ("cover.garage", "off", "comfort"),
        ("cover.garage", "on", "open"),
    ],
)
def test_a_script_that_was_read_goes_the_way_that_it_says(
    touched: str, way: Any, rule: str
) -> None:
    read = House(
        entities=THINGS, touches={SCRIPT: frozenset({touched})}, ways={SCRIPT: {touched: way}}
    )
    assert judge(entry(ON), {"name": "Cosy time"}, read, "x", "").rule == rule
    unsure = replace(read, touches={}, ways={}, partly={SCRIPT: frozenset({touched})})
    assert judge(entry(ON), {"name": "Cosy time"}, unsure, "x", "").tier is Tier.SECURE


def test_what_was_seen_of_it_counts_either_way() -> None:
    """A lock moved when the script ran, though the script's configuration names none."""
    seen = replace(KNOWN, touches={SCRIPT: LAMP | {"lock.front"}})
    assert judge(entry(ON), {"name": "Cosy time"}, seen, "x", "").rule == "unlock"


def test_a_script_that_does_nothing_is_harmless() -> None:
    quiet = House(entities=THINGS, touches={SCRIPT: frozenset()}, ways={SCRIPT: {}})
    assert judge(entry(ON), {"name": "Cosy time"}, quiet, "x", "").decision is ALLOWED


def test_a_script_that_calls_one_known_in_part_is_asked_about() -> None:
    outer = House(
        entities=THINGS,
        touches={SCRIPT: frozenset({"script.inner"})},
        ways={SCRIPT: {"script.inner": "on"}},
        partly={"script.inner": LAMP},
    )
    verdict = judge(entry(ON), {"name": "Cosy time"}, outer, "x", "")
    assert (verdict.decision, verdict.rule) == (ASKED, "script")


def test_what_can_be_rated_is_known_in_part_or_refused() -> None:
    def ids(house: House) -> set[str]:
        return {one.entity_id for one in unknown_effects(house)}

    assert ids(KNOWN) == {"script.inner", AUTOMATION}
    assert ids(PARTLY) == {SCRIPT, SCENE, "script.inner", AUTOMATION}
    assert ids(UNTOLD) == {SCRIPT, SCENE, "script.inner", AUTOMATION}
    assert ids(UNREAD) == {"script.inner"}  # the others may still be reported


def test_a_field_may_name_a_label() -> None:
    assert named_in({"target": {"label_id": ["mood"]}}, KNOWN) == ["light.lamp"]


class Telling(StillHome):
    """A house that becomes known bit by bit: each wait brings the next picture."""

    def __init__(self, *houses: House, connected: bool = True) -> None:
        super().__init__(houses[0], connected=connected)
        self._houses = list(houses)
        self.waits: list[frozenset[str]] = []

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        self.waits.append(frozenset(entity_ids))
        if not self.connected:
            return False
        if len(self._houses) == 1:
            await asyncio.sleep(timeout_s)
            return False
        del self._houses[0]
        self.house = self._houses[0]
        return predicate(self.house)


async def decided(home: Telling, name: str = "Cosy time") -> PolicyDecision:
    judge_ = Judge(home, rulings=FREE)
    verdict = await judge_.read_up(lambda: judge_.call(entry(ON), {"name": name}, "do it"))
    assert isinstance(verdict, PolicyDecision)
    return verdict


UNLOCKS = House(entities=THINGS, partly={SCRIPT: frozenset({"lock.front"})})


class TestWaiting:
    async def test_for_the_answer(self) -> None:
        home = Telling(UNREAD, UNLOCKS)
        verdict = await decided(home)
        assert (verdict.decision, verdict.rule) == (ASKED, "unlock")
        assert home.waits == [frozenset({SCRIPT})]

    async def test_what_is_harmless_runs_after_it(self) -> None:
        assert (await decided(Telling(UNREAD, KNOWN))).decision is ALLOWED

    async def test_scripts_that_call_scripts_are_waited_for_in_turn(self) -> None:
        outer = House(
            entities=THINGS,
            touches={SCRIPT: frozenset({"script.inner"})},
            ways={SCRIPT: {"script.inner": "on"}},
            unread=frozenset({"script.inner"}),
        )
        inner = replace(
            outer, unread=frozenset(), partly={"script.inner": frozenset({"lock.front"})}
        )
        home = Telling(UNREAD, outer, inner)
        assert (await decided(home)).rule == "unlock"
        assert home.waits == [{SCRIPT}, {"script.inner"}]

    async def test_nothing_else_waits(self) -> None:
        home = Telling(UNREAD)
        assert (await decided(home, "Lamp")).decision is ALLOWED
        assert home.waits == []

    async def test_no_longer_than_its_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("assistant.tools.policy.judge.READ_S", 0.01)
        verdict = await decided(Telling(UNREAD))
        assert (verdict.decision, verdict.rule) == (ASKED, "unread")

    async def test_nor_for_ever_when_the_picture_never_settles(self) -> None:
        again = [replace(UNREAD, unread=frozenset({SCRIPT})) for _ in range(50)]
        home = Telling(*again)
        home.wait_for = lambda *_: asyncio.sleep(0, True)  # type: ignore[method-assign]
        assert (await decided(home)).rule == "unread"

    async def test_not_where_the_house_is_away(self) -> None:
        home = Telling(KNOWN, connected=False)
        assert (await decided(home)).rule == "unread"

    async def test_what_does_not_fit_is_told_at_once(self) -> None:
        home = Telling(UNREAD)
        misfit = Misfit({}, "no")
        assert await Judge(home).read_up(lambda: misfit) is misfit
        assert home.waits == []


PARTY = SentenceMatch("activate party mode", "en", "trigger")
WAITS = {AUTOMATION: ("activate party mode [in {room}]",)}
LIT = House(
    entities=THINGS,
    touches={AUTOMATION: LAMP},
    ways={AUTOMATION: {"light.lamp": "on"}},
    sentences=WAITS,
)


@pytest.mark.parametrize(
    ("house", "live", "rule", "decision"),
    [
        (LIT, True, "comfort", ALLOWED),
        (LIT, False, "sentence", ASKED),
        (replace(LIT, unread=frozenset({AUTOMATION})), True, "sentence", ASKED),
        (replace(LIT, sentences={AUTOMATION: ("something else",)}), True, "sentence", ASKED),
        (replace(LIT, sentences={}), True, "sentence", ASKED),
        (
            replace(LIT, entities={**THINGS, "automation.x": Entity("automation.x", "X", "on")}),
            True,
            "sentence",
            ASKED,
        ),
        (
            replace(
                LIT,
                touches={AUTOMATION: frozenset({"lock.front"})},
                ways={AUTOMATION: {"lock.front": "off"}},
            ),
            True,
            "unlock",
            ASKED,
        ),
        (
            replace(
                LIT,
                touches={AUTOMATION: frozenset({"lock.front"})},
                ways={AUTOMATION: {"lock.front": "on"}},
            ),
            True,
            "comfort",
            ALLOWED,
        ),
        # It was read, and fires an event, whose effects are unknown.
        (replace(LIT, touches={}, ways={}, partly={AUTOMATION: LAMP}), True, "automation", ASKED),
    ],
)
def test_a_sentence_that_automations_wait_for(
    house: House, live: bool, rule: str, decision: Decision
) -> None:
    verdict = judge_sentence(PARTY, house, "x", "", live=live, rulings=FREE)
    assert (verdict.rule, verdict.decision) == (rule, decision)


def test_all_automations_that_may_answer_count() -> None:
    more = {"automation.door": Entity("automation.door", "Hello", "on")}
    both = replace(
        LIT,
        entities={**THINGS, **more},
        touches={AUTOMATION: LAMP, "automation.door": frozenset({"lock.front"})},
        ways={**LIT.ways, "automation.door": {"lock.front": "off"}},
        sentences={**WAITS, "automation.door": ("activate {anything}",)},
    )
    assert judge_sentence(PARTY, both, "x", "", rulings=FREE).rule == "unlock"


def test_the_automations_that_are_not_read_yet_are_waited_for() -> None:
    verdict = judge_sentence(PARTY, UNREAD, "x", "", rulings=FREE)
    assert verdict.unread == (AUTOMATION,)
    assert judge_sentence(PARTY, UNREAD, "x", "", live=False).unread == ()


def test_a_rule_may_free_sentences_by_their_tool() -> None:
    sentence = replace(PARTY, intent="PartyMode", source="custom")
    for rulings, decision in (
        (FREE, ASKED),
        (allow(tool="PartyMode"), ALLOWED),
        (allow(tool="*"), ASKED),
    ):
        verdict = judge_sentence(sentence, KNOWN, "x", "", rulings=rulings)
        assert verdict.decision is decision


@pytest.mark.parametrize(
    ("moment", "decision"),
    [(PLAIN, ALLOWED), (TAINTED, ASKED), (PLAIN.asked_by(AGENT), ASKED)],
)
@pytest.mark.parametrize("tool", [TRIGGER, "Conversation.Process"])
def test_a_rule_for_all_sentences_frees_them_for_people(
    tool: str, moment: PolicyContext, decision: Decision
) -> None:
    rules = allow(tool=tool, satellite="*" if moment.program else "")
    verdict = judge_sentence(PARTY, KNOWN, "x", "", rulings=rules, moment=moment)
    assert verdict.decision is decision


ASK = CallContext(can_ask=True)
FILM = ("script__movie_night", {"brightness": 30})


@asynccontextmanager
async def no_administrator(**more: Any) -> AsyncIterator[EmbeddedHouse]:
    """Yield the embedded house with a token that may not read the configuration."""
    async with (
        DemoHome(settle_s=0.02) as demo,
        McpHub([home_assistant_server(demo.url, demo.person_token)]) as hub,
        HomeAssistant(demo.url, demo.person_token) as home,
    ):
        yield EmbeddedHouse(demo, home, hub, "Hall", **more)


async def test_text_from_outside_asks_before_what_nobody_knows() -> None:
    """In a turn that has searched the web; an earlier "always" does not cover it either."""
    clock = VirtualClock()
    watched = CallGuards(consents=Consents(FakeValues(), clock))
    outside = replace(ASK, searched=True)
    freed = allow(domain="script")
    async with no_administrator(clock=clock, governance=watched, rulings=freed) as house:
        assert (await house.do(*FILM, situation=ASK)).status is Status.DONE
        outcome = await house.do(FILM[0], {"brightness": 31}, situation=outside)
        assert (outcome.decision, outcome.rule) == (ASKED, "script")
        question = house.box.question("turn", outcome.id)
        assert question is not None
        done = await house.box.settle(question, Settlement("yes", "typed", always=True))
        assert done is not None
        assert done.status is Status.DONE
        call = ToolCall("x", FILM[0], {"brightness": 31})
        again = await house.box.call(call, "another", "film", situation=outside)
        assert again.decision is ASKED


async def test_an_administrators_token_knows_the_same_script() -> None:
    async with living("Hall") as house:
        outcome = await house.do(*FILM, situation=replace(ASK, searched=True))
        assert (outcome.decision, outcome.tier) == (ALLOWED, Tier.COMFORT)
        name, arguments = "HassTurnOn", {"name": "Welcome home"}
        assert (await house.do(name, arguments, situation=ASK)).tier is Tier.SECURE


async def test_what_would_be_decided_waits_too() -> None:
    """This is `hearth tools --explain` just after the start."""
    async with no_administrator() as house:
        found = await house.box.explain(*FILM)
        assert found is not None
        assert found[1].rule == "script"
        assert found[1].unread == ()
