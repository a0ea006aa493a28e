"""What the keeper has done later: commands and requests, each once."""

from datetime import timedelta

import pytest

from assistant.domain.records import TimerRecord
from assistant.timers.later import COMMAND_LATE_S
from tests.unit.assistant.timers.conftest import Room
from tests.unit.assistant.timers.keeping import DAY, HOUR, ONE_PM, pass_, running, set_

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
        "I was interrupted while doing this, and do not know whether it happened: lights off."
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
    assert "what was to be done later broke" in caplog.text


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
        told = "Your order “lights off” was due at 12:10, and was missed."
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
        del room.shelf.rows[timer.id]  # nobody has seen it yet
        await room.clock.run(15)
    assert (room.doer.made, room.said) == ([], [])


async def test_a_cancelled_one_is_not_done(room: Room) -> None:
    timer = await command(room)
    async with room.keeping():
        await room.clock.run(60)
        await room.book.end(timer)
        await pass_(room, HOUR)
    assert room.doer.made == []
