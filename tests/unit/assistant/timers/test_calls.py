"""Calls for later, on the embedded house: judged when they are asked for, and when they are due."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from assistant.domain.call_context import CallContext
from assistant.domain.clock import VirtualClock
from assistant.domain.outcome import Decision, Status, Tier
from assistant.domain.policy_context import Mode, PolicyContext
from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.later import FrozenCalls, NotLater
from assistant.tools.builtin.date_and_weather import date_and_time
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings
from tests.unit.assistant.tools.embedded import House, living

ON, OFF = "HassTurnOn", "HassTurnOff"
LAMP, DOOR = {"name": "Hall light"}, {"name": "Front door"}
NOW = VirtualClock().now()


class Mind:
    """What holds at the moment."""

    mode = Mode.NORMAL


@pytest.fixture
def mind() -> Mind:
    return Mind()


@pytest.fixture
async def house(mind: Mind) -> AsyncIterator[House]:
    async with living("Hall", moment=lambda: PolicyContext(mode=mind.mode)) as house:
        await house.box.menu()
        yield house


def calls_of(house: House) -> FrozenCalls:
    return FrozenCalls(house.box, lambda: house.home.connected, lambda: "due", Catalogue())


async def frozen(house: House, tool: str, arguments: dict[str, Any]) -> TimerRecord:
    payload = await calls_of(house).freeze(tool, arguments, None, "en")
    due = NOW + timedelta(seconds=600)
    return TimerRecord("c", due, 600, NOW, kind="command", text="do it", payload=payload)


async def test_what_is_free_is_frozen_and_made_once(house: House) -> None:
    assert house.state("light.hall") == "off"
    timer = await frozen(house, ON, LAMP)
    assert (house.state("light.hall"), house.journal.started) == ("off", [])
    assert calls_of(house).ready(timer)
    assert await calls_of(house).make(timer) == ""
    assert house.state("light.hall") == "on"
    (outcome,) = house.journal.finished
    assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.DONE)
    (row,) = house.journal.started
    assert row.turn_id == "due"


async def test_what_the_profile_of_the_turn_leaves_out_is_not_done_later(house: House) -> None:
    house.box.narrow("kids", (OFF, "do_later"))
    calls = calls_of(house)
    assert (await calls.freeze(OFF, LAMP, None, "en", "kids"))["arguments"] == LAMP
    for turn_id in ("kids", "kids-call-1"):
        with pytest.raises(NotLater, match="I cannot do that here"):
            await calls.freeze(ON, LAMP, None, "en", turn_id)
    assert await calls.freeze(ON, LAMP, None, "en", "another")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (OFF, DOOR, "Whatever opens, unlocks or disarms"),
        ("HassVacuumStart", {"name": "Robbie"}, "For that I need your yes"),
        ("get_date", {}, "That is nothing that I can do later"),
        ("no_such_tool", {}, "I cannot do that here"),
        (ON, {"name": "Marmalade"}, "There is"),
    ],
)
async def test_what_is_not_let_through_is_not_kept(
    house: House, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    house.box.offer(replace(date_and_time(VirtualClock(), Catalogue()), name="get_date"))
    with pytest.raises(NotLater) as why:
        await frozen(house, tool, arguments)
    if tool != ON:
        assert str(why.value).startswith(sentence)
    assert house.journal.finished == []


async def test_what_is_secure_is_not_though_the_settings_ask_for_nothing() -> None:
    free = Rulings(secure="allow", costly="allow", rules=(OwnerRule(Ruling.ALLOW),))
    async with living("Hall", rulings=free) as house:
        await house.box.menu()
        with pytest.raises(NotLater, match="opens, unlocks or disarms"):
            await frozen(house, OFF, DOOR)
        vacuum = await frozen(house, "HassVacuumStart", {"name": "Robbie"})
        assert await calls_of(house).make(vacuum) == ""
        # And one that had slipped in is not made either.
        door = replace(vacuum, payload={"tool": OFF, "arguments": DOOR, "heard": None})
        assert house.state("lock.front_door") == "locked"
        assert await calls_of(house).make(door) == "I was to do this now, and may not: do it."
        assert house.state("lock.front_door") == "locked"


async def test_what_is_no_longer_allowed_is_not_done_and_told(house: House, mind: Mind) -> None:
    timer = await frozen(house, ON, LAMP)
    mind.mode = Mode.ASK  # whoever lives here wants to be asked about everything
    told = await calls_of(house).make(timer)
    assert told == "I was to do this now, and may not: do it."
    assert house.state("light.hall") == "off"
    assert house.journal.finished[-1].tier is Tier.COMFORT


async def test_a_thing_that_has_gone_is_told(house: House) -> None:
    timer = await frozen(house, ON, LAMP)
    gone = replace(timer, payload={**(timer.payload or {}), "arguments": {"name": "Marmalade"}})
    assert await calls_of(house).make(gone) == "I was to do this now, and may not: do it."


async def test_only_what_needs_the_house_waits_for_it(house: House) -> None:
    timer = await frozen(house, ON, LAMP)
    away = FrozenCalls(house.box, lambda: False, lambda: "due", Catalogue())
    assert not away.ready(timer)
    unknown = replace(timer, payload={"tool": "gone", "arguments": {}, "heard": None})
    assert not away.ready(unknown)
    assert calls_of(house).ready(unknown)


async def test_while_somebody_is_asked_about_a_door_it_waits(house: House) -> None:
    timer = await frozen(house, ON, LAMP)
    asks = CallContext(can_ask=True, spoken=True)
    asked = await house.do(OFF, DOOR, situation=asks)
    question = house.box.question("turn", asked.id)
    assert question is not None
    assert not calls_of(house).ready(timer)
    await house.box.settle(question, None)
    assert calls_of(house).ready(timer)


@pytest.mark.parametrize(
    ("tainted", "searched", "later"),
    [(False, False, False), (True, False, True), (False, True, True)],
)
async def test_what_text_from_outside_may_have_wanted_is_known_when_it_is_due(
    house: House, tainted: bool, searched: bool, later: bool
) -> None:
    if tainted:
        house.box.taint("turn")
    payload = await calls_of(house).freeze(ON, LAMP, None, "en", "turn", searched=searched)
    timer = TimerRecord("c", NOW, 600, NOW, kind="command", text="do it", payload=payload)
    assert await calls_of(house).make(timer) == ""
    assert house.box.is_tainted("due") is later


async def test_a_command_of_an_earlier_version_is_done(house: House) -> None:
    timer = await frozen(house, ON, LAMP)
    payload = {key: value for key, value in (timer.payload or {}).items() if key != "tainted"}
    assert await calls_of(house).make(replace(timer, payload=payload)) == ""
    assert house.state("light.hall") == "on"
