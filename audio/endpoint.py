"""Where speech begins and ends: a pure machine over the voice detector's probabilities."""

from collections import deque
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.vad.protocol import Voicing

START_ABOVE = 0.5  # probability of a chunk that begins speech ...
START_CHUNKS = 3  # ... when so many ...
START_WINDOW = 4  # ... of the last so many are: one click does not
STAY_ABOVE = (
    0.35  # probability that keeps speech going; lower, so that weak syllables do not end it
)
HANG_OVER_MS = 700  # silence that ends speech: a pause between words is shorter, mostly


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody began to speak."""

    at: int  # first sample of the first voiced chunk


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """They have been silent for the hang-over."""

    at: int  # sample behind the last voiced chunk: the last voiced sample
    decided_at: int  # sample at which this became known


class Endpointer:
    """Takes each chunk's probability, tells when speech starts and when it has ended, in turn."""

    def __init__(self, hang_over_ms: int = HANG_OVER_MS, chunk_samples: int = 512) -> None:
        """`chunk_samples`: the detector's. `hang_over_ms` may be set anew at any time."""
        self.hang_over_ms = hang_over_ms
        self._chunk = chunk_samples
        self._after = 0
        self._recent: deque[tuple[int, bool]] = deque(maxlen=START_WINDOW)  # (first sample, voiced)
        self._last_voiced: int | None = None  # None: nobody speaks

    @property
    def speaking(self) -> bool:
        """Between a start and its end."""
        return self._last_voiced is not None

    @property
    def last_voiced(self) -> int | None:
        """The sample behind the last voiced chunk of the speech under way, None without any."""
        return self._last_voiced

    def hear(self, voicing: Voicing) -> SpeechStarted | SpeechEnded | None:
        """Take the next chunk."""
        start = max(0, voicing.end - self._chunk)
        if start < self._after:
            return None
        if self._last_voiced is None:
            return self._await_start(start, voicing)
        return self._await_end(self._last_voiced, voicing)

    def reset(self, after: int = 0) -> None:
        """Nobody speaks; a chunk that begins before sample `after` does not count."""
        self._after = after
        self._recent.clear()
        self._last_voiced = None

    def _await_start(self, start: int, voicing: Voicing) -> SpeechStarted | None:
        self._recent.append((start, voicing.probability > START_ABOVE))
        voiced = [first for first, is_voiced in self._recent if is_voiced]
        if len(voiced) < START_CHUNKS:
            return None
        self._recent.clear()
        self._last_voiced = voicing.end
        return SpeechStarted(at=voiced[0])

    def _await_end(self, last_voiced: int, voicing: Voicing) -> SpeechEnded | None:
        if voicing.probability > STAY_ABOVE:
            self._last_voiced = voicing.end
            return None
        if voicing.end - last_voiced < self.hang_over_ms * SAMPLES_PER_MS:
            return None
        self._last_voiced = None
        return SpeechEnded(at=last_voiced, decided_at=voicing.end)
