"""The catalogue: all sentences of Hearth by key, in one TOML file per language."""

import math
import re
import string
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from assistant.speech.language.english import integer

LOCALES = Path(__file__).parent / "locales"
FALLBACK = "en"
_IN_WORDS = 12  # the largest number that English sentences spell out

# A language's file has all lines except these, which are read by a model or in a terminal and never
# spoken as they are. A new line is therefore required in every language unless it is listed here.
# The languages in WHOLE have these lines too.
WHOLE = frozenset({"en", "es"})
LONG_SECTIONS = frozenset({"audit", "camera", "fetch", "weather"})
LONG_LINES = frozenset(
    {
        "jobs.calls_spent",
        "jobs.doing",
        "jobs.dropped",
        "jobs.full",
        "jobs.item",
        "jobs.nested",
        "jobs.no_such",
        "jobs.which",
        "tools.answered",
        "tools.bad_argument",
        "tools.by_home",
        "tools.date_time",
        "tools.dropped",
        "tools.failed_there",
        "tools.held",
        "tools.needs_confirmation",
        "tools.withdrawn",
    }
)


def is_short(key: str) -> bool:
    """Return True if people hear this line, so that every language's file must contain it."""
    return key not in LONG_LINES and key.partition(".")[0] not in LONG_SECTIONS


# Words of a sentence that agree with a field's number: "{names:is}" is "is" or "are".
AGREEING = {
    "en": {
        "is": ("is", "are"),
        "was": ("was", "were"),
        "has": ("has", "have"),
        "does": ("does", "do"),
        "it": ("it", "they"),
        "its": ("it's", "they're"),
        "Its": ("It's", "They're"),
        "them": ("it", "them"),
    },
    "es": {
        "está": ("está", "están"),
        "estaba": ("estaba", "estaban"),
        "ha": ("ha", "han"),
        "había": ("había", "habían"),
        "hace": ("hace", "hacen"),
        "responde": ("responde", "responden"),
        "respondía": ("respondía", "respondían"),
        "sigue": ("sigue", "siguen"),
    },
}
_PLURAL = re.compile(r"(?i)[^sui]s$")
_SPANISH_PLURAL = re.compile(r"^(?:los|las) | y ")


def is_plural(name: str) -> bool:
    """Return True for the English name of several things, such as "Kitchen lights"."""
    return bool(_PLURAL.search(name))


class Names(str):
    """Names for a sentence: "Front door, Lamp", in English "the front door and the lamp".

    `others` has the same for further languages ("es"), in German also by case ("de.dat"). A
    language without an entry gets the plain names.
    """

    english: str
    others: Mapping[str, str]
    several: bool  # in English; False for a title such as a scene's, even if it ends with "s"

    def __new__(
        cls,
        plain: str,
        english: str,
        others: Mapping[str, str] | None = None,
        *,
        several: bool = False,
    ) -> "Names":
        names = super().__new__(cls, plain)
        names.english = english
        names.others = others or {}
        names.several = several
        return names

    def within(self, language: str, case: str = "") -> str:
        """Return the names for a sentence of the language and, in German, of the case."""
        if language == FALLBACK:
            return self.english
        plain = self.others.get(language, str(self))
        return self.others.get(f"{language}.{case}", plain) if case else plain

    def changed(self, change: Callable[[str], str]) -> "Names":
        """Return the same names with a change of every wording."""
        others = {language: change(said) for language, said in self.others.items()}
        return Names(change(self), change(self.english), others, several=self.several)


