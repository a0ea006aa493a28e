"""The part of the benchmark `notify` that runs with its own sound server.

    python tests/devices/pulse.py -- python -m tests.benchmarks._notify_device COUNT

Prints one JSON value: for each way the milliseconds from the arrival of each announcement until its
first sample has left the loudspeaker, as the device tells how much of it it still holds.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from audio.player import Player
from audio.speaker import Speaker
from audio.timing import LoopClock
from tests.benchmarks.notify import TIMEOUT_S, ways

LOOK_S = 0.001


async def _until_heard(stream: Player, before: float) -> float:
    """Return the time at which its first sample has left the loudspeaker (monotonic, in s)."""
    async with asyncio.timeout(TIMEOUT_S):
        while stream.played_ms <= before:
            await LoopClock().sleep(LOOK_S)
    return time.monotonic() - (stream.played_ms - before) / 1000


async def measure(count: int) -> dict[str, list[float]]:
    """Measure without a tone and by HTTP, with the device closed and while it is still open."""
    speaker, number = Speaker(), 0
    told: dict[str, list[float]] = {}
    stream = speaker.stream("announcements")
    with tempfile.TemporaryDirectory() as name:
        async with ways(Path(name), speaker) as doors:
            for state in ("closed", "open"):
                taken: list[float] = []
                told[f"POST with persist, device {state}"] = taken
                for attempt in range(count + 1):
                    while state == "closed" and not await speaker.release():
                        await LoopClock().sleep(LOOK_S)
                    before, sent = stream.played_ms, time.monotonic()
                    # No text comes twice, so all is synthesised.
                    await doors.by_name["POST with persist"](f"Load {number} is done.", False)
                    heard = await _until_heard(stream, before)
                    await doors.rest()
                    number += 1
                    if attempt:  # the first loads what all others find loaded
                        taken.append((heard - sent) * 1000)
    await speaker.close()
    return told


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
