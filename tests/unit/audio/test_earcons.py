"""The short sounds."""

import numpy as np
import pytest

from audio.earcons import earcon
from audio.errors import InputUnusable


def pitch(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 16))
    return float(np.argmax(spectrum) * rate / (1 << 16))


@pytest.mark.parametrize("name", ["wake", "error"])
def test_sounds_are_short_soft_and_peak_at_minus_12_dbfs(name: str) -> None:
    pcm, rate = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert rate == 22_050
    assert 0.1 <= len(samples) / rate <= 0.4
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(-12, abs=0.05)
    assert np.abs(samples[:20]).max() < 400  # no click at either end
    assert np.abs(samples[-20:]).max() < 400
    assert earcon(name) == (pcm, rate)


def test_wake_rises_and_error_falls() -> None:
    for name, rising in (("wake", True), ("error", False)):
        pcm, rate = earcon(name)
        samples = np.frombuffer(pcm, np.int16).astype(float)
        first, last = pitch(samples[:1400], rate), pitch(samples[-1400:], rate)
        assert (last > first * 1.2) is rising
        assert rising or last < 300  # an error is low


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(InputUnusable, match="wake, error"):
        earcon("bell")
