"""A wake engine that does not run while the room is silent, and loses nothing by it."""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, SAMPLES_PER_MS
from audio.wake.protocol import REFRACTORY, Detection, NearMiss, WakeEngine

# Tells a silent room from one in which something sounds, for a few microseconds a frame.


RISE_DB = 2.0  # above the floor opens
HOLD_MS = 1_500  # open so long after the last rise: engines fire up to 0.5 s after the word
START_MS = 2_000  # open so long at first, until the floor is known
GLANCE_MS = 320  # how much of what came while it was open is looked at at once

_GLANCE_BYTES = GLANCE_MS // FRAME_MS * FRAME_BYTES
_SMOOTHING = 0.25  # of a frame's power; the rest is what was before, so that noise is steady
_UP_DB = 0.7 * FRAME_MS / 1000  # the floor rises so slowly that no sentence lifts it ...
_DOWN = 0.1  # ... and falls by this part of the way in each frame
_LEAST = 4.0  # power in int16 units squared: below it lies nothing that an engine could use
_MEAN = np.full(FRAME_SAMPLES, 1 / FRAME_SAMPLES, np.float32)


class EnergyGate:
    """Open while there is more to hear than what is always there.

    It goes by two powers, of the sound and of its differences: hum and rumble hide a voice from the
    first, hiss hides it from the second. The floor of each follows what is always there: down at
    once, up by less than 1 dB in a second.
    """

    def __init__(self) -> None:
        self._bands = (_Band(), _Band())
        self._left = START_MS // FRAME_MS  # frames that it stays open
        self._unseen = b""  # what came while it was open

    @property
    def open(self) -> bool:
        """Whether it was open for the last frame."""
        return self._left > 0

    def hear(self, pcm: bytes) -> bool:
        """Take the next frames, one or a few; whether it is open for the last of them.

        A few at once cost little more than one.
        """
        whole, steps = self._bands
        for power, of_steps in _powers(pcm):
            rises = whole.take(power) | steps.take(of_steps)  # each takes its own
            self._left = HOLD_MS // FRAME_MS if rises else max(0, self._left - 1)
        return self.open

    def glance(self, pcm: bytes) -> bool:
        """Like `hear`, with a quarter of the work while it is open: to close is in no hurry."""
        self._unseen += pcm
        if self.open and len(self._unseen) < _GLANCE_BYTES:
            return True
        unseen, self._unseen = self._unseen, b""
        return self.hear(unseen)

    def restart(self) -> None:
        """Another stream begins."""
        self._unseen = b""
        self._bands = (_Band(), _Band())
        self._left = START_MS // FRAME_MS


class _Band:
    """One power, its floor, and whether it has risen above that."""

    def __init__(self) -> None:
        self._power = -1.0  # smoothed; none before the stream's first frame
        self._floor = 0.0  # dB

    def take(self, power: float) -> bool:
        """Take the next frame's power; whether it rises above the floor."""
        if self._power < 0:
            self._power, self._floor = power, _db(power)
        self._power += _SMOOTHING * (power - self._power)
        level = _db(self._power)
        rises = level > self._floor + RISE_DB
        if level < self._floor:
            self._floor += _DOWN * (level - self._floor)
        else:
            self._floor = min(level, self._floor + _UP_DB)
        return rises


def _powers(pcm: bytes) -> Iterator[tuple[float, float]]:
    """Each frame's power without the offset that cheap converters have, and that of its steps."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32).reshape(-1, FRAME_SAMPLES)
    steps = samples[:, 1:] - samples[:, :-1]
    offsets = samples @ _MEAN
    whole = np.vecdot(samples, samples) / FRAME_SAMPLES - offsets * offsets
    return zip(whole.tolist(), (np.vecdot(steps, steps) / FRAME_SAMPLES).tolist(), strict=True)


def _db(power: float) -> float:
    return 10 * math.log10(max(power, _LEAST))


LOOK_BACK_MS = 1_000  # at least
# What is skipped is a multiple of this, which is one of the engines' steps of 30 and 80 ms too, so
# that those fall as if nothing had been.
_STEP_MS = 240
_SILENCE = bytes(FRAME_BYTES)
_BLOCK = 80 * SAMPLES_PER_MS  # what a microphone gives at a time, and the step of open


class GatedWake:
    """A WakeEngine before which a gate stands. When it opens, the engine hears what came before.

    What the engine has not heard is skipped: it was as silent as what it heard last. Positions are
    those of the frames, whenever the engine is given them. A gap in them, of a microphone that was
    away, is silence to the engine: else it would fire once more, behind the gap, at the word that
    it heard last.
    """

    def __init__(self, engine: WakeEngine) -> None:
        self._engine = engine
        self._gate = EnergyGate()
        # Frames that the engine was not given, each with its end.
        self._unheard: deque[tuple[bytes, int]] = deque()
        self._end = 0
        self._gap = range(0)  # ends of frames that nobody heard, and the engine does not know of
        self._unjudged = b""  # the newest of them, of which the gate has not heard yet

    @property
    def open(self) -> bool:
        """Whether the engine heard the last frame."""
        return self._gate.open

    @property
    def score(self) -> float:
        """The highest score of any word in the last frame that the engine was given."""
        return self._engine.score

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each word in the last frame that the engine was given."""
        return self._engine.scores

    @property
    def closeness(self) -> float:
        """How near the nearest word is to firing."""
        return self._engine.closeness

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

    def near_misses(self) -> list[NearMiss]:
        """Those since the last call."""
        return self._engine.near_misses()

    def strict(self, on: bool) -> None:
        """Ask for more certainty, or no longer."""
        self._engine.strict(on)

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

    def close(self) -> None:
        """Give up the engine's native resources."""
        self._engine.close()

    def _judge(self) -> bool:
        """Whether the gate is open for the newest frame."""
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
