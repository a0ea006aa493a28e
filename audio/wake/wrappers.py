"""Wrappers of a wake engine that skip silence without missing a word, or verify detections."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, SAMPLES_PER_MS
from audio.gate import EnergyGate
from audio.wake import REFRACTORY, Detection, NearMiss, WakeEngine

LOOK_BACK_MS = 1_000  # at least this much audio is kept
# Audio is skipped in multiples of this, which is a multiple of both engines' steps (30 and 80 ms),
# so that their steps stay aligned.
_STEP_MS = 240
_SILENCE = bytes(FRAME_BYTES)
_BLOCK = 80 * SAMPLES_PER_MS  # the microphone's block, and the step of `open`


class _Wrapper:
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
    """A WakeEngine behind an energy gate. When the gate opens, the engine first hears the preceding
    audio.

    A gap in positions, as after the loss of the microphone, counts as silence. Otherwise the engine
    would detect the last word from before the gap once more.
    """

    def __init__(self, engine: WakeEngine) -> None:
        super().__init__(engine)
        self._gate = EnergyGate()
        # Frames that the engine has not heard, each with its end.
        self._unheard: deque[tuple[bytes, int]] = deque()
        self._end = 0
        self._gap = range(0)  # ends of missing frames, not passed to the engine yet
        self._unjudged = b""  # the newest frames that the gate has not heard yet

    @property
    def open(self) -> bool:
        return self._gate.open

    def pass_by(self, pcm: bytes, end: int) -> bool:
        """Accept the next frame without the engine, during silence or before the end of a block.
        Takes microseconds. If this returns False, pass the frame to `hear`."""
        if end != self._end:
            self._keep(pcm, end)
        return not self._gap and (bool(end % _BLOCK) or not self._judge())

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Process the next frame, which ends at sample `end`, or the frame that `pass_by` has just
        rejected."""
        if end != self._end:
            self._keep(pcm, end)
        gap, self._gap = self._gap, range(0)
        for missed in gap:
            # A word that ends there may be incomplete, so ignore detections.
            self._engine.hear(_SILENCE, missed)
        if not self._judge():
            return None
        found = None
        while self._unheard:
            # There can be only one detection, because the kept frames are shorter than the
            # refractory time.
            found = self._engine.hear(*self._unheard.popleft()) or found
        return found

    def exchange(
        self, engine: WakeEngine, past: Iterable[tuple[bytes, int]]
    ) -> tuple[WakeEngine, Detection | None]:
        """Replace the engine without losing a frame. Returns the old engine, and the new engine's
        detection in the past audio, which may have been reported already.

        `past` contains the frames so far, each with its end position, for at most the refractory
        time.
        """
        before, self._engine = self._engine, engine
        found, unheard = None, {end for _, end in self._unheard}
        for pcm, end in past:
            if end not in unheard:
                found = engine.hear(pcm, end) or found
        engine.near_misses()
        return before, found

    def restart(self) -> None:
        self._gate.restart()
        self._unheard.clear()
        self._end = 0
        self._gap = range(0)
        self._unjudged = b""
        self._engine.restart()

    def _judge(self) -> bool:
        unjudged, self._unjudged = self._unjudged, b""
        return self._gate.glance(unjudged) if unjudged else self._gate.open

    def _keep(self, pcm: bytes, end: int) -> None:
        if end - FRAME_SAMPLES != self._end:  # frames are missing in between
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


LOOK_MS = 2_000  # audio that the other engine checks
# Silence that the other engine hears afterwards. Without it, a third of the words are detected
# before the other engine's score has risen; with half of it, a seventh; more does not help
# (measured).
_SILENCE_MS = 240
REFUSED_BELOW = 0.05  # the other engine's score; reject only words that it doesn't hear at all


class VerifiedWake(_Wrapper):
    """A WakeEngine whose detections another engine can reject.

    Words that the other engine doesn't know are not checked. A rejection counts as a near miss and,
    like a detection, silences the engine for the refractory time.
    """

    def __init__(self, engine: WakeEngine, other: WakeEngine) -> None:
        super().__init__(engine)
        self._other = other
        self._heard: deque[tuple[bytes, int]] = deque(maxlen=LOOK_MS // FRAME_MS)
        self._refused: list[NearMiss] = []
        self._looked = False  # True if the other engine must be reset after a check

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Process the next frame. A frame in which the first engine detects a word takes up to 150
        ms."""
        if self._looked:
            self._looked = False
            self._other.restart()
        self._heard.append((pcm, end))
        found = self._engine.hear(pcm, end)
        if found is None or found.word not in self._other.scores:
            return found
        if self._look(found.word) >= REFUSED_BELOW:
            return found
        # It was detected, so its closeness is above 1.
        self._refused.append(NearMiss(found.word, found.score, self._engine.closeness, found.at))
        return None

    def near_misses(self) -> list[NearMiss]:
        refused, self._refused = self._refused, []
        return [*super().near_misses(), *refused]

    def restart(self) -> None:
        self._heard.clear()
        self._looked = False
        self._engine.restart()
        self._other.restart()

    def close(self) -> None:
        super().close()
        self._other.close()

    def _look(self, word: str) -> float:
        self._looked = True
        return second_score(self._other, list(self._heard), word)


def second_score(engine: WakeEngine, frames: Sequence[tuple[bytes, int]], word: str) -> float:
    """Return the engine's best score for the word in `frames` (audio, end). Takes about 100 ms.

    The engine must have heard silence before the call, and must be restarted after it.
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
