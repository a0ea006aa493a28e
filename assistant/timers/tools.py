"""Model tools for timers, alarms, reminders and requests: starting, listing, changing and
cancelling them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.domain.records import TimerKind, TimerRecord
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import counted, length_of
from assistant.timers.book import (
    LONGEST_S,
    MOST,
    SHORTEST_S,
    SNOOZE_S,
    TimerBook,
    Wanted,
    Which,
    choose,
    is_of_day,
    is_over,
    left_of,
)
from assistant.timers.recurrence import WEEKDAYS, rule_of
from assistant.timers.telling import (
    FROM_NOW,
    LENGTH,
    WHICH,
    TimerTelling,
    as_known_to,
    bare,
    capital,
    label_of,
    moment_of,
    rest_of,
    seconds_of,
    which_of,
)
from assistant.tools.builtin.protocol import (
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    Run,
    one_line,
    schema,
    text,
)

START_TIMER, LIST_TIMERS = "start_timer", "list_timers"
CHANGE_TIMER, CANCEL_TIMER = "change_timer", "cancel_timer"
ADD, SUBTRACT, PAUSE, RESUME, SNOOZE = "add", "subtract", "pause", "resume", "snooze"


class TimerTools:
    def __init__(self, book: TimerBook, telling: TimerTelling) -> None:
        self._book = book
        self._telling = telling
        self._catalogue = telling.catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn, BuiltIn, BuiltIn]:
        return (
            self._tool(
                START_TIMER,
                "Starts a timer that rings; it can do nothing else.",
                {**LENGTH, "name": text("If said.")},
                self._start,
                replaces="HassStartTimer",
            ),
            self._tool(
                LIST_TIMERS,
                "The timers, alarms, reminders, requests and commands for later, and when each is "
                "due.",
                WHICH,
                self._list,
                tier=Tier.READ,
                replaces="HassTimerStatus",
            ),
            self._tool(
                CHANGE_TIMER,
                "Changes a timer's time, pauses or resumes it; snooze: silences what rings for a "
                "while (9 minutes).",
                {
                    "action": {"type": "string", "enum": [ADD, SUBTRACT, PAUSE, RESUME, SNOOZE]},
                    **LENGTH,
                    **WHICH,
                },
                self._change,
                required=("action",),
                replaces="HassIncreaseTimer HassDecreaseTimer HassPauseTimer HassUnpauseTimer",
            ),
            self._tool(
                CANCEL_TIMER,
                "Cancels a timer, alarm, reminder, request or command for later, or stops one that "
                "rings.",
                {**WHICH, "all": {"type": "boolean", "description": "All (of the kind)."}},
                self._cancel,
                replaces="HassCancelTimer HassCancelAllTimers",
            ),
        )

    def _tool(
        self,
        name: str,
        description: str,
        properties: Mapping[str, Any],
        run: Run,
        *,
        tier: Tier = Tier.COMFORT,
        required: Sequence[str] = (),
        replaces: str,
    ) -> BuiltIn:
        return BuiltIn(
            name=name,
            description=description,
            schema={
                "type": "object",
                "properties": dict(properties),
                "required": list(required),
                "additionalProperties": False,
            },
            tier=tier,
            run=self._telling.safely(self._marked(run)),
            replaces=frozenset(replaces.split()),
        )

    def _marked(self, run: Run) -> Run:
        """Wrap a tool function so that its result is marked as outside text while any timer has a
        name or text from a program."""

        async def marked(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            named = any(one.caller and (one.name or one.text) for one in await self._book.all())
            result = await run(arguments, request)
            return replace(result, outside=True) if named else result

        return marked

    async def _start(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language, telling = request.language, self._telling
        seconds = seconds_of(arguments) or 0
        if not SHORTEST_S <= seconds <= LONGEST_S:
            return telling.failed("timers.too_long" if seconds else "timers.how_long", language)
        if len(await self._book.all()) >= MOST:
            return telling.failed("timers.too_many", language)
        name = bare(arguments.get("name"), language)
        wanted = Wanted(seconds=seconds, name=name, language=language, caller=request.caller)
        timer = await self._book.set(wanted)
        assert timer is not None  # a duration always gives a due time
        length = length_of(seconds, self._catalogue, language)
        key = "timers.started_named" if name else "timers.started"
        sentence = self._catalogue.say(key, language, length=length, name=name)
        told = f"{capital(sentence)}{telling.silence(language)}"
        return BuiltInResult(told, telling.data([timer]))

    async def _list(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language, telling = request.language, self._telling
        timers, which = await self._book.all(), which_of(arguments)
        meant = choose(timers, which, telling.zone)
        if not timers or (not meant and which == Which(kind=which.kind)):
            timer = which.kind in (None, "timer")
            key = "timers.none" if timer else "alarms.none"
            return BuiltInResult(self._catalogue.say(key, language), "[]")
        if not meant:
            return telling.unknown(timers, request)
        meant = as_known_to(request, meant)
        told = " ".join(telling.state(timer, language) for timer in meant)
        return BuiltInResult(f"{told}{telling.silence(language)}", telling.data(meant))

    async def _change(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language, action = request.language, arguments["action"]
        seconds = seconds_of(arguments) or 0
        if action in (ADD, SUBTRACT) and not SHORTEST_S <= seconds <= LONGEST_S:
            key = "timers.too_long" if seconds else "timers.how_long"
            return self._telling.failed(key, language)
        found = self._telling.the_one(await self._book.all(), which_of(arguments), request)
        if isinstance(found, BuiltInResult):
            return found
        over = is_over(found, self._telling.now())
        if action == SNOOZE:
            return await self._snooze(found, seconds or SNOOZE_S, request, over=over)
        if action == PAUSE and over:
            return await self._end([found], request)  # "pause" while it rings means "stop"
        if is_of_day(found) and not over:
            return self._telling.failed("alarms.set_anew", language)
        left_s = left_of(found, self._telling.now())
        if action == SUBTRACT and seconds >= left_s:
            [shown] = as_known_to(request, [found])
            return self._telling.failed_with(self._telling.state(shown, language))
        if action == ADD and left_s + seconds > LONGEST_S:
            return self._telling.failed("timers.too_long", language)
        changed = await self._carried_out(action, found, seconds)
        if changed is None:
            return self._telling.failed("timers.none", language)
        [shown] = as_known_to(request, [changed])
        return BuiltInResult(self._telling.state(shown, language), self._telling.data([shown]))

    async def _snooze(
        self, timer: TimerRecord, seconds: int, request: BuiltInRequest, *, over: bool
    ) -> BuiltInResult:
        language = request.language
        if not over:
            return self._telling.failed("alarms.nothing_rings", language)
        changed = await self._book.add(timer, seconds)
        if changed is None:
            return self._telling.failed("timers.none", language)
        left = rest_of(seconds, self._catalogue, language)
        sentence = self._catalogue.say("alarms.snoozed", language, left=left)
        return BuiltInResult(sentence, self._telling.data(as_known_to(request, [changed])))

    async def _carried_out(
        self, action: str, timer: TimerRecord, seconds: int
    ) -> TimerRecord | None:
        match action:
            case "pause":
                return await self._book.pause(timer)
            case "resume":
                return await self._book.resume(timer)
            case _:
                return await self._book.add(timer, seconds if action == ADD else -seconds)

    async def _cancel(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        timers, which = await self._book.all(), which_of(arguments)
        if arguments.get("all"):
            meant = choose(timers, which, self._telling.zone)
            if not meant:
                return self._telling.failed("timers.none", request.language)
            return await self._end(meant, request)
        found = self._telling.the_one(timers, which, request)
        if isinstance(found, BuiltInResult):
            return found
        return await self._end([found], request)

    async def _end(self, timers: Sequence[TimerRecord], request: BuiltInRequest) -> BuiltInResult:
        language = request.language
        for timer in timers:
            await self._book.end(timer)
        timers = as_known_to(request, timers)
        section = "timers" if all(timer.kind == "timer" for timer in timers) else "alarms"
        if len(timers) > 1:
            only = "_alarm" if all(timer.kind == "alarm" for timer in timers) else ""
            key, count = f"{section}.ended_many{only}", counted(len(timers))
            sentence = self._catalogue.say(key, language, count=count)
        else:
            what = label_of(timers[0], self._catalogue, language)
            over = is_over(timers[0], self._telling.now())
            key = f"{section}.stopped" if over else f"{section}.ended"
            sentence = self._catalogue.say(key, language, what=what)
        return BuiltInResult(capital(sentence))


# `set_alarm`: an alarm, a reminder or a request, at a time of day, at sunrise or sunset, or after a
# duration.


SET_ALARM = "set_alarm"
LONGEST_TEXT = 300  # characters
_KINDS: Mapping[str, TimerKind] = {
    "alarm": "alarm",
    "reminder": "reminder",
    "request": "request",
}


@dataclass(frozen=True, slots=True)
class AlarmTool:
    """The `set_alarm` tool: sets alarms, reminders and requests. A request is a read-only question
    that runs when it is due, and its answer is announced."""

    book: TimerBook
    telling: TimerTelling

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=SET_ALARM,
            description="Sets something for a time of day, the sun, or a while from now; once, "
            "unless days or dates are given. alarm: wakes. reminder: says its text. "
            "request: asks you its text then and announces the answer; it can only "
            "look things up.",
            schema=schema(
                {
                    "kind": {"type": "string", "enum": list(_KINDS)},
                    "time": text("24 h HH:MM."),
                    "sun": {
                        "type": "string",
                        "enum": ["sunrise", "sunset"],
                        "description": "Instead of time.",
                    },
                    "offset_minutes": {
                        "type": "integer",
                        "minimum": -720,
                        "maximum": 720,
                        "description": "From sun; negative: before.",
                    },
                    "days": {
                        "type": "array",
                        "items": {"type": "string", "enum": list(WEEKDAYS)},
                        "description": "Repeats on these weekdays.",
                    },
                    "dates": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 50,
                        "description": "YYYY-MM-DD, today or tomorrow.",
                    },
                    **FROM_NOW,
                    "name": text("Of an alarm, if given."),
                    "text": text("Of a reminder or request, in the person's language."),
                },
                closed=True,
            ),
            tier=Tier.COMFORT,
            run=self.telling.safely(self._run),
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        telling, language = self.telling, request.language
        wanted = self._wanted(arguments, language)
        if isinstance(wanted, str):
            return telling.failed(wanted, language)
        wanted = replace(wanted, caller=request.caller)
        if len(await self.book.all()) >= MOST:
            return telling.failed("timers.too_many", language)
        timer = await self.book.set(wanted)
        if timer is None:
            sunless = wanted.rule is not None and wanted.rule.sun and not wanted.rule.dates
            return telling.failed("alarms.no_sun" if sunless else "alarms.never", language)
        when = moment_of(timer, telling.now(), telling.catalogue, language)
        key = f"alarms.set_{timer.kind}"
        if timer.kind == "alarm" and timer.name:
            key = "alarms.set_alarm_named"
        told = telling.catalogue.say(key, language, when=when, name=timer.name, text=timer.text)
        said = f"{capital(told)}{telling.silence(language)}"
        return BuiltInResult(said, telling.data([timer]))

    def _wanted(self, arguments: Mapping[str, Any], language: str) -> Wanted | str:
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
            self.telling.now(),
            at=str(arguments.get("time", "")),
            sun=arguments.get("sun"),
            offset_min=arguments.get("offset_minutes", 0),
            days=arguments.get("days", ()),
            dates=arguments.get("dates", ()),
        )
        return Wanted(kind, 0.0, rule, name, text, language) if rule else "alarms.no_time"
