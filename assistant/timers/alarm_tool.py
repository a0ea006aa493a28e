"""`set_alarm`: an alarm, a reminder or a request, at a time of day, by the sun or after a while."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import TimerKind
from assistant.timers.book import LONGEST_S, MOST, SHORTEST_S, TimerBook, Wanted
from assistant.timers.recurrence import WEEKDAYS
from assistant.timers.telling import COUNT, LENGTH, Telling, bare, seconds_of
from assistant.timers.wishes import rule_of
from assistant.timers.words import moment_of
from assistant.tools.builtin.live_picture import one_line
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult

SET_ALARM = "set_alarm"
LONGEST_TEXT = 300  # characters
_KINDS: Mapping[str, TimerKind] = {
    "alarm": "alarm",
    "reminder": "reminder",
    "request": "request",
}


class AlarmTool:
    """The tool. Request: what reads alone, looked up when it is due; its answer is announced."""

    def __init__(self, book: TimerBook, telling: Telling) -> None:
        self._book = book
        self._telling = telling

    def tool(self) -> BuiltIn:
        """For the menu."""
        return BuiltIn(
            name=SET_ALARM,
            description="Sets what comes at a time of day, by the sun or after a while. alarm: "
            "wakes, until it is stopped. reminder: says its text. request: asks you its text then, "
            "and the answer is announced; it can only look things up (the weather every morning). "
            "Once, unless days or dates are given.",
            schema={
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(_KINDS)},
                    "time": {"type": "string", "description": "The time of day, as 24 h HH:MM."},
                    "sun": {
                        "type": "string",
                        "enum": ["sunrise", "sunset"],
                        "description": "In place of time.",
                    },
                    "offset_minutes": {
                        "type": "integer",
                        "minimum": -720,
                        "maximum": 720,
                        "description": "To the sun; negative is before it.",
                    },
                    "days": {
                        "type": "array",
                        "items": {"type": "string", "enum": list(WEEKDAYS)},
                        "description": "Weekdays on which it comes again and again; all seven for "
                        "every day.",
                    },
                    "dates": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 50,
                        "description": "On these days only: YYYY-MM-DD, today or tomorrow.",
                    },
                    **{
                        part: {**COUNT, "description": "From now on, in place of time."}
                        for part in LENGTH
                    },
                    "name": {"type": "string", "description": "Of an alarm, if it is given one."},
                    "text": {
                        "type": "string",
                        "description": "Of a reminder what to say, such as 'call Ana'; of a "
                        "request the question, in the person's language.",
                    },
                },
                "additionalProperties": False,
            },
            tier=Tier.COMFORT,
            run=self._telling.safely(self._run),
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        telling, language = self._telling, request.language
        wanted = self._wanted(arguments, language)
        if isinstance(wanted, str):
            return telling.failed(wanted, language)
        wanted = replace(wanted, caller=request.caller)
        if len(await self._book.all()) >= MOST:
            return telling.failed("timers.too_many", language)
        timer = await self._book.set(wanted)
        if timer is None:
            sunless = wanted.rule is not None and wanted.rule.sun and not wanted.rule.dates
            return telling.failed("alarms.no_sun" if sunless else "alarms.never", language)
        when = moment_of(timer, telling.now(), telling.catalogue, language)
        key = f"alarms.set_{timer.kind}"
        if timer.kind == "alarm" and timer.name:
            key = "alarms.set_alarm_named"
        told = telling.catalogue.say(key, language, when=when, name=timer.name, text=timer.text)
        return BuiltInResult(f"{told}{telling.silence(language)}", telling.data([timer]))

    def _wanted(self, arguments: Mapping[str, Any], language: str) -> Wanted | str:
        """What is wanted, or the key of what is missing."""
        kind = _KINDS[arguments.get("kind", "alarm")]
        text = one_line(str(arguments.get("text", "")))[:LONGEST_TEXT].strip(" .")
        if kind != "alarm" and not text:
            return "alarms.no_text"
        name = bare(arguments.get("name") or (text if kind == "alarm" else ""), language)
        seconds = seconds_of(arguments)
        if seconds:
            if not SHORTEST_S <= seconds <= LONGEST_S:
                return "timers.too_long"
            return Wanted(kind, seconds, None, name, text, language)
        rule = rule_of(
            self._telling.now(),
            at=str(arguments.get("time", "")),
            sun=arguments.get("sun"),
            offset_min=arguments.get("offset_minutes", 0),
            days=arguments.get("days", ()),
            dates=arguments.get("dates", ()),
        )
        return Wanted(kind, 0.0, rule, name, text, language) if rule else "alarms.no_time"
