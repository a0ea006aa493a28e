"""A simulated loudspeaker's output, sample by sample, with the time of each."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import numpy as np
from numpy.typing import NDArray

RATE = 48_000  # Hz, the simulated loudspeaker's own: nothing is resampled

Samples = NDArray[np.int16]


class Monitor:
    """A running recording; its samples are counted from its beginning."""

    def __init__(self) -> None:
        self._sound = bytearray()
        self._began = float("inf")  # seconds of the monotonic clock, at the latest

    def add(self, pcm: bytes) -> None:
        """Add what has just been played."""
        self._sound += pcm
        # Every piece is delayed by its transport; the least delayed one gives the beginning best.
        self._began = min(self._began, time.monotonic() - len(self._sound) / 2 / RATE)

    @property
    def sound(self) -> Samples:
        return self.since(0)

    @property
    def length(self) -> int:
        """Return the number of samples so far."""
        return len(self._sound) // 2

    def at(self, sample: int) -> float:
        """Return when a sample was played, or a few ms earlier, in seconds of the monotonic
        clock."""
        return self._began + sample / RATE

    def since(self, sample: int) -> Samples:
        """Return what was played from that sample on."""
        return np.frombuffer(bytes(self._sound[2 * sample :]), np.int16)

    async def more(self, seconds: float) -> Samples:
        """Return the sound of the next `seconds`."""
        begin = self.length
        while self.length < begin + seconds * RATE:  # noqa: ASYNC110  (nobody tells)
            await asyncio.sleep(0.01)
        return self.since(begin)


@asynccontextmanager
async def monitor(sink: str = "speaker") -> AsyncIterator[Monitor]:
    """Record it; the recording is live when the block starts, and ends with the sink."""
    process = await asyncio.create_subprocess_exec(
        "parecord",
        *(f"--device={sink}.monitor", "--raw", "--format=s16le", f"--rate={RATE}"),
        *("--channels=1", "--latency-msec=10"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    stream, heard = process.stdout, Monitor()

    async def listen() -> None:
        rest = b""
        while pcm := await stream.read(65536):
            whole = rest + pcm
            rest = whole[len(whole) // 2 * 2 :]
            heard.add(whole[: len(whole) // 2 * 2])

    listening = asyncio.create_task(listen())
    try:
        await heard.more(0.05)
        yield heard
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await listening
