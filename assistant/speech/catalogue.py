"""The catalogue: all sentences of Hearth by key, in one TOML file per language."""

import math
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
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
    """Return True if people hear this line, so that every language's file must have it."""
    return key not in LONG_LINES and key.partition(".")[0] not in LONG_SECTIONS


class Names(str):
    """Names for a sentence: "Front door, Lamp", in English "the front door and the lamp".

    Other languages get the plain names: their articles depend on a gender that Home Assistant
    does not know.
    """

    english: str

    def __new__(cls, plain: str, english: str) -> "Names":
        names = super().__new__(cls, plain)
        names.english = english
        return names


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
        if _base(found.language) == FALLBACK:
            values = {
                name: value.english if isinstance(value, Names) else value
                for name, value in values.items()
            }
        return Line(found.text.format_map(values), found.language)

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
