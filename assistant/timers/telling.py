"""Spoken sentences and JSON data about timers, and matching of tool arguments to timers."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError, TimerRecord
from assistant.speech.catalogue import Catalogue, length_of
from assistant.timers.book import LONGEST_NAME, Which, choose, is_of_day, is_over, left_of, row_of
from assistant.timers.recurrence import Almanac, Rule, rule_from, time_of
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult, Run, one_line, text

# Spoken sentences.


_PRECISE_BELOW_S = 3600  # seconds are spoken only below this
_EVERY_DAY, _WORKDAYS, _WEEKEND = (1, 2, 3, 4, 5, 6, 7), (1, 2, 3, 4, 5), (6, 7)
_SOON_DAYS = 6  # up to this many days away, the weekday is enough


def rest_of(seconds: float, catalogue: Catalogue, language: str) -> str:
    """Format the time left as `length_of` does. One hour or more is rounded up to whole minutes."""
    if seconds >= _PRECISE_BELOW_S:
        seconds = math.ceil(seconds / 60) * 60
    return length_of(seconds, catalogue, language)


def label_of(timer: TimerRecord, catalogue: Catalogue, language: str) -> str:
    """Return a label such as "pasta timer", "timer for 10 minutes", "alarm" or "reminder “call
    Ana”"."""
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
    """Return the sentence to speak when a timer rings, in the timer's language."""
    language = timer.language
    if timer.kind == "timer":
        what = label_of(timer, catalogue, language)
        return capital(catalogue.say("timers.ring", language, what=what))
    if timer.kind == "reminder":
        return catalogue.say("alarms.ring_reminder", language, text=timer.text)
    when = catalogue.say("offline.time", language, time=now)
    if not timer.name:
        return catalogue.say("alarms.ring", language, when=when)
    return catalogue.say("alarms.ring_named", language, when=when, name=timer.name)


def late_ring_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """Return the sentence to speak when a timer rings long after it was due."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    key = "timers.ring_late" if timer.kind == "timer" else "alarms.ring_late"
    return capital(catalogue.say(key, timer.language, what=what, when=when))


def unheard_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """Return the sentence to speak about a timer that rang unheard."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    key = "timers.unheard" if timer.kind == "timer" else "alarms.unheard"
    return capital(catalogue.say(key, timer.language, what=what, when=when))


def missed_of(timer: TimerRecord, now: datetime, catalogue: Catalogue) -> str:
    """Return the sentence to speak about a timer that was too late to ring or run."""
    what = label_of(timer, catalogue, timer.language)
    when = when_of(timer.due, now, catalogue, timer.language)
    return capital(catalogue.say("alarms.missed", timer.language, what=what, when=when))


def when_of(due: datetime, now: datetime, catalogue: Catalogue, language: str) -> str:
    """Return the time of day, with the weekday if `due` isn't today, and also with the date if
    `due` is further away."""
    due = due.astimezone(now.tzinfo)
    days = abs((due.date() - now.date()).days)
    if not days:
        return catalogue.say("timers.at", language, time=due)
    day = catalogue.say(f"offline.weekday_{due.isoweekday()}", language)
    if days <= _SOON_DAYS:
        return catalogue.say("timers.at_day", language, time=due, day=day)
    month = catalogue.say(f"offline.month_{due.month}", language)
    return catalogue.say(
        "alarms.at_date", language, time=due, weekday=day, day=due.day, month=month
    )


def again_of(rule: Rule, catalogue: Catalogue, language: str) -> str:
    """Return a rule's repeat days, such as "on weekdays", or "" if it doesn't repeat."""
    if rule.weekdays in (_EVERY_DAY, _WORKDAYS, _WEEKEND):
        index = (_EVERY_DAY, _WORKDAYS, _WEEKEND).index(rule.weekdays)
        return catalogue.say(
            ("alarms.every_day", "alarms.on_workdays", "alarms.at_weekends")[index], language
        )
    if rule.weekdays:
        named = [catalogue.say(f"offline.weekday_{day}", language) for day in rule.weekdays]
        return catalogue.say("alarms.on_days", language, days=_joined(named, catalogue, language))
    if len(rule.dates) > 1:
        return catalogue.say("alarms.on_dates", language, count=len(rule.dates))
    return ""


