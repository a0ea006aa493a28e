"""The injected clock. All of Hearth reads the time and sleeps through it."""

import asyncio
import ctypes
import heapq
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

_TIME_ERROR = 5  # adjtimex(2)'s result while the clock is not synchronised
# Larger than struct timex on any platform; zero `modes` at its start changes nothing.
_TIMEX_BYTES = 512


def kernel_clock() -> int:
    """Return the state of the system clock from adjtimex(2).

    0 is synchronised, 1 to 4 surround a leap second, 5 is not synchronised; -1 means that the call
    is not permitted.
    """
    state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return state


def synchronised() -> bool:
    """Return True if the system clock is known to be synchronised, by the network or a receiver."""
    return 0 <= kernel_clock() < _TIME_ERROR


class Clock(Protocol):
    """Source of time, and a way to wait."""

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back; only differences are meaningful."""
        ...

    def since_boot(self) -> float:
        """Return seconds like `monotonic`, but including time that the machine was suspended."""
        ...

    def now(self) -> datetime:
        """Return the wall clock's date and time, with the local time zone."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for this number of seconds. Can be cancelled."""
        ...


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Return seconds since some fixed point, not counting suspended time."""
        return time.monotonic()

    def since_boot(self) -> float:
        """Return seconds since the machine started, including suspended time."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def now(self) -> datetime:
        """Return the wall clock's time in the machine's time zone."""
        return datetime.now(UTC).astimezone()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class VirtualClock:
    """Clock for tests: time passes only when the test says so."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
        self._elapsed = 0.0  # s
        self._suspended = 0.0  # seconds of suspension, on top of `_elapsed`
        self._order = itertools.count()  # keeps sleepers that are due at the same instant in order
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        """Return the seconds that the test has let pass."""
        return self._elapsed

    def since_boot(self) -> float:
        """Return the seconds that have passed, plus those of `suspend`."""
        return self._elapsed + self._suspended

    def now(self) -> datetime:
        """Return the start date plus the time passed and the steps of `set_ahead`."""
        return self._start + timedelta(seconds=self.since_boot())

    def set_ahead(self, seconds: float) -> None:
        """Step the wall clock alone: forwards, or backwards if negative."""
        self._start += timedelta(seconds=seconds)

    def suspend(self, seconds: float) -> None:
        """Suspend the machine for this time. Sleepers get no closer to their end."""
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
        """Let time pass from one sleeper's end to the next, so that each runs at its own
        instant."""
        end = self._elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._release_until(self._sleepers[0][0])
            await self.settle()
        self._release_until(end)

    async def settle(self) -> None:
        """Let every task that needs no time to pass go on (100 rounds of the loop)."""
        for _ in range(100):
            await asyncio.sleep(0)

    @property
    def sleepers(self) -> int:
        """Number of tasks that wait for time to pass."""
        return sum(not future.done() for _, _, future in self._sleepers)

    def _release_until(self, instant: float) -> None:
        self._elapsed = instant
        while self._sleepers and self._sleepers[0][0] <= instant:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():  # done: the sleeper was cancelled
                future.set_result(None)
