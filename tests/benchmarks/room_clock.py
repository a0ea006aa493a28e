"""Times of sounds at the simulated microphone, by a separate recorder beside the others.

Its first sample's moment is the earliest that its pieces allow, so all moments are late by what a
piece of sound takes through the sound server, at least: about 10 ms, the same for all.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav
from integrations.owner import OwnedTasks
from tests.devices.similarity import where

_PIECE = 4096  # bytes that are read at once, at most
_BEHIND_S = 0.3  # of the room, recorded after the clip
_RECORD = (
    *("parec", "--rate=16000", "--channels=1", "--format=s16le", "--raw"),
    "--latency-msec=10",
)


class RoomClock:
    """The microphone's sound since the recorder was started, and its times."""

    def __init__(self) -> None:
        self._pcm = bytearray()
        self._began = float("inf")  # seconds of the monotonic clock, of the first sample

    def take(self, pcm: bytes, now: float) -> None:
        """Add the next piece, which has just come."""
        self._pcm += pcm
        self._began = min(self._began, now - len(self._pcm) / 2 / SAMPLE_RATE)

    @property
    def samples(self) -> int:
        """Return the number of samples so far."""
        return len(self._pcm) // 2

    def began(self, clip: bytes, first: int) -> float:
        """Return when the clip began, which was played somewhere after sample `first`."""
        sample = first + where(bytes(self._pcm[first * 2 :]), clip)
        return self._began + sample / SAMPLE_RATE


@asynccontextmanager
async def room_clock(sound: Mapping[str, str]) -> AsyncIterator[RoomClock]:
    """Record for as long as the context lasts, half an hour at the most in 60 MB."""
    process = await asyncio.create_subprocess_exec(
        *_RECORD, env=dict(sound), stdout=asyncio.subprocess.PIPE
    )
    clock = RoomClock()
    try:
        async with OwnedTasks() as tasks:
            tasks.start(_record(process, clock), "the room's clock")
            yield clock
    finally:
        process.terminate()
        await process.wait()


async def say(clip: Path, clock: RoomClock, sound: Mapping[str, str]) -> float:
    """Play the clip in the room and return the moment at which it began."""
    first = clock.samples
    player = await asyncio.create_subprocess_exec(
        *("paplay", "--device=micsink", str(clip)), env=dict(sound)
    )
    if await player.wait() != 0:
        raise RuntimeError(f"paplay could not play {clip.name}")
    await asyncio.sleep(_BEHIND_S)
    return clock.began(read_wav(clip), first)


async def _record(process: asyncio.subprocess.Process, clock: RoomClock) -> None:
    assert process.stdout is not None
    while pcm := await process.stdout.read(_PIECE):
        clock.take(pcm, time.monotonic())