def _joined(words: Sequence[str], catalogue: Catalogue, language: str) -> str:
    if len(words) < 2:
        return "".join(words)
    first = ", ".join(words[:-1])
    return catalogue.say("house_state.and", language, first=first, last=words[-1])


def moment_of(timer: TimerRecord, now: datetime, catalogue: Catalogue, language: str) -> str:
    """Return the next time and any repeat days, such as "07:00 on Monday, on weekdays"."""
    when = when_of(timer.due, now, catalogue, language)
    again = again_of(rule_from(timer.rule), catalogue, language) if timer.rule else ""
    return f"{when}, {again}" if again else when


PARTS = {"hours": 3600, "minutes": 60, "seconds": 1}
KINDS = ("timer", "alarm", "reminder", "request", "command")
COUNT = {"type": "integer", "minimum": 0}
LENGTH: Mapping[str, Any] = dict.fromkeys(PARTS, COUNT)
WHICH: Mapping[str, Any] = {
    "name": text("Its name, words of it or its id, if the person names one."),
    "kind": {"type": "string", "enum": list(KINDS)},
    "at": text("When it is due, HH:MM."),
    "start_hours": {**COUNT, "description": "The length that it was set for."},
    "start_minutes": COUNT,
    "start_seconds": COUNT,
}
FROM_NOW: Mapping[str, Any] = {
    **LENGTH,
    "hours": {**COUNT, "description": "From now, instead of time."},
}
_ARTICLES = {  # removed from the start of names, to avoid "the the pasta timer"
    "en": re.compile(r"(?i)^(the|my|our)\s+"),
    "es": re.compile(r"(?i)^(el|la|los|las|mi|mis)\s+"),
}


