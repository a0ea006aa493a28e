"""The short sounds."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from audio.earcons import NAMES, earcon, main
from audio.errors import InputUnusable
from audio.sound_files import read_wav


def pitch(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 16))
    return float(np.argmax(spectrum) * rate / (1 << 16))


@pytest.mark.parametrize(
    ("name", "peak_dbfs"),
    [
        *(("wake", -12), ("end", -18), ("thinking", -26), ("done", -14), ("offline", -12)),
        *(("error", -12), ("unmeant", -18), ("mute", -12), ("unmute", -12)),
    ],
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
        assert rising or first / last == pytest.approx(2**0.5, rel=0.02)  # and sounds wrong


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
    assert pitch(samples, rate) < 500  # no other sound is as low


def test_the_timer_is_heard_across_the_room() -> None:
    pcm, rate = earcon("timer")
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert 0.6 <= len(samples) / rate <= 1.2
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(-9, abs=0.05)


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(InputUnusable, match="there are wake, end,"):
        earcon("bell")


def test_no_two_sounds_are_alike() -> None:
    """Their pitches in turn, and how long each lasts, tell them apart without being loud."""
    shapes = {}
    for name in NAMES:
        pcm, rate = earcon(name)
        samples = np.frombuffer(pcm, np.int16).astype(float)
        third = len(samples) // 3
        parts = (samples[:third], samples[-third:])
        shapes[name] = (*(np.log2(pitch(part, rate)) for part in parts), len(samples) / rate * 4)
    for (one, left), (other, right) in itertools.combinations(shapes.items(), 2):
        # A whole tone in either part, or the twentieth of a second.
        apart = max(abs(a - b) for a, b in zip(left, right, strict=True))
        assert apart > 2 / 12, f"{one} sounds like {other}"


@pytest.mark.parametrize("name", NAMES)
def test_no_sound_clicks_or_roars(name: str) -> None:
    pcm, _ = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float) / 32767
    loudest = -9 if name == "timer" else -12  # a timer is heard across the room
    assert 20 * np.log10(np.abs(samples).max()) <= loudest + 0.05
    # A step between two samples is never more than the tone itself makes at its steepest.
    steepest = np.abs(samples).max() * 2 * np.pi * 1_046.5 * 1.4 / 22_050
    assert np.abs(np.diff(samples, prepend=0.0, append=0.0)).max() <= steepest


def test_all_are_written_to_listen_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(NAMES)
    assert all(len(read_wav(path)) > 2_000 for path in tmp_path.iterdir())
    assert main([str(tmp_path / "nowhere")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
