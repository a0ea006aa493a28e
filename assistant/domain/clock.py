"""The injected clock, with which tests can control the time."""

import asyncio
import ctypes
import heapq
import itertools
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

_TIME_ERROR = 5  # adjtimex(2) returns this while the clock is not synchronised
# Larger than struct timex on any platform. It starts with `modes`, and 0 means "change nothing".
_TIMEX_BYTES = 512


def kernel_clock() -> int:
    """Return the system clock's state, as reported by adjtimex(2), or -1 if the system call is not
    permitted.

    0 means synchronised, 1 to 4 indicate a leap second, and 5 means not synchronised.
    """
    state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return state


def synchronised() -> bool:
    """Return True if the system clock is known to be synchronised, for example by NTP or GPS."""
    return 0 <= kernel_clock() < _TIME_ERROR


class Clock(Protocol):
    """A source of time that can also sleep."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start. The value never decreases."""
        ...

    def since_boot(self) -> float:
        """Return monotonic seconds that include the time during which the device was suspended."""
        ...

    def now(self) -> datetime:
        """Return the current date and time in the local time zone."""
        ...

    async def sleep(self, seconds: float) -> None: ...


def zone_name(now: datetime) -> str:
    """Return the name of a local time's zone, such as "Europe/Madrid", or else "CET"."""
    return getattr(now.tzinfo, "key", "") or now.tzname() or ""


class SystemClock:
    """The machine's clock, in the machine's time zone until the house's is known."""

    _zone: tzinfo | None = None

    def use_zone(self, name: str) -> None:
        """Use the house's time zone. A name that is "" or unknown to this machine is ignored."""
        with suppress(KeyError, OSError, ValueError):
            self._zone = ZoneInfo(name)

    @property
    def zone(self) -> tzinfo | None:
        """The house's time zone, or None if it isn't known."""
        return self._zone

    def monotonic(self) -> float:
        return time.monotonic()

    def since_boot(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def now(self) -> datetime:
        return datetime.now(UTC).astimezone(self._zone)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class VirtualClock:
    """A clock for tests, which advances only when the test tells it to."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
        self._elapsed = 0.0  # s
        self._suspended = 0.0  # seconds of suspension, on top of `_elapsed`
        self._order = itertools.count()  # keeps the order of sleepers that are due at the same time
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self._elapsed

    def since_boot(self) -> float:
        return self._elapsed + self._suspended

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.since_boot())

    def set_ahead(self, seconds: float) -> None:
        """Move the date and time forwards, or backwards if negative. The monotonic clock is not
        affected."""
        self._start += timedelta(seconds=seconds)

    def suspend(self, seconds: float) -> None:
        """Simulate a suspended device: `since_boot` and `now` advance, but sleeping tasks don't
        wake."""
        self._suspended += seconds

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), future))
        await future

    def advance(self, seconds: float) -> None:
        """Advance the clock in one step. Tasks that are due wake up when the test next awaits."""
        self._release_until(self._elapsed + seconds)

    async def run(self, seconds: float) -> None:
        """Advance the clock from one due task to the next, so that each runs at its exact time."""
        end = self._elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._release_until(self._sleepers[0][0])
            await self.settle()
        self._release_until(end)

    async def settle(self) -> None:
        """Run all tasks that aren't sleeping, for 100 iterations of the event loop."""
        for _ in range(100):
            await asyncio.sleep(0)

    @property
    def sleepers(self) -> int:
        return sum(not future.done() for _, _, future in self._sleepers)

    def _release_until(self, instant: float) -> None:
        self._elapsed = instant
        while self._sleepers and self._sleepers[0][0] <= instant:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():  # done: the sleeper was cancelled
                future.set_result(None)