def counted(count: int) -> Names:
    """Return a number of things: "2", in an English sentence "two" (0 is "none")."""
    words = ("none" if not count else integer(count)) if count <= _IN_WORDS else str(count)
    return Names(str(count), words)


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence and its language, which the voice must match."""

    text: str
    language: str  # as requested if there is a file for it, else the fallback's


class Catalogue:
    """The sentences of all languages, read once."""

    def __init__(self, folder: Path = LOCALES) -> None:
        self._texts = {
            path.stem: _flatten(tomllib.loads(path.read_text(encoding="utf-8")))
            for path in sorted(folder.glob("*.toml"))
        }

    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages with a file, such as ("en", "es")."""
        return tuple(self._texts)

    def keys(self, language: str) -> frozenset[str]:
        """Return all keys of one language's file."""
        return frozenset(self._texts[language])

    def text(self, key: str, language: str) -> str:
        """Return a sentence with its fields unfilled, from "es-MX", else "es", else English.

        Raises KeyError for an unknown key.
        """
        return self._find(key, language).text

    def say(self, key: str, language: str, **values: object) -> str:
        """Return a sentence, filled in. Raises KeyError for an unknown key or a missing field."""
        return self.line(key, language, **values).text

    def line(self, key: str, language: str, **values: object) -> Line:
        """Return a sentence as `say` does, with its language: English if the file lacks it."""
        found = self._find(key, language)
        language = _base(found.language)
        filled = {name: _Filled(value, language) for name, value in values.items()}
        return Line(contracted(found.text.format_map(filled), language), found.language)

    def own(self, language: str) -> str:
        """Return the language in which Hearth speaks to people who speak `language`.

        It is the same one if it has a file, which then has every spoken line, else English.
        """
        known = language in self._texts or _base(language) in self._texts
        return language if known else FALLBACK

    def _find(self, key: str, language: str) -> Line:
        for code in (language, _base(language)):
            found = self._texts.get(code, {}).get(key)
            if found is not None:
                return Line(found, language)
        return Line(self._texts[FALLBACK][key], FALLBACK)


class _Filled:
    """A value of a field, with the wording of the sentence's language."""

    def __init__(self, value: object, language: str) -> None:
        self._value = value
        self._language = language

    def __str__(self) -> str:
        return format(self)

    def __format__(self, case: str) -> str:
        value = self._value
        if case in AGREEING.get(self._language, ()):
            return AGREEING[self._language][case][self._is_several()]
        said = value.within(self._language, case) if isinstance(value, Names) else str(value)
        return f"{_START}{said}" if self._language in _JOINED else said

    def _is_several(self) -> bool:
        value = self._value
        if self._language == FALLBACK:
            return value.several if isinstance(value, Names) else is_plural(str(value))
        said = value.within(self._language) if isinstance(value, Names) else str(value)
        return bool(_SPANISH_PLURAL.search(said))


_START = "\0"  # stands before a filled-in value until prepositions and articles are joined
_JOINED = {
    "es": {"de el": "del", "a el": "al"},
    "fr": {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"},
    "pt": {
        "de o": "do", "de a": "da", "de os": "dos", "de as": "das",
        "em o": "no", "em a": "na", "em os": "nos", "em as": "nas",
        "a o": "ao", "a a": "à", "a os": "aos", "a as": "às",
        "por o": "pelo", "por a": "pela", "por os": "pelos", "por as": "pelas",
    },
    "de": {"in dem": "im", "an dem": "am", "von dem": "vom", "zu dem": "zum", "zu der": "zur"},
}  # fmt: skip


def contracted(text: str, language: str) -> str:
    """Join a preposition with the article of the value after it: "de el salón" as "del salón"."""
    if language not in _JOINED:
        return text
    joined = _JOINED[language]
    found = _joinable(language).sub(lambda one: joined.get(f"{one[1]} {one[2]}", one[0]), text)
    return found.replace(_START, "")


@cache
def _joinable(language: str) -> re.Pattern[str]:
    pairs = [pair.split() for pair in _JOINED[language]]
    before, after = ("|".join(dict.fromkeys(words)) for words in zip(*pairs, strict=True))
    return re.compile(rf"\b({before}) {_START}({after})\b(?= )")


def fields(text: str) -> frozenset[str]:
    """Return the names of the {fields} of a sentence."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def _base(language: str) -> str:
    return language.partition("-")[0]


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, str):
            flat[f"{prefix}{name}"] = value
        else:
            raise TypeError(f"{prefix}{name} in the catalogue must be text")
    return flat


def length_of(seconds: float, catalogue: Catalogue, language: str) -> str:
    """Return a length of time such as "one hour and 30 minutes", rounded up to a second."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        catalogue.say(f"timers.{unit}_{'one' if count == 1 else 'many'}", language, count=count)
        for unit, count in (("hour", hours), ("minute", minutes), ("second", rest))
        if count
    ]
    if not parts:
        return catalogue.say("timers.second_many", language, count=0)
    if len(parts) == 1:
        return parts[0]
    return catalogue.say("house_state.and", language, first=", ".join(parts[:-1]), last=parts[-1])
