"""Helpers that set timers and let time pass."""

from datetime import datetime, time
from typing import Any

from assistant.domain.records import TimerRecord
from assistant.timers.book import Wanted
from assistant.timers.recurrence import Rule
from tests.unit.assistant.timers.conftest import Room

HOUR, DAY = 3600.0, 86_400.0
DAILY = (1, 2, 3, 4, 5, 6, 7)
ONE_PM = Rule(time(13), weekdays=DAILY)  # the clock of these tests starts at noon


async def set_(room: Room, kind: Any = "alarm", **wanted: Any) -> TimerRecord:
    timer = await room.book.set(Wanted(kind, **wanted))
    assert timer is not None
    return timer


async def pass_(room: Room, seconds: float) -> None:
    """Let time pass at once, but its last moments step by step."""
    room.clock.advance(seconds - 2)
    await room.clock.run(2.1)


def running(room: Room) -> list[tuple[str, datetime]]:
    return [(timer.id, timer.due) for timer in room.shelf.rows.values()]
