"""An energy gate that detects sound in the room, in a few microseconds per frame."""

import math
from collections.abc import Iterator

import numpy as np

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES

RISE_DB = 2.0  # rise above the floor that opens the gate
HOLD_MS = 1_500  # open this long after a rise; engines detect a word up to 0.5 s after it
START_MS = 2_000  # open this long at the start, until the floor is known
GLANCE_MS = 320  # audio that `glance` collects while the gate is open
_GLANCE_BYTES = GLANCE_MS // FRAME_MS * FRAME_BYTES
_SMOOTHING = 0.25  # weight of a frame's power in the smoothed power
_UP_DB = 0.7 * FRAME_MS / 1000  # the floor's rise per frame, too slow for a sentence to lift it ...
_DOWN = 0.1  # ... and its fall, as a share of the distance per frame
_LEAST = 4.0  # squared int16 units; an engine can't use anything quieter
_MEAN = np.full(FRAME_SAMPLES, 1 / FRAME_SAMPLES, np.float32)


class EnergyGate:
    """A gate that is open while the room is louder than its constant noise, and shortly afterwards.
    It tracks the power of the audio, in which hum can hide a voice, and the power of the
    sample-to-sample differences, in which hiss can hide a voice."""

    def __init__(self) -> None:
        self._bands = (_Band(), _Band())
        self._left = START_MS // FRAME_MS  # frames that it stays open
        self._unseen = b""  # audio collected while it is open

    @property
    def open(self) -> bool:
        return self._left > 0

    def hear(self, pcm: bytes) -> bool:
        """Process whole frames (16 kHz mono int16). Returns True if the gate is open for the last
        one."""
        whole, steps = self._bands
        for power, of_steps in _powers(pcm):
            rises = whole.take(power) | steps.take(of_steps)  # not `or`: both bands must take it
            self._left = HOLD_MS // FRAME_MS if rises else max(0, self._left - 1)
        return self.open

    def glance(self, pcm: bytes) -> bool:
        """Do the same as `hear`, with less work while the gate is open. The gate can then close a
        little later."""
        self._unseen += pcm
        if self.open and len(self._unseen) < _GLANCE_BYTES:
            return True
        unseen, self._unseen = self._unseen, b""
        return self.hear(unseen)

    def restart(self) -> None:
        self._unseen = b""
        self._bands = (_Band(), _Band())
        self._left = START_MS // FRAME_MS


class _Band:
    def __init__(self) -> None:
        self._power = -1.0  # smoothed; negative before the stream's first frame
        self._floor = 0.0  # dB

    def take(self, power: float) -> bool:
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
    """Yield each frame's power without its DC offset, and the power of its sample-to-sample
    differences."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32).reshape(-1, FRAME_SAMPLES)
    steps = samples[:, 1:] - samples[:, :-1]
    offsets = samples @ _MEAN
    whole = np.vecdot(samples, samples) / FRAME_SAMPLES - offsets * offsets
    return zip(whole.tolist(), (np.vecdot(steps, steps) / FRAME_SAMPLES).tolist(), strict=True)


def _db(power: float) -> float:
    return 10 * math.log10(max(power, _LEAST))


# Waking the process costs more than processing a block of silence (measured: 0.3 of 1.2 % of a
# core). The oldest block waits at most this long.
LONGEST_MS = 400


class QuietRoom:
    """Decides which blocks can wait because the room is quiet. Use it on one thread. Blocks are
    whole frames of mono int16 at SAMPLE_RATE."""

    def __init__(self, block_ms: int) -> None:
        self._gate = EnergyGate()
        self._most = LONGEST_MS // block_ms
        self._waiting = 0  # number of blocks that wait

    def may_wait(self, pcm: bytes) -> bool:
        """Return True if this block and the waiting ones before it need not be delivered yet."""
        self._waiting += 1
        if self._gate.glance(pcm) or self._waiting >= self._most:
            self._waiting = 0
            return False
        return True
