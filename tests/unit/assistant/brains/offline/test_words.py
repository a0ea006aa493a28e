"""Names, numbers and pronunciations: from what Home Assistant has to what people say."""

import shutil

import pytest

from assistant.brains.offline.grammar import jsgf, vocabulary
from assistant.brains.offline.names import (
    digits_for_quantities,
    house_names,
    number_words,
    spoken,
    without_words,
)
from assistant.brains.offline.phones import arpabet, pronounce, wake_tails
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
