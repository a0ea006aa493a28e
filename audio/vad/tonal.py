"""Tells a tone from a voice: for a detector that takes both for speech."""

import numpy as np

from audio.frames import SAMPLE_RATE

# No voice has its fundamental there, and all of our own short sounds do.
LOWEST_HZ = 460.0
# Of the energy of a frame, what may lie beside the tone and its octave. Measured on 57 s of close
# speech of people: 1 % of the frames that are taken for speech have as little.
REST = 0.02
_NEAR = 3  # bins on either side that belong to a peak under the window
_LOWEST_BIN = 3  # below it is hum


def is_tone(pcm: bytes) -> bool:
    """Whether a frame of mono int16 at 16 kHz holds one tone, with its octave, and no more."""
    samples = np.frombuffer(pcm, np.int16).astype(np.float64)
    energy = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    energy[:_LOWEST_BIN] = 0.0
    whole = float(energy.sum())
    peak = int(energy.argmax())
    if whole <= 0.0 or peak * SAMPLE_RATE / len(samples) < LOWEST_HZ:
        return False
    for at in (peak, 2 * peak):
        energy[max(0, at - _NEAR) : at + _NEAR + 1] = 0.0
    return float(energy.sum()) < REST * whole
