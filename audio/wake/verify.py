"""A second opinion: the other engine looks at what made the first one fire, and may refuse it."""

from collections import deque
from collections.abc import Mapping, Sequence

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES
from audio.wake.protocol import Detection, NearMiss, WakeEngine

LOOK_MS = 2_000  # of sound that the other engine looks at, and then ...
# ... of silence: measured, without it a third of the words fire before the other engine's score
# has come up; with half of it a seventh; with more no fewer.
_SILENCE_MS = 240
REFUSED_BELOW = 0.05  # of its score: only what is nothing at all to it


class VerifiedWake:
    """A WakeEngine whose detections another engine may refuse.

    That engine hears nothing but what it looks at; then it hears silence again, with the next frame
    rather than before the answer. Words that it does not know are not looked at. A refusal is a
    near miss, and like a detection keeps the engine silent for the refractory time.
    """

    def __init__(self, engine: WakeEngine, other: WakeEngine) -> None:
        self._engine = engine
        self._other = other
        self._heard: deque[tuple[bytes, int]] = deque(maxlen=LOOK_MS // FRAME_MS)
        self._refused: list[NearMiss] = []
        self._looked = False  # the other engine has not heard silence since

    @property
    def score(self) -> float:
        """The highest score of any word."""
        return self._engine.score

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each word."""
        return self._engine.scores

    @property
    def closeness(self) -> float:
        """How near the nearest word is to firing."""
        return self._engine.closeness

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Take the next frame; one that makes the first engine fire takes up to 150 ms."""
        if self._looked:
            self._looked = False
            self._other.restart()
        self._heard.append((pcm, end))
        found = self._engine.hear(pcm, end)
        if found is None or found.word not in self._other.scores:
            return found
        if self._look(found.word) >= REFUSED_BELOW:
            return found
        # It fired, so it came as near as can be.
        self._refused.append(NearMiss(found.word, found.score, self._engine.closeness, found.at))
        return None

    def near_misses(self) -> list[NearMiss]:
        """Those since the last call, refusals among them."""
        refused, self._refused = self._refused, []
        return [*self._engine.near_misses(), *refused]

    def strict(self, on: bool) -> None:
        """Ask the first engine for more certainty, or no longer."""
        self._engine.strict(on)

    def restart(self) -> None:
        """Another stream begins."""
        self._heard.clear()
        self._looked = False
        self._engine.restart()
        self._other.restart()

    def close(self) -> None:
        """Give up both engines' native resources."""
        self._engine.close()
        self._other.close()

    def _look(self, word: str) -> float:
        self._looked = True
        return second_score(self._other, list(self._heard), word)


def second_score(engine: WakeEngine, frames: Sequence[tuple[bytes, int]], word: str) -> float:
    """The best score that the engine gives the word in frames and their ends, in some 100 ms.

    The engine must have heard silence before. Afterwards it has to be restarted.
    """
    best, end = 0.0, frames[-1][1]
    silence = [
        (bytes(FRAME_BYTES), end + number * FRAME_SAMPLES)
        for number in range(1, _SILENCE_MS // FRAME_MS + 1)
    ]
    for frame in (*frames, *silence):
        engine.hear(*frame)
        best = max(best, engine.scores[word])
    return best
