"""A clock for tests that goes only when it is told to."""

import asyncio
from datetime import UTC, datetime, timedelta

from integrations.demo_home.surroundings import SystemClock


class HandClock(SystemClock):
    """Time that a test moves by hand; who sleeps wakes when its time has come."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    def now(self) -> datetime:
        """The time as it was set."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the hand has gone that far."""
        awake = asyncio.Event()
        self._sleepers.append((self._now + timedelta(seconds=seconds), awake))
        await awake.wait()

    async def go(self, seconds: float) -> None:
        """Move on, wake whose time has come and let them do their work."""
        await self.rest()
        self._now += timedelta(seconds=seconds)
        for due, awake in self._sleepers:
            if due <= self._now:
                awake.set()
        await self.rest()

    async def rest(self) -> None:
        """Let everything run that can."""
        for _ in range(10):
            await asyncio.sleep(0)
