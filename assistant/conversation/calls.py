"""The calls of one turn: run and answered, whatever becomes of the turn."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.conversation.claims import is_in_doubt
from assistant.conversation.patience import Patience
from assistant.conversation.programs import led_by
from assistant.conversation.timeline import Timeline
from assistant.conversation.turn_services import ToolRunner
from assistant.domain.brain import BrainTurn, InTalk
from assistant.domain.call import ToolCall
from assistant.domain.call_context import CallContext
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.guards import LIMITS
from assistant.tools.policy import wants_words
from assistant.tools.request import lost

if TYPE_CHECKING:
    from assistant.conversation.live import LiveTurn


_log = logging.getLogger(__name__)
# A transcript comes on its own way, and may come after the call that it asks for.
WORDS_S = 0.5
MOMENT_S = 4.0  # of a call, after which a person who heard nothing so far is told to wait
SETTLE_S = 3.0  # for calls under way, before a brain that does not stop calling is left

ToolRun = Coroutine[Any, Any, bool]


class _CallBroke(Exception):
    """A tool call ended as none should; what happened is in the log."""


class ToolCalls:
    """Begins each call as it is asked for. None of them is a task of the turn."""

    def __init__(
        self,
        turn: "LiveTurn",
        tools: ToolRunner,
        patience: Patience,
        timeline: Timeline,
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
    ) -> None:
        """`spawn` starts what outlives the turn."""
        self.outcomes: list[ToolOutcome] = []
        self.broken = False  # a call broke: no word more from the brain
        self.gated: dict[str, ToolCall] = {}  # calls that need a yes, by id
        self.talk: InTalk | None = None  # what the model knows beside this turn
        self.searched = False  # the answer rests on a web search
        self.has_heard = asyncio.Event()  # the person's words are known
        self._known: list[tuple[ToolCall, ToolOutcome]] = []  # calls that a yes has settled
        self._turn = turn
        self._tools = tools
        self._patience = patience
        self._timeline = timeline
        self._spawn = spawn
        self._running: set[asyncio.Task[bool]] = set()
        self._under_way = 0
        self._warned = False  # told of a limit: what the brain asks for from here on is too much
        self._stopped = False

    def begin(self, brain_turn: BrainTurn, call: ToolCall, group: asyncio.TaskGroup) -> None:
        """Run it. `group` waits for its end, and breaks if it does."""
        self._timeline.mark("first_tool_call")
        self._patience.excuse(call_name(call.id))
        self._under_way += 1
        # Not a task of this turn: a call that was asked for runs to its end, is journalled and
        # answered, even if the turn is cut off meanwhile.
        running = self._spawn(self._run(brain_turn, call, self._warned))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        group.create_task(self._await(call, running))

    @property
    def under_way(self) -> int:
        """How many have not come back."""
        return self._under_way

    def remember(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """A brain that goes on after a yes is given this for an equal call: it was made."""
        self._known.append((call, outcome))

    async def settle(self) -> None:
        """Wait a little for the others under way."""
        under_way = self._running - {asyncio.current_task()}
        if under_way:
            await asyncio.wait(under_way, timeout=SETTLE_S)

    async def over(self) -> None:
        """Return when none runs any more: they outlive their turn."""
        while self._running:
            await asyncio.wait(set(self._running))

    def deeds(self) -> list[str]:
        """What was done, the newest last; of what was switched twice, how it is now."""
        told: dict[tuple[str, ...], str] = {}
        for one in self.outcomes:
            if one.tier is not Tier.READ and one.status is not Status.NOT_RUN:
                things = one.entities or (one.id,)
                told.pop(things, None)
                told[things] = one.sentence
        return [*told.values()]

    async def _await(self, call: ToolCall, running: asyncio.Task[bool]) -> None:
        if not await asyncio.shield(running):
            raise _CallBroke(call.name)
        self._patience.expect(call_name(call.id))

    async def _run(self, brain_turn: BrainTurn, call: ToolCall, warned: bool) -> bool:
        """Run it and answer it. False: it broke, which must not end more than this turn.

        `warned`: the brain knew of a limit when it asked.
        """
        moment = asyncio.get_running_loop().call_later(MOMENT_S, self._turn.say_moment)
        try:
            if self._turn.may_be_echo:
                await self._hears()
            if self._turn.set_aside():
                return True
            outcome = await self._outcome(brain_turn, call)
            limited = outcome.rule in LIMITS
            self._warned |= limited
            await brain_turn.answer(outcome)
            if warned and limited and not self._stopped:
                self._stopped = True
                await self._turn.stop_calling()
        except Exception:
            _log.exception("the call %s broke", call.name)
            return False
        finally:
            moment.cancel()
            self._under_way -= 1
            self._turn.call_ended(self._under_way)
        return True

    async def _outcome(self, brain_turn: BrainTurn, call: ToolCall) -> ToolOutcome:
        turn = self._turn
        for known, made in self._known:
            if (known.name, known.arguments) == (call.name, call.arguments):
                return replace(made, id=call.id)
        if wants_words(call.name, call.arguments):
            await self._hears()
        try:
            outcome = await self._tools.call(
                call, turn.turn_id, turn.heard, turn.language, self._situation()
            )
        except Exception:
            self.broken = True
            await brain_turn.answer(lost(call))
            raise
        self.outcomes.append(outcome)
        self._turn.called(outcome)
        self._timeline.mark("last_tool_result")
        if outcome.decision is Decision.NEEDS_CONFIRMATION:
            self.gated[call.id] = call
            await turn.ask(call)
        elif outcome.decision is Decision.DENIED and outcome.tier is Tier.SECURE:
            turn.refuse_aloud(outcome.sentence)
        elif is_in_doubt(outcome):
            turn.distrust()
        if outcome.stale:
            turn.say_age(outcome.sentence)
        return outcome

    def _situation(self) -> CallContext:
        opening = self._turn.opening
        return CallContext(
            can_ask=True,
            spoken=opening.source != "text",
            near_own_speech=opening.near_own_speech,
            searched=self.searched or (self.talk is not None and self.talk.searched),
            talk=self.talk.talk if self.talk is not None else "",
            led_by=led_by(opening.talk, self._turn.brain),
        )

    async def _hears(self) -> None:
        """Return when something was heard, or too late to wait for it."""
        try:
            async with asyncio.timeout(WORDS_S):
                await self.has_heard.wait()
        except TimeoutError:
            _log.info("a call is judged without the person's words: no transcript came")


def call_name(call_id: str) -> str:
    """What the patience with a brain is told of a call."""
    return f"the call {call_id}"
