"""What every wake-word engine does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS


@dataclass(frozen=True, slots=True)
class Detection:
    """A wake word was heard."""

    word: str  # as configured, e.g. "okay_nabu"
    score: float  # 0 to 1
    at: int  # sample index (16 kHz) at which the engine fired
    mark: int  # sample index from which the turn's sound is kept: `at` less the lead, at least 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A wake word came near and was not taken for one."""

    word: str
    score: float  # at its peak, 0 to 1
    closeness: float  # the same as a fraction of the threshold; above 1 where a verifier refused it
    at: int  # sample index (16 kHz) of the peak


class WakeEngine(Protocol):
    """Listens for one or more words in a continuous stream."""

    @property
    def score(self) -> float:
        """The highest score of any word in the last frame given, 0 to 1."""
        ...

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each word in the last frame given, 0 to 1."""
        ...

    @property
    def closeness(self) -> float:
        """How near the nearest word came to firing in the last frame given: above 1 it fires.

        A detection's refractory time does not show in it.
        """
        ...

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Take the next frame (FRAME_BYTES) that ends at sample `end`.

        After a detection the engine stays silent for its refractory time (2 s of sound).
        """
        ...

    def near_misses(self) -> list[NearMiss]:
        """Those since the last call; at most one within 2 s of sound."""
        ...

    def strict(self, on: bool) -> None:
        """Ask for more certainty, as while we speak or music plays, or no longer."""
        ...

    def restart(self) -> None:
        """Another stream begins, its time at 0: forget the last one. Takes up to 0.2 s."""
        ...

    def close(self) -> None:
        """Give up native resources. Must not be used afterwards."""
        ...


# From the scores of the words to detections: thresholds, the mark, and the pause after one.


Sensitivity = Literal["low", "normal", "high"]
REFRACTORY = 2 * SAMPLE_RATE  # samples; longer than any engine's memory of a word
NEAR = 0.5  # of a word's threshold: a peak above it that does not fire is a near miss
STRICT = 0.5  # of the way from a threshold to certainty that is left while strict

_AGAIN = 2 * SAMPLE_RATE  # samples between two near misses
_FALLEN = NEAR / 2


class Trigger:
    """Judges each frame's scores. Within REFRACTORY samples of a detection there is no other."""

    def __init__(self, thresholds: Mapping[str, float], lead_ms: int) -> None:
        """`thresholds`: a word fires above its own. `lead_ms`: how far before that the mark is."""
        self._usual = dict(thresholds)
        self._thresholds = self._usual
        self._lead = lead_ms * SAMPLES_PER_MS
        self._deaf_until = 0  # sample
        self._misses = _Misses()

    def strict(self, on: bool) -> None:
        """Ask for more certainty, or for as much as usual."""
        self._thresholds = (
            {word: 1 - (1 - usual) * STRICT for word, usual in self._usual.items()}
            if on
            else self._usual
        )

    def closeness(self, scores: Mapping[str, float]) -> float:
        """The highest score as a fraction of its word's threshold."""
        return max(score / self._thresholds[word] for word, score in scores.items())

    def judge(self, scores: Mapping[str, float], end: int) -> Detection | None:
        """The word that is furthest above its threshold at sample `end`, if one is."""
        if end < self._deaf_until:
            return None
        above = {word: score - self._thresholds[word] for word, score in scores.items()}
        word = max(above, key=above.__getitem__)
        if above[word] <= 0:
            nearest = max(scores, key=lambda word: scores[word] / self._thresholds[word])
            near = NearMiss(
                nearest, scores[nearest], scores[nearest] / self._thresholds[nearest], end
            )
            self._misses.take(near)
            return None
        self._misses.forget()
        self._deaf_until = end + REFRACTORY
        return Detection(word, scores[word], at=end, mark=max(0, end - self._lead))

    def near_misses(self) -> list[NearMiss]:
        """Those since the last call."""
        return self._misses.told()

    def restart(self) -> None:
        """Sample counts begin anew."""
        self._deaf_until = 0
        self._misses = _Misses()


class _Misses:
    """Finds the peaks that did not fire."""

    def __init__(self) -> None:
        self._peak: NearMiss | None = None
        self._next_at = 0  # sample
        self._found: list[NearMiss] = []

    def take(self, now: NearMiss) -> None:
        """How near the nearest word is."""
        if self._peak is None:
            self._peak = now if now.closeness > NEAR else None
        elif now.closeness > self._peak.closeness:
            self._peak = now
        elif now.closeness < _FALLEN:
            if self._peak.at >= self._next_at:
                self._found.append(self._peak)
                self._next_at = self._peak.at + _AGAIN
            self._peak = None

    def forget(self) -> None:
        """What came near has fired."""
        self._peak = None

    def told(self) -> list[NearMiss]:
        """Those found since the last call."""
        found, self._found = self._found, []
        return found
