"""`start_timer`, `list_timers`, `change_timer`, `cancel_timer`: timers of Hearth's own."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.clock import Clock
from assistant.journal.records import StoreError, TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import (
    LONGEST_NAME,
    LONGEST_S,
    MOST,
    SHORTEST_S,
    TimerBook,
    is_over,
    left_of,
)
from assistant.timers.choose import Which, choose
from assistant.timers.words import label_of, length_of, rest_of
from assistant.tools.builtin.live_picture import one_line
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult, Run
from assistant.tools.outcome import Tier

START_TIMER, LIST_TIMERS = "start_timer", "list_timers"
CHANGE_TIMER, CANCEL_TIMER = "change_timer", "cancel_timer"
ADD, SUBTRACT, PAUSE, RESUME = "add", "subtract", "pause", "resume"
_PARTS = {"hours": 3600, "minutes": 60, "seconds": 1}
_ARTICLES = {  # before a name, by language: "the the pasta timer" is no English
    "en": re.compile(r"(?i)^(the|my|our)\s+"),
    "es": re.compile(r"(?i)^(el|la|los|las|mi|mis)\s+"),
}
_COUNT = {"type": "integer", "minimum": 0}
_LENGTH: Mapping[str, Any] = dict.fromkeys(_PARTS, _COUNT)
_WHICH: Mapping[str, Any] = {
    "name": {
        "type": "string",
        "description": "Which timer: its name, or its id from list_timers. Leave it out where the "
        "person names none.",
    },
    **{
        f"start_{part}": {**_COUNT, "description": "Which timer: what it was set for."}
        for part in _PARTS
    },
}


class TimerTools:
    """The four tools. None of them takes a command for later: a timer rings, and that is all."""

    def __init__(
        self, book: TimerBook, rings: Callable[[], bool], catalogue: Catalogue, clock: Clock
    ) -> None:
        """`rings`: whether a process is there that will ring (`assistant.lock.is_held`)."""
        self._book = book
        self._rings = rings
        self._catalogue = catalogue
        self._clock = clock

    def tools(self) -> tuple[BuiltIn, BuiltIn, BuiltIn, BuiltIn]:
        """The tools for the menu."""
        return (
            self._tool(
                START_TIMER,
                "Starts a timer that rings on this device. It can do nothing else when it ends. "
                "Several may run at once.",
                {**_LENGTH, "name": {"type": "string", "description": "What it is for, if said."}},
                self._start,
                replaces="HassStartTimer",
            ),
            self._tool(
                LIST_TIMERS,
                "The timers that run, stand still or ring, and how long each still has.",
                _WHICH,
                self._list,
                tier=Tier.READ,
                replaces="HassTimerStatus",
            ),
            self._tool(
                CHANGE_TIMER,
                "Gives a timer more time or less, or lets it stand still or go on.",
                {
                    "action": {"type": "string", "enum": [ADD, SUBTRACT, PAUSE, RESUME]},
                    **_LENGTH,
                    **_WHICH,
                },
                self._change,
                required=("action",),
                replaces="HassIncreaseTimer HassDecreaseTimer HassPauseTimer HassUnpauseTimer",
            ),
            self._tool(
                CANCEL_TIMER,
                "Ends a timer before its time, or stops one that rings.",
                {**_WHICH, "all": {"type": "boolean", "description": "All timers."}},
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
            run=self._safely(run),
            replaces=frozenset(replaces.split()),
        )

    def _safely(self, run: Run) -> Run:
        """The same, with an answer where the store fails."""

        async def safe(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            try:
                return await run(arguments, request)
            except StoreError:
                return self._failed("timers.broken", request.language)

        return safe

    # --- the tools

    async def _start(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language = request.language
        seconds = _seconds(arguments) or 0
        if not SHORTEST_S <= seconds <= LONGEST_S:
            return self._failed("timers.too_long" if seconds else "timers.how_long", language)
        if len(await self._book.all()) >= MOST:
            return self._failed("timers.too_many", language)
        name = _bare(one_line(str(arguments.get("name", ""))).strip(), language)
        timer = await self._book.start(seconds, name, language)
        length = length_of(seconds, self._catalogue, language)
        key = "timers.started_named" if name else "timers.started"
        sentence = self._catalogue.say(key, language, length=length, name=name)
        return BuiltInResult(f"{sentence}{self._silence(language)}", self._data([timer]))

    async def _list(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language, timers = request.language, await self._book.all()
        meant = choose(timers, _which(arguments))
        if not timers:
            return BuiltInResult(self._catalogue.say("timers.none", language), "[]")
        if not meant:
            return self._unknown(timers, request)
        told = " ".join(self._state(timer, language) for timer in meant)
        return BuiltInResult(f"{told}{self._silence(language)}", self._data(meant))

    async def _change(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        language, action = request.language, arguments["action"]
        seconds = _seconds(arguments) or 0
        if action in (ADD, SUBTRACT) and not SHORTEST_S <= seconds <= LONGEST_S:
            return self._failed("timers.too_long" if seconds else "timers.how_long", language)
        found = await self._one(arguments, request)
        if isinstance(found, BuiltInResult):
            return found
        over = is_over(found, self._clock.now())
        if action == PAUSE and over:
            return await self._end([found], language)  # "pause" to what rings is "stop"
        left_s = left_of(found, self._clock.now())
        if action == SUBTRACT and seconds >= left_s:
            return self._failed_with(self._state(found, language))
        if action == ADD and left_s + seconds > LONGEST_S:
            return self._failed("timers.too_long", language)
        changed = await self._carried_out(action, found, seconds)
        if changed is None:
            return self._failed("timers.none", language)
        return BuiltInResult(self._state(changed, language), self._data([changed]))

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
        if arguments.get("all"):
            timers = await self._book.all()
            if not timers:
                return self._failed("timers.none", request.language)
            return await self._end(timers, request.language)
        found = await self._one(arguments, request)
        if isinstance(found, BuiltInResult):
            return found
        return await self._end([found], request.language)

    async def _end(self, timers: Sequence[TimerRecord], language: str) -> BuiltInResult:
        for timer in timers:
            await self._book.end(timer)
        if len(timers) > 1:
            sentence = self._catalogue.say("timers.ended_many", language, count=len(timers))
        else:
            what = label_of(timers[0], self._catalogue, language)
            over = is_over(timers[0], self._clock.now())
            key = "timers.stopped" if over else "timers.ended"
            sentence = self._catalogue.say(key, language, what=what)
        return BuiltInResult(_capital(sentence))

    # --- which one

    async def _one(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> TimerRecord | BuiltInResult:
        """The one timer that is meant, or what to say instead."""
        timers, which = await self._book.all(), _which(arguments)
        if not timers:
            return self._failed("timers.none", request.language)
        now = self._clock.now()
        ringing = [timer for timer in timers if is_over(timer, now)]
        # Whoever says just "the timer" while one rings means that one.
        meant = choose(timers, which) if which or len(ringing) != 1 else ringing
        if len(meant) == 1:
            return meant[0]
        if not meant:
            return self._unknown(timers, request)
        told = "; ".join(self._short_state(timer, request.language) for timer in meant)
        return self._failed("timers.which", request.language, meant, what=told)

    def _unknown(self, timers: Sequence[TimerRecord], request: BuiltInRequest) -> BuiltInResult:
        told = "; ".join(self._short_state(timer, request.language) for timer in timers)
        return self._failed("timers.no_such", request.language, timers, what=told)

    # --- words

    def _state(self, timer: TimerRecord, language: str) -> str:
        """A sentence: "Pasta timer: 3 minutes left."."""
        return f"{_capital(self._short_state(timer, language))}."

    def _short_state(self, timer: TimerRecord, language: str) -> str:
        now = self._clock.now()
        key = "timers.left"
        if timer.paused_s is not None:
            key = "timers.paused"
        elif is_over(timer, now):
            key = "timers.rings"
        what = label_of(timer, self._catalogue, language)
        left = rest_of(left_of(timer, now), self._catalogue, language)
        return self._catalogue.say(key, language, what=what, left=left)

    def _silence(self, language: str) -> str:
        """What must be said where nobody would ring."""
        return "" if self._rings() else " " + self._catalogue.say("timers.silent", language)

    def _data(self, timers: Sequence[TimerRecord]) -> str:
        now = self._clock.now()
        rows = [
            {
                "id": timer.id,
                "name": timer.name,
                "set_for_s": round(timer.duration_s),
                "left_s": round(left_of(timer, now)),
                "state": "rings" if is_over(timer, now) else _standing(timer),
            }
            for timer in timers
        ]
        return json.dumps(rows, ensure_ascii=False)

    def _failed(
        self, key: str, language: str, options: Sequence[TimerRecord] = (), **values: object
    ) -> BuiltInResult:
        return self._failed_with(self._catalogue.say(key, language, **values), options)

    def _failed_with(self, sentence: str, options: Sequence[TimerRecord] = ()) -> BuiltInResult:
        """`options`: what would have worked as `name`; an id where a name does not tell."""
        names = [timer.name for timer in options]
        told = tuple(
            timer.name if timer.name and names.count(timer.name) == 1 else timer.id
            for timer in options
        )
        return BuiltInResult(sentence, failed=True, valid_options=told)


def _seconds(arguments: Mapping[str, Any], prefix: str = "") -> int | None:
    """The length that was given in parts; None where it was not."""
    parts = {part: arguments.get(f"{prefix}{part}") for part in _PARTS}
    if all(count is None for count in parts.values()):
        return None
    return sum((count or 0) * _PARTS[part] for part, count in parts.items())


def _bare(name: str, language: str) -> str:
    """The name without an article, not too long to be said."""
    article = _ARTICLES.get(language.partition("-")[0])
    return (article.sub("", name) if article else name)[:LONGEST_NAME].strip()


def _which(arguments: Mapping[str, Any]) -> Which:
    return Which(str(arguments.get("name", "")), _seconds(arguments, "start_"))


def _standing(timer: TimerRecord) -> str:
    return "runs" if timer.paused_s is None else "paused"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
