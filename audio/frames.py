"""The one shape in which sound travels through Hearth: 20 ms frames of 16 kHz mono int16."""

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
    """20 ms of sound and its place in the stream."""

    pcm: bytes  # FRAME_BYTES of little-endian int16, mono, 16 kHz
    start: int  # samples before this frame, counted from the source's first sample

    @property
    def end(self) -> int:
        """Samples up to and including this frame."""
        return self.start + FRAME_SAMPLES


class FrameSource(Protocol):
    """Source of frames: a microphone, or a file that stands for one."""

    pulled: bool  # True: a frame is made when it is asked for, nothing is lost by asking late

    def frames(self) -> AsyncGenerator[Frame, None]:
        """Frames in order until the source ends.

        Raises InputUnusable when the source cannot be opened, DeviceLost when it stops.
        """
        ...


class Framer:
    """Cuts blocks of any length into frames and keeps the remainder."""

    def __init__(self, start: int = 0) -> None:
        """`start`: the position of the first frame, in samples."""
        self._rest = bytearray()
        self.start = start  # position of the next frame

    def push(self, pcm: bytes) -> Iterator[Frame]:
        """Take a block of 16 kHz mono int16, give every whole frame that it completes."""
        self._rest += pcm
        while len(self._rest) >= FRAME_BYTES:
            yield self._cut(bytes(self._rest[:FRAME_BYTES]))
            del self._rest[:FRAME_BYTES]

    def flush(self) -> Iterator[Frame]:
        """The remainder, filled up with silence, if there is one."""
        if self._rest:
            yield self._cut(bytes(self._rest).ljust(FRAME_BYTES, b"\0"))
            self._rest.clear()

    def _cut(self, pcm: bytes) -> Frame:
        frame = Frame(pcm, self.start)
        self.start += FRAME_SAMPLES
        return frame


class Ring:
    """Keeps the newest frames and drops the oldest. Positions are samples of the stream."""

    def __init__(self, seconds: float = 3.0) -> None:
        self._frames: deque[Frame] = deque(maxlen=max(1, round(seconds * 1000 / FRAME_MS)))
        self.end = 0  # position behind the newest sample

    def push(self, frame: Frame) -> None:
        """Add the next frame. One that does not follow on the last begins the ring anew."""
        if frame.start != self.end:
            self._frames.clear()
        self._frames.append(frame)
        self.end = frame.end

    @property
    def start(self) -> int:
        """Position of the oldest sample kept; equals `end` when the ring is empty."""
        return self._frames[0].start if self._frames else self.end

    def since(self, sample: int) -> bytes:
        """Mono int16 from that position, or from the oldest kept, up to now."""
        first = max(sample, self.start)
        newer = [frame for frame in self._frames if frame.end > first]
        if not newer:
            return b""
        return b"".join(frame.pcm for frame in newer)[(first - newer[0].start) * 2 :]


_GRID = 80 * SAMPLES_PER_MS  # a block
_SAY_AGAIN_S = 3600.0  # that it is silent
SILENT_S = 3.0  # of nothing but one value: no microphone in a room is as quiet as that


class Positions:
    """Cuts sound into frames whose positions go on over every gap, so that time never goes back."""

    def __init__(self) -> None:
        self._framer = Framer()
        self._through_at: float | None = None  # when the last block was complete
        self._gap = False

    def gap(self) -> None:
        """Sound is missing before the next block; how much, the clock says.

        Without this blocks follow on each other, however late they come: a busy machine hands
        several over at once.
        """
        self._gap = True

    def skip(self, seconds: float) -> None:
        """So much sound is missing before the next block, to the nearest 80 ms."""
        end = self._framer.start
        if seconds * 1000 < FRAME_MS / 2:
            return
        # On the grid of the blocks: whoever listens block by block has not to wait for a part.
        blocks = max(round((end + seconds * SAMPLE_RATE) / _GRID), -(-end // _GRID))
        self._framer = Framer(blocks * _GRID)

    def frames(self, pcm: bytes, at: float, seconds: float) -> Iterator[Frame]:
        """Frames of a block of 16 kHz mono that took so many seconds and was complete at `at`."""
        if self._gap and self._through_at is not None:
            self.skip(at - seconds - self._through_at)
        self._gap = False
        self._through_at = at
        return self._framer.push(pcm)


class Silence:
    """Tells digital silence from a quiet room."""

    def __init__(self) -> None:
        self._seconds = 0.0  # of sound since a value changed
        self._said_at: float | None = None

    def hear(self, pcm: bytes, seconds: float) -> bool:
        """Take a block of mono int16; whether nothing has moved for SILENT_S by now."""
        same = pcm == pcm[:2] * (len(pcm) // 2)
        self._seconds = self._seconds + seconds if same else 0.0
        return self._seconds >= SILENT_S

    def is_news(self, now: float) -> bool:
        """Tell if it is news to a person. Some microphones are silent whenever nobody speaks."""
        if self._said_at is not None and now - self._said_at < _SAY_AGAIN_S:
            return False
        self._said_at = now
        return True

    def restart(self) -> None:
        """Count anew."""
        self._seconds = 0.0
