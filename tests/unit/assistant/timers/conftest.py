"""Fixtures: an in-memory store and a conversation that pauses when the test says so."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest

from assistant.domain.clock import Clock, VirtualClock
from assistant.domain.records import SmallValues, StoreError, TimerRecord
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import PLAIN, Manner, Speaker
from assistant.timers.book import TimerBook
from assistant.timers.later import FrozenCalls
from assistant.timers.recurrence import Almanac
from assistant.timers.service import TimerService
from audio.errors import InputUnusable
from integrations.home_assistant.house import House


class Shelf(Store):
    """Does what `assistant.journal.store.Store` does with timers, at once and in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, TimerRecord] = {}
        self.begun: dict[str, TimerRecord] = {}
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
        self.rows[timer.id] = replace(
            known, due=timer.due, paused_s=timer.paused_s, rule=timer.rule
        )
        return True

    async def take_occurrence(
        self, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
    ) -> bool:
        self._works(1)
        known = self.rows.get(timer.id)
        if known is None or known.due != timer.due:
            return False
        self.rows[occurrence.id] = occurrence
        if due is None:
            self.ended[timer.id] = "done"
            del self.rows[timer.id]
        else:
            self.rows[timer.id] = replace(known, due=due)
        return True

    async def begin_timer(self, timer_id: str) -> bool:
        self._works(1)
        if timer_id not in self.rows:
            return False
        self.begun[timer_id] = self.rows.pop(timer_id)
        return True

    async def begun_timers(self) -> list[TimerRecord]:
        self._works()
        return list(self.begun.values())

    async def finish_timer(self, timer_id: str, *, known: bool = True) -> bool:
        self._works(1)
        self.ended[timer_id] = "done" if known else "unknown"
        return self.begun.pop(timer_id, None) is not None

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
    """A conversation, a loudspeaker, and its sounds with their times."""

    def __init__(self, clock: VirtualClock) -> None:
        self.said: list[str] = []
        self.languages: list[str] = []
        self.alarms: list[bool] = []  # for each sound, True if quiet hours do not lower it
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

    ending = False

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        raise AssertionError("timers follow none")

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


class Doer(FrozenCalls):
    """Does what was scheduled, and records it."""

    def __init__(self) -> None:
        self.ready_now = True
        self.made: list[str] = []
        self.asked: list[tuple[str, str, str]] = []
        self.answer = ""  # of a call or a request
        self.breaks = False
        self.held = asyncio.Event()  # calls and requests do not end while it is cleared
        self.held.set()

    def ready(self, timer: TimerRecord) -> bool:
        return self.ready_now

    async def make(self, timer: TimerRecord) -> str:
        self.made.append(timer.text)
        await self.held.wait()
        if self.breaks:
            raise RuntimeError("It breaks.")
        return self.answer

    async def ask(self, text: str, language: str, caller: str) -> str:
        self.asked.append((text, language, caller))
        return self.answer


def an_almanac(shelf: SmallValues, zone: tzinfo = UTC, house: House | None = None) -> Almanac:
    return Almanac(lambda: zone, lambda: house or House(), shelf)


def a_keeper(
    store: Store,
    speaker: Speaker,
    ring: Callable[[str], Awaitable[None]],
    clock: Clock,
    doer: Doer | None = None,
) -> TimerService:
    """Return one that rings; only `doer` does anything scheduled."""
    doer = doer or Doer()
    return TimerService(
        store,
        speaker,
        ring,
        lambda: None,
        Catalogue(),
        clock,
        an_almanac(store),
        doer,
        doer.ask,
        lambda text, language: None,
        lambda: True,
    )


@dataclass
class Room:
    """A keeper's surroundings; `keeping` is the resident process."""

    shelf: Shelf
    talker: Talker
    clock: VirtualClock
    doer: Doer
    zone: tzinfo = UTC
    house: House = field(default_factory=House)
    synchronised: bool = True
    told: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # sentences about deferred calls

    @property
    def almanac(self) -> Almanac:
        return Almanac(lambda: self.zone, lambda: self.house, self.shelf)

    @property
    def book(self) -> TimerBook:
        return TimerBook(self.shelf, self.clock, self.almanac)

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[TimerService]:
        keeper = TimerService(
            self.shelf,
            self.talker,
            self.talker.ring,
            self.talker.hush,
            Catalogue(),
            self.clock,
            self.almanac,
            self.doer,
            self.doer.ask,
            lambda text, language: self.said.append(text),
            lambda: self.synchronised,
        )
        keeper.follow(lambda what, timer: self.told.append((what, timer.name or timer.text)))
        async with keeper:
            await self.clock.settle()
            yield keeper


@pytest.fixture
def room(shelf: Shelf, talker: Talker, clock: VirtualClock) -> Room:
    return Room(shelf, talker, clock, Doer())


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def talker(clock: VirtualClock) -> Talker:
    return Talker(clock)
