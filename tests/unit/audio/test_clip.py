"""Common sound files become clips that are as loud as our voice."""

import io

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from audio import sound_files as clip
from audio.errors import InputUnusable
from audio.mixer import RATE
from audio.sound_files import LONGEST_S, Clip, decoded, levelled
from audio.tts.tuned import TARGET_DB

TONE_HZ = 880
WAV, FLAC, OGG, MP3, AIFF = "WAV", "FLAC", "OGG", "MP3", "AIFF"


def tone(seconds: float, rate: int, db: float = -30.0) -> NDArray[np.float64]:
    time = np.arange(round(seconds * rate)) / rate
    return np.asarray(np.sin(2 * np.pi * TONE_HZ * time) * np.sqrt(2) * 10 ** (db / 20))


def file(sound: NDArray[np.float64], rate: int, kind: str) -> bytes:
    written = io.BytesIO()
    soundfile.write(written, sound, rate, format=kind)
    return written.getvalue()


def samples(made: Clip) -> NDArray[np.float64]:
    return np.frombuffer(made.pcm, "<i2") / 32768


def loudness(made: Clip) -> float:
    return float(10 * np.log10(np.mean(samples(made) ** 2)))


def pitch(made: Clip) -> float:
    heard = np.abs(np.fft.rfft(samples(made)))
    return float(heard.argmax() * made.rate / len(samples(made)))


@pytest.mark.parametrize("kind", [WAV, FLAC, OGG, MP3, AIFF])
@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000])
def test_it_is_as_loud_as_our_voice_whatever_it_was(kind: str, rate: int) -> None:
    made = decoded(file(tone(1.0, rate), rate, kind), "door")
    assert (made.name, made.rate) == ("door", RATE)
    assert made.seconds == pytest.approx(1.0, abs=0.06)  # MP3 begins and ends with silence
    assert pitch(made) == pytest.approx(TONE_HZ, abs=2)
    assert loudness(made) == pytest.approx(TARGET_DB, abs=0.5)


def test_its_channels_become_one() -> None:
    left, silence = tone(1.0, RATE, -20.0), np.zeros(RATE)
    made = decoded(file(np.column_stack((left, silence)), RATE, WAV), "door")
    assert made.seconds == 1.0
    assert pitch(made) == pytest.approx(TONE_HZ, abs=2)


def test_a_loud_one_is_not_cut_off() -> None:
    made = decoded(file(np.tile([0.99] * 20 + [-0.99] * 20, 1200), RATE, WAV), "door")
    assert np.abs(samples(made)).max() < 0.9


def test_silence_stays_silence() -> None:
    assert not np.any(samples(decoded(file(np.zeros(RATE), RATE, WAV), "door")))


def test_a_file_of_floats_without_meaning_is_no_noise() -> None:
    wild = np.full(RATE, np.nan, np.float32)
    written = io.BytesIO()
    soundfile.write(written, wild, RATE, format=WAV, subtype="FLOAT")
    assert not np.any(samples(decoded(written.getvalue(), "door")))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>Not found</html>",
        b"RIFF",
        b"OggS" + bytes(200),
        b"\xff\xfb" + bytes(300),
        file(tone(1.0, RATE), RATE, FLAC)[:60],
        file(np.zeros(0), RATE, WAV),
    ],
)
def test_what_is_no_sound_is_told_in_a_sentence(data: bytes) -> None:
    with pytest.raises(InputUnusable, match=r"^door .*\.$"):
        decoded(data, "door")


def test_only_kinds_that_people_have_reach_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: object) -> None:
        raise AssertionError("it was given to the library")

    data = file(tone(0.1, RATE), RATE, "CAF")
    monkeypatch.setattr(soundfile, "SoundFile", never)
    with pytest.raises(InputUnusable, match="is not a sound file"):
        decoded(data, "door")


def test_what_is_too_long_is_refused_by_what_is_there_not_by_the_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clip, "LONGEST_S", 0.5)
    whole = file(tone(0.6, RATE), RATE, WAV)
    with pytest.raises(InputUnusable, match="longer than"):
        decoded(whole, "door")
    pcm = np.zeros(round(0.6 * RATE), "<i2").tobytes()
    with pytest.raises(InputUnusable, match="longer than"):
        levelled(pcm, RATE, "door")
    assert LONGEST_S == 120


def test_channels_and_rates_beyond_reason_are_refused() -> None:
    with pytest.raises(InputUnusable, match="9 channels"):
        decoded(file(np.zeros((100, 9)), RATE, WAV), "door")
    with pytest.raises(InputUnusable, match="1000 Hz"):
        decoded(file(np.zeros(100), 1_000, WAV), "door")
    with pytest.raises(InputUnusable, match="at 1000 Hz"):
        levelled(bytes(100), 1_000, "door")


def test_sound_of_this_process_is_levelled_too() -> None:
    pcm = np.rint(tone(1.0, 16_000) * 32767).astype("<i2").tobytes()
    made = levelled(pcm, 16_000, "door")
    assert (made.rate, made.seconds) == (RATE, 1.0)
    assert loudness(made) == pytest.approx(TARGET_DB, abs=0.5)
    assert "pcm" not in repr(made)
