"""A whole sentence is a stop word, or it is none."""

import pytest

from assistant.conversation.stop_words import is_stop_word, languages_with


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
        ("stop", ["ja"], True),  # English stands in where we know no words
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
