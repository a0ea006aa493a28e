"""A noise filter for a recogniser. It reduces steady noise, and adds noise to audio that has too
little."""

import numpy as np
from numpy.typing import NDArray

_WINDOW, _HOP = 512, 256  # samples
# The noise is estimated as the level below which each frequency falls in a fifth of all windows.
# For pure noise, that is 0.22 of its mean, whether or not there is speech.
_QUANTILE = 0.2
_TO_MEAN = 1 / 0.223
LEAST_SAMPLES = 4 * _WINDOW  # needed to measure the noise
_FLOOR = 0.1  # share of the amplitude that always remains, because holes sound like consonants
_SMOOTH = 0.9  # weight of a band's last estimate in the next
# Acoustic models are not trained on audio without noise. Measured with pocketsphinx in a quiet
# room: it recognised 3 of 24 espeak-ng commands unchanged and 20 with noise at this level, and 35
# and 34 of 36 flite commands. -30 is too much, because it hides the consonants in half of flite's.
_LEAST_NOISE_DB = -38.0  # level of white noise, relative to the loudest 20 ms heard
_LOUDEST = 320  # samples


class SteadyNoise:
    """A noise filter for one turn. Its output is shorter than its input by at most one window (32
    ms)."""

    def __init__(self, heard: bytes) -> None:
        """`heard` is at least 0.3 s of 16 kHz mono int16 from just before the turn, with or without
        speech. Raises ValueError if it is shorter than 128 ms."""
        samples = np.frombuffer(heard, "<i2").astype(np.float64)
        if len(samples) < LEAST_SAMPLES:
            raise ValueError("too little audio to estimate the room's noise")
        self._shape = np.sqrt(np.hanning(_WINDOW + 1)[:_WINDOW])
        powers = np.abs(self._spectra(samples)) ** 2
        self._noise = np.quantile(powers, _QUANTILE, axis=0) * _TO_MEAN + 1.0
        # Hann's window has half the power.
        left = _FLOOR**2 * float(np.mean(self._noise)) / (_WINDOW / 2)
        wanted = _loudest(samples) * 10 ** (_LEAST_NOISE_DB / 10)
        self._added = float(np.sqrt(max(0.0, wanted - left)))
        self._random = np.random.default_rng(0)
        self._before = np.zeros(len(self._noise))
        self._waiting = np.zeros(0)
        self._tail = np.zeros(_HOP)

    def clean(self, pcm: bytes) -> bytes:
        """Process 16 kHz mono int16 of any length. Returns the output that is ready, which can be
        empty."""
        self._waiting = np.concatenate((self._waiting, np.frombuffer(pcm, "<i2")))
        if len(self._waiting) < _WINDOW:
            return b""
        spectra = self._spectra(self._waiting)
        self._waiting = self._waiting[len(spectra) * _HOP :]
        out = np.zeros((len(spectra) + 1) * _HOP)
        out[:_HOP] = self._tail
        for number, spectrum in enumerate(spectra):
            at = number * _HOP
            out[at : at + _WINDOW] += np.fft.irfft(spectrum * self._gain(spectrum)) * self._shape
        self._tail = out[-_HOP:].copy()
        ready = out[:-_HOP] + self._random.normal(0.0, self._added, len(out) - _HOP)
        return np.clip(np.rint(ready), -32768, 32767).astype("<i2").tobytes()

    def _gain(self, spectrum: NDArray[np.complex128]) -> NDArray[np.float64]:
        """Return the Wiener gain for each frequency, from a speech-to-noise ratio that is smoothed
        over time."""
        power = np.abs(spectrum) ** 2 / self._noise
        share = _SMOOTH * self._before + (1 - _SMOOTH) * np.maximum(power - 1, 0)
        gain: NDArray[np.float64] = np.maximum(share / (1 + share), _FLOOR)
        self._before = gain**2 * power
        return gain

    def _spectra(self, samples: NDArray[np.float64]) -> NDArray[np.complex128]:
        count = (len(samples) - _WINDOW) // _HOP + 1
        starts = np.arange(count)[:, None] * _HOP + np.arange(_WINDOW)
        return np.fft.rfft(samples[starts] * self._shape, axis=1)


def _loudest(samples: NDArray[np.float64]) -> float:
    pieces = samples[: len(samples) // _LOUDEST * _LOUDEST].reshape(-1, _LOUDEST)
    return float(np.max(np.mean(pieces**2, axis=1)))
