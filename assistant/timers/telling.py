"""What the tools about timers and the like answer, and which one of them a call means."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError, TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import LONGEST_NAME, Which, choose, is_over, left_of, row_of
from assistant.timers.deadlines import is_of_day
from assistant.timers.desk import time_of
from assistant.timers.words import label_of, moment_of, rest_of
from assistant.tools.builtin.live_context import one_line
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult, Run

PARTS = {"hours": 3600, "minutes": 60, "seconds": 1}
KINDS = ("timer", "alarm", "reminder", "request", "command")
COUNT = {"type": "integer", "minimum": 0}
LENGTH: Mapping[str, Any] = dict.fromkeys(PARTS, COUNT)
WHICH: Mapping[str, Any] = {
    "name": {
        "type": "string",
        "description": "Which one: its name, words of it, or its id from list_timers. Leave it out "
        "where the person names none.",
    },
    "kind": {
        "type": "string",
        "enum": list(KINDS),
        "description": "Which kind; command: what is to be done later.",
    },
    "at": {"type": "string", "description": "Which one: the time at which it comes, as HH:MM."},
    **{
        f"start_{part}": {**COUNT, "description": "Which timer: what it was set for."}
        for part in PARTS
    },
}
_ARTICLES = {  # before a name, by language: "the the pasta timer" is no English
    "en": re.compile(r"(?i)^(the|my|our)\s+"),
    "es": re.compile(r"(?i)^(el|la|los|las|mi|mis)\s+"),
}


class TimerTelling:
    """Sentences and data about timers, as of now."""

    def __init__(
        self, rings: Callable[[], bool], catalogue: Catalogue, clock: Clock, zone: tzinfo
    ) -> None:
        """`rings`: whether a process is there that will ring (`assistant.app.process.is_held`)."""
        self.catalogue = catalogue
        self.zone = zone
        self._rings = rings
        self._clock = clock

    def now(self) -> datetime:
        """On the clock of the house."""
        return self._clock.now().astimezone(self.zone)

    def safely(self, run: Run) -> Run:
        """The same, with an answer where the store fails."""

        async def safe(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            try:
                return await run(arguments, request)
            except StoreError:
                return self.failed("timers.broken", request.language)

        return safe

    def state(self, timer: TimerRecord, language: str) -> str:
        """A sentence: "Pasta timer: 3 minutes left."."""
        return f"{capital(self.short_state(timer, language))}."

    def short_state(self, timer: TimerRecord, language: str) -> str:
        """The same within a sentence."""
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
        """What must be said where nobody would ring."""
        return "" if self._rings() else " " + self.catalogue.say("timers.silent", language)

    def data(self, timers: Sequence[TimerRecord]) -> str:
        """For the model: all that is known of them."""
        now = self.now()
        return json.dumps([row_of(timer, now) for timer in timers], ensure_ascii=False)

    def the_one(
        self, timers: Sequence[TimerRecord], which: Which, request: BuiltInRequest
    ) -> TimerRecord | BuiltInResult:
        """The one that is meant, or what to say instead."""
        language = request.language
        if not timers:
            return self.failed("timers.none", language)
        now = self.now()
        ringing = [timer for timer in timers if is_over(timer, now)]
        # Whoever says just "the timer" while one rings means that one.
        unnamed = not which or which == Which(kind=which.kind)
        found = choose(ringing if unnamed else timers, which, self.zone)
        meant = found if len(found) == 1 else choose(timers, which, self.zone)
        if len(meant) == 1:
            return meant[0]
        if not meant:
            return self.unknown(timers, request)
        meant = as_known_to(request, meant)
        told = "; ".join(self.short_state(timer, language) for timer in meant)
        return self.failed(_of(meant, "which"), language, meant, what=told)

    def unknown(self, timers: Sequence[TimerRecord], request: BuiltInRequest) -> BuiltInResult:
        """None is meant; these there are."""
        language, timers = request.language, as_known_to(request, timers)
        told = "; ".join(self.short_state(timer, language) for timer in timers)
        return self.failed(_of(timers, "no_such"), language, timers, what=told)

    def failed(
        self, key: str, language: str, options: Sequence[TimerRecord] = (), **values: object
    ) -> BuiltInResult:
        """A sentence why not. `options`: as in `failed_with`."""
        return self.failed_with(self.catalogue.say(key, language, **values), options)

    def failed_with(self, sentence: str, options: Sequence[TimerRecord] = ()) -> BuiltInResult:
        """`options`: what would have worked as `name`; an id where a name does not tell."""
        names = [timer.name for timer in options]
        told = tuple(
            timer.name if timer.name and names.count(timer.name) == 1 else timer.id
            for timer in options
        )
        return BuiltInResult(sentence, failed=True, valid_options=told)


def as_known_to(request: BuiltInRequest, timers: Sequence[TimerRecord]) -> list[TimerRecord]:
    """The timers as whoever asks may know them: without the names and texts that others gave, for a
    program that may not be told what people have said."""
    return [
        timer
        if request.recalls or timer.caller == request.caller
        else replace(timer, name="", text=timer.text and "…")
        for timer in timers
    ]


def _of(timers: Sequence[TimerRecord], line: str) -> str:
    """The line about timers where they all are, else the one about anything."""
    alone = all(timer.kind == "timer" for timer in timers)
    return f"timers.{line}" if alone else f"alarms.{line}"


def seconds_of(arguments: Mapping[str, Any], prefix: str = "") -> int | None:
    """The length that was given in parts; None where it was not."""
    parts = {part: arguments.get(f"{prefix}{part}") for part in PARTS}
    if all(count is None for count in parts.values()):
        return None
    return sum((count or 0) * PARTS[part] for part, count in parts.items())


def which_of(arguments: Mapping[str, Any]) -> Which:
    """What a call says of the one that it means."""
    return Which(
        str(arguments.get("name", "")),
        seconds_of(arguments, "start_"),
        arguments.get("kind"),
        time_of(str(arguments.get("at", ""))),
    )


def bare(name: Any, language: str) -> str:
    """A name on one line without an article, not too long to be said."""
    plain = one_line(str(name or "")).strip()
    article = _ARTICLES.get(language.partition("-")[0])
    return (article.sub("", plain) if article else plain)[:LONGEST_NAME].strip()


def capital(text: str) -> str:
    """With a capital letter in front."""
    return text[:1].upper() + text[1:]
