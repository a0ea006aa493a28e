"""The time as the simulated house needs it."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Protocol

# Starts something that waits, in the owner's task group.
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class Clock(Protocol):
    """What the house reads and waits by."""

    def now(self) -> datetime:
        """The wall clock, with a time zone."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The wall clock in the machine's zone."""
        return datetime.now().astimezone()

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        await asyncio.sleep(seconds)
