"""Word lists for recognising requests and kinds of entities, in every supported language.

Each `LANGUAGE.toml` in this folder has one list of words per topic. All languages are searched,
because a name can be in a different language from the spoken one.
"""

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path

LANGUAGES = ("de", "en", "es", "fr", "pt", "vi")
# Vietnamese words can differ only in their marks: "cổng" (gate), "công" in "công tắc" (switch).
# In other languages an entry that ends with "!" keeps its marks: "*tür!" must not match
# "Temperatur".
_MARKS_MATTER = frozenset({"vi"})
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_LONGEST = 200  # characters of a text that are checked
_MAX_TEXTS = 16_384
_WORD = re.compile(r"[^\W_]+")


def fold(text: str, *, marks: bool = False) -> str:
    """Return the words of a text in lower case, separated by single spaces. Accents are removed
    unless `marks` is set.

    Underscores and punctuation separate words. Only the first 200 characters are used.
    """
    return _fold(text[:_LONGEST], marks)


@lru_cache(_MAX_TEXTS)
def _fold(text: str, marks: bool) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    if marks:
        letters = unicodedata.normalize("NFC", parts)
    else:  # "đ" is a letter of its own, which Unicode does not decompose
        letters = "".join(one for one in parts if not unicodedata.combining(one)).replace("đ", "d")
    return " ".join(_WORD.findall(letters))


def mentions(topic: str, *texts: str) -> bool:
    """Return True if one of the texts contains a word or phrase of the topic, in any language."""
    return any(_mentions(topic, text) for text in texts)


@lru_cache(_MAX_TEXTS)
def mentions_one_of(topics: tuple[str, ...], text: str) -> bool:
    """Return True if the text contains a word or phrase of any of the topics. This is faster than
    checking one topic after another."""
    plain, marked = _patterns(*topics)
    return bool(plain.search(fold(text)) or marked.search(fold(text, marks=True)))


@lru_cache(_MAX_TEXTS)
def without(topic: str, text: str) -> str:
    """Return the text without the words and phrases of the topic, in any language."""
    spellings = (fold(text).split(), fold(text, marks=True).split())
    if len(spellings[0]) != len(spellings[1]):  # a mark without a letter
        return text
    gone: set[int] = set()
    for words, pattern in zip(spellings, _patterns(topic), strict=True):
        line = " ".join(words)
        for found in pattern.finditer(line):
            first = line.count(" ", 0, found.start())
            gone |= set(range(first, first + found.group().count(" ") + 1))
    return " ".join(word for number, word in enumerate(spellings[1]) if number not in gone)


def find(topic: str, text: str) -> tuple[int, int] | None:
    """Return the position of the topic's first mention as `(start, end)`, or None.

    The position counts the words of `fold(text, marks=True).split()`, and `end` is exclusive.
    """
    spans = [
        (found.start(), found.end(), folded)
        for marks, pattern in zip((False, True), _patterns(topic), strict=True)
        if (found := pattern.search(folded := fold(text, marks=marks)))
    ]
    if not spans:
        return None
    return min(
        (folded.count(" ", 0, start), folded.count(" ", 0, end) + 1) for start, end, folded in spans
    )


@lru_cache(64)
def entries(topic: str, language: str) -> tuple[str, ...]:
    """Return a topic's words in one language, as they are written in the file. Raises KeyError if
    the file has no such topic."""
    return tuple(_table(language)[topic])


@lru_cache(_MAX_TEXTS)
def _mentions(topic: str, text: str) -> bool:
    plain, marked = _patterns(topic)
    return bool(plain.search(fold(text)) or marked.search(fold(text, marks=True)))


@lru_cache(64)
def _patterns(*topics: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    written: dict[bool, list[str]] = {False: [], True: []}
    for language in LANGUAGES:
        for entry in [entry for topic in topics for entry in entries(topic, language)]:
            marks = language in _MARKS_MATTER or entry.endswith("!")
            for spelt in _spellings(entry.rstrip("!"), language):
                written[marks].append(_pattern(spelt, marks))
    plain, marked = (re.compile("|".join(written[marks]) or r"(?!)") for marks in (False, True))
    return plain, marked


def _spellings(entry: str, language: str) -> set[str]:
    """Return an entry's spellings. German words can also be spelled without umlauts
    ("Kuehlschrank")."""
    return {entry, entry.translate(_DIGRAPHS)} if language == "de" else {entry}


def _pattern(entry: str, marks: bool) -> str:
    before = r"\b\w*" if entry.startswith("*") else r"\b"
    after = r"\w*\b" if entry.endswith("*") else r"\b"
    return f"{before}{re.escape(fold(entry.strip('*'), marks=marks))}{after}"


@lru_cache(len(LANGUAGES))
def _table(language: str) -> dict[str, list[str]]:
    text = (Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
