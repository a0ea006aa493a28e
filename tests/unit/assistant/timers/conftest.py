"""A store in memory, and a conversation that rests when the test says so."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from assistant.clock import VirtualClock
from assistant.journal.records import StoreError, TimerRecord
from assistant.speech.manner import PLAIN, Manner
from audio.errors import InputUnusable


class Shelf:
    """What `assistant.journal.store.Store` does with timers, at once and in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, TimerRecord] = {}
        self.ended: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.writes = 0
        self.reads = 0
        self.broken = False

    def stamp(self) -> object:
        return self.writes

    async def timers(self) -> list[TimerRecord]:
        self._works()
        self.reads += 1
        return sorted(self.rows.values(), key=lambda row: row.due)

    async def add_timer(self, timer: TimerRecord) -> None:
        self._works(1)
        self.rows[timer.id] = timer

    async def change_timer(self, timer: TimerRecord) -> bool:
        self._works(1)
        if timer.id not in self.rows:
            return False
        known = self.rows[timer.id]
        self.rows[timer.id] = replace(known, due=timer.due, paused_s=timer.paused_s)
        return True

    async def acknowledge_timer(self, timer_id: str) -> bool:
        return self._end(timer_id, "acknowledged")

    async def cancel_timer(self, timer_id: str) -> bool:
        return self._end(timer_id, "cancelled")

    async def keep(self, name: str, value: Any) -> None:
        self._works(1)
        self.values[name] = value

    async def kept(self, name: str) -> Any | None:
        self._works()
        return self.values.get(name)

    async def drop_kept(self, name: str) -> None:
        self._works(1)
        self.values.pop(name, None)

    def _end(self, timer_id: str, how: str) -> bool:
        self._works(1)
        if self.rows.pop(timer_id, None) is None:
            return False
        self.ended[timer_id] = how
        return True

    def _works(self, writes: int = 0) -> None:
        if self.broken:
            raise StoreError("The disk is full.")
        self.writes += writes


class Talker:
    """A conversation, a loudspeaker, and what came out of it with its time."""

    def __init__(self, clock: VirtualClock) -> None:
        self.said: list[str] = []
        self.languages: list[str] = []
        self.alarms: list[bool] = []  # whether each is as loud in quiet hours as ever
        self.tones: list[float] = []
        self.hushed = 0
        self.free = asyncio.Event()
        self.free.set()
        self.deaf = False
        self._clock = clock

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        assert self.free.is_set(), "it talks over somebody"
        self.alarms.append(manner.alarm)
        self.said.append(text)
        self.languages.append(language)

    async def rest(self) -> None:
        await self.free.wait()

    async def ring(self, sound: str) -> None:
        assert sound == "timer"
        assert self.free.is_set(), "it rings while somebody speaks"
        if self.deaf:
            raise InputUnusable("There is no loudspeaker.")
        self.tones.append(self._clock.since_boot())

    def hush(self) -> None:
        self.hushed += 1


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def talker(clock: VirtualClock) -> Talker:
    return Talker(clock)
