"""Attempts to open a Live session. An attempt can outlast the turn that waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from assistant.brains.gemini.connection import LiveConnection
from assistant.brains.gemini.lifecycle import LiveTimeouts, within
from assistant.domain.clock import Clock
from integrations.errors import IntegrationError, Unavailable
from integrations.owner import OwnedTasks

Work = Coroutine[Any, Any, LiveConnection | IntegrationError | None]


class SessionAttempts:
    """Runs attempts in separate tasks, one at a time.

    An attempt continues after its turn has given up waiting, so that the next turn can use the
    session.
    """

    def __init__(self, tasks: OwnedTasks, clock: Clock, timeouts: LiveTimeouts) -> None:
        self._tasks = tasks
        self._clock = clock
        self._timeouts = timeouts
        self._task: asyncio.Task[LiveConnection | IntegrationError | None] | None = None
        self._began_at = 0.0

    @property
    def under_way(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self, work: Work) -> "asyncio.Task[LiveConnection | IntegrationError | None]":
        """Start an attempt. Call this only when no other attempt is running."""
        self._task = self._tasks.start(work, "gemini-live connect")
        self._began_at = self._clock.monotonic()
        return self._task

    async def wait_for_earlier(self) -> None:
        """Wait for the running attempt. Cancels it if it is overdue and takes even longer.

        Raises TimeoutError if it becomes overdue during this wait.
        """
        if self._task is None or self._task.done():
            return
        overdue = self._clock.monotonic() >= self._began_at + self._timeouts.connect_s
        limit_s = self._timeouts.overdue_s if overdue else self._timeouts.connect_s
        try:
            await within(self._clock, limit_s, asyncio.wait([self._task]))
        except TimeoutError:
            if not overdue:
                raise
            await self.drop()

    async def session(self, work: Work) -> LiveConnection:
        """Start an attempt and return its session. Raises IntegrationError."""
        attempt = self.begin(work)
        await asyncio.wait([attempt])  # unlike `await attempt`, doesn't cancel it
        result = None if attempt.cancelled() else attempt.result()
        if not isinstance(result, LiveConnection):
            raise result or Unavailable("The attempt to connect to Gemini was given up.")
        return result

    async def drop(self) -> None:
        """Cancel the running attempt."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
