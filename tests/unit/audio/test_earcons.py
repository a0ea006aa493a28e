"""The short sounds."""

import numpy as np
import pytest

from audio.earcons import earcon
from audio.errors import InputUnusable


def pitch(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 16))
    return float(np.argmax(spectrum) * rate / (1 << 16))


@pytest.mark.parametrize(
    ("name", "peak_dbfs"),
    [("wake", -12), ("error", -12), ("unmeant", -18), ("mute", -12), ("unmute", -12)],
)
def test_sounds_are_short_and_soft(name: str, peak_dbfs: float) -> None:
    pcm, rate = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert rate == 22_050
    assert 0.1 <= len(samples) / rate <= 0.4
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(peak_dbfs, abs=0.05)
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


@pytest.mark.parametrize(("name", "rising"), [("mute", False), ("unmute", True)])
def test_muting_falls_and_opening_rises(name: str, rising: bool) -> None:
    pcm, rate = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    first, last = pitch(samples[:1300], rate), pitch(samples[-2000:], rate)
    assert (last > first * 1.2) is rising
    assert min(first, last) > 500  # no error


def test_unmeant_is_one_low_tone() -> None:
    pcm, rate = earcon("unmeant")
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert len(samples) / rate < 0.15
    assert pitch(samples[:1400], rate) == pytest.approx(pitch(samples[-1400:], rate), rel=0.02)
    assert pitch(samples, rate) < 300


def test_the_timer_is_heard_across_the_room() -> None:
    pcm, rate = earcon("timer")
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert 0.6 <= len(samples) / rate <= 1.2
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(-9, abs=0.05)


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(InputUnusable, match="wake, error, unmeant"):
        earcon("bell")
