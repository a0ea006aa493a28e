"""What a process that stays does for the journal: it forgets, bounds, checks, and notes faults."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from assistant.domain.clock import Clock
from assistant.domain.events import Happening, Happenings
from assistant.domain.records import StoreError
from integrations.owner import OwnedTasks

FORGET_S = 3600.0  # between two times of forgetting
CHECK_S = 6 * 3600.0  # between two readings of the whole file
PROBE_S = 30.0  # between two attempts to write while nothing can be written
_SETTLE_S = 20.0  # after the start: reading the whole file would slow what people wait for
_MOST_FAULTS = 100  # that wait to be written down; beyond that the oldest is left out

_log = logging.getLogger(__name__)


class Limits(Protocol):
    """The section `journal` of the settings."""

    @property
    def keep_days(self) -> int:
        """Of rows."""
        ...

    @property
    def transcript_hours(self) -> int:
        """Of words."""
        ...

    @property
    def max_mb(self) -> int:
        """Of the file."""
        ...


class Faults(Protocol):
    """Where faults are written down (`assistant.journal.reports.Reports`). Each raises
    StoreError."""

    async def settle_faults(self) -> None:
        """End what a process that has died left open."""
        ...

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Something has stopped working."""
        ...

    async def end_fault(self, what: str, at: datetime) -> None:
        """It works again."""
        ...


class Journal(Protocol):
    """What is cared for (`assistant.journal.store.Store`). Each method raises StoreError."""

    @property
    def problem(self) -> str:
        """Why nothing can be written now, "" where it can."""
        ...

    @property
    def reports(self) -> Faults:
        """Where faults are written down."""
        ...

    async def erase_old(self, keep_days: int, transcript_hours: int) -> None:
        """Forget by age."""
        ...

    async def bound(self, most_bytes: int) -> int:
        """Forget by size."""
        ...

    async def check(self) -> bool:
        """Read the whole file; begin a fresh one where it is damaged."""
        ...

    async def probe(self) -> None:
        """Try to write."""
        ...


@dataclass(frozen=True, slots=True)
class _Change:
    """Something has stopped working, or works again."""

    what: str
    problem: str | None  # None: it works again
    at: datetime


class Care:
    """Goes on for as long as its context is open, beside the turns."""

    def __init__(
        self, journal: Journal, limits: Limits, happenings: Happenings, clock: Clock
    ) -> None:
        self._journal = journal
        self._limits = limits
        self._happenings = happenings
        self._clock = clock
        self._faults: asyncio.Queue[_Change] = asyncio.Queue(_MOST_FAULTS)
        self._leave: Callable[[], None] = lambda: None
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        await self._try("faults of an earlier process", self._journal.reports.settle_faults)
        self._leave = self._happenings.follow(self._happened)
        self._owner.start(self._forget(), "forgetting")
        self._owner.start(self._check(), "checking the journal")
        self._owner.start(self._probe(), "trying to write")
        self._owner.start(self._note_faults(), "faults")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        await self._owner.__aexit__(kind, error, trace)

    async def _forget(self) -> None:
        """Erase what is older, or more, than the settings allow."""
        limits = self._limits

        async def forget() -> None:
            await self._journal.erase_old(limits.keep_days, limits.transcript_hours)
            await self._journal.bound(limits.max_mb * 1_000_000)

        while True:
            await self._try("old turns", forget)
            await self._clock.sleep(FORGET_S)

    async def _check(self) -> None:
        await self._clock.sleep(_SETTLE_S)
        while True:
            await self._try("the whole journal", self._journal.check)
            await self._clock.sleep(CHECK_S)

    async def _probe(self) -> None:
        """So that it is known when the disk can be written again, although nobody speaks."""
        while True:
            await self._clock.sleep(PROBE_S)
            if self._journal.problem:
                await self._try("the disk", self._journal.probe)

    def _happened(self, happening: Happening) -> None:
        on = happening.data.get("on")
        if happening.kind != "fault" or on is None:  # a refused order is no fault of ours
            return
        if self._faults.full():
            self._faults.get_nowait()
        problem = str(happening.data.get("problem", "")) if on else None
        self._faults.put_nowait(_Change(str(happening.data["what"]), problem, self._clock.now()))

    async def _note_faults(self) -> None:
        """One that began while nothing could be written is written down when it has ended."""
        reports, unwritten = self._journal.reports, dict[str, _Change]()
        while True:
            change = await self._faults.get()
            begun = unwritten.pop(change.what, None) if change.problem is None else change
            if begun is not None and begun.problem is not None:
                begin = partial(reports.begin_fault, begun.what, begun.problem, begun.at)
                if not await self._try("a fault", begin) and begun is change:
                    unwritten[change.what] = change
            if change.problem is None:
                end = partial(reports.end_fault, change.what, change.at)
                await self._try("the end of a fault", end)

    async def _try(self, what: str, work: Callable[[], Awaitable[object]]) -> bool:
        """Do it; a store that fails is logged unless it has said so itself. Whether it was done."""
        try:
            await work()
        except StoreError as error:
            if not error.told:
                _log.error("%s could not be seen to: %s", what, error)
            return False
        return True
