"""Scheduled commands and requests, each of which runs once when it is due."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import TimerRecord
from assistant.domain.tool_call import COMMAND, Decision, Program, Rights, Status, Tier, ToolCall
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import LONGEST_S, MOST, SHORTEST_S, TimerBook, Wanted
from assistant.timers.monitor import Complaints, Due
from assistant.timers.recurrence import rule_of
from assistant.timers.ringer import Unheard
from assistant.timers.telling import FROM_NOW, TimerTelling, moment_of, rest_of, seconds_of
from assistant.tools.builtin.protocol import (
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    one_line,
    schema,
    text,
)
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.tools.execution.toolbox import Toolbox

# Scheduled calls: the policy judges them when they are requested and again when they are due.


# Nobody can be asked when the call is due, so secure actions are never scheduled, whatever the
# settings allow.
LATER = Program(COMMAND, Rights(Tier.COSTLY, asks=False, free=Tier.COSTLY, recalls=True))


class NotLater(Exception):
    """The call can't be scheduled; the message is a sentence to speak."""

    def __init__(self, sentence: str, options: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.options = options


class FrozenCalls:
    """Checks tool calls when they are scheduled, and runs them when they are due."""

    def __init__(
        self,
        tools: "Toolbox",
        connected: Callable[[], bool],
        new_turn_id: Callable[[], str],
        catalogue: Catalogue,
    ) -> None:
        self._tools = tools
        self._connected = connected
        self._new_turn_id = new_turn_id
        self._catalogue = catalogue

    async def freeze(
        self,
        name: str,
        arguments: Mapping[str, Any],
        heard: str | None,
        language: str,
        turn_id: str = "",
        *,
        searched: bool = False,
    ) -> dict[str, Any]:
        """Return the call in the form in which it is stored. Raises NotLater if the call can't be
        scheduled, for example because it would need confirmation.

        `turn_id` identifies the requesting turn. `searched` is True if that turn used web search,
        which taints the scheduled call.
        """
        found = await self._tools.explain(name, arguments, heard, LATER, turn_id)
        if found is None:
            raise NotLater(self._catalogue.say("later.no_tool", language))
        entry, verdict = found
        if entry.built_in is not None or verdict.tier is Tier.READ:
            raise NotLater(self._catalogue.say("later.not_such", language))
        if verdict.tier is Tier.SECURE:
            raise NotLater(self._catalogue.say("later.secure", language))
        if verdict.decision is Decision.NEEDS_CONFIRMATION:
            raise NotLater(self._catalogue.say("later.asks", language))
        if verdict.decision is Decision.DENIED:
            sentence = self._catalogue.say(verdict.key, language, **verdict.values)
            raise NotLater(sentence, verdict.options)
        # Store the resolved arguments, so that the call reaches the same room when it is due.
        return {
            "tool": entry.declaration.name,
            "arguments": dict(verdict.arguments),
            "heard": heard,
            "tainted": searched or self._tools.is_tainted(turn_id),
        }

    def ready(self, timer: TimerRecord) -> bool:
        """Return False while the call needs Home Assistant but can't reach it, or while Hearth is
        asking a question aloud."""
        if self._tools.asks_aloud:
            return False
        entry = self._tools.current_menu.find(_payload(timer)["tool"])
        return self._connected() if entry is None or entry.of_home else True

    async def make(self, timer: TimerRecord) -> str:
        """Run the call now. Returns "" if it succeeded, and otherwise a sentence to speak."""
        payload, turn_id, language = _payload(timer), self._new_turn_id(), timer.language
        call = ToolCall(f"{turn_id}-1", payload["tool"], payload["arguments"])
        self._tools.restrict(turn_id, LATER.rights, LATER.name)
        if payload.get("tainted"):
            self._tools.taint(turn_id)
        try:
            outcome = await self._tools.call(call, turn_id, payload["heard"], language)
        finally:
            self._tools.release(turn_id)
        if outcome.status is Status.DONE:
            return ""
        key = "later.failed" if outcome.failed else "later.not_seen"
        if outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION):
            key = "later.not_allowed"
        return self._catalogue.say(key, language, what=timer.text)


def _payload(timer: TimerRecord) -> dict[str, Any]:
    assert timer.payload is not None
    return timer.payload


_log = logging.getLogger(__name__)
COMMAND_LATE_S = 600.0  # running a command later than this would surprise people
REQUEST_LATE_S = 3600.0  # an answer later than this is useless

# Text, language and caller -> the answer to announce, or "".
Ask = Callable[[str, str, str], Awaitable[str]]


