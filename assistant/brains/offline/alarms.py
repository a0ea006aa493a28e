"""The call that a sentence about alarms, reminders and what is to be done later makes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from assistant.brains.offline.alarm_sentences import (
    CANCEL,
    DAILY,
    LIST,
    SET,
    SNOOZE,
    TOMORROW,
    WEEKEND,
    WORKDAYS,
)
from assistant.brains.offline.parse import ParsedCommand
from assistant.timers.recurrence import WEEKDAYS
from assistant.timers.tools import CANCEL_TIMER, CHANGE_TIMER, LIST_TIMERS, SET_ALARM
from assistant.timers.tools import SNOOZE as SNOOZE_ACTION

# Our own intent -> the tool.
TOOLS: Mapping[str, str] = {
    SET: SET_ALARM,
    LIST: LIST_TIMERS,
    CANCEL: CANCEL_TIMER,
    SNOOZE: CHANGE_TIMER,
}
_DAYS: Mapping[str, list[str]] = {
    WORKDAYS: list(WEEKDAYS[:5]),
    DAILY: list(WEEKDAYS),
    WEEKEND: list(WEEKDAYS[5:]),
}
_LENGTHS = ("hours", "minutes", "seconds")


def alarm_arguments(command: ParsedCommand, now: datetime) -> dict[str, Any]:
    """The arguments of the tool that the command leads to; `now` on the clock of the house."""
    slots = command.slots
    given: dict[str, Any] = {key: slots[key] for key in ("kind", "all") if key in slots}
    given |= {key: int(slots[key]) for key in _LENGTHS if key in slots}
    text = str(slots.get("text", "")).strip()
    if command.intent == SNOOZE:
        return {"action": SNOOZE_ACTION, **given}
    if command.intent == CANCEL:
        at = {"at": _time(command, None)} if "time" in slots else {}
        return given | at | ({"name": text} if text else {})
    if command.intent == LIST:
        return given
    days = str(slots.get("days", ""))
    if "time" in slots:
        plain = not days and not slots.get("wakes")
        given["time"] = _time(command, now if plain else None)
    if days == TOMORROW:
        given["dates"] = [TOMORROW]
    elif days:
        given["days"] = _DAYS.get(days, [days])
    return given | ({"text": text} if text else {})


def _time(command: ParsedCommand, now: datetime | None) -> str:
    """In 24 hours. With `now`, what names no half of the day is the nearer of the two."""
    hour, minute = (int(part) for part in str(command.slots["time"]).split(":"))
    half = command.slots.get("half")
    if half is not None and hour <= 12:
        hour = hour % 12 + 12 * (half == "pm")
    elif now is not None and 1 <= hour <= 12:
        passed = now.hour * 60 + now.minute
        halves = (hour % 12, hour % 12 + 12)
        hour = min(halves, key=lambda one: (one * 60 + minute - passed - 1) % (24 * 60))
    return f"{hour:02}:{minute:02}"
