"""Catalogue of Hearth's sentences, with one TOML file per language."""

import math
import re
import string
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time
from functools import cache
from pathlib import Path
from typing import Any

from assistant.speech.language.english import integer

LOCALES = Path(__file__).parent / "locales"
FALLBACK = "en"
_IN_WORDS = 12  # the largest number that English sentences spell out

# Every language file must contain all lines except these, which only a model or a terminal user
# reads. So a new line is required in every language unless it is listed here. The languages in
# WHOLE must contain these lines too.
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
        "tools.late_there",
        "tools.needs_confirmation",
        "tools.withdrawn",
    }
)


def is_short(key: str) -> bool:
    """Return True if this line must be in every language file, because it is spoken to users."""
    return key not in LONG_LINES and key.partition(".")[0] not in LONG_SECTIONS


# Words that agree with a field in number: "{names:is}" becomes "is" or "are".
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
    "pt": {
        "está": ("está", "estão"),
        "estava": ("estava", "estavam"),
        "tinha": ("tinha", "tinham"),
        "era": ("era", "eram"),
        "faz": ("faz", "fazem"),
        "fez": ("fez", "fizeram"),
        "voltou": ("voltou", "voltaram"),
        "abriu": ("abriu", "abriram"),
        "fechou": ("fechou", "fecharam"),
        "trancou": ("trancou", "trancaram"),
        "destrancou": ("destrancou", "destrancaram"),
    },
    "fr": {
        "a": ("a", "ont"),
        "est": ("est", "sont"),
        "fait": ("fait", "font"),
    },
    "de": {
        "bleibt": ("bleibt", "bleiben"),
        "hat": ("hat", "haben"),
        "ist": ("ist", "sind"),
        "ließ": ("ließ", "ließen"),
        "tut": ("tut", "tun"),
    },
}
_PLURAL = re.compile(r"(?i)[^sui]s$")
# Names of several things by their article; German needs the dative, because "die" is singular too.
_SEVERAL = {
    "es": re.compile(r"^(?:los|las) | y "),
    "pt": re.compile(r"^(?:os|as) | e "),
    "fr": re.compile(r"^les | et "),
    "de": re.compile(r"^den | und "),
}


def is_plural(name: str) -> bool:
    """Return True if an English name is in the plural, as in "Kitchen lights"."""
    return bool(_PLURAL.search(name))


class Names(str):
    """One or more names as listed ("Front door, Lamp"), with the wording for use in a sentence.

    `english` is the English wording: "the front door and the lamp". `others` has the wording for
    other languages ("es") and, in German, for a case ("de.dat"). A language without a wording uses
    the plain list.
    """

    english: str
    others: Mapping[str, str]
    several: bool  # plural in English; False for a scene's name even if it ends with "s"

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
        """Return the wording for a sentence in this language and, in German, in this case."""
        if language == FALLBACK:
            return self.english
        plain = self.others.get(language, str(self))
        return self.others.get(f"{language}.{case}", plain) if case else plain

    def changed(self, change: Callable[[str], str]) -> "Names":
        """Return a copy with `change` applied to every wording."""
        others = {language: change(said) for language, said in self.others.items()}
        return Names(change(self), change(self.english), others, several=self.several)


def counted(count: int) -> Names:
    """Return a count for use in a sentence. In English, small counts are words: "none", "two"."""
    words = ("none" if not count else integer(count)) if count <= _IN_WORDS else str(count)
    return Names(str(count), words)


# Countries in which speakers of a language count the hours to 12 (Unicode CLDR 46, `timeData`). In
# the United Kingdom and Ireland, clocks show 24 hours, but people say 12.
_TWELVE_HOURS = {
    "en": frozenset("AU BD CA GB GH HK IE IN JM LK MT MY NG NZ PG PH PK SG TT US".split()),
    "es": frozenset("CO DO PA PR US VE".split()),
}
_HALVES = {"en": ("AM", "PM"), "es": ("a. m.", "p. m.")}


