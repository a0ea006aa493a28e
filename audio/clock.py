"""The little that sound needs to know of time."""

import asyncio
import time
from typing import Protocol


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
