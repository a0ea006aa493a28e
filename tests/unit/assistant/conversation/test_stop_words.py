"""Tests of stop words: only a whole sentence counts as one."""

import pytest

from assistant.conversation.stop_words import LAST_WORDS, is_echo, is_stop_word, languages_with


@pytest.mark.parametrize(
    ("text", "languages", "stops"),
    [
        ("stop", ["en"], True),
        ("Stop!", ["en"], True),
        ("Stop it, please.", ["en"], True),
        ("please be quiet, thank you", ["en-GB"], True),
        ("That's enough.", ["en"], True),
        ("never mind", ["en"], True),
        ("stop the music", ["en"], False),
        ("don't stop", ["en"], False),
        ("please", ["en"], False),
        ("", ["en"], False),
        ("para", ["en"], False),
        ("Para, por favor.", ["es"], True),
        ("¡Cállate!", ["es"], True),
        ("para la música", ["es"], False),
        ("stop", ["es"], True),
        ("Stopp!", ["de"], True),
        ("dừng lại", ["vi"], True),
        ("stop", ["ja"], True),  # English is used for languages without stop words
    ],
)
def test_stop_words(text: str, languages: list[str], stops: bool) -> None:
    assert is_stop_word(text, languages) is stops


def test_the_end_of_the_wake_word_does_not_count() -> None:
    assert is_stop_word("nabu stop", ["en"], "okay_nabu")
    assert is_stop_word("Okay Nabu, stop.", ["en"], "okay_nabu")
    assert not is_stop_word("okay nabu", ["en"], "okay_nabu")


def test_languages_that_have_any() -> None:
    assert languages_with(["es-MX", "en", "ja", "es"]) == ("es", "en")


# Our own voice, come back through the microphone, is known by its words.


SAID = ("The kitchen light is on.", "Do you want the radio in the hall as well?")
SPANISH = ("He encendido la luz de la cocina.",)


@pytest.mark.parametrize(
    ("heard", "echo"),
    [
        ("the kitchen light is on", True),
        ("Kitchen light is on. Do you want", True),
        ("want the radio in the hole", True),  # five of six
        ("want the radio in a hole", False),  # four of six
        ("the kitchen light", False),  # three words may be anybody's
        ("turn the kitchen light off please", False),
        ("yes the radio in the hall", False),
        ("no the kitchen light is on", False),
        ("okay the radio in the hall", False),
        ("", False),
        ("what is the weather like", False),
    ],
)
def test_english(heard: str, echo: bool) -> None:
    assert is_echo(heard, SAID, ["en"]) is echo


@pytest.mark.parametrize(
    ("heard", "echo"),
    [
        ("encendido la luz de la cocina", True),
        ("ENCENDIDO LA LUZ DE LA COCÍNA", True),  # however its accents are written
        ("sí la luz de la cocina", False),
    ],
)
def test_spanish(heard: str, echo: bool) -> None:
    assert is_echo(heard, SPANISH, ["es-MX", "en"]) is echo


def test_only_our_last_words_count() -> None:
    long_ago = ("The kitchen light is on.", "word " * LAST_WORDS)
    assert not is_echo("the kitchen light is on", long_ago, ["en"])


def test_who_has_said_nothing_has_no_echo() -> None:
    assert not is_echo("the kitchen light is on", (), ["en"])
