"""Tests of the measured lag of the event loop."""

import asyncio
import time

from assistant.app.process import LoopLag


async def test_a_loop_that_is_held_up_is_seen() -> None:
    told: list[float] = []
    seen = asyncio.Event()

    def note(lag_s: float) -> None:
        told.append(lag_s)
        if lag_s >= 0.05:
            seen.set()

    lag = LoopLag(every_s=0.01)
    lag.on_lag = note
    async with lag:
        await asyncio.sleep(0)  # it has begun to sleep
        time.sleep(0.1)  # noqa: ASYNC251  # what nobody should do
        await asyncio.wait_for(seen.wait(), 5.0)
    assert lag.worst_s >= 0.05
    assert max(told) == lag.worst_s
