"""Clocks, waits, retry intervals, and blocking calls with a time limit."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar


class Clock(Protocol):
    """A clock that tests can replace with a virtual one."""

    def monotonic(self) -> float:
        """Return a time in seconds that never decreases."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when this clock has advanced by `seconds`."""
        ...


class LoopClock:
    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Alarm:
    """Waits for a signal until a deadline. Extending the deadline is cheap."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._news = asyncio.Event()
        self._at = 0.0  # when to wake, in seconds of the clock
        self._asleep_until = 0.0
        self._sleeping: asyncio.Task[None] | None = None

    def ring(self) -> None:
        """End the current wait or, if there is none, the next one. Call this on the event loop."""
        self._news.set()

    async def wait(self, until: float) -> None:
        """Return when the clock reaches `until`, or earlier if `ring` is called."""
        if self._news.is_set() or until <= self._clock.monotonic():
            await asyncio.sleep(0)  # a loop around this must not starve other tasks
        else:
            self._set(until)
            await self._news.wait()
        self._news.clear()

    def close(self) -> None:
        if self._sleeping is not None:
            self._sleeping.cancel()
            self._sleeping = None

    def _set(self, at: float) -> None:
        self._at = at
        if self._sleeping is not None and not self._sleeping.done():
            if self._asleep_until <= at:
                return
            self._sleeping.cancel()
        self._asleep_until = at
        self._sleeping = asyncio.create_task(self._sleep(), name="alarm")

    async def _sleep(self) -> None:
        while (left := self._at - self._clock.monotonic()) > 0:
            self._asleep_until = self._at
            await self._clock.sleep(left)
        self._news.set()


SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 2.0  # between attempts to open a device


class BackOff:
    """Schedules attempts to open a device: the first immediately, then at growing intervals."""

    def __init__(self, now: float) -> None:
        """`now` is the clock's time in seconds, as in the other methods."""
        self.at = now
        self._tried_at = now
        self._pause_s = 0.0

    def tried(self, now: float) -> None:
        """Record that an attempt has ended, successfully or not."""
        self._tried_at = now
        self._pause_s = min(max(2 * self._pause_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        self.at = now + self._pause_s

    def lost(self, now: float) -> None:
        """Record that the opened device was lost."""
        self.at = max(now, self._tried_at + self._pause_s)

    def news(self, now: float) -> None:
        """Record a device change, after which an attempt may succeed."""
        self.at = min(self.at, max(now, self._tried_at + SHORTEST_PAUSE_S))

    def settle(self) -> None:
        """Reset the interval, so that the next attempt counts as the first."""
        self._pause_s = 0.0


Result = TypeVar("Result")

LONGEST_S = 5.0
MOST_STUCK = 3  # with this many stuck calls, no more are made


class CallStuck(Exception):
    """A call did not return in time, or was not made because too many others are stuck."""


class BoundedCalls:
    """Runs blocking calls off the event loop, and abandons any that exceed `longest_s`. The thread
    of an abandoned call can't be stopped, but it doesn't keep the process from exiting."""

    def __init__(self, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self.abandoned = 0  # number of calls abandoned so far
        self._stuck: set[threading.Thread] = set()
        self._left: set[threading.Thread] = set()  # threads of cancelled calls

    @property
    def stuck(self) -> int:
        """Number of abandoned calls that still have not returned."""
        self._stuck = {thread for thread in self._stuck if thread.is_alive()}
        return len(self._stuck)

    @property
    def exhausted(self) -> bool:
        return self.stuck >= MOST_STUCK

    async def call(
        self, work: Callable[[], Result], late: Callable[[], None] | None = None
    ) -> Result:
        """Run `work` in a thread, and return its result or raise its error. Raises CallStuck if
        `work` is abandoned or can't be run. `late` is called if `work` returns after the caller has
        stopped waiting."""
        if self.exhausted:
            raise CallStuck
        job = _Job(work, late)
        try:
            await asyncio.wait({job.done}, timeout=self._longest_s)
        except asyncio.CancelledError:
            self._left.add(job.leave_for_good())
            raise
        if job.done.done() or not job.leave():
            return await job.done
        self.abandoned += 1
        self._stuck.add(job.thread)
        raise CallStuck

    async def rest(self) -> None:
        """Wait for cancelled calls to return, for at most `longest_s` seconds."""
        ended = [asyncio.to_thread(thread.join, self._longest_s) for thread in self._left]
        await asyncio.gather(*ended)
        self._left.clear()


class _Job(Generic[Result]):
    """A call in its own thread. Either the returning call or the caller that stops waiting takes
    the token, and so each knows whether it came first."""

    def __init__(self, work: Callable[[], Result], late: Callable[[], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._work = work
        self._late = late or (lambda: None)
        self._token = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="sound-call", daemon=True)
        self.thread.start()

    def leave(self) -> bool:
        return self._token.acquire(blocking=False)

    def leave_for_good(self) -> threading.Thread:
        """Discard the result, even if it is being delivered. Returns the thread that cleans up."""
        if self.leave():
            return self.thread
        clearing = threading.Thread(target=self._late, name="sound-call", daemon=True)
        clearing.start()
        return clearing

    def _run(self) -> None:
        try:
            settle = partial(self._succeed, self._work())
        except Exception as error:  # the caller gets it
            settle = partial(self._fail, error)
        if not self._token.acquire(blocking=False):
            self._late()
            return
        # If the event loop has ended, nobody needs the result.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(settle)

    def _succeed(self, result: Result) -> None:
        if not self.done.cancelled():
            self.done.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not self.done.cancelled():
            self.done.set_exception(error)
