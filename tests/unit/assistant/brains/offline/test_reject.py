"""What counts as a command and what as talk, on hand-made evidence."""

from dataclasses import replace

import pytest

from assistant.brains.offline.phones import Evidence, hopeless, weigh
from audio.frames import SAMPLES_PER_MS
from audio.recognize.protocol import Decoding, HeardWord

PHONES = {
    "turn": "T ER N", "on": "AA N", "off": "AO F", "the": "DH AH", "office": "AO F AH S",
    "light": "L AY T", "life": "L AY F", "yesterday": "Y EH S T ER D EY", "aboo": "AA B UW",
    "soup": "S UW P", "is": "IH Z", "cold": "K OW L D", "of": "AH V", "and": "AH N D",
    "lock": "L AA K", "unlock": "AH N L AA K", "look": "L UH K", "a": "AH", "lot": "L AA T",
    "front": "F R AH N T", "door": "D AO R", "could": "K UH D", "did": "D IH D", "you": "Y UW",
    "eight": "EY T", "eighty": "EY T IY", "eighteen": "EY T IY N", "open": "OW P AH N",
    "close": "K L OW Z", "clothes": "K L OW DH Z", "shut": "SH AH T", "closed": "K L OW Z D",
    "can": "K AE N", "would": "W UH D",
}  # fmt: skip


def words(text: str, start_ms: int = 300, fit: float = -1.5) -> tuple[HeardWord, ...]:
    """Words of 250 ms each, one behind the other."""
    step = 250 * SAMPLES_PER_MS
    first = start_ms * SAMPLES_PER_MS
    return tuple(
        HeardWord(word, first + number * step, first + (number + 1) * step, fit)
        for number, word in enumerate(text.split())
    )


def phones(word: str) -> list[str]:
    return PHONES[word].split()


def weighed(command: str, free: tuple[HeardWord, ...], fit: float = -1.5) -> Evidence:
    return weigh(words(command, fit=fit), Decoding(free), 200 * SAMPLES_PER_MS, phones)


COMMAND = "turn on the office light"


def test_the_same_words_are_beyond_doubt() -> None:
    evidence = weighed(COMMAND, words(COMMAND))
    assert (evidence.distance, evidence.outside, evidence.doubt) == (0.0, 0, 0.0)


def test_words_that_sound_alike_count_nearly_as_the_same() -> None:
    assert weighed(COMMAND, words("turn on the office life")).doubt < 0.1


def test_the_tail_of_the_wake_word_is_no_evidence() -> None:
    tail = (HeardWord("aboo", 0, 180 * SAMPLES_PER_MS, 0.0),)
    assert weighed(COMMAND, tail + words(COMMAND)).doubt == 0.0


def test_words_behind_the_command_speak_against_it() -> None:
    evidence = weighed(COMMAND, words(COMMAND + " yesterday"))
    assert evidence.outside == len(phones("yesterday"))
    assert evidence.doubt > 0.6


def test_a_word_that_stretches_over_the_silence_is_not_behind_the_command() -> None:
    free = words("turn on the office life")
    stretched = replace(free[-1], end=free[-1].end + 1_000 * SAMPLES_PER_MS)
    assert weighed(COMMAND, (*free[:-1], stretched)).outside == 0


def test_other_words_are_refused() -> None:
    free = words("the soup is cold")
    assert not weighed(COMMAND, free, fit=-3.5).accepted
    assert weighed(COMMAND, words(COMMAND), fit=-3.5).accepted


def test_nothing_heard_freely_is_refused() -> None:
    assert not weighed(COMMAND, ()).accepted


@pytest.mark.parametrize(("fit", "refused"), [(-1.0, False), (-3.0, False), (-7.0, True)])
def test_a_sound_that_fits_nowhere_needs_no_free_decoding(fit: float, refused: bool) -> None:
    assert hopeless(words(COMMAND, fit=fit)) is refused


def test_one_long_word_that_does_not_fit_refutes_the_rest() -> None:
    start, end = 0, 500 * SAMPLES_PER_MS
    assert hopeless((*words(COMMAND, 500), HeardWord("lamp", start, end, -6.5)))


@pytest.mark.parametrize(
    ("command", "heard", "accepted"),
    [
        ("lock the front door", "and look the front door", False),
        ("lock the front door", "look the front door", True),
        ("lock the front door", "a lot of front door", True),
        ("unlock the front door", "and look the front door", True),
        ("unlock the front door", "look the front door", False),
        ("turn on the office light", "turn of the office light", False),
        ("turn off the office light", "turn of the office light", True),
        ("open the door", "clothes the door", False),
        ("close the door", "clothes the door", True),
        ("could you turn on the light", "did you turn on the light", False),
        ("turn on eight", "turn on eighty", False),
        ("turn on eighty", "turn on eighty", True),
        ("could you turn on the light", "could you turn on the light", True),
    ],
)
def test_another_meaning_must_not_be_nearer(command: str, heard: str, accepted: bool) -> None:
    assert weighed(command, words(heard)).accepted is accepted
