"""A waiter's alarm clock: cheap to set again and again, for a moment or for news before it."""

import asyncio

from audio.clock import Clock


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
