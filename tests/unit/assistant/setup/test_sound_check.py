"""Tests of the verdict on the microphone, from samples to a sentence."""

import numpy as np
import pytest

from assistant.config.schema import Settings
from assistant.models.shelf import read_manifest
from assistant.setup.sound_check import (
    Loudness,
    Meter,
    all_voices,
    bar,
    lacking,
    verdict,
    voice_for,
)
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE


def tone(dbfs: float) -> bytes:
    """Return a frame of a sine whose RMS is `dbfs`."""
    time = np.arange(FRAME_SAMPLES) / SAMPLE_RATE
    peak = 32767 * np.sqrt(2) * 10 ** (dbfs / 20)
    wave = peak * np.sin(2 * np.pi * 500 * time)
    return bytes(np.rint(wave.clip(-32767, 32767)).astype("<i2").tobytes())


def metered(*levels: tuple[float, int]) -> Loudness:
    """Return the loudness after each level for a number of frames."""
    meter = Meter()
    for level, frames in levels:
        for _ in range(frames):
            meter.take(tone(level))
    return meter.told


def test_room_and_voice_are_told_apart() -> None:
    heard = metered((-60.0, 100), (-20.0, 50), (-60.0, 50))
    assert heard.loudest == pytest.approx(-20.0, abs=0.5)
    assert heard.room == pytest.approx(-60.0, abs=0.5)
    assert heard.now == pytest.approx(-60.0, abs=0.5)
    assert heard.clipped == 0.0


@pytest.mark.parametrize(
    ("levels", "well", "told"),
    [
        (((-60.0, 100), (-22.0, 50)), True, "The level is good"),
        (((-200.0, 100),), False, "unmute it"),
        (((-60.0, 50), (3.0, 50)), False, "lower the microphone's level"),
        (((-70.0, 100), (-50.0, 50)), False, "raise the microphone's level"),
        (((-30.0, 100), (-26.0, 50)), False, "reduce the noise"),
    ],
)
def test_the_sentence_names_the_mend(
    levels: tuple[tuple[float, int], ...], well: bool, told: str
) -> None:
    good, sentence = verdict(metered(*levels))
    assert good is well
    assert told in sentence


def test_nothing_heard_yet_is_silence() -> None:
    assert not verdict(Meter().told)[0]


def test_the_bar() -> None:
    assert bar(-100.0, 4) == "░░░░"
    assert bar(-30.0, 4) == "██░░"
    assert bar(0.0, 4) == "████"


KNOWN = read_manifest()


def test_the_regions_own_voice_comes_first() -> None:
    found = {language: voice_for(language, KNOWN.values()) for language in ("es", "es-MX", "es-AR")}
    assert {code: voice.name if voice else "" for code, voice in found.items()} == {
        "es": "es_ES-davefx-medium",
        "es-MX": "es_MX-ald-medium",
        "es-AR": "es_AR-daniela-high",
    }


def test_medium_and_free_to_use_comes_first() -> None:
    english = voice_for("en", KNOWN.values())
    assert english is not None
    assert (english.quality, english.noncommercial) == ("medium", False)


def test_a_language_without_any() -> None:
    assert voice_for("tlh", KNOWN.values()) is None
    assert lacking(Settings(), ["tlh"], KNOWN.values()) == {}


def test_what_is_set_is_left() -> None:
    assert lacking(Settings(), ["en", "en-GB", "de"], KNOWN.values()) == {
        "de": "de_DE-thorsten-medium"
    }


def test_the_table_keeps_what_was_there() -> None:
    settings = Settings.model_validate(
        {
            "voice": {
                "models": {"en": {"model": "en_GB-alan-medium", "speed": 1.2}, "fr": "own.onnx"}
            }
        }
    )
    assert all_voices(settings, {"de": "de_DE-thorsten-medium"}) == {
        "en": {"model": "en_GB-alan-medium", "speed": 1.2},
        "fr": "own.onnx",
        "de": "de_DE-thorsten-medium",
    }
