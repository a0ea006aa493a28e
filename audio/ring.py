"""The last seconds of sound, for looking back."""

from collections import deque

from audio.frames import FRAME_MS, Frame


class Ring:
    """Keeps the newest frames and drops the oldest. Positions are samples of the stream."""

    def __init__(self, seconds: float = 3.0) -> None:
        self._frames: deque[Frame] = deque(maxlen=max(1, round(seconds * 1000 / FRAME_MS)))
        self._end = 0

    def push(self, frame: Frame) -> None:
        """Add the next frame. One that does not follow on the last begins the ring anew."""
        if frame.start != self._end:
            self._frames.clear()
        self._frames.append(frame)
        self._end = frame.end

    @property
    def start(self) -> int:
        """Position of the oldest sample kept; equals `end` when the ring is empty."""
        return self._frames[0].start if self._frames else self._end

    @property
    def end(self) -> int:
        """Position behind the newest sample."""
        return self._end

    def since(self, sample: int) -> bytes:
        """Mono int16 from that position, or from the oldest kept, up to now."""
        first = max(sample, self.start)
        newer = [frame for frame in self._frames if frame.end > first]
        if not newer:
            return b""
        return b"".join(frame.pcm for frame in newer)[(first - newer[0].start) * 2 :]
