"""The voice that a language gets."""

from assistant.config.schema import Settings
from assistant.models.shelf import read_manifest
from assistant.setup.sound_check import all_voices, lacking, voice_for

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
