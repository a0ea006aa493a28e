"""Tests of scheduled calls on the embedded house: judged when requested, and when due."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.domain.tool_call import CallContext, Decision, Mode, PolicyContext, Status, Tier
from assistant.speech.catalogue import Catalogue
from assistant.timers.later import COMMAND_LATE_S, FrozenCalls, NotLater
from assistant.tools.builtin.date_and_weather import date_and_time
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings
from tests.unit.assistant.timers.conftest import Room
from tests.unit.assistant.timers.keeping import DAY, HOUR, ONE_PM, pass_, running, set_
from tests.unit.assistant.tools.embedded import House, living

ON, OFF = "HassTurnOn", "HassTurnOff"
LAMP, DOOR = {"name": "Hall light"}, {"name": "Front door"}
NOW = VirtualClock().now()


class Mind:
    """The present mode, which a test may change."""

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
        with pytest.raises(NotLater, match="I can't do that here"):
            await calls.freeze(ON, LAMP, None, "en", turn_id)
    assert await calls.freeze(ON, LAMP, None, "en", "another")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (OFF, DOOR, "I only open, unlock or disarm"),
        ("HassVacuumStart", {"name": "Robbie"}, "I need you to confirm that"),
        ("get_date", {}, "I can't schedule that for later"),
        ("no_such_tool", {}, "I can't do that here"),
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
        with pytest.raises(NotLater, match="open, unlock or disarm"):
            await frozen(house, OFF, DOOR)
        vacuum = await frozen(house, "HassVacuumStart", {"name": "Robbie"})
        assert await calls_of(house).make(vacuum) == ""
        # A call stored in spite of that is not made either.
        door = replace(vacuum, payload={"tool": OFF, "arguments": DOOR, "heard": None})
        assert house.state("lock.front_door") == "locked"
        assert (
            await calls_of(house).make(door)
            == "I was going to do this now, but I'm not allowed to: do it."
        )
        assert house.state("lock.front_door") == "locked"


async def test_what_is_no_longer_allowed_is_not_done_and_told(house: House, mind: Mind) -> None:
    timer = await frozen(house, ON, LAMP)
    mind.mode = Mode.ASK  # the residents want to be asked about everything
    told = await calls_of(house).make(timer)
    assert told == "I was going to do this now, but I'm not allowed to: do it."
    assert house.state("light.hall") == "off"
    assert house.journal.finished[-1].tier is Tier.COMFORT


async def test_a_thing_that_has_gone_is_told(house: House) -> None:
    timer = await frozen(house, ON, LAMP)
    gone = replace(timer, payload={**(timer.payload or {}), "arguments": {"name": "Marmalade"}})
    assert (
        await calls_of(house).make(gone)
        == "I was going to do this now, but I'm not allowed to: do it."
    )


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


# Scheduled commands and requests of the keeper, each done once.


LIGHTS = {"tool": "turn_off", "arguments": {"area": "Kitchen"}, "heard": None}


async def command(room: Room, seconds: float = 600) -> TimerRecord:
    return await set_(room, "command", seconds=seconds, text="lights off", payload=LIGHTS)


async def test_a_command_is_carried_out_once_without_a_word(room: Room) -> None:
    timer = await command(room)
    async with room.keeping():
        await pass_(room, 595)
        assert room.doer.made == []
        await room.clock.run(60)
        assert (room.doer.made, room.said, room.talker.tones) == (["lights off"], [], [])
    assert room.shelf.ended == {timer.id: "done"}


async def test_what_becomes_of_it_is_said_where_it_is_no_success(room: Room) -> None:
    await command(room)
    room.doer.answer = "It failed."
    async with room.keeping():
        await pass_(room, 601)
        assert room.said == ["It failed."]


async def test_it_is_written_down_as_begun_before_it_is_sent(room: Room) -> None:
    timer = await command(room)
    room.doer.held.clear()
    async with room.keeping():
        await pass_(room, 601)
        assert (room.doer.made, list(room.shelf.begun)) == (["lights off"], [timer.id])
    assert list(room.shelf.begun) == [timer.id], "the process ended in the middle"
    room.doer.held.set()
    async with room.keeping():
        await room.clock.run(60)
    assert room.doer.made == ["lights off"], "it is never run again"
    assert room.shelf.ended == {timer.id: "unknown"}
    assert room.said == [
        "I was interrupted while doing this, and I don't know whether it happened: lights off."
    ]
    async with room.keeping():
        await room.clock.run(60)
    assert len(room.said) == 1


async def test_what_breaks_is_told_and_not_tried_again(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    timer = await command(room)
    room.doer.breaks = True
    async with room.keeping():
        await pass_(room, 601)
        await pass_(room, HOUR)
    assert room.doer.made == ["lights off"]
    assert room.shelf.ended == {timer.id: "unknown"}
    assert len(room.said) == 1
    assert "a command for later failed" in caplog.text


async def test_while_the_store_fails_nothing_is_sent(room: Room) -> None:
    await command(room)
    async with room.keeping():
        await room.clock.run(60)
        room.shelf.broken = True
        await pass_(room, 600)
        assert room.doer.made == []
        room.shelf.broken = False
        await room.clock.run(60)
        assert room.doer.made == ["lights off"]


async def test_after_a_power_cut_it_waits_for_the_house(room: Room) -> None:
    await command(room)
    room.clock.advance(700)
    room.doer.ready_now = False
    async with room.keeping():
        await room.clock.run(120)
        assert room.doer.made == []
        room.doer.ready_now = True
        await room.clock.run(1)
        assert room.doer.made == ["lights off"]


async def test_too_late_it_is_left_and_told_when_somebody_is_there(room: Room) -> None:
    await command(room)
    room.clock.advance(600 + COMMAND_LATE_S + 1)
    async with room.keeping() as keeper:
        await room.clock.run(60)
        assert (room.doer.made, room.said, room.shelf.rows) == ([], [], {})
        keeper.heard()
        await room.clock.settle()
        told = "Your scheduled command “lights off” was due at 12:10, but I missed it."
        assert room.talker.said == [told]


async def test_a_request_is_asked_every_day_and_its_answer_said(room: Room) -> None:
    weather = "what will the weather be"
    timer = await set_(room, "request", rule=ONE_PM, text=weather, language="en")
    room.doer.answer = "Sunny, 20 degrees."
    async with room.keeping():
        await pass_(room, HOUR)
        await pass_(room, DAY)
    assert room.doer.asked == [(weather, "en", "")] * 2
    assert room.said == ["Sunny, 20 degrees."] * 2
    assert running(room) == [(timer.id, timer.due + timedelta(days=2))]


async def test_one_that_is_called_off_at_the_last_moment_is_not_done(room: Room) -> None:
    timer = await command(room)
    async with room.keeping():
        await pass_(room, 590)
        del room.shelf.rows[timer.id]  # the service has not noticed this yet
        await room.clock.run(15)
    assert (room.doer.made, room.said) == ([], [])


async def test_a_cancelled_one_is_not_done(room: Room) -> None:
    timer = await command(room)
    async with room.keeping():
        await room.clock.run(60)
        await room.book.end(timer)
        await pass_(room, HOUR)
    assert room.doer.made == []
