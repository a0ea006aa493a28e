"""Takes steady noise out of sound before it is recognised; not for people's ears."""

import numpy as np
from numpy.typing import NDArray

_WINDOW, _HOP = 512, 256  # samples
# Noise is what is there all the time: the level that each frequency falls below in a fifth of all
# windows. Of noise alone that is 0.22 of its mean, whatever was said meanwhile.
_QUANTILE = 0.2
_TO_MEAN = 1 / 0.223
LEAST_SAMPLES = 4 * _WINDOW  # that the noise can be known from
_FLOOR = 0.1  # of the amplitude is always left: holes sound like consonants
_SMOOTH = 0.9  # of a band's last estimate goes into the next


class SteadyNoise:
    """One turn's filter. Its output lags by one window and is as long as the input less that."""

    def __init__(self, heard: bytes) -> None:
        """`heard`: 16 kHz mono int16 of this room from just before, 0.3 s at least, speech or not.

        Raises ValueError when it is shorter than four windows.
        """
        samples = np.frombuffer(heard, "<i2").astype(np.float64)
        if len(samples) < LEAST_SAMPLES:
            raise ValueError("too little sound to know the room's noise from")
        self._shape = np.sqrt(np.hanning(_WINDOW + 1)[:_WINDOW])
        powers = np.abs(self._spectra(samples)) ** 2
        self._noise = np.quantile(powers, _QUANTILE, axis=0) * _TO_MEAN + 1.0
        self._before = np.zeros(len(self._noise))
        self._waiting = np.zeros(0)
        self._tail = np.zeros(_HOP)

    def clean(self, pcm: bytes) -> bytes:
        """The next piece of any length; gives what is ready, perhaps nothing."""
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
        return np.clip(np.rint(out[:-_HOP]), -32768, 32767).astype("<i2").tobytes()

    def _gain(self, spectrum: NDArray[np.complex128]) -> NDArray[np.float64]:
        """Wiener's, with the speech's share smoothed over time."""
        power = np.abs(spectrum) ** 2 / self._noise
        share = _SMOOTH * self._before + (1 - _SMOOTH) * np.maximum(power - 1, 0)
        gain: NDArray[np.float64] = np.maximum(share / (1 + share), _FLOOR)
        self._before = gain**2 * power
        return gain

    def _spectra(self, samples: NDArray[np.float64]) -> NDArray[np.complex128]:
        count = (len(samples) - _WINDOW) // _HOP + 1
        starts = np.arange(count)[:, None] * _HOP + np.arange(_WINDOW)
        return np.fft.rfft(samples[starts] * self._shape, axis=1)