class Later(Opened):
    """Runs scheduled commands and requests when `take` receives them. Use it as a context manager.

    Nothing is started twice: if the process died in the middle of a command, the next process
    announces that the outcome is unknown.
    """

    def __init__(
        self,
        store: Store,
        calls: FrozenCalls,
        ask: Ask,
        say: Callable[[str, str], None],
        unheard: Unheard,
        catalogue: Catalogue,
        clock: Clock,
        complaints: Complaints,
    ) -> None:
        """`say` queues a text to be spoken in a language. It must not block."""
        self._store = store
        self._calls = calls
        self._ask = ask
        self._say = say
        self._unheard = unheard
        self._catalogue = catalogue
        self._clock = clock
        self._complaints = complaints
        self._busy: set[str] = set()  # ids of timers whose command or request is running
        # True once unfinished commands and requests of an earlier process have been announced.
        self._settled = False
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)

    async def settle(self) -> None:
        """Announce the commands and requests that an earlier process started but did not finish.
        Raises StoreError."""
        if self._settled:
            return
        for timer in await self._store.begun_timers():
            if timer.id not in self._busy and await self._store.finish_timer(timer.id, known=False):
                self._tell("later.unknown", timer)
        self._settled = True

    def take(self, due: Due) -> None:
        """Start a due command or request, unless it is a command that has to wait. Safe to call
        repeatedly until the timer has ended."""
        timer = due.timer
        if timer.id in self._busy:
            return
        command = timer.kind == "command"
        late = due.late_s > (COMMAND_LATE_S if command else REQUEST_LATE_S)
        if command and not late and not self._calls.ready(timer):
            return
        self._busy.add(timer.id)
        self._owner.start(self._do(timer, late), f"later {timer.id}")

    async def _do(self, timer: TimerRecord, late: bool) -> None:
        try:
            await self._complaints.safely(self._missed(timer) if late else self._done(timer))
        finally:
            self._busy.discard(timer.id)

    async def _missed(self, timer: TimerRecord) -> None:
        await self._unheard.add(timer, rang=False)
        await self._store.begin_timer(timer.id)
        await self._store.finish_timer(timer.id)

    async def _done(self, timer: TimerRecord) -> None:
        if not await self._store.begin_timer(timer.id):
            return
        known = True
        try:
            await self._carry_out(timer)
        except Exception:
            known = False
            _log.exception("a command for later failed")
            self._tell("later.unknown", timer)
        # If the process is killed before this, the timer stays marked as started, so the next
        # process announces it.
        await self._store.finish_timer(timer.id, known=known)

    async def _carry_out(self, timer: TimerRecord) -> None:
        if timer.kind == "command":
            told = await self._calls.make(timer)
        else:
            told = await self._ask(timer.text, timer.language, timer.caller)
        if told:
            self._say(told, self._catalogue.own(timer.language))

    def _tell(self, key: str, timer: TimerRecord) -> None:
        told = self._catalogue.say(key, timer.language, what=timer.text)
        self._say(told, self._catalogue.own(timer.language))


# `do_later`: runs a call after a while or at a time of day.


DO_LATER = "do_later"
_LONGEST_WHAT = 120  # characters


@dataclass(frozen=True, slots=True)
class LaterTool:
    """The `do_later` tool. Nobody can be asked when the call is due, so only calls that need no
    confirmation are accepted."""

    book: TimerBook
    calls: FrozenCalls
    telling: TimerTelling

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=DO_LATER,
            description="Calls a tool of the home later, once: 'turn off the lights in ten "
            "minutes'. Not for what opens or unlocks.",
            schema=schema(
                {
                    "tool": {"type": "string"},
                    "arguments": {"type": "object"},
                    "what": text("What it does, in the person's words."),
                    **FROM_NOW,
                    "time": text("24 h HH:MM."),
                },
                "tool",
                "arguments",
                "what",
                closed=True,
            ),
            tier=Tier.COMFORT,
            run=self.telling.safely(self._run),
            programs=False,  # the scheduled call would run without the caller's rights
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        telling, language = self.telling, request.language
        if len(await self.book.all()) >= MOST:
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
            payload = await self.calls.freeze(
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
        timer = await self.book.set(wanted)
        assert timer is not None  # a time of day always has a next time
        told = self._told(timer, language)
        return BuiltInResult(f"{told}{telling.silence(language)}", telling.data([timer]))

    def _told(self, timer: TimerRecord, language: str) -> str:
        say, what = self.telling.catalogue.say, timer.text
        if timer.rule is None:
            left = rest_of(timer.duration_s, self.telling.catalogue, language)
            return say("later.set_in", language, left=left, what=what)
        when = moment_of(timer, self.telling.now(), self.telling.catalogue, language)
        return say("later.set", language, when=when, what=what)
