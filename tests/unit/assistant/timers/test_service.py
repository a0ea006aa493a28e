"""Tests of alarms, reminders and repetitions in the resident process."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.domain.clock import VirtualClock
from assistant.timers.recurrence import Rule
from assistant.timers.ringer import GIVE_UP_S, PAUSE_S, WORDS_S
from assistant.timers.service import STALE_S
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.timers.conftest import Room
from tests.unit.assistant.timers.keeping import DAILY, DAY, HOUR, ONE_PM, pass_, running, set_

MADRID = ZoneInfo("Europe/Madrid")


# --- repetitions


async def test_it_rings_every_day_and_each_time_once(room: Room) -> None:
    alarm = await set_(room, rule=ONE_PM, name="pills")
    async with room.keeping() as keeper:
        for day in range(3):
            await pass_(room, HOUR)
            assert room.talker.said[-1] == "It's 13:00. This is your pills alarm."
            keeper.heard()
            rung = len(room.talker.tones)
            await pass_(room, DAY - HOUR)
            assert len(room.talker.tones) == rung
            due = alarm.due + timedelta(days=day + 1)
            assert running(room) == [(alarm.id, due)]
    assert [what for what, _ in room.told] == ["changed", "rings", "heard", "ended"] * 3


async def test_it_is_wall_time_that_counts_through_daylight_saving(room: Room) -> None:
    room.zone = MADRID
    room.clock = room.talker._clock = VirtualClock(datetime(2027, 3, 27, 12, tzinfo=UTC))
    await set_(room, rule=Rule(time(7), weekdays=DAILY))
    async with room.keeping() as keeper:
        await pass_(room, 16.9 * HOUR)  # the night is an hour shorter
        assert room.talker.said == []
        await pass_(room, 0.1 * HOUR)
        assert room.talker.said == ["It's 07:00. This is your alarm."]
        keeper.heard()
        await room.clock.run(1)
        (alarm,) = room.shelf.rows.values()
        assert alarm.due.astimezone(MADRID).hour == 7


async def test_one_that_was_missed_rings_late_with_its_hour(room: Room) -> None:
    await set_(room, rule=ONE_PM)
    room.clock.advance(HOUR + STALE_S - 60)
    async with room.keeping():
        assert room.talker.said == ["Your alarm was due at 13:00."]


async def test_of_many_that_were_missed_the_last_is_told_and_none_rings(room: Room) -> None:
    alarm = await set_(room, rule=ONE_PM)
    room.clock.advance(10 * DAY)  # at noon
    async with room.keeping() as keeper:
        await room.clock.run(5)
        assert room.talker.tones == []
        assert running(room) == [(alarm.id, alarm.due + 10 * timedelta(days=1))]
        keeper.heard()
        await room.clock.settle()
        assert room.talker.said == ["Your alarm was due at 13:00 on Saturday, but I missed it."]
    async with room.keeping() as keeper:
        keeper.heard()
        await room.clock.run(5)
        assert len(room.talker.said) == 1


async def test_one_for_once_rings_however_late(room: Room) -> None:
    await set_(room, rule=Rule(time(13)))
    room.clock.advance(5 * HOUR)
    async with room.keeping():
        assert room.talker.said == ["Your alarm was due at 13:00."]


async def test_a_restart_while_it_rings_neither_loses_it_nor_rings_it_twice(room: Room) -> None:
    alarm = await set_(room, rule=ONE_PM)
    async with room.keeping():
        await pass_(room, HOUR + 5)
        assert room.talker.said == ["It's 13:00. This is your alarm."]
    async with room.keeping() as keeper:
        assert room.talker.said[1:] == ["Your alarm was due at 13:00."]
        keeper.heard()
        await room.clock.run(5)
    async with room.keeping():
        await room.clock.run(5)
        assert len(room.talker.said) == 2
    assert running(room) == [(alarm.id, alarm.due + timedelta(days=1))]


async def test_a_store_that_fails_does_not_let_anybody_oversleep(room: Room) -> None:
    alarm = await set_(room, rule=ONE_PM)
    async with room.keeping() as keeper:
        await room.clock.run(60)
        room.shelf.broken = True
        await pass_(room, HOUR)
        assert room.talker.said[0] == "It's 13:00. This is your alarm."
        keeper.heard()
        await room.clock.run(60)
        rung = len(room.talker.tones)
        room.shelf.broken = False
        await room.clock.run(60)
        assert len(room.talker.tones) == rung
        assert running(room) == [(alarm.id, alarm.due + timedelta(days=1))]


async def test_snoozed_it_rings_again_and_tomorrow_at_its_own_time(room: Room) -> None:
    alarm = await set_(room, rule=ONE_PM)
    async with room.keeping() as keeper:
        await pass_(room, HOUR + 1)
        room.talker.free.clear()  # "nine more minutes"
        keeper.heard()
        (rings,) = [timer for timer in await room.book.all() if timer.id != alarm.id]
        await room.book.add(rings, 540)
        room.talker.free.set()
        await pass_(room, 530)
        assert len(room.talker.said) == 1
        await room.clock.run(20)
        assert room.talker.said[1:] == ["It's 13:09. This is your alarm."]
        keeper.heard()
        await room.clock.run(1)
    assert running(room) == [(alarm.id, alarm.due + timedelta(days=1))]


# --- reminders


async def test_a_reminder_is_said_with_one_tone_each_time(room: Room) -> None:
    await set_(room, "reminder", rule=Rule(time(13)), text="call Ana")
    async with room.keeping() as keeper:
        await pass_(room, HOUR)
        await room.clock.run(2 * WORDS_S + PAUSE_S)
        assert room.talker.said == ["Here's your reminder: call Ana."] * 3
        assert len(room.talker.tones) == 3
        assert room.talker.alarms == [False] * 3, "as quiet as the hour asks for"
        assert keeper.ringing
        keeper.heard()
        await pass_(room, HOUR)
        assert len(room.talker.said) == 3


async def test_a_reminder_that_nobody_hears_is_told_later(room: Room) -> None:
    await set_(room, "reminder", seconds=60, text="call Ana")
    async with room.keeping() as keeper:
        await room.clock.run(60 + GIVE_UP_S + PAUSE_S)
        room.talker.said.clear()
        keeper.heard()
        await room.clock.settle()
        assert room.talker.said == [
            "Your reminder “call Ana” was due at 12:01. It rang for ten minutes, but nobody "
            "turned it off."
        ]


# --- its reports


async def test_followers_are_told_what_any_process_does(room: Room) -> None:
    looks: list[int] = []
    async with room.keeping() as keeper:
        leave = keeper.watch(lambda: looks.append(len(keeper.timers)))
        timer = await room.book.start(300, "pasta", "en")
        await room.clock.run(1)
        await room.book.add(timer, 60)
        await room.clock.run(1)
        await room.book.end(replace(timer, due=timer.due + timedelta(seconds=60)))
        await room.clock.run(1)
        leave()
        await room.book.start(300, "eggs", "en")
        await room.clock.run(1)
    changes = [("set", "pasta"), ("changed", "pasta"), ("ended", "pasta"), ("set", "eggs")]
    assert room.told == changes
    assert (looks[0], looks[-1]) == (1, 0)


async def test_a_follower_that_breaks_silences_nothing(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("It breaks.")

    async with room.keeping() as keeper:
        keeper.follow(broken)
        keeper.watch(broken)
        await room.book.start(5, "pasta", "en")
        await room.clock.run(6)
        assert room.talker.said == ["Your pasta timer is done."]
    assert "a listener of timers failed" in caplog.text


# The timer service and the clocks: wrong, changed, and the sun.


@pytest.mark.parametrize("kind", ["timer", "alarm"])
async def test_what_seems_overdue_waits_for_a_clock_that_can_be_believed(
    room: Room, kind: str
) -> None:
    wanted: dict[str, Any] = (
        {"seconds": 300, "name": "pasta"} if kind == "timer" else {"rule": ONE_PM, "name": "pills"}
    )
    await set_(room, kind, **wanted)
    room.clock.set_ahead(2 * HOUR)  # the machine has just started, and its clock is wrong
    room.synchronised = False
    async with room.keeping():
        await room.clock.run(20)
        assert room.talker.said == []
        room.clock.set_ahead(-2 * HOUR)  # the network time arrives
        room.synchronised = True
        await room.clock.run(20)
        assert room.talker.said == []
        await pass_(room, 300 if kind == "timer" else HOUR)
        assert room.talker.said[0] in (
            "Your pasta timer is done.",
            "It's 13:00. This is your pills alarm.",
        )


async def test_a_clock_that_nobody_sets_is_believed_after_a_minute(room: Room) -> None:
    await set_(room, "timer", seconds=300, name="pasta")
    room.clock.set_ahead(2 * HOUR)
    room.synchronised = False
    async with room.keeping():
        await room.clock.run(59)
        assert room.talker.said == []
        await room.clock.run(2)
        assert room.talker.said == ["Your pasta timer finished at 12:05."]


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
        assert room.talker.said == ["Your pasta timer finished at 12:00."]


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
        assert room.talker.said == ["It's 17:00. This is your alarm."]


def with_sun(**attributes: str) -> House:
    sun = Entity("sun.sun", "Sun", "below_horizon", attributes=attributes)
    return House(entities={"sun.sun": sun})


async def test_by_the_sun_as_the_house_tells_and_as_it_told(room: Room) -> None:
    room.house = with_sun(
        next_rising="2026-01-02T07:40:00+00:00", next_setting="2026-01-01T17:00:00+00:00"
    )
    alarm = await set_(room, rule=Rule(sun="sunset", offset_min=-30, weekdays=DAILY))
    assert alarm.due == datetime(2026, 1, 1, 16, 30, tzinfo=UTC)
    room.house = House()  # the house is not connected
    async with room.keeping() as keeper:
        await pass_(room, 4.5 * HOUR)
        assert room.talker.said == ["It's 16:30. This is your alarm."]
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


async def test_an_alarm_follows_the_house_into_its_time_zone(room: Room) -> None:
    async with room.keeping():
        alarm = await set_(room, rule=Rule(time(17)))  # the house was away: the machine's zone
        timer = await set_(room, "timer", seconds=6 * HOUR)
        await room.clock.run(60)
        room.zone = MADRID  # an hour ahead
        await room.clock.run(60)
        assert room.shelf.rows[alarm.id].due == datetime(2026, 1, 1, 16, tzinfo=UTC)
        assert room.shelf.rows[timer.id].due == timer.due
        await pass_(room, 4 * HOUR - 120)
        assert room.talker.said[0] == "It's 17:00. This is your alarm."
