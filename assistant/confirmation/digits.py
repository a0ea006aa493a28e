"""A PIN as it was spoken or typed, as digits."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache

from assistant.confirmation.digit_words import TABLES, Numerals
from assistant.confirmation.wording import Words, words_of

MAX_WORDS = 40
_TIMES = {"double": 2, "doble": 2, "duplo": 2, "doppel": 2, "triple": 3, "triplo": 3}


def read_digits(text: str, languages: Sequence[str], names: Sequence[str] = ()) -> str:
    """The digits, such as "1234"; "" where anything else is in the text, or nothing.

    "1 2 3 4", "one two three four", "twelve thirty-four", "double five", with "the PIN is" in front
    and "please" around. `languages`: those configured; English stands in where none has a table.
    Where two languages read it differently it is "" too.
    """
    bases = dict.fromkeys(code.lower().replace("_", "-").split("-")[0] for code in languages)
    words = words_of(text)
    if not words or len(words) > MAX_WORDS:
        return ""
    known = [base for base in bases if base in TABLES] or ["en"]
    called = {name for one in names if (name := words_of(one))}
    read = {digits for base in known if (digits := _read(words, base, called))}
    return read.pop() if len(read) == 1 else ""


def _read(words: Words, language: str, called: Set[Words]) -> str:
    values, aside = _values(language), _aside(language) | called
    longest = max(map(len, (*values, *aside)))
    digits, at, times = "", 0, 1
    while at < len(words):
        if words[at] in _TIMES and times == 1:
            times, at = _TIMES[words[at]], at + 1
            continue
        end = next(
            (
                end
                for end in range(min(len(words), at + longest), at, -1)
                if words[at:end] in values or words[at:end] in aside
            ),
            0,
        )
        part = _figures(words[at]) or values.get(words[at:end], "")
        if not end and not part:
            return ""
        if times > 1 and len(part) != 1:  # "double thirty"
            return ""
        digits += part * times
        at, times = end or at + 1, 1
    return digits if times == 1 else ""


def _figures(word: str) -> str:
    return word if word.isascii() and word.isdigit() else ""


@cache
def _values(language: str) -> Mapping[Words, str]:
    """Every number up to 99 in words, and its digits."""
    return {words: digits for words, digits in _numbers(TABLES[language]) if words}


def _numbers(table: Numerals) -> Iterator[tuple[Words, str]]:
    for text, digits in (*table.words, *table.compounds()):
        yield words_of(text) or (), digits


@cache
def _aside(language: str) -> frozenset[Words]:
    return frozenset(words for text in TABLES[language].aside if (words := words_of(text)))
