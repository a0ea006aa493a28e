"""What a transcript has of the wake word is taken off, and nothing else."""

import pytest

from assistant.brains.home_assistant import without_wake

PHRASES = ("okay nabu", "hey jarvis")


@pytest.mark.parametrize(
    ("heard", "command"),
    [
        ("Nabu, turn on the light.", "turn on the light."),
        ("okay nabu turn on the light", "turn on the light"),
        ("OK, Naboo! Turn on the light", "Turn on the light"),
        ("bu turn on the light", "turn on the light"),
        ("turn on the light", "turn on the light"),
        ("don't turn on the light", "don't turn on the light"),
        ("a light", "a light"),
        ("Nabu", ""),
        ("", ""),
        ("turn on nabu", "turn on nabu"),
        ("is the light on", "is the light on"),
    ],
)
def test_the_wake_word_in_front(heard: str, command: str) -> None:
    assert without_wake(heard, PHRASES) == command


def test_without_wake_words_nothing_is_taken_off() -> None:
    assert without_wake("Nabu, turn on the light", ()) == "Nabu, turn on the light"
