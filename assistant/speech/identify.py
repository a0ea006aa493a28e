"""Which of the configured languages a short sentence is in.

Made for what people say to a house: three words, of which two may be a name in another language.
So it counts the words of grammar and command, which people say in their own language, and leaves
names alone. The reasons and figures are in docs/decisions/0009.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.speech.telling_words import LETTERS, WORDS

_WORD = re.compile(r"[^\W\d_]+")
_FIRST = 2.0  # votes of the first word: it is mostly the verb or the question, hardly ever a name
_SIGN = 2.0  # votes of a sign such as "¿"
# Votes that are too few where a configured language has no table to object with, and against the
# language that is expected: "Luz de la cocina" has as many.
_UNSURE = 2.0


def identify(text: str, languages: Sequence[str], expected: str | None = None) -> str | None:
    """Which of the configured languages (codes such as "es-MX") `text` is in; None: cannot tell.

    With only one language it is that one. A language without a table is never found.
    `expected`: the one that speaks for itself, as an answer's does. Another is then found only in a
    text that has more of it than a name would, and no word of the expected one: a lamp that is
    called otherwise must not turn an English sentence into a Spanish one.
    """
    if len(languages) == 1:
        return languages[0]
    bases = {language.split("-")[0]: language for language in reversed(languages)}
    votes = _votes(text, [base for base in bases if base in WORDS])
    ranked = sorted(votes, key=votes.__getitem__, reverse=True)
    if not ranked:
        return None
    best, next_best = votes[ranked[0]], votes[ranked[1]] if len(ranked) > 1 else 0.0
    if best <= next_best or (len(ranked) < len(bases) and best <= _UNSURE):
        return None
    if expected is None:
        return bases[ranked[0]]
    own = expected.split("-")[0]
    if ranked[0] == own:
        return expected
    return bases[ranked[0]] if best > _UNSURE and not votes.get(own) else None


def _votes(text: str, bases: Sequence[str]) -> dict[str, float]:
    """Each word's vote, shared by the languages that have it; one that all have tells nothing."""
    plain = unicodedata.normalize("NFC", text).lower()  # not casefold: it would lose the "ß"
    votes = dict.fromkeys(bases, 0.0)
    for place, word in enumerate(_WORD.findall(plain)):
        found = _languages_of(word, bases)
        if len(found) == len(bases) > 1:
            continue
        for base in found:
            votes[base] += (1.0 if place else _FIRST) / len(found)
    for base in bases:
        if any(sign in plain for sign in LETTERS.get(base, "") if not sign.isalpha()):
            votes[base] += _SIGN
    return votes


def _languages_of(word: str, bases: Sequence[str]) -> list[str]:
    """The languages that have this word; else those with its letters; else without its accents."""
    return (
        [base for base in bases if word in WORDS[base]]
        or [base for base in bases if any(letter in LETTERS.get(base, "") for letter in word)]
        or [base for base in bases if _bare(word) in _BARE[base]]
    )


def _bare(word: str) -> str:
    """Without accents, as some recognisers and many people write."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))


# Vietnamese without its marks looks like half the world's short words.
_BARE = {
    base: frozenset(map(_bare, words)) if base != "vi" else frozenset[str]()
    for base, words in WORDS.items()
}


# Which of the configured languages a turn is in.


def _cannot_tell(text: str, expected: str | None) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Languages:
    """The configured languages, and how to tell a text's.

    `identify` gives one of `codes` for a text, or None where it cannot tell; its second argument is
    the code that the text should have, None where nobody knows. It is called on the loop for every
    clause, so it must be quick.
    """

    codes: tuple[str, ...] = ("en",)  # the first is assumed until we know better
    identify: Callable[[str, str | None], str | None] = _cannot_tell

    @property
    def first(self) -> str:
        """What is assumed of somebody who has not spoken yet."""
        return self.codes[0]

    def led_by(self, code: str) -> "Languages":
        """The same, with that one assumed; "" or one that is not configured changes nothing."""
        return replace(self, codes=led_by(code, self.codes))

    def configured(self, code: str | None) -> str | None:
        """The configured language that a code such as "es-MX" stands for, None where none is."""
        if not code:
            return None
        if code in self.codes:
            return code
        base = _base(code)
        return next((known for known in self.codes if _base(known) == base), None)


def led_by(code: str, codes: Sequence[str]) -> tuple[str, ...]:
    """The codes with that one in front; "" or one that is not among them changes nothing."""
    return tuple(sorted(codes, key=lambda each: each != code))


def languages_of(codes: Sequence[str]) -> Languages:
    """The configured codes, told apart by the words of a sentence."""
    return Languages(tuple(codes), lambda text, expected: identify(text, codes, expected))


def _base(code: str) -> str:
    return code.replace("_", "-").split("-")[0].lower()


class TurnLanguage:
    """One turn's language: assumed at first, then as the person's words show, else the answer's."""

    def __init__(self, languages: Languages, given: str | None = None) -> None:
        """`given`: where it is known beforehand."""
        self.code = given or languages.first
        self._languages = languages
        self._known = given is not None

    def heard(self, text: str, code: str | None) -> None:
        """What the person said, and its language where the brain can tell."""
        self._settle(self._languages.configured(code) or self._languages.identify(text, None))

    def of_clause(self, text: str) -> str | None:
        """The language of one clause of the answer, None where it cannot be told.

        Where the person's own words have not told the turn's, the first clause that can does.
        Where they have, a clause must be wholly in another to be said in that.
        """
        told = self._languages.identify(text, self.code if self._known else None)
        if not self._known:
            self._settle(told)
        return told

    def now(self, clause: str) -> str:
        """The language in which to say that clause: its own, else the turn's."""
        return self.of_clause(clause) or self.code

    def _settle(self, told: str | None) -> None:
        if told is not None:
            self.code, self._known = told, True
