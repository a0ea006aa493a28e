"""Every sentence exists in every language, with the same fields, and can be spoken."""

import re
import string
from pathlib import Path

import pytest

from assistant.speech.catalogue import Catalogue, fields

ALL = Catalogue()
OTHERS = [language for language in ALL.languages() if language != "en"]


def test_english_and_spanish_are_there() -> None:
    assert {"en", "es"} <= set(ALL.languages())


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_keys_and_fields(language: str) -> None:
    assert ALL.keys(language) == ALL.keys("en")
    for key in ALL.keys("en"):
        assert fields(ALL.text(key, language)) == fields(ALL.text(key, "en")), key


@pytest.mark.parametrize("language", ALL.languages())
def test_every_sentence_is_fit_to_be_spoken(language: str) -> None:
    for key in ALL.keys(language):
        text = ALL.text(key, language)
        assert text == text.strip() != "", key
        assert not re.search(r"[_*#`<>\n]", re.sub(r"\{\w+\}", "", text)), key
        for _, name, form, conversion in string.Formatter().parse(text):
            assert not form, key
            assert not conversion, key
            assert name is None or name.isidentifier(), key


@pytest.fixture
def small(tmp_path: Path) -> Catalogue:
    (tmp_path / "en.toml").write_text('[light]\non = "{name} is on."\nonly = "Only here."\n')
    (tmp_path / "es.toml").write_text('[light]\non = "{name} está encendida."\n')
    return Catalogue(tmp_path)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Lamp is on."),
        ("es", "Lamp está encendida."),
        ("es-MX", "Lamp está encendida."),
        ("fr", "Lamp is on."),
    ],
)
def test_a_language_falls_back_to_its_base_then_to_english(
    small: Catalogue, language: str, sentence: str
) -> None:
    assert small.say("light.on", language, name="Lamp") == sentence


def test_what_is_missing_is_an_error(small: Catalogue) -> None:
    assert small.say("light.only", "es") == "Only here."
    with pytest.raises(KeyError, match=r"light\.off"):
        small.say("light.off", "en")
    with pytest.raises(KeyError, match="name"):
        small.say("light.on", "en")


def test_a_value_with_braces_is_only_text(small: Catalogue) -> None:
    assert small.say("light.on", "en", name="{name.x}") == "{name.x} is on."


def test_a_key_that_is_no_sentence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text("[light]\non = 3\n")
    with pytest.raises(TypeError, match=r"light\.on"):
        Catalogue(tmp_path)
