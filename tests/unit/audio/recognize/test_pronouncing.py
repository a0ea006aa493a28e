"""Readings of a few words out of the dictionary of all."""

from audio.recognize.network import readings


def test_every_reading_of_a_word_and_no_other_word() -> None:
    assert readings(["oh", "read", "zorblax", "oh"]) == {
        "oh": ("OW",),
        "read": ("R EH D", "R IY D"),
    }


def test_words_with_signs() -> None:
    assert readings(["o'clock", "what's"]) == {
        "o'clock": ("AH K L AA K",),
        "what's": ("W AH T S", "HH W AH T S"),
    }


def test_of_no_words_nothing() -> None:
    assert readings([]) == {}
