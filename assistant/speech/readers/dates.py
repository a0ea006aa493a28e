"""Dates: by number, by name of the month, and as programs write them."""

import re
from collections.abc import Mapping
from datetime import date

from assistant.speech.language.table import Spoken
from assistant.speech.readers.patterns import DASH, any_of, folded, full_stop

_STAMP = re.compile(
    r"(?<![\w/.-])(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?"
    r"\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?(?![\w/-]|\.\d)"
)
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\w/-]|\.\d)")


class DateReader:
    """Says dates of one language; what is no day of the calendar stays as it is."""

    def __init__(self, spoken: Spoken) -> None:
        self._calendar = spoken.calendar
        self._to = spoken.to
        self._months = {folded(name): number for name, number in spoken.calendar.months.items()}
        months = any_of(spoken.calendar.months)
        joint = rf"\s(?:{spoken.calendar.joint}\s)?" if spoken.calendar.joint else r"\s"
        year = rf"(?:,?{joint}(\d{{4}})(?![\w:]))?"
        point = "" if spoken.calendar.month_first else r"|\.|º"
        days = rf"(\d{{1,2}})(?:st|nd|rd|th{point})?(?:{DASH}(\d{{1,2}})(?:st|nd|rd|th)?)?"
        flags = re.IGNORECASE if not spoken.calendar.month_first else 0
        self._month_day = re.compile(
            rf"(?<!\b[Ii]n )\b({months})\.?\s{days}(?!\d|:\d|\s?%){year}", flags
        )
        self._day_month = re.compile(rf"(?<![\w:.,/]){days}{joint}({months})\b\.?{year}", flags)
        # The month may follow the day or go before it: "Dec 22–Jan 2", "30 nov – 2 dic".
        self._between = re.compile(
            rf"(?:(?<=\d)|(?<=\d(?:st|nd|rd|th))){DASH}(?=(?:{months})\b)", flags
        )
        self._short_month = re.compile(rf"\b({any_of(_short(spoken.calendar.months))})\.(?!\w)")
        self._month_year = re.compile(rf"\b({months})\b\.?(?={joint}\d{{4}}(?![\w:]))", flags)

    def stamps(self, text: str) -> str:
        """Dates and times as programs write them, ISO 8601."""
        return _STAMP.sub(self._say_stamp, text)

    def read(self, text: str) -> str:
        """Dates as people write them."""
        text = _SLASHED.sub(self._say_slashed, text)
        text = self._between.sub(f" {self._to} ", text)
        if self._calendar.month_first:
            text = self._month_day.sub(
                lambda found: self._say(found, found[4], found[1], found[2], found[3]), text
            )
        text = self._day_month.sub(
            lambda found: self._say(found, found[4], found[3], found[1], found[2]), text
        )
        text = self._short_month.sub(lambda found: self._full_month(found) + full_stop(found), text)
        return self._month_year.sub(self._full_month, text)

    def _say_stamp(self, found: re.Match[str]) -> str:
        year, month, day, time = found.groups()
        said = self._valid(found, int(year), int(month), int(day))
        if said is None:
            return found[0]
        return f"{said}, {time.removesuffix(':00')}" if time else said

    def _say_slashed(self, found: re.Match[str]) -> str:
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        month_first = self._calendar.month_first and found[2] != "."
        month, day = (first, second) if month_first else (second, first)
        if month > 12:  # written in the other order
            month, day = day, month
        return self._valid(found, year, month, day) or found[0]

    def _say(
        self, found: re.Match[str], year: str | None, month: str, first: str, last: str | None
    ) -> str:
        number = self._month(month)
        said = self._valid(found, int(year) if year else None, number, int(last or first))
        if said is None:
            return found[0]
        if last is None:
            return said + full_stop(found)
        begin = self._valid(found, None, number, int(first))
        if begin is None:
            return found[0]
        if self._calendar.month_first:  # "November twenty-first to twenty-third"
            said = said.partition(" ")[2]
        else:  # "veintiuno a veintitrés de noviembre"
            begin = begin.partition(" ")[0]
        return f"{begin} {self._to} {said}{full_stop(found)}"

    def _full_month(self, found: re.Match[str]) -> str:
        return self._calendar.date(None, self._month(found[1]), None, "")

    def _month(self, name: str) -> int:
        return self._months[folded(name)]

    def _valid(self, found: re.Match[str], year: int | None, month: int, day: int) -> str | None:
        try:
            date(year or 2024, month, day)  # a leap year: 29 February is a day
        except ValueError:
            return None
        before = found.string[: found.start()].split()[-1:]
        return self._calendar.date(year, month, day, before[0].lower() if before else "")


def _short(months: Mapping[str, int]) -> list[str]:
    """Those that are written with a point: each month's abbreviations."""
    longest = {number: max(map(len, names)) for number, names in _by_number(months).items()}
    return [name for name, number in months.items() if len(name) < longest[number]]


def _by_number(months: Mapping[str, int]) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for name, number in months.items():
        names.setdefault(number, []).append(name)
    return names
