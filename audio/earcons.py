"""Short tones, for what words would say too slowly. Generated, so no sound file is shipped."""

from functools import cache

import numpy as np

from audio.errors import InputUnusable

RATE = 22_050  # Hz
PEAK = 10 ** (-12 / 20)  # -12 dBFS
EDGE_MS = 12.0  # attack and decay of every tone, so that it does not click

# name -> tones in order, each (frequency in Hz, length in ms)
_TONES: dict[str, tuple[tuple[float, float], ...]] = {
    "wake": ((659.3, 70.0), (987.8, 90.0)),  # E5, B5: rising, "I listen"
    "error": ((329.6, 140.0), (220.0, 220.0)),  # E4, A3: falling and low
}


@cache
def earcon(name: str) -> tuple[bytes, int]:
    """Mono int16 PCM and its rate in Hz. Names: "wake", "error". Raises InputUnusable."""
    if name not in _TONES:
        raise InputUnusable(f"There is no sound named {name!r}; there are {', '.join(_TONES)}.")
    wave = np.concatenate([_tone(frequency, ms) for frequency, ms in _TONES[name]])
    scaled = wave * (PEAK / np.abs(wave).max())
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
