"""What is asked for by a time of day, the sun or days, as a rule: the same for people's words, for
models and for programs. Pure."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from assistant.timers.recurrence import WEEKDAYS, Rule, SunEvent

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
    """The rule; None where there is no time in it, or one that there is not. `now` on the clock of
    the house; `days` as in `recurrence.WEEKDAYS`; `dates` ISO 8601, "today" or "tomorrow"."""
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
    """ "07:30", "7:30" or "7" as a time of day; None for anything else."""
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?", text.strip())
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        return None
    return time(int(found[1]), int(found[2] or 0))


def _date_of(text: str, now: datetime) -> date:
    """Raises ValueError."""
    if text in (TODAY, TOMORROW):
        return now.date() + timedelta(days=text == TOMORROW)
    return date.fromisoformat(text)
