"""Timers of a device, as Home Assistant 2026.11 keeps them (`components/intent/timers.py`)."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from integrations.demo_home.clock import Clock, Spawn

PARTS = ("hours", "minutes", "seconds")
_LENGTHS = {"hours": 3600, "minutes": 60, "seconds": 1}


@dataclass(slots=True)
class Timer:
    """One timer of one device."""

    name: str
    device_id: str
    area_id: str | None
    floor_id: str | None
    asked: Mapping[str, int | None]  # hours, minutes and seconds, as they were given
    left_s: int  # at `since`
    since: datetime
    running: bool = True
    longest_s: int = 0  # the most that it ever had to run
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:26].upper())


Finished = Callable[[Timer], None]


class Timers:
    """All timers of the house. `finished` is told of each that was not cancelled before."""

    def __init__(self, clock: Clock, spawn: Spawn, finished: Finished) -> None:
        self._clock = clock
        self._spawn = spawn
        self._finished = finished
        self._timers: dict[str, Timer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(
        self,
        name: str,
        asked: Mapping[str, int | None],
        device_id: str,
        area_id: str | None,
        floor_id: str | None,
    ) -> None:
        """Let a timer run from now on."""
        seconds = duration_s(asked)
        timer = Timer(
            name, device_id, area_id, floor_id, asked, seconds, self._clock.now(), longest_s=seconds
        )
        self._timers[timer.id] = timer
        self._run(timer)

    def left_s(self, timer: Timer) -> int:
        """Whole seconds that it still has."""
        if not timer.running:
            return timer.left_s
        return max(0, timer.left_s - int((self._clock.now() - timer.since).total_seconds()))

    def add(self, timer: Timer, seconds: int) -> None:
        """More time, or with a negative number less."""
        timer.left_s = max(0, self.left_s(timer) + seconds)
        timer.longest_s = max(timer.longest_s, timer.left_s)
        timer.since = self._clock.now()
        if timer.running:
            self._run(timer)

    def pause(self, timer: Timer) -> None:
        """Stop the count; nothing happens if it stands already."""
        if timer.running:
            timer.left_s = self.left_s(timer)
            timer.running = False
            self._halt(timer)

    def resume(self, timer: Timer) -> None:
        """Count on; nothing happens if it runs already."""
        if not timer.running:
            timer.running = True
            timer.since = self._clock.now()
            self._run(timer)

    def cancel(self, timer: Timer) -> None:
        """End it without a word."""
        self._halt(timer)
        del self._timers[timer.id]

    def stop(self) -> None:
        """End all, at shutdown."""
        for timer in tuple(self._timers.values()):
            self.cancel(timer)

    def all(self) -> list[Timer]:
        """Every timer, in the order of their start."""
        return list(self._timers.values())

    def _run(self, timer: Timer) -> None:
        self._halt(timer)
        self._tasks[timer.id] = self._spawn(self._wait(timer))

    def _halt(self, timer: Timer) -> None:
        task = self._tasks.pop(timer.id, None)
        if task is not None:
            task.cancel()

    async def _wait(self, timer: Timer) -> None:
        await self._clock.sleep(timer.left_s)
        del self._tasks[timer.id]
        del self._timers[timer.id]
        self._finished(timer)


def duration_s(parts: Mapping[str, Any]) -> int:
    """Seconds from hours, minutes and seconds, of which some are missing or None."""
    return sum((parts.get(part) or 0) * _LENGTHS[part] for part in PARTS)
