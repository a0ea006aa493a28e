"""Abbreviations, acronyms and initials in full."""

import re
from collections.abc import Mapping

from assistant.speech.language.table import Spoken
from assistant.speech.readers.patterns import (
    DASH,
    OPENING_WORDS,
    any_of,
    as_written,
    folded,
    full_stop,
)

_INITIAL = re.compile(r"(?<![\w.°ºµ/])(?<!\d )([A-ZÁÉÍÓÚÑÄÖÜÇ])\.(?=\s?([A-ZÁÉÍÓÚÑÄÖÜÇ]\w*))")
_INITIALS = re.compile(r"(?<![\w.])(?![AP]\.M\.)(?:[A-Z]\.){2,}(?!\w)")


class ShortReader:
    """Says what is written short, by the table's rows."""

    def __init__(self, spoken: Spoken) -> None:
        self._rewrites = [(re.compile(short), words) for short, words in spoken.rewrites]
        self._words = _cased(spoken.abbreviations)
        self._inner = _cased(spoken.inner)
        self._before = _cased(spoken.before_number)
        self._acronyms = spoken.acronyms
        self._to = spoken.to
        weekdays = spoken.calendar.weekdays
        self._weekdays = {folded(short): name for short, name in weekdays.items()}
        self._short = _short(self._words)
        self._inside = _short(self._inner)
        self._numbered = re.compile(rf"(?<![\w.])({any_of(self._before)})\s?(?=[#+\-−]?\d)")
        self._spelled = re.compile(rf"(?<![\w.-])(?:{any_of(spoken.acronyms)})(?![\w-])")
        days = any_of(weekdays)
        months = any_of(spoken.calendar.months)
        # Several of them are words, too ("sun", "mar", "so"): they count beside a date, a value or
        # each other.
        date = rf"(?:{months})\b|\d{{1,2}}\.?\s(?:de\s)?(?:{months})\b|\d{{1,2}}[./]\d"
        self._day = re.compile(
            rf"(?<!\w)({days})\b\.?(?=,?\s(?:{date})|{DASH}(?:{days})\b|:\W*\d)", re.IGNORECASE
        )
        self._day_behind = re.compile(
            rf"({any_of(weekdays.values())})({DASH})({days})\b", re.IGNORECASE
        )

    def rewrite(self, text: str) -> str:
        """What the language reads in a way of its own."""
        for pattern, words in self._rewrites:
            text = pattern.sub(words, text)
        return text

    def read(self, text: str) -> str:
        """The text with every abbreviation in full."""
        text = self._numbered.sub(
            lambda found: as_written(self._before[found[1]], found) + " ", text
        )
        text = self._inside.sub(lambda found: self._inner[found[0]], text)
        text = self._short.sub(
            lambda found: as_written(self._words[found[0]], found) + full_stop(found), text
        )
        text = self._spelled.sub(lambda found: self._acronyms[found[0]], text)
        text = _INITIALS.sub(
            lambda found: " ".join(found[0].replace(".", "")) + full_stop(found), text
        )
        text = _INITIAL.sub(_initial, text)
        text = self._day.sub(lambda found: self._weekdays[folded(found[1])], text)
        return self._day_behind.sub(
            lambda found: f"{found[1]} {self._to} {self._weekdays[folded(found[3])]}", text
        )


def _initial(found: re.Match[str]) -> str:
    """Of "J. Smith"; a letter that ends its sentence keeps its point."""
    return found[0] if found[2] in OPENING_WORDS else found[1]


def _cased(rows: Mapping[str, str]) -> dict[str, str]:
    """As written, and with a capital: "min." and "Min."; but "18 ms." is no "Ms."."""
    return {short[0].upper() + short[1:]: words for short, words in rows.items()} | dict(rows)


def _short(rows: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])(?:{any_of(rows)})(?!\w)")
