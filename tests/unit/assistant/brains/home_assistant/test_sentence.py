"""A sentence as a call: mostly it is said, several things for a list are written one by one."""

import pytest

from assistant.brains.home_assistant import answer, call_for
from assistant.domain.brain import ReplyText
from assistant.domain.call import SentenceMatch, ToolCall
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.house.intents import PROCESS

LIST = "HassListAddItem"


def adding(item: str, text: str) -> SentenceMatch:
    slots = {"item": item, "name": "Chores"}
    return SentenceMatch(text, "en", "builtin", LIST, slots, ("todo.chores",))


def test_several_things_for_a_list_go_to_the_homes_tool() -> None:
    match = adding("milk eggs and bread", "Add milk, eggs and bread to chores.")
    arguments = {"item": "milk, eggs and bread", "name": "Chores"}
    assert call_for(match, "t") == ToolCall("t-sentence", LIST, arguments)


@pytest.mark.parametrize(
    "match",
    [
        adding("milk", "add milk to chores"),
        adding("salt and pepper", "add salt and pepper to chores"),
        SentenceMatch("one, two and three", "en", "trigger"),
        SentenceMatch("a, b", "en", "custom", "TellAll", {"item": "a b"}),
    ],
)
def test_everything_else_is_said(match: SentenceMatch) -> None:
    assert call_for(match, "t") == ToolCall("t-sentence", PROCESS, {"text": match.text}, match)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        (PROCESS, Status.DONE, "Added milk"),
        (PROCESS, Status.NOT_OBSERVED, "Ours."),
        ("todo__HassListAddItem", Status.DONE, "Ours."),
    ],
)
def test_only_the_engine_speaks_for_the_home(name: str, status: Status, words: str) -> None:
    outcome = ToolOutcome(
        id="t-sentence",
        server="home_assistant",
        name=name,
        arguments={},
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=status,
        observed=(),
        ms=1.0,
        sentence="Ours.",
        data="Added milk",
    )
    told = answer(outcome, "en")
    assert told == ReplyText(words, language="en" if words == "Ours." else None)
