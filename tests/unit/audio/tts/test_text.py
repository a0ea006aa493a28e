"""Text as engines are given it."""

import pytest

from audio.tts import spelled


@pytest.mark.parametrize(
    ("text", "language", "given"),
    [
        ("The H V A C is on", "en-us", "The H V eigh C is on"),
        ("A Q I is 42", "en", "eigh Q I is 42"),
        ("A lamp and plan A", "en", "A lamp and plan A"),
        ("A four, C F", "en", "A four, C F"),
        ("El H V A C", "es", "El H V A C"),
    ],
)
def test_a_letter_is_no_article(text: str, language: str, given: str) -> None:
    assert spelled(text, language) == given
    assert len(given.split()) == len(text.split())  # words are counted as they are heard
