"""A wake engine that does not run while the room is silent, and loses nothing by it."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, SAMPLES_PER_MS
from audio.gate import EnergyGate
from audio.wake import REFRACTORY, Detection, NearMiss, WakeEngine

LOOK_BACK_MS = 1_000  # at least
# What is skipped is a multiple of this, which is one of the engines' steps of 30 and 80 ms too, so
# that those fall as if nothing had been.
_STEP_MS = 240
_SILENCE = bytes(FRAME_BYTES)
_BLOCK = 80 * SAMPLES_PER_MS  # what a microphone gives at a time, and the step of open


class _Wrapper:
    """Tells what the engine inside tells."""

    def __init__(self, engine: WakeEngine) -> None:
        self._engine = engine

    @property
    def score(self) -> float:
        return self._engine.score

    @property
    def scores(self) -> Mapping[str, float]:
        return self._engine.scores

    @property
    def closeness(self) -> float:
        return self._engine.closeness

    def near_misses(self) -> list[NearMiss]:
        return self._engine.near_misses()

    def strict(self, on: bool) -> None:
        self._engine.strict(on)

    def close(self) -> None:
        self._engine.close()


class GatedWake(_Wrapper):
    """A WakeEngine before which a gate stands. When it opens, the engine hears what came before.

    What the engine has not heard is skipped: it was as silent as what it heard last. Positions are
    those of the frames, whenever the engine is given them. A gap in them, of a microphone that was
    away, is silence to the engine: else it would fire once more, behind the gap, at the word that
    it heard last.
    """

    def __init__(self, engine: WakeEngine) -> None:
        super().__init__(engine)
        self._gate = EnergyGate()
        # Frames that the engine was not given, each with its end.
        self._unheard: deque[tuple[bytes, int]] = deque()
        self._end = 0
        self._gap = range(0)  # ends of frames that nobody heard, and the engine does not know of
        self._unjudged = b""  # the newest of them, of which the gate has not heard yet

    @property
    def open(self) -> bool:
        """Tell whether the engine heard the last frame."""
        return self._gate.open

    def pass_by(self, pcm: bytes, end: int) -> bool:
        """Take the next frame if the engine need not hear it now, in microseconds.

        It need not in silence, nor within a block: gate and engine hear the block with the last
        frame of it. False: `hear` must take this frame.
        """
        if end != self._end:
            self._keep(pcm, end)
        return not self._gap and (bool(end % _BLOCK) or not self._judge())

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Take the next frame that ends at sample `end`, or the one that could not pass by."""
        if end != self._end:
            self._keep(pcm, end)
        gap, self._gap = self._gap, range(0)
        for missed in gap:
            self._engine.hear(_SILENCE, missed)  # a word that ends there is not known to be whole
        if not self._judge():
            return None
        found = None
        while self._unheard:
            # Less than the refractory time is ever kept, so there can be only one.
            found = self._engine.hear(*self._unheard.popleft()) or found
        return found

    def exchange(
        self, engine: WakeEngine, past: Iterable[tuple[bytes, int]]
    ) -> tuple[WakeEngine, Detection | None]:
        """Another engine takes over, and no frame is lost: it hears what the one before it has
        heard last and then what that one was not given.

        `past`: the frames so far, each with its end; no more than the refractory time. Returns the
        engine before, and what the past makes the new one fire at, which may have been told.
        """
        before, self._engine = self._engine, engine
        found, unheard = None, {end for _, end in self._unheard}
        for pcm, end in past:
            if end not in unheard:
                found = engine.hear(pcm, end) or found
        engine.near_misses()
        return before, found

    def restart(self) -> None:
        """Another stream begins."""
        self._gate.restart()
        self._unheard.clear()
        self._end = 0
        self._gap = range(0)
        self._unjudged = b""
        self._engine.restart()

    def _judge(self) -> bool:
        """Tell whether the gate is open for the newest frame."""
        unjudged, self._unjudged = self._unjudged, b""
        return self._gate.glance(unjudged) if unjudged else self._gate.open

    def _keep(self, pcm: bytes, end: int) -> None:
        if end - FRAME_SAMPLES != self._end:  # what lies between was never heard
            self._unheard.clear()
            last = min(end - FRAME_SAMPLES, self._end + REFRACTORY)
            first = self._end + FRAME_SAMPLES
            self._gap = range(first, last + 1, FRAME_SAMPLES) if self._end else range(0)
        self._end = end
        self._unjudged += pcm
        self._unheard.append((pcm, end))
        if len(self._unheard) >= (LOOK_BACK_MS + _STEP_MS) // FRAME_MS:
            for _ in range(_STEP_MS // FRAME_MS):
                self._unheard.popleft()


LOOK_MS = 2_000  # of sound that the other engine looks at, and then ...
# ... of silence: measured, without it a third of the words fire before the other engine's score
# has come up; with half of it a seventh; with more no fewer.
_SILENCE_MS = 240
REFUSED_BELOW = 0.05  # of its score: only what is nothing at all to it


class VerifiedWake(_Wrapper):
    """A WakeEngine whose detections another engine may refuse.

    That engine hears nothing but what it looks at; then it hears silence again, with the next frame
    rather than before the answer. Words that it does not know are not looked at. A refusal is a
    near miss, and like a detection keeps the engine silent for the refractory time.
    """

    def __init__(self, engine: WakeEngine, other: WakeEngine) -> None:
        super().__init__(engine)
        self._other = other
        self._heard: deque[tuple[bytes, int]] = deque(maxlen=LOOK_MS // FRAME_MS)
        self._refused: list[NearMiss] = []
        self._looked = False  # the other engine has not heard silence since

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
        """Return the near misses since the last call, refusals among them."""
        refused, self._refused = self._refused, []
        return [*super().near_misses(), *refused]

    def restart(self) -> None:
        """Another stream begins."""
        self._heard.clear()
        self._looked = False
        self._engine.restart()
        self._other.restart()

    def close(self) -> None:
        """Give up both engines' native resources."""
        super().close()
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
