"""Texts as plain words, and the lists of forms of one language, as written in `forms/*.toml`."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "forms"
GAP = "_"  # in an action: where the thing may stand in between

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"(?<=\w)['’ʼ‘´`](?=\w)")
# "l'alarme" is two words; "don't" and "that's" are one, however they are written.
_ELIDED = re.compile(r"\b(l|d|j|c|s|m|t|n|qu|jusqu)['’ʼ‘´`](?=\w)")
# Grave, acute, circumflex, tilde, diaeresis, cedilla: what the languages here are written with.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u0327")
_SPACES = frozenset(" \t\r\n\u00a0\u202f")


def words_of(text: str, marks_tell: bool = False) -> Words | None:
    """Lower-case words without punctuation and (unless they tell words apart) without accents.

    None where something is in it that no recogniser of speech writes: invisible characters, signs,
    control characters. Letters of other scripts stay what they are and so match nothing.
    """
    plain = unicodedata.normalize("NFC", text).casefold()
    plain = _APOSTROPHES.sub("", _ELIDED.sub(r"\1 ", plain))
    if any(unicodedata.category(one)[0] in "CSZ" and one not in _SPACES for one in plain):
        return None
    if not marks_tell:
        parts = unicodedata.normalize("NFD", plain)
        plain = unicodedata.normalize("NFC", "".join(c for c in parts if c not in _ACCENTS))
    return tuple(_WORD.findall(plain))


@dataclass(frozen=True, slots=True)
class SpokenAction:
    """How an action is said: "turn ... on"."""

    before: Words  # in front of the thing
    after: Words = ()  # behind it; then there must be a thing in between


@dataclass(frozen=True, slots=True)
class Wording:
    """The forms of one language."""

    marks_tell: bool  # accents tell words apart
    yes: frozenset[Words]
    no: frozenset[Words]
    always: frozenset[Words]
    polite: frozenset[Words]
    fillers: frozenset[Words]
    against: frozenset[Words]  # with one of these in it nothing is a yes
    links: frozenset[str]  # articles and the like between the words of a name
    pronouns: frozenset[Words]
    acts: Mapping[
        str, frozenset[SpokenAction]
    ]  # by group: "open", "close", "start", "stop", "disarm"

    def words(self, text: str) -> Words | None:
        """As `words_of`, in this language's way."""
        return words_of(text, self.marks_tell)


@cache
def wording(language: str) -> Wording | None:
    """The forms for a code such as "en" (no region); None where there are none."""
    path = FOLDER / f"{language}.toml"
    if language not in languages():
        return None
    return _wording(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def languages() -> tuple[str, ...]:
    """Codes of the languages that have forms, such as ("de", "en")."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def _wording(table: Mapping[str, Any]) -> Wording:
    marks_tell = bool(table.get("marks_tell", False))

    def phrases(key: str) -> frozenset[Words]:
        return _phrases(table[key], marks_tell)

    return Wording(
        marks_tell=marks_tell,
        yes=phrases("yes"),
        no=phrases("no"),
        always=phrases("always"),
        polite=phrases("polite"),
        fillers=phrases("fillers"),
        against=phrases("against"),
        links=frozenset(word for phrase in phrases("links") for word in phrase),
        pronouns=phrases("pronouns"),
        acts={
            group: frozenset(_action(text, marks_tell) for text in texts)
            for group, texts in table["acts"].items()
        },
    )


def _phrases(texts: Iterable[str], marks_tell: bool) -> frozenset[Words]:
    return frozenset(words_of(text, marks_tell) or () for text in texts) - {()}


def _action(text: str, marks_tell: bool) -> SpokenAction:
    before, _, after = text.partition(GAP)
    return SpokenAction(words_of(before, marks_tell) or (), words_of(after, marks_tell) or ())
