"""A clock for tests that moves only when told to."""

import asyncio
from datetime import UTC, datetime, timedelta

from integrations.demo_home.surroundings import SystemClock


class HandClock(SystemClock):
    """Time that a test advances by hand; sleepers wake when their time has come."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    def now(self) -> datetime:
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has advanced that far."""
        awake = asyncio.Event()
        self._sleepers.append((self._now + timedelta(seconds=seconds), awake))
        await awake.wait()

    async def go(self, seconds: float) -> None:
        """Advance the time, wake the sleepers that are due, and let them run."""
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
