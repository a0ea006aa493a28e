"""One turn's sound: from the mark on, growing until the turn's end, readable while it grows."""

import asyncio
from collections.abc import AsyncIterator

from audio.frames import SAMPLE_RATE

MAX_SECONDS = 25.0  # 20 s of listening plus what lay before the detection


class TurnAudio:
    """16 kHz mono int16, written by the listener, read by any number of brains from the start.

    Times inside are samples from the first one kept. Beyond MAX_SECONDS nothing more is kept.
    """

    def __init__(self, detection: int = 0) -> None:
        self.detection = detection  # samples from the start of this buffer to the wake detection
        self._pcm = bytearray()
        self._finished = asyncio.Event()
        self._grown = asyncio.Event()
        self._limit = int(MAX_SECONDS * SAMPLE_RATE) * 2

    def append(self, pcm: bytes) -> None:
        """Add what was just heard; ignored after `finish` and beyond the limit."""
        if not self._finished.is_set():
            self._pcm += pcm[: max(0, self._limit - len(self._pcm))]
            self._wake_readers()

    def finish(self) -> None:
        """The person has ended; nothing more will come."""
        self._finished.set()
        self._wake_readers()

    @property
    def pcm(self) -> bytes:
        """All that was kept so far."""
        return bytes(self._pcm)

    async def complete(self) -> bytes:
        """Wait for the end of the turn, then give all of it."""
        await self._finished.wait()
        return bytes(self._pcm)

    async def stream(self) -> AsyncIterator[bytes]:
        """All of it in pieces: first what is there, then what comes, until the end of the turn."""
        position = 0
        while True:
            piece = bytes(self._pcm[position:])
            if piece:
                position += len(piece)
                yield piece
            elif self._finished.is_set():
                return
            else:
                await self._grown.wait()

    def _wake_readers(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()
