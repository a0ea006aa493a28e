"""Due times of alarms and other timers that are set for a time of day, sunrise or sunset.

Times are local wall-clock times. If daylight saving skips a time, the first moment after the gap
counts; if a time occurs twice, the first one counts.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from assistant.domain.records import SmallValues
from integrations.home_assistant.house import House

# The house's time zone is the machine's.


LOCALTIME = Path("/etc/localtime")


def local_zone(localtime: Path = LOCALTIME) -> tzinfo:
    """Return the time zone in the environment variable `TZ` or, if that isn't set or valid, the
    device's time zone, or UTC if that can't be read."""
    name = os.environ.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # A POSIX rule such as "CET-1CEST" is not a zone name.
        pass
    try:
        with localtime.open("rb") as file:
            return ZoneInfo.from_file(file, key="localtime")
    except (OSError, ValueError):
        return UTC


SunEvent = Literal["sunrise", "sunset"]
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = timedelta(days=1)
_AHEAD = (
    # Days to look ahead: more than two weeks, because a country can skip a day when it moves across
    # the date line.
    16
)


@dataclass(frozen=True, slots=True)
class Sun:
    """A sunrise and a sunset, past or future. Each is None if unknown."""

    sunrise: datetime | None = None
    sunset: datetime | None = None

    def of(self, event: SunEvent) -> datetime | None:
        return self.sunrise if event == "sunrise" else self.sunset


DARK = Sun()  # sunrise and sunset unknown


@dataclass(frozen=True, slots=True)
class Rule:
    """A time of day, sunrise or sunset, either once or on certain days."""

    at: time | None = None
    sun: SunEvent | None = None
    offset_min: int = 0  # relative to sunrise or sunset
    weekdays: tuple[int, ...] = ()  # 1 is Monday; all seven for every day
    dates: tuple[date, ...] = ()

    @property
    def repeats(self) -> bool:
        return bool(self.weekdays) or len(self.dates) > 1

    def as_json(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat() if self.at is not None else None,
            "sun": self.sun,
            "offset_min": self.offset_min,
            "weekdays": [WEEKDAYS[day - 1] for day in self.weekdays],
            "dates": [day.isoformat() for day in self.dates],
        }


def rule_from(row: dict[str, Any]) -> Rule:
    return Rule(
        at=time.fromisoformat(row["at"]) if row["at"] else None,
        sun=row["sun"],
        offset_min=row["offset_min"],
        weekdays=tuple(WEEKDAYS.index(day) + 1 for day in row["weekdays"]),
        dates=tuple(date.fromisoformat(day) for day in row["dates"]),
    )


def next_after(rule: Rule, after: datetime, zone: tzinfo, sun: Sun = DARK) -> datetime | None:
    """Return the rule's first time after `after`, in UTC, or None if there is none or the rule
    needs a sunrise or sunset that is unknown.

    The sun is assumed to rise and set at the same time every day. These times shift by at most
    about 4 min a day in inhabited places.
    """
    moments = (_moment(rule, day, zone, sun) for day in _days(rule, after.astimezone(zone).date()))
    return next((moment for moment in moments if moment is not None and moment > after), None)


def moment_of(day: date, at: time, zone: tzinfo) -> datetime | None:
    """Convert a local date and time to UTC. Returns None if the zone skipped the whole day."""
    wall = datetime.combine(day, at, zone)
    before, behind = wall.replace(fold=0).utcoffset(), wall.replace(fold=1).utcoffset()
    assert before is not None
    assert behind is not None
    gap = behind - before
    early = wall.replace(fold=0).astimezone(UTC)
    if gap <= timedelta(0):
        return early
    if gap >= _DAY:
        return None
    return _change_between(wall.replace(fold=1).astimezone(UTC), early, zone)


def _days(rule: Rule, first: date) -> Iterator[date]:
    if rule.dates:
        yield from sorted(rule.dates)
        return
    # Start two days before, because an offset and the time zone can each move an event past
    # midnight.
    for number in range(-2, _AHEAD):
        day = first + number * _DAY
        if not rule.weekdays or day.isoweekday() in rule.weekdays:
            yield day


def _moment(rule: Rule, day: date, zone: tzinfo, sun: Sun) -> datetime | None:
    if rule.sun is None:
        return moment_of(day, rule.at or time(), zone)
    known = sun.of(rule.sun)
    if known is None:
        return None
    known = known.astimezone(UTC)
    event = known + (day - known.astimezone(zone).date()).days * _DAY
    return event + timedelta(minutes=rule.offset_min)


def _change_between(early: datetime, late: datetime, zone: tzinfo) -> datetime:
    ahead = late.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = (early + (late - early) / 2).replace(microsecond=0)
        if middle <= early:
            break
        early, late = (
            (early, middle) if middle.astimezone(zone).utcoffset() == ahead else (middle, late)
        )
    return late


# The house's sunrise and sunset, as reported by Home Assistant.


SUN_ENTITY = "sun.sun"
_NAME = "timers.sun"


class Almanac:
    """Computes due times with the house's time zone, sunrise and sunset. Sunrise and sunset are
    stored for when Home Assistant is unreachable."""

    def __init__(
        self, zone: Callable[[], tzinfo], house: Callable[[], House], store: SmallValues
    ) -> None:
        """`zone` returns the house's time zone, or the machine's until the house's is known."""
        self.sun = DARK
        self._zone = zone
        self._house = house
        self._store = store

    @property
    def zone(self) -> tzinfo:
        return self._zone()

    async def look(self) -> bool:
        """Update sunrise and sunset. Returns True if they have changed. Raises StoreError."""
        told = sun_of(self._house())
        if told == DARK:
            if self.sun != DARK:
                return False
            self.sun = _from(await self._store.kept(_NAME))
            return self.sun != DARK
        if told == self.sun:
            return False
        await self._store.keep(_NAME, _row(told))
        self.sun = told
        return True

    def next_after(self, rule: Rule, after: datetime) -> datetime | None:
        return next_after(rule, after, self.zone, self.sun)


