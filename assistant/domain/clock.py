"""One injected clock: nothing in Hearth reads the time or sleeps in any other way."""

import asyncio
import ctypes
import heapq
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

_TIME_ERROR = 5  # what adjtimex(2) gives while nobody keeps the machine's clock right
_TIMEX_BYTES = 512  # more than its structure has anywhere; it begins with what to change: nothing


def kernel_clock() -> int:
    """The state of the machine's clock as adjtimex(2) gives it: 0 kept right, 1 to 4 around a leap
    second, 5 not kept; -1: it may not be asked."""
    state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return state


def synchronised() -> bool:
    """Whether the machine's clock is known to be right: the network or a receiver keeps it so."""
    return 0 <= kernel_clock() < _TIME_ERROR


class Clock(Protocol):
    """What time it is, how much has passed, and how to wait."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean something."""
        ...

    def since_boot(self) -> float:
        """As `monotonic`, but a time that the machine was suspended counts too."""
        ...

    def now(self) -> datetime:
        """The wall clock's date and time, with the local time zone."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when that many seconds have passed; cancellable."""
        ...


class SystemClock:
    """The machine's own time."""

    def monotonic(self) -> float:
        """Seconds since some fixed point; the suspended machine does not count."""
        return time.monotonic()

    def since_boot(self) -> float:
        """Seconds since the machine started."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def now(self) -> datetime:
        """The wall clock in the machine's time zone."""
        return datetime.now(UTC).astimezone()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the event loop."""
        await asyncio.sleep(seconds)


class VirtualClock:
    """A clock for tests: time passes only when the test says so."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
        self._elapsed = 0.0  # s
        self._suspended = 0.0  # s, besides
        self._order = itertools.count()  # keeps sleepers of the same instant in their order
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        """Seconds that the test has let pass."""
        return self._elapsed

    def since_boot(self) -> float:
        """Seconds that have passed, and those of `suspend`."""
        return self._elapsed + self._suspended

    def now(self) -> datetime:
        """The start date plus what has passed, and the steps of `set_ahead`."""
        return self._start + timedelta(seconds=self.since_boot())

    def set_ahead(self, seconds: float) -> None:
        """The wall clock alone is set, or with a negative number set back."""
        self._start += timedelta(seconds=seconds)

    def suspend(self, seconds: float) -> None:
        """The machine sleeps for so long: nobody who waits comes any nearer to the end."""
        self._suspended += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait until the test has let that many seconds pass."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), future))
        await future

    def advance(self, seconds: float) -> None:
        """Jump ahead and release every sleeper that is due; they run when the test next awaits."""
        self._release_until(self._elapsed + seconds)

    async def run(self, seconds: float) -> None:
        """Let time pass from one sleeper's end to the next, each running at its own instant."""
        end = self._elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._release_until(self._sleepers[0][0])
            await self.settle()
        self._release_until(end)

    async def settle(self) -> None:
        """Let all tasks that can go on without time passing do so (100 rounds of the loop)."""
        for _ in range(100):
            await asyncio.sleep(0)

    @property
    def sleepers(self) -> int:
        """How many tasks wait for time to pass."""
        return sum(not future.done() for _, _, future in self._sleepers)

    def _release_until(self, instant: float) -> None:
        self._elapsed = instant
        while self._sleepers and self._sleepers[0][0] <= instant:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():  # done: the sleeper was cancelled
                future.set_result(None)
