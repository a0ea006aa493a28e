"""Timers and the like as people hear of them."""

import math
from datetime import datetime

from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import Catalogue, length_of
from assistant.timers.recurrence import Rule, rule_from

_PRECISE_BELOW_S = 3600  # of a longer time nobody wants to hear the seconds
_EVERY_DAY, _WORKDAYS, _WEEKEND = (1, 2, 3, 4, 5, 6, 7), (1, 2, 3, 4, 5), (6, 7)
_SOON_DAYS = 6  # within which a weekday tells the day


def rest_of(seconds: float, catalogue: Catalogue, language: str) -> str:
    """As `length_of`, but from an hour on to the minute that is begun."""
    if seconds >= _PRECISE_BELOW_S:
        seconds = math.ceil(seconds / 60) * 60
    return length_of(seconds, catalogue, language)


def label_of(timer: TimerRecord, catalogue: Catalogue, language: str) -> str:
    """What it is called: "pasta timer", "timer for 10 minutes", "alarm", "reminder “call Ana”"."""
    if timer.kind == "timer":
        if timer.name:
            return catalogue.say("timers.label_named", language, name=timer.name)
        length = length_of(timer.duration_s, catalogue, language)
        return catalogue.say("timers.label", language, length=length)
    words = timer.name if timer.kind == "alarm" else timer.text or timer.name
    key = f"alarms.label_{timer.kind}"
    if timer.kind == "alarm" and not words:
        return catalogue.say("alarms.label_bare", language)
    return catalogue.say(key, language, text=words)


def ring_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said while it rings, in the timer's own language."""
    language = timer.language
    if timer.kind == "timer":
        what = label_of(timer, catalogue, language)
        return catalogue.say("timers.ring", language, what=what)
    if timer.kind == "reminder":
        return catalogue.say("alarms.ring_reminder", language, text=timer.text)
    when = catalogue.say("offline.time", language, time=f"{now:%H:%M}")
    if not timer.name:
        return catalogue.say("alarms.ring", language, when=when)
    return catalogue.say("alarms.ring_named", language, when=when, name=timer.name)


def late_ring_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said where it rings long after it was due."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    key = "timers.ring_late" if timer.kind == "timer" else "alarms.ring_late"
    return catalogue.say(key, timer.language, what=what, when=when)


def unheard_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said once of something that nobody heard ringing."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    key = "timers.unheard" if timer.kind == "timer" else "alarms.unheard"
    return catalogue.say(key, timer.language, what=what, when=when)


def missed_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said once of something that came too late to be rung or done."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    return catalogue.say("alarms.missed", timer.language, what=what, when=when)


def when_of(due: datetime, now: datetime, catalogue: Catalogue, language: str) -> str:
    """The time, with the weekday or the date of another day. English and Spanish have no
    preposition in front."""
    due = due.astimezone(now.tzinfo)
    time, days = f"{due:%H:%M}", abs((due.date() - now.date()).days)
    if not days:
        return catalogue.say("timers.at", language, time=time)
    day = catalogue.say(f"offline.weekday_{due.isoweekday()}", language)
    if days <= _SOON_DAYS:
        return catalogue.say("timers.at_day", language, time=time, day=day)
    month = catalogue.say(f"offline.month_{due.month}", language)
    return catalogue.say(
        "alarms.at_date", language, time=time, weekday=day, day=due.day, month=month
    )


def again_of(rule: Rule, catalogue: Catalogue, language: str) -> str:
    """On which days it comes: "on weekdays", "on Monday, Friday"; "" for once."""
    if rule.weekdays in (_EVERY_DAY, _WORKDAYS, _WEEKEND):
        index = (_EVERY_DAY, _WORKDAYS, _WEEKEND).index(rule.weekdays)
        return catalogue.say(
            ("alarms.every_day", "alarms.on_workdays", "alarms.at_weekends")[index], language
        )
    if rule.weekdays:
        named = [catalogue.say(f"offline.weekday_{day}", language) for day in rule.weekdays]
        return catalogue.say("alarms.on_days", language, days=", ".join(named))
    if len(rule.dates) > 1:
        return catalogue.say("alarms.on_dates", language, count=len(rule.dates))
    return ""


def moment_of(timer: TimerRecord, now: datetime, catalogue: Catalogue, language: str) -> str:
    """When it comes next, and on which days: "07:00 on Monday, on weekdays"."""
    when = when_of(timer.due, now, catalogue, language)
    again = again_of(rule_from(timer.rule), catalogue, language) if timer.rule else ""
    return f"{when}, {again}" if again else when
