"""`start_timer`, `list_timers`, `change_timer`, `cancel_timer`: timers of Hearth's own, and the
list of all that is to come."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import length_of
from assistant.timers.book import (
    LONGEST_S,
    MOST,
    SHORTEST_S,
    SNOOZE_S,
    TimerBook,
    Wanted,
    is_over,
    left_of,
)
from assistant.timers.choose import Which, choose
from assistant.timers.deadlines import is_of_day
from assistant.timers.telling import (
    LENGTH,
    WHICH,
    Telling,
    as_known_to,
    bare,
    capital,
    seconds_of,
    which_of,
)
from assistant.timers.words import label_of, rest_of
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult, Run

START_TIMER, LIST_TIMERS = "start_timer", "list_timers"
CHANGE_TIMER, CANCEL_TIMER = "change_timer", "cancel_timer"
ADD, SUBTRACT, PAUSE, RESUME, SNOOZE = "add", "subtract", "pause", "resume", "snooze"


class TimerTools:
    """The four tools."""

    def __init__(self, book: TimerBook, telling: Telling) -> None:
        self._book = book
        self._telling = telling
        self._catalogue = telling.catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn, BuiltIn, BuiltIn]:
        """The tools for the menu."""
        return (
            self._tool(
                START_TIMER,
                "Starts a timer that rings on this device. It can do nothing else when it ends. "
                "Several may run at once.",
                {**LENGTH, "name": {"type": "string", "description": "What it is for, if said."}},
                self._start,
                replaces="HassStartTimer",
            ),
            self._tool(
                LIST_TIMERS,
                "The timers, alarms, reminders, requests and commands for later: those that run, "
                "stand still or ring, and how long each still has or when it comes.",
                WHICH,
                self._list,
                tier=Tier.READ,
                replaces="HassTimerStatus",
            ),
            self._tool(
                CHANGE_TIMER,
                "Gives a timer more time or less, or lets it stand still or go on; snooze: what "
                "rings falls silent and rings again, after 9 minutes if nothing else is said.",
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
                "Ends a timer, alarm, reminder, request or command before its time, or stops one "
                "that rings.",
                {**WHICH, "all": {"type": "boolean", "description": "All, or all of the kind."}},
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
        """The same, whose result says where a program has named a timer: names are told."""

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
        assert timer is not None  # a length has its moment
        length = length_of(seconds, self._catalogue, language)
        key = "timers.started_named" if name else "timers.started"
        sentence = self._catalogue.say(key, language, length=length, name=name)
        return BuiltInResult(f"{sentence}{telling.silence(language)}", telling.data([timer]))

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
            return await self._end([found], request)  # "pause" to what rings is "stop"
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
            sentence = self._catalogue.say(f"{section}.ended_many", language, count=len(timers))
        else:
            what = label_of(timers[0], self._catalogue, language)
            over = is_over(timers[0], self._telling.now())
            key = f"{section}.stopped" if over else f"{section}.ended"
            sentence = self._catalogue.say(key, language, what=what)
        return BuiltInResult(capital(sentence))
