"""From the scores of the words to detections: thresholds, the mark, and the pause after one."""

from collections.abc import Mapping
from typing import Literal

from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS
from audio.wake.protocol import Detection

Sensitivity = Literal["low", "normal", "high"]
REFRACTORY = 2 * SAMPLE_RATE  # samples; longer than any engine's memory of a word


class Trigger:
    """Judges each frame's scores. Within REFRACTORY samples of a detection there is no other."""

    def __init__(self, thresholds: Mapping[str, float], lead_ms: int) -> None:
        """`thresholds`: a word fires above its own. `lead_ms`: how far before that the mark is."""
        self._thresholds = thresholds
        self._lead = lead_ms * SAMPLES_PER_MS
        self._deaf_until = 0  # sample

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
            return None
        self._deaf_until = end + REFRACTORY
        return Detection(word, scores[word], at=end, mark=max(0, end - self._lead))

    def restart(self) -> None:
        """Sample counts begin anew."""
        self._deaf_until = 0
