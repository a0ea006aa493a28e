"""The keeper and the clocks: wrong ones, moved ones, and the sun."""

from datetime import UTC, datetime, time
from typing import Any

import pytest

from assistant.timers.recurrence import Rule
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.timers.conftest import Room
from tests.unit.assistant.timers.keeping import DAILY, HOUR, ONE_PM, pass_, set_


@pytest.mark.parametrize("kind", ["timer", "alarm"])
async def test_what_seems_overdue_waits_for_a_clock_that_can_be_believed(
    room: Room, kind: str
) -> None:
    wanted: dict[str, Any] = (
        {"seconds": 300, "name": "pasta"} if kind == "timer" else {"rule": ONE_PM, "name": "pills"}
    )
    await set_(room, kind, **wanted)
    room.clock.set_ahead(2 * HOUR)  # it has just started, and its clock is wrong
    room.synchronised = False
    async with room.keeping():
        await room.clock.run(20)
        assert room.talker.said == []
        room.clock.set_ahead(-2 * HOUR)  # the network tells the time
        room.synchronised = True
        await room.clock.run(20)
        assert room.talker.said == []
        await pass_(room, 300 if kind == "timer" else HOUR)
        assert room.talker.said[0] in ("Your pasta timer is done.", "It is 13:00. pills.")


async def test_a_clock_that_nobody_sets_is_believed_after_a_minute(room: Room) -> None:
    await set_(room, "timer", seconds=300, name="pasta")
    room.clock.set_ahead(2 * HOUR)
    room.synchronised = False
    async with room.keeping():
        await room.clock.run(59)
        assert room.talker.said == []
        await room.clock.run(2)
        assert room.talker.said == ["Your pasta timer was done at 12:05."]


async def test_what_is_to_come_rings_in_time_whoever_keeps_the_clock(room: Room) -> None:
    await set_(room, "timer", seconds=30, name="pasta")
    room.synchronised = False
    async with room.keeping():
        await room.clock.run(30)
        assert room.talker.said == ["Your pasta timer is done."]


async def test_one_that_came_due_meanwhile_says_since_when_at_once(room: Room) -> None:
    await set_(room, "timer", seconds=10, name="pasta")
    room.clock.advance(12)
    async with room.keeping():
        assert room.talker.said == ["Your pasta timer was done at 12:00."]


async def test_an_alarm_set_by_a_wrong_clock_is_for_that_time_by_the_right_one(room: Room) -> None:
    room.synchronised = False
    room.clock.set_ahead(-20 * HOUR)
    async with room.keeping():
        await room.clock.run(1)
        alarm = await set_(room, rule=Rule(time(13)))
        await room.clock.run(2)
        room.clock.set_ahead(20 * HOUR)
        await room.clock.run(2)
        assert room.talker.said == []
        kept = room.shelf.rows[alarm.id].due
        assert kept == datetime(2026, 1, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize("hours", [-2, 2])
async def test_an_alarm_follows_the_clock_on_the_wall(room: Room, hours: int) -> None:
    await set_(room, rule=Rule(time(17)))
    async with room.keeping():
        room.clock.set_ahead(hours * HOUR)
        await room.clock.run(2)
        await pass_(room, (5 - hours) * HOUR - 5)
        assert room.talker.said == []
        await room.clock.run(10)
        assert room.talker.said == ["It is 17:00. This is your alarm."]


def with_sun(**attributes: str) -> House:
    sun = Entity("sun.sun", "Sun", "below_horizon", attributes=attributes)
    return House(entities={"sun.sun": sun})


async def test_by_the_sun_as_the_house_tells_and_as_it_told(room: Room) -> None:
    room.house = with_sun(
        next_rising="2026-01-02T07:40:00+00:00", next_setting="2026-01-01T17:00:00+00:00"
    )
    alarm = await set_(room, rule=Rule(sun="sunset", offset_min=-30, weekdays=DAILY))
    assert alarm.due == datetime(2026, 1, 1, 16, 30, tzinfo=UTC)
    room.house = House()  # it is away
    async with room.keeping() as keeper:
        await pass_(room, 4.5 * HOUR)
        assert room.talker.said == ["It is 16:30. This is your alarm."]
        keeper.heard()
        await room.clock.run(5)
        assert room.shelf.rows[alarm.id].due == datetime(2026, 1, 2, 16, 30, tzinfo=UTC)


async def test_the_sun_of_the_next_day_moves_what_waits_for_it(room: Room) -> None:
    room.house = with_sun(next_setting="2026-01-01T17:00:00+00:00")
    rule = Rule(sun="sunset", weekdays=DAILY)
    alarm = await set_(room, rule=rule)
    entities: dict[str, Entity] = {}
    room.house = House(entities=entities)
    async with room.keeping():
        await room.clock.run(60)
        entities |= with_sun(next_setting="2026-01-01T17:03:00+00:00").entities
        await room.clock.run(60)
        assert room.shelf.rows[alarm.id].due == datetime(2026, 1, 1, 17, 3, tzinfo=UTC)
