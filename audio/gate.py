"""Tells a silent room from one in which something sounds, for a few microseconds a frame."""

import math
from collections.abc import Iterator

import numpy as np

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES

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
        """Tell whether it was open for the last frame."""
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


# Waking the program costs more than all that it does with a block of silence (measured: 0.3 of
# 1.2 % of a core). So long the oldest block waits, at most.
LONGEST_MS = 400


class QuietRoom:
    """Takes each block of mono int16 at SAMPLE_RATE, in whole frames. For one thread.

    Its gate is the one before the wake engine: as soon as that would open nothing waits, and for
    the 1.5 s that it stays open.
    """

    def __init__(self, block_ms: int) -> None:
        self._gate = EnergyGate()
        self._most = LONGEST_MS // block_ms
        self._waiting = 0  # blocks

    def may_wait(self, pcm: bytes) -> bool:
        """Tell whether the next block, with those before it, need not be handed over now."""
        self._waiting += 1
        if self._gate.glance(pcm) or self._waiting >= self._most:
            self._waiting = 0
            return False
        return True
