"""Rewriting of dates and times the way they are read aloud."""

import re
from collections.abc import Mapping
from datetime import date

from assistant.speech.language import LanguageTable, Unit
from assistant.speech.short_forms import DASH, any_of, folded, full_stop

_HALF = r"(?:\s?([ap])\.?\s?m\b\.?)"
_HALF_AHEAD = _HALF.replace("([ap])", "[ap]")
_ISO_DURATION = re.compile(
    r"(?<!\w)P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?(?!\w)"
)


class ClockReader:
    """Rewrites times and durations in one language."""

    def __init__(self, spoken: LanguageTable) -> None:
        self._calendar = spoken.calendar
        self._numbers = spoken.numbers
        self._to = spoken.to
        words = spoken.calendar.clock_words
        behind = rf"(?:{_HALF}|\s?(?:{words})\b)?" if words else f"{_HALF}?"
        self._time = re.compile(
            rf"(?<![\d:.,/])(\d{{1,2}}):([0-5]\d)(?::([0-5]\d))?(?![\d:]){behind}", re.IGNORECASE
        )
        self._hour = re.compile(
            r"(?<![\w:.,/])(1[0-2]|0?[1-9])\s?([ap])(?:\.\s?m\.|m\b)", re.IGNORECASE
        )
        self._h_time = re.compile(r"(?<![\w:.,/])([01]?\d|2[0-3])\s?h\s?([0-5]\d)(?!\w)")
        joints = spoken.calendar.half_joints
        last = rf"(?=\d{{1,2}}(?::[0-5]\d)?{_HALF_AHEAD})"
        between = rf"(?:{DASH}|\s(?:{joints})\s)" if joints else "(?!)"
        # The "6" in "6 to 7:30 PM" is a time only because of what follows.
        self._half_range = re.compile(
            rf"(?<![\w:.,/])(\d{{1,2}})(?::([0-5]\d))?({between}){last}", re.IGNORECASE
        )
        self._range = re.compile(
            rf"(?<![\d:.,/])(\d{{1,2}}(?::[0-5]\d{_HALF_AHEAD}?|{_HALF_AHEAD})){DASH}(?=\d{{1,2}}(?::[0-5]\d|{_HALF_AHEAD}))",
            re.IGNORECASE,
        )
        unit = spoken.calendar.durations
        self._units = (unit["d"], unit["h"], unit["m"], unit["s"])
        self._duration = re.compile(
            r"(?<![\w.,:/])(?:(\d+)\s?d(?:ays?)?[ ,]*)?(?:(\d+)\s?(?:hrs?|h)[ ,]*)?"
            r"(?:(\d+)\s?(?:min|m)[ ,]*)?(?:(\d+)\s?(?:sec|seg|s))?(?!\w)"
        )

    def read(self, text: str) -> str:
        text = _ISO_DURATION.sub(self._say_iso_duration, text)
        text = self._duration.sub(self._say_duration, text)
        if self._calendar.h_is_clock:
            text = self._h_time.sub(r"\1:\2", text)
        text = self._half_range.sub(self._say_half_begin, text)
        text = self._range.sub(lambda found: f"{found[1]} {self._to} ", text)
        text = self._time.sub(self._say_time, text)
        return self._hour.sub(self._say_hour, text)

    def _say_iso_duration(self, found: re.Match[str]) -> str:
        return self._durations(found) or found[0]

    def _say_duration(self, found: re.Match[str]) -> str:
        if sum(part is not None for part in found.groups()) < 2:
            return found[0]  # "5m" means metres
        kept = found[0][len(found[0].rstrip(" ,")) :]
        return self._durations(found) + kept

    def _durations(self, found: re.Match[str]) -> str:
        given = [None if part is None else int(part) for part in found.groups()]
        said = [
            self._counted(number, unit)
            for number, unit in zip(given, self._units, strict=True)
            if number or (number == 0 and found[0].startswith("P"))
        ]
        return " ".join(said)

    def _lasting(self, *parts: int) -> str:
        # "0:05:00" means five minutes, while "00:05:00" is a time of day.
        said = [
            self._counted(number, unit)
            for number, unit in zip(parts, self._units[1:], strict=True)
            if number
        ]
        return " ".join(said) or self._counted(0, self._units[-1])

    def _counted(self, number: int, unit: Unit) -> str:
        name = unit.one if number == 1 else unit.many
        return f"{self._numbers.integer(number, unit)} {name}"

    def _say_half_begin(self, found: re.Match[str]) -> str:
        # In "6:00 to 7:30 PM", "6:00 to" becomes "six to".
        hour, minute, joint = found.groups(default="0")
        if not 1 <= int(hour) <= 12:
            return found[0]
        said = self._calendar.clock(int(hour) % 12, int(minute), "am").rpartition(" ")[0]
        word = joint.strip()
        return f"{said} {word if word.isalpha() else self._to} "

    def _say_time(self, found: re.Match[str]) -> str:
        hour, minute, second, half = found.groups()
        if int(hour) > 23:
            return found[0]
        half = f"{half.lower()}m" if half and 1 <= int(hour) <= 12 else ""
        if second and len(hour) == 1 and not half:
            return self._lasting(int(hour), int(minute), int(second)) + full_stop(found)
        words = self._calendar.clock(
            int(hour) % 12 + 12 * (half == "pm") if half else int(hour), int(minute), half
        )
        if second and int(second):
            words += f" {self._calendar.seconds(int(second))}"
        return words + full_stop(found)

    def _say_hour(self, found: re.Match[str]) -> str:
        half = f"{found[2].lower()}m"
        hour = int(found[1]) % 12 + 12 * (half == "pm")
        return self._calendar.clock(hour, 0, half) + full_stop(found)


_STAMP = re.compile(
    r"(?<![\w/.-])(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?"
    r"\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?(?![\w/-]|\.\d)"
)
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\w/-]|\.\d)")


class DateReader:
    """Rewrites dates in one language, leaving invalid dates unchanged."""

    def __init__(self, spoken: LanguageTable) -> None:
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
        # The month may follow or precede the day: "Dec 22–Jan 2", "30 nov – 2 dic".
        self._between = re.compile(
            rf"(?:(?<=\d)|(?<=\d(?:st|nd|rd|th))){DASH}(?=(?:{months})\b)", flags
        )
        self._short_month = re.compile(rf"\b({any_of(_short(spoken.calendar.months))})\.(?!\w)")
        self._month_year = re.compile(rf"\b({months})\b\.?(?={joint}\d{{4}}(?![\w:]))", flags)

    def stamps(self, text: str) -> str:
        """Return the text with ISO 8601 dates and timestamps in words."""
        return _STAMP.sub(self._say_stamp, text)

    def read(self, text: str) -> str:
        """Return the text with dates such as "11/21/2026" and "Nov 21" in words."""
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
            date(year or 2024, month, day)  # a leap year, so that 29 February is valid
        except ValueError:
            return None
        before = found.string[: found.start()].split()[-1:]
        return self._calendar.date(year, month, day, before[0].lower() if before else "")


def _short(months: Mapping[str, int]) -> list[str]:
    longest = {number: max(map(len, names)) for number, names in _by_number(months).items()}
    return [name for name, number in months.items() if len(name) < longest[number]]


def _by_number(months: Mapping[str, int]) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for name, number in months.items():
        names.setdefault(number, []).append(name)
    return names
