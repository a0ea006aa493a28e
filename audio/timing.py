"""The little that sound needs to know of time."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar


class Clock(Protocol):
    """A clock that can be replaced by a virtual one."""

    def monotonic(self) -> float:
        """Seconds that never jump back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many of its seconds."""
        ...


class LoopClock:
    """Real time."""

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Alarm:
    """Wait for news, or for a moment at the latest.

    Setting a later moment costs nothing: its one task sleeps through to the moment asked for
    before, and then for the rest.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._news = asyncio.Event()
        self._at = 0.0  # when to wake, seconds of the clock
        self._asleep_until = 0.0
        self._sleeping: asyncio.Task[None] | None = None

    def ring(self) -> None:
        """There is news: end the wait, or the next one if nobody waits. On the loop."""
        self._news.set()

    async def wait(self, until: float) -> None:
        """Return at the moment `until` of the clock, or once there is news."""
        if self._news.is_set() or until <= self._clock.monotonic():
            await asyncio.sleep(0)  # whoever loops on this must not starve the others
        else:
            self._set(until)
            await self._news.wait()
        self._news.clear()

    def close(self) -> None:
        """Nobody waits any more."""
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


SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 2.0  # between two attempts to open it


class BackOff:
    """When the next attempt to open it is due: at once, and then ever later while they fail."""

    def __init__(self, now: float) -> None:
        """Times are seconds of the clock."""
        self.at = now
        self._tried_at = now
        self._pause_s = 0.0

    def tried(self, now: float) -> None:
        """An attempt has ended, well or not."""
        self._tried_at = now
        self._pause_s = min(max(2 * self._pause_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        self.at = now + self._pause_s

    def lost(self, now: float) -> None:
        """Note that what was opened is gone. One that goes again is opened ever more slowly."""
        self.at = max(now, self._tried_at + self._pause_s)

    def news(self, now: float) -> None:
        """Something has changed: it may work now."""
        self.at = min(self.at, max(now, self._tried_at + SHORTEST_PAUSE_S))

    def settle(self) -> None:
        """All is well, or may be: the next attempt is the first."""
        self._pause_s = 0.0


Result = TypeVar("Result")

LONGEST_S = 5.0
MOST_STUCK = 3  # at once; a sound system that holds so many calls gets no further one


class CallStuck(Exception):
    """A call has not returned in time; its thread was left to itself."""


class BoundedCalls:
    """Make blocking calls off the loop, each within LONGEST_S; a longer one is abandoned.

    Its thread cannot be ended; it does not keep the process from ending.
    """

    def __init__(self, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self.abandoned = 0  # calls that were left to themselves so far
        self._stuck: set[threading.Thread] = set()
        self._left: set[threading.Thread] = set()  # of calls that were cancelled

    @property
    def stuck(self) -> int:
        """Count of the abandoned calls that have not returned yet."""
        self._stuck = {thread for thread in self._stuck if thread.is_alive()}
        return len(self._stuck)

    @property
    def exhausted(self) -> bool:
        """So many of them that no call is made any more."""
        return self.stuck >= MOST_STUCK

    async def call(
        self, work: Callable[[], Result], late: Callable[[], None] | None = None
    ) -> Result:
        """Return or raise what `work` does. `late` runs behind it when nobody waits any more.

        Raises CallStuck.
        """
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
        """Let the calls return that were cancelled, LONGEST_S at most."""
        ended = [asyncio.to_thread(thread.join, self._longest_s) for thread in self._left]
        await asyncio.gather(*ended)
        self._left.clear()


class _Job(Generic[Result]):
    """One call in its thread. Whichever is first takes the token: the return, or who leaves."""

    def __init__(self, work: Callable[[], Result], late: Callable[[], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._work = work
        self._late = late or (lambda: None)
        self._token = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="sound-call", daemon=True)
        self.thread.start()

    def leave(self) -> bool:
        """Nobody waits any more; what comes now is late. False: the result is on its way."""
        return self._token.acquire(blocking=False)

    def leave_for_good(self) -> threading.Thread:
        """Nobody wants the result, though it may be on its way. The thread that clears up."""
        if self.leave():
            return self.thread
        clearing = threading.Thread(target=self._late, name="sound-call", daemon=True)
        clearing.start()
        return clearing

    def _run(self) -> None:
        try:
            settle = partial(self._succeed, self._work())
        except Exception as error:  # it belongs to whoever called
            settle = partial(self._fail, error)
        if not self._token.acquire(blocking=False):
            self._late()
            return
        # The loop may be over: then nobody misses it.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(settle)

    def _succeed(self, result: Result) -> None:
        if not self.done.cancelled():
            self.done.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not self.done.cancelled():
            self.done.set_exception(error)