class TimerTelling:
    """Puts the current state of timers into sentences and JSON."""

    def __init__(
        self, rings: Callable[[], bool], catalogue: Catalogue, clock: Clock, almanac: Almanac
    ) -> None:
        """`rings` returns True while a `hearth run` process is running, because only that process
        rings the timers."""
        self.catalogue = catalogue
        self._almanac = almanac
        self._rings = rings
        self._clock = clock

    @property
    def zone(self) -> tzinfo:
        return self._almanac.zone

    def now(self) -> datetime:
        """Return the current time in the house's time zone."""
        return self._clock.now().astimezone(self.zone)

    def safely(self, run: Run) -> Run:
        """Wrap a tool function so that it returns an error sentence if the store fails."""

        async def safe(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            try:
                return await run(arguments, request)
            except StoreError:
                return self.failed("timers.broken", request.language)

        return safe

    def state(self, timer: TimerRecord, language: str) -> str:
        """Return a sentence such as "Pasta timer: 3 minutes left." """
        return f"{capital(self.short_state(timer, language))}."

    def short_state(self, timer: TimerRecord, language: str) -> str:
        """Return the same as `state`, without the capital letter and full stop."""
        now = self.now()
        what = label_of(timer, self.catalogue, language)
        if is_over(timer, now):
            return self.catalogue.say("timers.rings", language, what=what, left="")
        if is_of_day(timer) and timer.paused_s is None:
            when = moment_of(timer, now, self.catalogue, language)
            return self.catalogue.say("alarms.moment", language, what=what, when=when)
        key = "timers.left" if timer.paused_s is None else "timers.paused"
        left = rest_of(left_of(timer, now), self.catalogue, language)
        return self.catalogue.say(key, language, what=what, left=left)

    def silence(self, language: str) -> str:
        """Return a warning if no running process would ring the timers, or "" if one would."""
        return "" if self._rings() else " " + self.catalogue.say("timers.silent", language)

    def data(self, timers: Sequence[TimerRecord]) -> str:
        now = self.now()
        return json.dumps([row_of(timer, now) for timer in timers], ensure_ascii=False)

    def the_one(
        self, timers: Sequence[TimerRecord], which: Which, request: BuiltInRequest
    ) -> TimerRecord | BuiltInResult:
        """Return the timer that `which` describes, or a failed result if none or several match."""
        language = request.language
        if not timers:
            return self.failed("timers.none", language)
        now = self.now()
        ringing = [timer for timer in timers if is_over(timer, now)]
        # "The timer" without a name means the one that is ringing.
        unnamed = not which or which == Which(kind=which.kind)
        found = choose(ringing if unnamed else timers, which, self.zone)
        meant = found if len(found) == 1 else choose(timers, which, self.zone)
        if len(meant) == 1:
            return meant[0]
        if not meant:
            return self.unknown(timers, request)
        meant = as_known_to(request, meant)
        labels = [label_of(timer, self.catalogue, language) for timer in meant]
        if len(set(labels)) < len(labels):  # only the time tells them apart
            labels = [self.short_state(timer, language) for timer in meant]
        return self.failed(_of(meant, "which"), language, meant, what="; ".join(labels))

    def unknown(self, timers: Sequence[TimerRecord], request: BuiltInRequest) -> BuiltInResult:
        language, timers = request.language, as_known_to(request, timers)
        told = "; ".join(self.short_state(timer, language) for timer in timers)
        return self.failed(_of(timers, "no_such"), language, timers, what=told)

    def failed(
        self, key: str, language: str, options: Sequence[TimerRecord] = (), **values: object
    ) -> BuiltInResult:
        return self.failed_with(self.catalogue.say(key, language, **values), options)

    def failed_with(self, sentence: str, options: Sequence[TimerRecord] = ()) -> BuiltInResult:
        """Return a failed result that offers `options` as valid values of `name`. A timer is
        offered by name if that is unique, otherwise by id."""
        names = [timer.name for timer in options]
        told = tuple(
            timer.name if timer.name and names.count(timer.name) == 1 else timer.id
            for timer in options
        )
        return BuiltInResult(sentence, failed=True, valid_options=told)


def as_known_to(request: BuiltInRequest, timers: Sequence[TimerRecord]) -> list[TimerRecord]:
    """Return the timers as the caller is allowed to see them.

    If a program isn't allowed to read what people said, the names and texts of timers that it
    didn't set are hidden.
    """
    return [
        timer
        if request.recalls or timer.caller == request.caller
        else replace(timer, name="", text=timer.text and "…")
        for timer in timers
    ]


def _of(timers: Sequence[TimerRecord], line: str) -> str:
    alone = all(timer.kind == "timer" for timer in timers)
    return f"timers.{line}" if alone else f"alarms.{line}"


def seconds_of(arguments: Mapping[str, Any], prefix: str = "") -> int | None:
    """Return the total of the hours, minutes and seconds in the arguments, or None if there are
    none."""
    parts = {part: arguments.get(f"{prefix}{part}") for part in PARTS}
    if all(count is None for count in parts.values()):
        return None
    return sum((count or 0) * PARTS[part] for part, count in parts.items())


def which_of(arguments: Mapping[str, Any]) -> Which:
    return Which(
        str(arguments.get("name", "")),
        seconds_of(arguments, "start_"),
        arguments.get("kind"),
        time_of(str(arguments.get("at", ""))),
    )


def bare(name: Any, language: str) -> str:
    """Return a name on one line, without a leading article, cut to LONGEST_NAME characters."""
    plain = one_line(str(name or "")).strip()
    article = _ARTICLES.get(language.partition("-")[0])
    return (article.sub("", plain) if article else plain)[:LONGEST_NAME].strip()


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
