"""Resampling keeps pitch, level and length, as a stream and as a whole."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.resampling import Resampler, resample


def tone(rate: int, hertz: float = 440.0) -> bytes:
    """Make one second of a tone at half of full scale."""
    wave = np.sin(2 * np.pi * hertz * np.arange(rate) / rate)
    return (wave * 16384).astype("<i2").tobytes()


def samples(pcm: bytes) -> NDArray[np.float64]:
    return np.frombuffer(pcm, "<i2").astype(np.float64)


RATES = [(48_000, 16_000), (44_100, 16_000), (22_050, 16_000), (24_000, 48_000), (8_000, 16_000)]


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_tone_stays_the_tone(source: int, target: int) -> None:
    got = samples(resample(tone(source), source, target))
    wanted = samples(tone(target))
    assert len(got) == len(wanted)
    inner = slice(target // 50, -target // 50)  # the filter distorts both ends
    assert np.abs(got[inner] - wanted[inner]).max() < 40  # of 32768


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_stream_equals_the_whole(source: int, target: int) -> None:
    pcm = tone(source)
    stream = Resampler(source, target)
    step = source // 50 * 2
    got = b"".join(stream.push(pcm[at : at + step]) for at in range(0, len(pcm), step))
    got += stream.flush()
    assert np.abs(samples(got) - samples(resample(pcm, source, target))).max() <= 4  # dither


def test_what_is_above_the_new_band_does_not_fold_back() -> None:
    high = resample(tone(48_000, hertz=15_000), 48_000, 16_000)
    assert np.abs(samples(high)[1600:-1600]).max() < 10


def test_equal_rates_are_untouched() -> None:
    pcm = tone(16_000)
    stream = Resampler(16_000, 16_000)
    assert resample(pcm, 16_000, 16_000) is pcm
    assert stream.push(pcm) is pcm
    assert stream.flush() == b""


def test_nothing_stays_nothing() -> None:
    assert resample(b"", 22_050, 16_000) == b""
    assert Resampler(22_050, 16_000).flush() == b""
