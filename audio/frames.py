"""Hearth's internal audio format: 20 ms frames of 16 kHz mono int16."""

from collections import deque
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Protocol

SAMPLE_RATE = 16_000  # Hz
FRAME_MS = 20
FRAME_SAMPLES = SAMPLE_RATE * FRAME_MS // 1000  # 320
FRAME_BYTES = FRAME_SAMPLES * 2
SAMPLES_PER_MS = SAMPLE_RATE // 1000


@dataclass(frozen=True, slots=True)
class Frame:
    """20 ms of audio, with its position in the stream."""

    pcm: bytes  # FRAME_BYTES of little-endian int16, mono, 16 kHz
    start: int  # samples before this frame, counted from the source's first sample

    @property
    def end(self) -> int:
        return self.start + FRAME_SAMPLES


class FrameSource(Protocol):
    """A source of frames, such as a microphone or a file."""

    pulled: bool  # True if frames are made on request, so that none is lost by a late request

    def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield frames in order until the source ends.

        Raises InputUnusable if the source can't be opened, and DeviceLost if it stops.
        """
        ...


class Framer:
    """Cuts blocks of any length into frames and keeps the remainder."""

    def __init__(self, start: int = 0) -> None:
        """`start` is the position of the first frame, in samples."""
        self._rest = bytearray()
        self.start = start  # position of the next frame

    def push(self, pcm: bytes) -> Iterator[Frame]:
        """Add a block of 16 kHz mono int16 and yield every frame that it completes."""
        self._rest += pcm
        while len(self._rest) >= FRAME_BYTES:
            yield self._cut(bytes(self._rest[:FRAME_BYTES]))
            del self._rest[:FRAME_BYTES]

    def flush(self) -> Iterator[Frame]:
        """Yield the remainder, padded with silence, if there is one."""
        if self._rest:
            yield self._cut(bytes(self._rest).ljust(FRAME_BYTES, b"\0"))
            self._rest.clear()

    def _cut(self, pcm: bytes) -> Frame:
        frame = Frame(pcm, self.start)
        self.start += FRAME_SAMPLES
        return frame


class Ring:
    """A ring buffer of the newest frames. Positions are in samples of the stream."""

    def __init__(self, seconds: float = 3.0) -> None:
        self._frames: deque[Frame] = deque(maxlen=max(1, round(seconds * 1000 / FRAME_MS)))
        self.end = 0  # position after the newest sample

    def push(self, frame: Frame) -> None:
        """Add the next frame. If it doesn't directly follow the last one, the buffer is cleared
        first."""
        if frame.start != self.end:
            self._frames.clear()
        self._frames.append(frame)
        self.end = frame.end

    @property
    def start(self) -> int:
        return self._frames[0].start if self._frames else self.end

    def since(self, sample: int) -> bytes:
        """Return the audio from position `sample`, or from the oldest stored sample, as
        mono int16."""
        first = max(sample, self.start)
        newer = [frame for frame in self._frames if frame.end > first]
        if not newer:
            return b""
        return b"".join(frame.pcm for frame in newer)[(first - newer[0].start) * 2 :]


_GRID = 80 * SAMPLES_PER_MS  # a block
_SAY_AGAIN_S = 3600.0  # interval between reports of silence
SILENT_S = 3.0  # a working microphone doesn't give a constant value for this long


class Positions:
    """Cuts audio into frames whose positions skip gaps."""

    def __init__(self) -> None:
        self._framer = Framer()
        self._through_at: float | None = None  # when the last block was complete
        self._gap = False

    def gap(self) -> None:
        """Report that audio is missing before the next block. Without this call, blocks are joined
        however late they arrive, because a busy machine can deliver several at once."""
        self._gap = True

    def skip(self, seconds: float) -> None:
        """Advance the position by `seconds` of missing audio, rounded to 80 ms."""
        end = self._framer.start
        if seconds * 1000 < FRAME_MS / 2:
            return
        # Stay on the grid of 80 ms blocks, so that listeners don't wait for a partial block.
        blocks = max(round((end + seconds * SAMPLE_RATE) / _GRID), -(-end // _GRID))
        self._framer = Framer(blocks * _GRID)

    def frames(self, pcm: bytes, at: float, seconds: float) -> Iterator[Frame]:
        """Yield the frames of a block of 16 kHz mono int16, which is `seconds` long and was
        complete at time `at`."""
        if self._gap and self._through_at is not None:
            self.skip(at - seconds - self._through_at)
        self._gap = False
        self._through_at = at
        return self._framer.push(pcm)


class Silence:
    """Distinguishes digital silence from a quiet room."""

    def __init__(self) -> None:
        self._seconds = 0.0  # audio since a sample last changed
        self._said_at: float | None = None

    def hear(self, pcm: bytes, seconds: float) -> bool:
        """Process a block of mono int16. Returns True if no sample has changed for
        SILENT_S (3 s)."""
        same = pcm == pcm[:2] * (len(pcm) // 2)
        self._seconds = self._seconds + seconds if same else 0.0
        return self._seconds >= SILENT_S

    def is_news(self, now: float) -> bool:
        """Return True if the silence should be reported, at most once an hour. Some microphones are
        silent whenever nobody speaks."""
        if self._said_at is not None and now - self._said_at < _SAY_AGAIN_S:
            return False
        self._said_at = now
        return True

    def restart(self) -> None:
        self._seconds = 0.0
