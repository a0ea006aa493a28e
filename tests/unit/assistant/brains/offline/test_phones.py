"""Tests of names, numbers and pronunciations: from Home Assistant's spelling to speech."""

import shutil
from dataclasses import replace

import pytest

from assistant.brains.offline.grammar import jsgf, vocabulary
from assistant.brains.offline.names import (
    digits_for_quantities,
    house_names,
    number_words,
    spoken,
    without_words,
)
from assistant.brains.offline.phones import (
    Evidence,
    arpabet,
    hopeless,
    pronounce,
    wake_tails,
    weigh,
)
from audio.frames import SAMPLES_PER_MS
from audio.recognize.protocol import Decoding, HeardWord
from integrations.home_assistant.house import Area, Entity, House
from tests.corpus.house import corpus_house


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Kitchen Light", "kitchen light"),
        ("TV", "t v"),
        ("Lamp 2", "lamp two"),
        ("Lamp 42", "lamp forty two"),
        ("Salón", "salon"),
        ("Kid's room", "kid's room"),
        ("Light (old)", "light old"),
        ("ランプ", ""),
    ],
)
def test_names_as_english_words(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize(
    ("number", "words"), [(0, "zero"), (19, "nineteen"), (20, "twenty"), (45, "forty five")]
)
def test_numbers_as_words(number: int, words: str) -> None:
    assert number_words(number) == words


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("set it to fifty percent", "set it to 50 percent"),
        ("set it to twenty one degrees", "set it to 21 degrees"),
        ("a hundred percent", "100 percent"),
        ("turn on lamp two", "turn on lamp two"),
        ("one degree", "1 degree"),
    ],
)
def test_only_quantities_become_digits(text: str, digits: str) -> None:
    assert digits_for_quantities(text) == digits


def test_a_doubled_name_is_told_apart_by_its_room() -> None:
    names = house_names(corpus_house())
    by_text = {name.text: name.ids for name in names.entities}
    assert by_text["lamp"] == ("light.lamp_living_room", "light.lamp_bedroom")
    assert by_text["bedroom lamp"] == ("light.lamp_bedroom",)
    assert by_text["lamp in the living room"] == ("light.lamp_living_room",)


def test_what_is_not_exposed_has_no_name() -> None:
    hidden = Entity("light.secret", "Secret", "off", exposed=False)
    house = House(areas={"a": Area("a", "Attic")}, entities={hidden.entity_id: hidden})
    assert house_names(house).entities == ()


def test_names_with_unsayable_words_are_left_out() -> None:
    names = house_names(corpus_house())
    without = without_words(names, {"zorblax"})
    assert "zorblax" in vocabulary(names)
    assert "zorblax" not in vocabulary(without)
    assert len(without.entities) == len(names.entities) - 1


def test_a_house_without_locks_has_no_sentence_about_them() -> None:
    house = corpus_house()
    entities = {key: entity for key, entity in house.entities.items() if entity.domain != "lock"}
    assert "unlock" in jsgf(house_names(house))
    assert "unlock" not in jsgf(house_names(House(house.floors, house.areas, entities)))


@pytest.mark.parametrize(
    ("ipa", "phones"),
    [
        ("zˈɔːblaks", "Z AO B L AE K S"),
        ("t_ʃˈeɪ", "T SH EY"),
        ("tʃˈeɪ", "CH EY"),
        ("dʒˈɛlmɚ", "JH EH L M ER"),
        ("", ""),
    ],
)
def test_phonetic_alphabet_to_arpabet(ipa: str, phones: str) -> None:
    assert arpabet(ipa) == phones


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_every_made_up_word_gets_its_own_readings() -> None:
    words = ["zorblax", "snorbit", "élodie", "müller"]
    readings = pronounce(words)
    assert list(readings) == words
    assert all("B L" in phones for phones in readings["zorblax"])
    assert len(readings["zorblax"]) > 1  # accents and vowels differ
    assert all(phones.startswith("S N") for phones in readings["snorbit"])


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_a_long_i_in_a_later_syllable_is_also_read_short() -> None:
    readings = pronounce(["zephyra"])["zephyra"]
    assert {"Z EH F AY R AH", "Z EH F IY R AH", "Z EH F IH R AH"} <= set(readings)


def test_no_words_no_process() -> None:
    assert pronounce([]) == {}


def test_wake_words_end_in_their_tails() -> None:
    tails = wake_tails(["okay_nabu", "my_own_word"])
    assert tails[0] == "OW K EY N AA B UW"
    assert "UW" in tails
    assert len(tails) == 7


# --- What counts as a command and what as talk, on hand-made evidence.

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
    """Return words of 250 ms each, one after the other."""
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
