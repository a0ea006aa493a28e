"""The audio of one turn, which brains can read while it is being recorded."""

import asyncio
from collections.abc import AsyncGenerator

from audio.frames import SAMPLE_RATE

MAX_SECONDS = 25.0  # 20 s of listening plus the audio before the detection


class TurnAudio:
    """The audio of a turn, as mono int16 at 16 kHz. Audio beyond MAX_SECONDS is dropped.

    Positions are counted in samples from the first sample that is kept. All methods must be called
    on the event loop's thread.
    """

    def __init__(self, detection: int = 0, *, released: bool = True) -> None:
        self.detection = detection  # position of the wake detection, in samples
        self._released = released
        self._pcm = bytearray()
        self._finished = False
        self._abandoned = False
        self._taken: dict[object, int] = {}  # bytes read so far by each active reader
        self._changed = asyncio.Event()  # set and replaced after every change
        self._limit = int(MAX_SECONDS * SAMPLE_RATE) * 2

    def append(self, pcm: bytes) -> None:
        """Append audio. Ignored after `finish` or `abandon`, and beyond the limit."""
        if not self._over:
            self._pcm += pcm[: max(0, self._limit - len(self._pcm))]
            self._tell()

    def release(self) -> None:
        """Allow streaming, because the person has started to speak. Until then, nothing is
        streamed, so that a false wake doesn't send audio from the room to the cloud."""
        self._released = True
        self._tell()

    def finish(self) -> None:
        """Mark the end of the sentence, after which no audio is added. Ignored after `abandon`."""
        self._finished = not self._abandoned
        self._released |= self._finished
        self._tell()

    def abandon(self) -> None:
        """Give up the turn: keep and stream no more audio. Ignored after `finish`.

        Readers keep waiting until the turn is cancelled. If their streams ended instead, they would
        answer half a sentence.
        """
        self._abandoned = not self._finished
        self._tell()

    @property
    def pcm(self) -> bytes:
        return bytes(self._pcm)

    async def complete(self) -> bytes:
        """Wait for the end of the sentence and return all of its audio."""
        while not self._finished:
            await self._changed.wait()
        return bytes(self._pcm)

    async def stream(self) -> AsyncGenerator[bytes]:
        """Yield the audio in chunks: first everything so far, then new audio until the end.

        A reader that stops early must close the generator (`contextlib.aclosing`), because until
        then it blocks `taken`.
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
                    # No await between the check and the wait, so no change is missed.
                    self._taken[reader] = position
                    await self._changed.wait()
        finally:
            self._taken.pop(reader, None)
            self._tell()

    async def taken(self) -> None:
        """Wait until every active reader has read all the audio so far. Returns immediately if
        streaming isn't allowed yet, or if the audio is complete or abandoned."""
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
