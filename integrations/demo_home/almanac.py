"""The sun and the calendar of the simulated house, whose states change by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

_DAY = timedelta(days=1)
_WEEK = 7 * _DAY
# Local times, the same on every day.
_SUN = {
    "next_dawn": time(7, 0),
    "next_dusk": time(18, 30),
    "next_midnight": time(0, 45),
    "next_noon": time(12, 45),
    "next_rising": time(7, 30),
    "next_setting": time(18, 0),
}

State = tuple[str, dict[str, Any]]


def sun(now: datetime) -> State:
    """Return the state and the attributes of `sun.sun`."""
    clock = now.time()
    up = _SUN["next_rising"] <= clock < _SUN["next_setting"]
    told: dict[str, Any] = {
        key: _at(now.date() + _DAY * (clock >= at), at, now).astimezone(UTC).isoformat()
        for key, at in _SUN.items()
    }
    told["rising"] = _SUN["next_midnight"] <= clock < _SUN["next_noon"]
    return "above_horizon" if up else "below_horizon", told


def _at(day: date, at: time, now: datetime) -> datetime:
    return datetime.combine(day, at, now.tzinfo)


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """An event. If it lasts whole days, `start` and `end` are midnights. The end is exclusive."""

    summary: str
    start: datetime
    end: datetime
    all_day: bool = False
    location: str = ""

    def row(self) -> dict[str, str]:
        """Return the event as in the response of `calendar.get_events`."""
        start, end = (
            (moment.date() if self.all_day else moment).isoformat()
            for moment in (self.start, self.end)
        )
        row = {"start": start, "end": end, "summary": self.summary}
        return row | ({"location": self.location} if self.location else {})

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a calendar whose current or next event is this one."""
        return {
            "message": self.summary,
            "all_day": self.all_day,
            "start_time": f"{self.start:%Y-%m-%d %H:%M:%S}",
            "end_time": f"{self.end:%Y-%m-%d %H:%M:%S}",
            "location": self.location,
            "description": "",
        }


def calendar_events(now: datetime) -> list[CalendarEvent]:
    """Return the events of the week that begins today, in order."""

    def timed(summary: str, ahead: int, begins: time, minutes: int, where: str) -> CalendarEvent:
        start = _at(now.date() + ahead * _DAY, begins, now)
        return CalendarEvent(summary, start, start + timedelta(minutes=minutes), location=where)

    def whole(summary: str, ahead: int, days: int) -> CalendarEvent:
        start = now.date() + ahead * _DAY
        first, last = (_at(day, time(), now) for day in (start, start + days * _DAY))
        return CalendarEvent(summary, first, last, all_day=True)

    return [
        timed("Piano lesson", 0, time(18, 30), 60, "Music school"),
        timed("Dentist", 1, time(10, 0), 45, "12 Main Street"),
        whole("Visit from Grandma", 3, 3),
    ]


def events_between(now: datetime, start: datetime, end: datetime) -> list[dict[str, str]]:
    """Return the rows of the events that overlap a period."""
    found = (one for one in calendar_events(now) if one.start < end and one.end > start)
    return [one.row() for one in found]


def events_in(now: datetime, period: str) -> list[dict[str, Any]]:
    """Return the events of "today" or of a "week" from now, as Home Assistant's tool does."""
    end = _at(now.date() + _DAY, time(), now) if period == "today" else now + _WEEK
    rows = events_between(now, now, end)
    return [row if "T" in row["start"] else {**row, "all_day": True} for row in rows]


def period_of(data: Mapping[str, Any], now: datetime) -> tuple[datetime, datetime]:
    """Return the start and the end that the data of `calendar.get_events` gives. Raises
    ValueError."""
    start = _moment(data["start_date_time"], now) if "start_date_time" in data else now
    if ("end_date_time" in data) == ("duration" in data):
        raise ValueError("must contain one of end_date_time, duration")
    if "duration" in data:
        end = start + timedelta(**data["duration"])
    else:
        end = _moment(data["end_date_time"], now)
    if end <= start:
        raise ValueError("expected the end to be after the start")
    return start, end


def _moment(text: str, now: datetime) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def calendar(now: datetime) -> State:
    """Return the state of a calendar, and the attributes of its current or next event."""
    coming = next((one for one in calendar_events(now) if one.end > now), None)
    if coming is None:
        return "off", {}
    return "on" if coming.start <= now else "off", coming.attributes()


CHANGING = {"sun": sun, "calendar": calendar}
"""State and attributes at a given time, by domain."""
