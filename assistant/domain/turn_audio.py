"""One turn's sound: from the mark on, growing until the turn's end, readable while it grows."""

import asyncio
from collections.abc import AsyncGenerator

from audio.frames import SAMPLE_RATE

MAX_SECONDS = 25.0  # 20 s of listening plus what lay before the detection


class TurnAudio:
    """16 kHz mono int16, written by the listener, read by any number of brains from the start.

    Times inside are samples from the first one kept. Beyond MAX_SECONDS nothing more is kept.
    All methods belong to the event loop's thread.
    """

    def __init__(self, detection: int = 0, *, released: bool = True) -> None:
        """`released`: it may be streamed at once; else only from `release` on."""
        self.detection = detection  # samples from the start of this buffer to the wake detection
        self._released = released
        self._pcm = bytearray()
        self._finished = False
        self._abandoned = False
        self._taken: dict[object, int] = {}  # bytes, by each reader that reads just now
        self._changed = asyncio.Event()  # set and replaced after every change
        self._limit = int(MAX_SECONDS * SAMPLE_RATE) * 2

    def append(self, pcm: bytes) -> None:
        """Add what was just heard; ignored after `finish` or `abandon`, and beyond the limit."""
        if not self._over:
            self._pcm += pcm[: max(0, self._limit - len(self._pcm))]
            self._tell()

    def release(self) -> None:
        """The person speaks: what was kept so far is the beginning of a sentence.

        Until then nothing is streamed: after a false wake the room is nobody's business.
        """
        self._released = True
        self._tell()

    def finish(self) -> None:
        """The person has ended; nothing more will come. Ignored after `abandon`."""
        self._finished = not self._abandoned
        self._released |= self._finished
        self._tell()

    def abandon(self) -> None:
        """The turn is given up: no more is kept or given, and what there is is no sentence.

        A reader waits until the turn's own cancellation has come to it: it must not take the
        silence for the sentence's end, and answer half of it. Ignored after `finish`.
        """
        self._abandoned = not self._finished
        self._tell()

    @property
    def pcm(self) -> bytes:
        """All that was kept so far."""
        return bytes(self._pcm)

    async def complete(self) -> bytes:
        """Wait for the end of the turn, then give all of it."""
        while not self._finished:
            await self._changed.wait()
        return bytes(self._pcm)

    async def stream(self) -> AsyncGenerator[bytes]:
        """All of it in pieces: first what is there, then what comes, until the end of the turn.

        A reader that may leave early must close it (`contextlib.aclosing`): until it is closed or
        at its end it counts as reading, and holds up `taken`.
        """
        reader, position = object(), 0
        try:
            while True:
                if (
                    self._released
                    and not self._abandoned
                    and (piece := bytes(self._pcm[position:]))
                ):
                    position += len(piece)
                    self._taken[reader] = position
                    self._tell()
                    yield piece
                elif self._finished:
                    return
                else:
                    # Nothing is awaited between looking and waiting, so no change is missed.
                    self._taken[reader] = position
                    await self._changed.wait()
        finally:
            self._taken.pop(reader, None)
            self._tell()

    async def taken(self) -> None:
        """Return when every reader under way has taken all there is.

        For a source that can wait. A reader that has not begun, or has ended, holds up nobody; nor
        does any once the turn's sound is complete or given up.
        """
        while (
            self._released
            and not self._over
            and any(at < len(self._pcm) for at in self._taken.values())
        ):
            await self._changed.wait()

    @property
    def _over(self) -> bool:
        return self._finished or self._abandoned

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
