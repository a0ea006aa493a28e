"""What is written, and what a good reader would say."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.speech.language import LanguageTable, spoken_language
from assistant.speech.speakable import speakable
from tests.corpus.odd_texts import LANGUAGES, TEXTS, check_speech

GOLDEN = Path(__file__).with_name("spoken.tsv")  # language, as written (escaped), as spoken


def rows() -> list[tuple[str, str, str]]:
    found = []
    for line in GOLDEN.read_text("utf-8").splitlines():
        language, written, spoken = line.split("\t")
        escapes = {"\\n": "\n", "\\u0007": "\u0007", "\\u200b": "\u200b"}
        for escape, character in escapes.items():
            written = written.replace(escape, character)
        found.append((language, written, spoken))
    return found


@pytest.mark.parametrize(("language", "written", "spoken"), rows())
def test_golden(language: str, written: str, spoken: str) -> None:
    assert speakable(written, language) == spoken


def test_regional_codes_use_their_language() -> None:
    for code in ("en-US", "en_GB", "EN"):
        assert speakable("5 W", code) == "five watts"
    assert speakable("5 W", "es-MX") == "cinco vatios"


@given(TEXTS, st.sampled_from(LANGUAGES))
@settings(max_examples=300, deadline=None)
def test_nothing_but_speech_comes_out(written: str, language: str) -> None:
    check_speech(written, language)


@pytest.mark.parametrize("language", ["en", "es"])
def test_tables_speak_without_digits_and_signs(language: str) -> None:
    table = spoken_language(language)
    assert isinstance(table, LanguageTable)
    words = [name for unit in table.units.values() for name in (unit.one, unit.many)]
    words += [*table.symbols.values(), *table.fractions.values(), *table.abbreviations.values()]
    words += [table.calendar.clock(hour, minute, "") for hour in range(24) for minute in range(60)]
    words += [
        table.numbers.integer(number, None) for number in (0, 7, 21, 100, 999, 1001, 10**6, 10**16)
    ]
    for text in words:
        assert re.fullmatch(r"[^\W\d_]+(?:[-' ][^\W\d_]+)*", text), text


def test_both_tables_know_the_same_units() -> None:
    english, spanish = spoken_language("en"), spoken_language("es")
    assert english is not None
    assert spanish is not None
    assert set(english.symbols) == set(spanish.symbols)
    assert set(english.fractions) == set(spanish.fractions)
    american = frozenset(
        """lbs gal ft yd mi ″ inHg psi kn tbsp tsp sec mins secs hr m3 kWh/day hour day month
        year""".split()
    )
    assert set(english.units) - american <= set(spanish.units)


@pytest.mark.parametrize(
    ("number", "english", "spanish"),
    [
        (0, "zero", "cero"),
        (16, "sixteen", "dieciséis"),
        (29, "twenty-nine", "veintinueve"),
        (45, "forty-five", "cuarenta y cinco"),
        (100, "one hundred", "cien"),
        (121, "one hundred twenty-one", "ciento veintiuno"),
        (500, "five hundred", "quinientos"),
        (1000, "one thousand", "mil"),
        (21_021, "twenty-one thousand twenty-one", "veintiún mil veintiuno"),
        (999_999, "nine hundred ninety-nine thousand nine hundred ninety-nine",
         "novecientos noventa y nueve mil novecientos noventa y nueve"),
        (2_000_001, "two million one", "dos millones uno"),
    ],
)  # fmt: skip
def test_whole_numbers(number: int, english: str, spanish: str) -> None:
    for language, words in (("en", english), ("es", spanish)):
        table = spoken_language(language)
        assert table is not None
        assert table.numbers.integer(number, None) == words
