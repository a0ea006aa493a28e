"""Tests of a turn whose profile leaves tools out, on the embedded house."""

from collections.abc import AsyncIterator

import pytest

from assistant.domain.tool_call import CallContext, Decision, SentenceMatch, Status, ToolCall
from tests.unit.assistant.tools.embedded import House, living

LAMP = {"name": "Hall light"}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with living("Hall") as house:
        yield house


async def test_what_is_left_out_is_refused_and_nothing_is_sent(house: House) -> None:
    house.box.narrow("turn", ["HassTurnOff"])
    outcome = await house.do("HassTurnOn", LAMP)
    assert (outcome.decision, outcome.status, outcome.rule) == (
        Decision.DENIED,
        Status.NOT_RUN,
        "profile",
    )
    assert outcome.sentence == "I can't do that in this profile."
    assert house.demo.calls == []
    assert (await house.do("HassTurnOff", LAMP)).status is Status.DONE


async def test_another_turn_has_all_of_them(house: House) -> None:
    house.box.narrow("another", ["HassTurnOff"])
    assert (await house.do("HassTurnOn", LAMP)).status is Status.DONE


async def test_the_policy_decides_about_what_is_left(house: House) -> None:
    house.box.narrow("turn", ["HassTurnOff"])
    outcome = await house.do(
        "HassTurnOff",
        {"name": "Front door"},
        heard="unlock it",
        situation=CallContext(can_ask=True),
    )
    assert outcome.decision is Decision.NEEDS_CONFIRMATION


@pytest.mark.parametrize(("allowed", "left_out"), [("HassTurnOff", True), ("HassTurnOn", False)])
async def test_a_sentence_for_the_homes_engine_goes_by_its_intent(
    house: House, allowed: str, left_out: bool
) -> None:
    house.box.narrow("turn", [allowed])
    match = SentenceMatch("turn on the hall light", "en", "builtin", "HassTurnOn")
    outcome = await house.box.call(ToolCall("s", "", {}, match), "turn", match.text)
    assert (outcome.rule == "profile") is left_out
