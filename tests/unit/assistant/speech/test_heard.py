"""Tests of the number of words of a clause that have been heard, from its sound."""

from collections.abc import Sequence

import numpy as np
import pytest

from assistant.speech.sink import PACE_MS, QUIET, PlaybackProgress, weight
from tests.benchmarks.heard import VOICES, clauses
from tests.espeak_words import RATE as ESPEAK_RATE
from tests.espeak_words import espeak_words

RATE = 1000  # Hz, so that a sample is a millisecond


def loud(ms: int) -> bytes:
    return np.full(ms, 3 * QUIET, np.int16).tobytes()


def silent(ms: int) -> bytes:
    return np.full(ms, QUIET - 1, np.int16).tobytes()


def sounding(text: str, *sounds: bytes, whole: bool = True) -> PlaybackProgress:
    made = PlaybackProgress(text)
    for sound in sounds:
        made.add(sound, RATE)
    made.whole = whole
    return made


@pytest.mark.parametrize(
    ("played_ms", "heard"),
    [
        (-5.0, ""),
        (0.0, ""),
        (298.0, ""),
        (300.0, "One"),
        (450.0, "One"),
        (700.0, "One two"),
        (1_099.0, "One two"),
        (1_100.0, "One two three."),
        (9_000.0, "One two three."),
    ],
)
def test_what_the_voice_tells_counts_to_the_sample(played_ms: float, heard: str) -> None:
    made = PlaybackProgress("One two three.")
    made.add(silent(500), RATE, (300,))
    made.add(loud(700), RATE, (200, 600))
    for whole in (False, True):
        made.whole = whole
        assert made.heard(played_ms) == heard


@pytest.mark.parametrize(
    ("words", "sounds", "at"),  # at: times in ms after which one, two, ... words have been heard
    [
        pytest.param("aaaa bbbb", (loud(900),), (450, 900), id="by letters"),
        pytest.param("a bbbbbbb", (loud(900),), (150, 900), id="a short one and a long one"),
        pytest.param("7 lamps", (loud(1_100),), (550, 1_100), id="a digit is a word of five"),
        pytest.param("aa bb", (silent(300), loud(400)), (500, 700), id="silence before"),
        pytest.param("aa bb", (loud(400), silent(600)), (200, 400), id="silence behind"),
        pytest.param(
            "aa, bb", (loud(200), silent(300), loud(200)), (200, 700), id="a pause between"
        ),
        pytest.param("aa bb", (loud(150), silent(50), loud(200)), (200, 400), id="no pause"),
        pytest.param("one", (loud(200),), (200,), id="one word"),
        pytest.param("aa bb", (silent(400),), (200, 400), id="a voice that is all but silent"),
        pytest.param("- 7", (loud(600),), (50, 600), id="a sign takes next to nothing"),
    ],
)
def test_else_the_time_goes_to_the_words_by_their_length(
    words: str, sounds: Sequence[bytes], at: Sequence[int]
) -> None:
    made = sounding(words, *sounds)
    for number, moment in enumerate(at, 1):
        assert made.words_heard(moment - 11) == number - 1
        assert made.words_heard(moment + 11) == number


def test_of_a_clause_in_the_making_the_last_word_is_never_heard() -> None:
    made = sounding("aaaa bbbb cccc", loud(5_000), whole=False)
    assert made.words_heard(4.5 * PACE_MS + 11) == 1
    assert made.words_heard(5_000) == 2
    made.whole = True
    assert made.words_heard(5_000) == 3


def test_its_pace_is_that_of_the_clauses_before() -> None:
    slow = sounding("aaaa bbbb", loud(1_800))
    assert slow.pace_ms == 200.0
    after = PlaybackProgress("cccc dddd", slow.pace_ms)
    after.add(loud(1_500), RATE)
    assert after.words_heard(850) == 0
    assert after.words_heard(950) == 1
    assert after.pace_ms == 200.0  # only until the clause is complete


def test_words_told_by_halves_are_not_believed_once_the_clause_is_whole() -> None:
    made = PlaybackProgress("aaaa bbbb cccc")
    made.add(loud(450), RATE, (450,))
    made.add(loud(900), RATE)  # another voice has taken over
    assert made.words_heard(460) == 1
    made.whole = True
    assert [made.words_heard(at) for at in (440, 470, 880, 920, 1_350)] == [0, 1, 1, 2, 3]


def test_words_may_be_told_after_their_sound() -> None:
    made = PlaybackProgress()
    made.add(loud(450), RATE)
    assert made.words_heard(450) == 0
    made.tell("aaaa")
    made.add(loud(450), RATE)
    made.tell(" bbbb ")
    made.whole = True
    assert made.heard(500) == "aaaa"
    assert made.heard(900) == "aaaa bbbb"


@pytest.mark.parametrize("size", [1, 7, 10, 64, 1_000])
def test_pieces_of_any_size_are_the_same_sound(size: int) -> None:
    whole = silent(130) + loud(333) + silent(150) + loud(500) + silent(77)
    parts = [whole[at : at + 2 * size] for at in range(0, len(whole), 2 * size)]
    one, many = sounding("aa, bbb cc.", whole), sounding("aa, bbb cc.", *parts)
    moments = range(0, 1_200, 5)
    assert [one.words_heard(at) for at in moments] == [many.words_heard(at) for at in moments]


def test_nothing_is_heard_of_nothing() -> None:
    assert sounding("").heard(1_000) == ""
    assert sounding("one two").heard(0) == ""
    assert sounding("one two").words_heard(10) == 0
    assert PlaybackProgress().pace_ms == PACE_MS


@pytest.mark.parametrize(
    ("word", "units"), [("lamp", 4.5), ("21", 10.5), ("¿Qué?", 3.5), ("-", 0.5)]
)
def test_the_weight_of_a_word(word: str, units: float) -> None:
    assert weight(word) == units


@pytest.mark.skipif(espeak_words("try", "en-us") is None, reason="libespeak-ng is not here")
@pytest.mark.parametrize("language", VOICES)
def test_the_estimate_is_right_to_one_word(language: str) -> None:
    """Each 50 ms of each clause is compared with the word ends that espeak-ng reports."""
    errors: list[int] = []
    said = clauses(language)
    for text in said[:: 4 if len(said) > 100 else 1]:
        truth = espeak_words(text, VOICES[language])
        assert truth is not None
        made = PlaybackProgress(text)
        made.add(truth.pcm, ESPEAK_RATE)
        made.whole = True
        for played in range(0, len(truth.pcm) // 2, ESPEAK_RATE // 20):
            heard = sum(end <= played for end in truth.ends)
            errors.append(abs(made.words_heard(played / ESPEAK_RATE * 1000) - heard))
    assert len(errors) > 500
    assert np.percentile(errors, 95) <= 1
    assert np.mean(errors) < 0.35
    assert np.mean(np.array(errors) > 1) < 0.03
