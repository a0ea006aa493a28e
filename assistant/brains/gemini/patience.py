"""A time limit on the injected clock."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from assistant.domain.clock import Clock
from integrations.owner import OwnedTasks

T = TypeVar("T")


async def within(clock: Clock, seconds: float | None, work: Awaitable[T]) -> T:
    """What `work` gives. Raises TimeoutError when it takes longer; None: it may take for ever."""
    if seconds is None:
        return await work
    async with asyncio.timeout(None) as limit, OwnedTasks() as tasks:
        tasks.start(_ring(clock, seconds, limit), "time limit")
        return await work


async def _ring(clock: Clock, seconds: float, limit: asyncio.Timeout) -> None:
    await clock.sleep(seconds)
    limit.reschedule(asyncio.get_running_loop().time())
