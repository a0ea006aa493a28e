"""Answers to questions about appointments, from the answer of Home Assistant's calendar tool."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from assistant.speech.catalogue import Catalogue
from assistant.timers.recurrence import WEEKDAYS
from assistant.tools.house.names import capitalised

TODAY, TOMORROW, WEEK, WEEKEND, NEXT = "today", "tomorrow", "week", "weekend", "next"
# The first two letters of the weekdays in English and Spanish.
_BEGINNINGS = "mo tu we th fr sa su lu ma mi ju vi sa do".split()


def day_of(said: str) -> str:
    """Return the day that a phrase such as "on friday" or "this weekend" names: a weekday as in
    WEEKDAYS, WEEKEND or WEEK."""
    last = said.split()[-1] if said else ""
    if "weekend" in said or "fin de semana" in said:
        return WEEKEND
    if last[:2] in _BEGINNINGS and not last.startswith("week"):
        return WEEKDAYS[_BEGINNINGS.index(last[:2]) % 7]
    return WEEK


@dataclass(frozen=True, slots=True)
class _Event:
    summary: str
    first: date
    last: date  # inclusive
    at: str = ""  # local time, or "" for whole days


def told_events(data: str, when: str, now: datetime, say: Catalogue, language: str) -> str:
    """Return a sentence with the events of the days that `when` stands for. `data` is the answer of
    the calendar tool."""
    first, last = _days(when, now.date())
    found = [one for one in _events(data, now) if one.first <= last and one.last >= first]
    if when == NEXT:
        found = found[:1]
    days: dict[date, list[str]] = defaultdict(list)
    for one in found:
        days[max(one.first, first)].append(_line(one, say, language))
    if not days:
        return say.say("offline.no_events", language)
    return " ".join(
        say.say("weather.day", language, day=_named(day, now.date(), say, language), what=what)
        for day, lines in sorted(days.items())
        for what in (", ".join(lines),)
    )


def _days(when: str, today: date) -> tuple[date, date]:
    week = today + timedelta(days=6)
    if when in (WEEK, NEXT, ""):
        return today, week
    if when == WEEKEND:
        saturday = today + timedelta(days=5 - today.weekday() if today.weekday() < 6 else 0)
        return saturday, saturday + timedelta(days=6 - saturday.weekday())
    ahead = {TODAY: 0, TOMORROW: 1}.get(when)
    if ahead is None:
        ahead = (WEEKDAYS.index(when) - today.weekday()) % 7
    day = today + timedelta(days=ahead)
    return day, day


def _events(data: str, now: datetime) -> list[_Event]:
    try:
        rows = json.loads(data)["events"]
        found = [_event(row, now) for row in rows]
    except (ValueError, KeyError, TypeError):
        return []
    return sorted(found, key=lambda one: (one.first, one.at))


def _event(row: Mapping[str, Any], now: datetime) -> _Event:
    """Return an event. The end that Home Assistant gives is exclusive."""
    start, end, summary = str(row["start"]), str(row["end"]), str(row["summary"])
    if "T" not in start:
        first, last = date.fromisoformat(start), date.fromisoformat(end) - timedelta(days=1)
        return _Event(summary, first, max(first, last))
    begins, ends = (datetime.fromisoformat(one) for one in (start, end))
    begins, ends = (one.astimezone(now.tzinfo) if one.tzinfo else one for one in (begins, ends))
    last = (ends - timedelta(seconds=1)).date()
    return _Event(summary, begins.date(), max(begins.date(), last), f"{begins:%H:%M}")


def _line(event: _Event, say: Catalogue, language: str) -> str:
    if event.at:
        return say.say("offline.event_at", language, what=event.summary, time=event.at)
    if event.last > event.first:
        day = say.say(f"offline.weekday_{event.last.isoweekday()}", language)
        return say.say("offline.event_until", language, what=event.summary, day=day)
    return say.say("offline.event_all_day", language, what=event.summary)


def _named(day: date, today: date, say: Catalogue, language: str) -> str:
    if day == today:
        return say.say("weather.today", language)
    if day == today + timedelta(days=1):
        return say.say("weather.tomorrow", language)
    return capitalised(say.say(f"offline.weekday_{day.isoweekday()}", language))
