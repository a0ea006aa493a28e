"""`do_later`: a call that is made after a while or at a time of day."""

from collections.abc import Mapping
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import TimerRecord
from assistant.timers.book import LONGEST_S, MOST, SHORTEST_S, TimerBook, Wanted
from assistant.timers.desk import rule_of
from assistant.timers.later import FrozenCalls, NotLater
from assistant.timers.telling import COUNT, LENGTH, TimerTelling, seconds_of
from assistant.timers.words import moment_of, rest_of
from assistant.tools.builtin.live_context import one_line
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult

DO_LATER = "do_later"
_LONGEST_WHAT = 120  # characters


class LaterTool:
    """The tool. The call that it takes passes the policy when it is asked for, and when it is due.

    Nobody is there then who could be asked, so it takes only what the policy lets through as it is.
    """

    def __init__(self, book: TimerBook, calls: FrozenCalls, telling: TimerTelling) -> None:
        self._book = book
        self._calls = calls
        self._telling = telling

    def tool(self) -> BuiltIn:
        """For the menu."""
        return BuiltIn(
            name=DO_LATER,
            description="Calls a tool of the home later, once: for 'turn off the lights in ten "
            "minutes' or 'close the blinds at nine'. Not for what opens or unlocks. Give the time "
            "either as a length or as time; see list_timers for what waits and cancel_timer to "
            "call it off.",
            schema={
                "type": "object",
                "properties": {
                    "tool": {"type": "string", "description": "The tool's name, as offered."},
                    "arguments": {
                        "type": "object",
                        "description": "What that tool is to be given.",
                    },
                    "what": {
                        "type": "string",
                        "description": "What it does, for people, in their language: 'turn off "
                        "the kitchen lights'.",
                    },
                    **{
                        part: {**COUNT, "description": "From now on."}  # in place of a time
                        for part in LENGTH
                    },
                    "time": {"type": "string", "description": "Or at this time, as 24 h HH:MM."},
                },
                "required": ["tool", "arguments", "what"],
                "additionalProperties": False,
            },
            tier=Tier.COMFORT,
            run=self._telling.safely(self._run),
            programs=False,  # what it waits for is done without the caller's rights
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        telling, language = self._telling, request.language
        if len(await self._book.all()) >= MOST:
            return telling.failed("timers.too_many", language)
        seconds = seconds_of(arguments) or 0
        rule = None
        if not seconds:
            rule = rule_of(telling.now(), at=str(arguments.get("time", "")))
            if rule is None:
                return telling.failed("alarms.no_time", language)
        elif not SHORTEST_S <= seconds <= LONGEST_S:
            return telling.failed("timers.too_long", language)
        try:
            payload = await self._calls.freeze(
                arguments["tool"],
                arguments["arguments"],
                request.heard,
                language,
                request.turn_id,
                searched=request.situation.searched,
            )
        except NotLater as why:
            return BuiltInResult(str(why), failed=True, valid_options=why.options)
        what = one_line(arguments["what"])[:_LONGEST_WHAT].strip(" .")
        wanted = Wanted("command", seconds, rule, "", what, language, payload)
        timer = await self._book.set(wanted)
        assert timer is not None  # a time of day comes every day
        told = self._told(timer, language)
        return BuiltInResult(f"{told}{telling.silence(language)}", telling.data([timer]))

    def _told(self, timer: TimerRecord, language: str) -> str:
        say, what = self._telling.catalogue.say, timer.text
        if timer.rule is None:
            left = rest_of(timer.duration_s, self._telling.catalogue, language)
            return say("later.set_in", language, left=left, what=what)
        when = moment_of(timer, self._telling.now(), self._telling.catalogue, language)
        return say("later.set", language, when=when, what=what)
