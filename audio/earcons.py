"""Short tones, for what words would say too slowly. Generated, so no sound file is shipped."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from audio.errors import InputUnusable

RATE = 22_050  # Hz
EDGE_MS = 12.0  # attack and decay of every tone, so that it does not click


@dataclass(frozen=True, slots=True)
class _Earcon:
    """Tones in order, each (frequency in Hz, length in ms), and how loud they are."""

    tones: tuple[tuple[float, float], ...]
    peak_dbfs: float = -12.0


_EARCONS = {
    "wake": _Earcon(((659.3, 70.0), (987.8, 90.0))),  # E5, B5: rising, "I listen"
    "error": _Earcon(((329.6, 140.0), (220.0, 220.0))),  # E4, A3: falling and low
    # D4: one low tone, softer than the others, since most likely nobody asked for anything.
    "unmeant": _Earcon(((293.7, 130.0),), peak_dbfs=-18.0),
    # A5, E5, twice: a bell across the room, "the time is up"
    "timer": _Earcon(((880.0, 180.0), (659.3, 240.0)) * 2, peak_dbfs=-9.0),
    "mute": _Earcon(((880.0, 60.0), (587.3, 110.0))),  # A5, D5: a lid that closes
    "unmute": _Earcon(((587.3, 60.0), (880.0, 110.0))),  # and opens
}


@cache
def earcon(name: str) -> tuple[bytes, int]:
    """Mono int16 PCM and its rate in Hz. Raises InputUnusable.

    Names: "wake", "error", "unmeant" (what we heard was not said to us), "timer", "mute", "unmute"
    (the microphone is closed, or open again).
    """
    if name not in _EARCONS:
        raise InputUnusable(f"There is no sound named {name!r}; there are {', '.join(_EARCONS)}.")
    sound = _EARCONS[name]
    wave = np.concatenate([_tone(frequency, ms) for frequency, ms in sound.tones])
    scaled = wave * (10 ** (sound.peak_dbfs / 20) / np.abs(wave).max())
    return np.rint(scaled * 32767).astype("<i2").tobytes(), RATE


def _tone(frequency: float, ms: float) -> np.ndarray:
    """A sine with a quieter octave, raised-cosine edges."""
    samples = int(RATE * ms / 1000)
    time = np.arange(samples) / RATE
    wave = np.sin(2 * np.pi * frequency * time) + 0.2 * np.sin(4 * np.pi * frequency * time)
    edge = int(RATE * EDGE_MS / 1000)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / edge)
    wave[:edge] *= ramp
    wave[-edge:] *= ramp[::-1]
    return np.asarray(wave)
