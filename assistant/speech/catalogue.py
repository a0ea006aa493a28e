"""Every sentence that Hearth itself says has a key; one TOML file for each language."""

import math
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOCALES = Path(__file__).parent / "locales"
FALLBACK = "en"

# A language's file has every line but these: what a model or a terminal reads and nobody hears as
# it stands. A new line is therefore due in every language, unless it is named here. The whole
# languages have these too.
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
    """Tell whether a person hears this line, so that every language's file must have it."""
    return key not in LONG_LINES and key.partition(".")[0] not in LONG_SECTIONS


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and the language that it is in: the voice must be of that one."""

    text: str
    language: str  # as it was asked for where there is a file for it, else the fallback's


class Catalogue:
    """The sentences of all languages, read once."""

    def __init__(self, folder: Path = LOCALES) -> None:
        self._texts = {
            path.stem: _flatten(tomllib.loads(path.read_text(encoding="utf-8")))
            for path in sorted(folder.glob("*.toml"))
        }

    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that have a file, e.g. ("en", "es")."""
        return tuple(self._texts)

    def keys(self, language: str) -> frozenset[str]:
        """All keys of one language's file."""
        return frozenset(self._texts[language])

    def text(self, key: str, language: str) -> str:
        """The sentence with its fields unfilled, from "es-MX", else "es", else English.

        Raises KeyError for an unknown key.
        """
        return self._find(key, language).text

    def say(self, key: str, language: str, **values: object) -> str:
        """The sentence, filled in. Raises KeyError for an unknown key or a missing field."""
        return self.text(key, language).format_map(values)

    def line(self, key: str, language: str, **values: object) -> Line:
        """As `say`, with the language that the sentence is in: English where the file lacks it."""
        found = self._find(key, language)
        return Line(found.text.format_map(values), found.language)

    def own(self, language: str) -> str:
        """The language of what Hearth says by itself to people who speak `language`.

        That one where it has a file, which then has every line that is heard; else English.
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
    """Names of the {fields} of a sentence."""
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
    """A span of time such as "one hour, 30 minutes", to the second that is begun."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        catalogue.say(f"timers.{unit}_{'one' if count == 1 else 'many'}", language, count=count)
        for unit, count in (("hour", hours), ("minute", minutes), ("second", rest))
        if count
    ]
    return ", ".join(parts) or catalogue.say("timers.second_many", language, count=0)
