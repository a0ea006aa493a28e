"""The audio of one turn from its mark on. It grows until the turn ends."""

import asyncio
from collections.abc import AsyncGenerator

from audio.frames import SAMPLE_RATE

MAX_SECONDS = 25.0  # 20 s of listening plus the sound before the detection


class TurnAudio:
    """Mono int16 at 16 kHz, written by the listener and read by any number of brains from the
    start.

    Times are samples since the first one kept. Sound beyond MAX_SECONDS is dropped. All methods
    belong to the event loop's thread.
    """

    def __init__(self, detection: int = 0, *, released: bool = True) -> None:
        """If `released`, the audio may be streamed at once, otherwise only after `release`."""
        self.detection = detection  # samples from the start of this buffer to the wake detection
        self._released = released
        self._pcm = bytearray()
        self._finished = False
        self._abandoned = False
        self._taken: dict[object, int] = {}  # bytes read so far by each active reader
        self._changed = asyncio.Event()  # set and replaced after every change
        self._limit = int(MAX_SECONDS * SAMPLE_RATE) * 2

    def append(self, pcm: bytes) -> None:
        """Add sound. Ignored after `finish` or `abandon`, and beyond the limit."""
        if not self._over:
            self._pcm += pcm[: max(0, self._limit - len(self._pcm))]
            self._tell()

    def release(self) -> None:
        """Allow streaming, because the person has started to speak.

        Nothing is streamed before that, so that a false wake sends no sound of the room anywhere.
        """
        self._released = True
        self._tell()

    def finish(self) -> None:
        """Mark the end of the sentence; no more audio will come. Ignored after `abandon`."""
        self._finished = not self._abandoned
        self._released |= self._finished
        self._tell()

    def abandon(self) -> None:
        """Give up the turn: keep and deliver no more audio, and never treat it as a sentence.

        Readers wait until the turn's own cancellation reaches them. Otherwise they would take the
        silence for the end of the sentence and answer half of it. Ignored after `finish`.
        """
        self._abandoned = not self._finished
        self._tell()

    @property
    def pcm(self) -> bytes:
        """All sound kept so far."""
        return bytes(self._pcm)

    async def complete(self) -> bytes:
        """Wait for the end of the turn and return all of its audio."""
        while not self._finished:
            await self._changed.wait()
        return bytes(self._pcm)

    async def stream(self) -> AsyncGenerator[bytes]:
        """Yield all audio in pieces: first the audio so far, then new audio until the turn ends.

        A reader that may leave early must close the generator (`contextlib.aclosing`). Until it is
        closed or exhausted it counts as reading and holds up `taken`.
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
        """Return once every active reader has taken all the audio so far.

        For a source that can wait. Readers that have not begun or have ended are ignored, and so
        are all readers once the audio is complete or abandoned.
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