def counts_to_12(language: str, country: str) -> bool:
    """Return True if speakers of this language in this country say "2:30 PM" for 14:30."""
    return country.upper() in _TWELVE_HOURS.get(_base(language), ())


def clock_time(moment: datetime | time, language: str, country: str = "") -> str:
    """Return a time of day as people write it there: "14:30" or "2:30 PM"."""
    if not counts_to_12(language, country):
        return f"{moment:%H:%M}"
    return f"{moment.hour % 12 or 12}:{moment:%M} {_HALVES[_base(language)][moment.hour >= 12]}"


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence and its language, which the voice must match."""

    text: str
    language: str  # the requested one, or English if it lacks the sentence


class Catalogue:
    """Hearth's sentences in all languages, read from the TOML files once."""

    def __init__(self, folder: Path = LOCALES) -> None:
        self._texts = {
            path.stem: _flatten(tomllib.loads(path.read_text(encoding="utf-8")))
            for path in sorted(folder.glob("*.toml"))
        }
        self._country = ""

    def use_country(self, country: str) -> None:
        """Say times as people in this country do. `country` is an ISO 3166 code, or "" for
        24-hour times."""
        self._country = country

    def languages(self) -> tuple[str, ...]:
        """Return the codes of all languages that have a file, such as ("en", "es")."""
        return tuple(self._texts)

    def keys(self, language: str) -> frozenset[str]:
        return frozenset(self._texts[language])

    def text(self, key: str, language: str) -> str:
        """Return a sentence template in this language, or in English if the language lacks it.

        For "es-MX", "es" is tried before English. Raises KeyError for an unknown key.
        """
        return self._find(key, language).text

    def say(self, key: str, language: str, **values: object) -> str:
        """Return a sentence with its fields filled in. A `datetime` or `time` is written as its
        time of day.

        Raises KeyError for an unknown key or a missing field.
        """
        return self.line(key, language, **values).text

    def line(self, key: str, language: str, **values: object) -> Line:
        """Return the same sentence as `say`, together with its language."""
        found = self._find(key, language)
        language = _base(found.language)
        filled = {
            name: _Filled(self._worded(value, language), language) for name, value in values.items()
        }
        return Line(contracted(found.text.format_map(filled), language), found.language)

    def _worded(self, value: object, language: str) -> object:
        if isinstance(value, datetime | time):
            return clock_time(value, language, self._country)
        return value

    def own(self, language: str) -> str:
        """Return the language in which Hearth answers users who speak `language`.

        This is English if `language` has no file.
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
        case = "dat" if self._language == "de" else ""
        said = value.within(self._language, case) if isinstance(value, Names) else str(value)
        return bool(_SEVERAL[self._language].search(said))


_START = "\0"  # marks the start of a value until prepositions and articles are contracted
_JOINED = {
    "es": {"de el": "del", "a el": "al"},
    "fr": {
        "de le": "du", "de les": "des", "à le": "au", "à les": "aux",
        "de un": "d'un", "de une": "d'une",
    },
    "pt": {
        "de o": "do", "de a": "da", "de os": "dos", "de as": "das",
        "em o": "no", "em a": "na", "em os": "nos", "em as": "nas", "em este": "neste",
        "a o": "ao", "a a": "à", "a os": "aos", "a as": "às",
        "por o": "pelo", "por a": "pela", "por os": "pelos", "por as": "pelas",
    },
    "de": {"in dem": "im", "an dem": "am", "von dem": "vom", "zu dem": "zum", "zu der": "zur"},
}  # fmt: skip


def contracted(text: str, language: str) -> str:
    """Contract a preposition with the article of the value after it.

    "de el salón" becomes "del salón".
    """
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
    """Return the names of a template's {fields}."""
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
    """Return a duration such as "one hour and 30 minutes", rounded up to whole seconds."""
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