def sun_of(house: House) -> Sun:
    """Return the next sunrise and sunset that Home Assistant's `sun.sun` entity reports."""
    entity = house.entities.get(SUN_ENTITY)
    if entity is None:
        return DARK
    return Sun(
        _parsed_time(entity.attributes.get("next_rising")),
        _parsed_time(entity.attributes.get("next_setting")),
    )


def _row(sun: Sun) -> dict[str, str | None]:
    return {
        "sunrise": sun.sunrise.isoformat() if sun.sunrise else None,
        "sunset": sun.sunset.isoformat() if sun.sunset else None,
    }


def _from(row: Any) -> Sun:
    return DARK if not row else Sun(_parsed_time(row["sunrise"]), _parsed_time(row["sunset"]))


def _parsed_time(text: Any) -> datetime | None:
    """Parse an ISO 8601 time with an offset, as Home Assistant writes it, or return None."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


TODAY, TOMORROW = "today", "tomorrow"


def rule_of(
    now: datetime,
    *,
    at: str = "",
    sun: SunEvent | None = None,
    offset_min: int = 0,
    days: Sequence[str] = (),
    dates: Sequence[str] = (),
) -> Rule | None:
    """Build a rule from either a time of day or the sun, and optionally weekdays or dates. Returns
    None if a date is invalid, or unless exactly one of `sun` and a valid `at` is given.

    `now` is in the house's time zone, `at` is as in `time_of`, `days` are names from `WEEKDAYS`,
    and `dates` are ISO 8601, "today" or "tomorrow".
    """
    moment = time_of(at)
    if (moment is None) is (sun is None):
        return None
    weekdays = tuple(sorted({WEEKDAYS.index(day) + 1 for day in days}))
    try:
        when = tuple(sorted({_date_of(text, now) for text in dates}))
    except ValueError:
        return None
    return Rule(moment, sun, offset_min if sun else 0, weekdays, when)


def time_of(text: str) -> time | None:
    """Parse a time of day such as "07:30", "7.30", "7" or "7:30 PM". Returns None if the text isn't
    one."""
    found = re.fullmatch(
        r"(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?(?:\s*([ap])\.?\s*m\.?)?", text.strip(), re.IGNORECASE
    )
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        return None
    hour, half = int(found[1]), (found[3] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    return time(hour, int(found[2] or 0))


def _date_of(text: str, now: datetime) -> date:
    if text in (TODAY, TOMORROW):
        return now.date() + timedelta(days=text == TOMORROW)
    return date.fromisoformat(text)
