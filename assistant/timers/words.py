"""Timers as people hear of them."""

import math
from datetime import datetime

from assistant.journal.records import TimerRecord
from assistant.speech.catalogue import Catalogue

_PRECISE_BELOW_S = 3600  # of a longer time nobody wants to hear the seconds


def length_of(seconds: float, catalogue: Catalogue, language: str) -> str:
    """A span of time such as "one hour, 30 minutes", to the second that is begun."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        catalogue.say(f"timers.{unit}_{'one' if count == 1 else 'many'}", language, count=count)
        for unit, count in (("hour", hours), ("minute", minutes), ("second", rest))
        if count
    ]
    return ", ".join(parts) or catalogue.say("timers.second_many", language, count=0)


def rest_of(seconds: float, catalogue: Catalogue, language: str) -> str:
    """As `length_of`, but from an hour on to the minute that is begun."""
    if seconds >= _PRECISE_BELOW_S:
        seconds = math.ceil(seconds / 60) * 60
    return length_of(seconds, catalogue, language)


def label_of(timer: TimerRecord, catalogue: Catalogue, language: str) -> str:
    """What it is called: "pasta timer", "timer for 10 minutes"."""
    if timer.name:
        return catalogue.say("timers.label_named", language, name=timer.name)
    length = length_of(timer.duration_s, catalogue, language)
    return catalogue.say("timers.label", language, length=length)


def ring_of(timer: TimerRecord, catalogue: Catalogue) -> str:
    """What is said while it rings, in the timer's own language."""
    what = label_of(timer, catalogue, timer.language)
    return catalogue.say("timers.ring", timer.language, what=what)


def late_ring_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said where it rings long after it was due."""
    what = label_of(timer, catalogue, timer.language)
    when = _when(timer.due, now, catalogue, timer.language)
    return catalogue.say("timers.ring_late", timer.language, what=what, when=when)


def unheard_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """What is said once of a timer that nobody heard ringing."""
    what = label_of(timer, catalogue, timer.language)
    when = _when(timer.due, now, catalogue, timer.language)
    return catalogue.say("timers.unheard", timer.language, what=what, when=when)


def _when(due: datetime, now: datetime, catalogue: Catalogue, language: str) -> str:
    """The hour, with the weekday of another day."""
    due = due.astimezone(now.tzinfo)
    time = f"{due:%H:%M}"
    if due.date() == now.date():
        return catalogue.say("timers.at", language, time=time)
    day = catalogue.say(f"offline.weekday_{due.isoweekday()}", language)
    return catalogue.say("timers.at_day", language, time=time, day=day)
