"""Run a turn's tool calls and return their outcomes to the brain, even if the turn is cut off."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.conversation.rules.events import Announced, ForTalk
from assistant.conversation.turn_services import TurnServices
from assistant.domain.brain import BrainFault, BrainTurn, InTalk, Searched, Serving
from assistant.domain.events import Deferred
from assistant.domain.tool_call import CallContext, Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.execution.guards import LIMITS
from assistant.tools.execution.requests import lost
from assistant.tools.policy.engine import wants_words
from integrations.mcp.servers import HOME_ASSISTANT

if TYPE_CHECKING:
    from assistant.conversation.acknowledgement import Toning
    from assistant.conversation.thinking import Patience
    from assistant.conversation.turn import Turn
    from assistant.speech.catalogue import Catalogue


_log = logging.getLogger(__name__)
# The transcript arrives separately and can arrive after the call that it led to.
WORDS_S = 0.5
MOMENT_S = 4.0  # seconds of silence after which Hearth asks for patience
SETTLE_S = 3.0  # seconds to wait for running calls before leaving such a brain

ToolRun = Coroutine[Any, Any, bool]


class _CallBroke(Exception):
    """A tool call failed inside Hearth. The log has the details."""


class ToolCalls:
    """Starts each call when the brain requests it. Calls can outlive their turn."""

    def __init__(
        self,
        turn: "Turn",
        services: Deferred[TurnServices],
        own_words: "OwnWords",
        toning: "Toning",
        patience: "Patience",
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
    ) -> None:
        self.outcomes: list[ToolOutcome] = []
        self.broken = False  # a call failed inside Hearth: ignore the brain from here on
        self.gated: dict[str, ToolCall] = {}  # calls that need confirmation, by id
        self.talk: InTalk | None = None  # the model context, which may include earlier turns
        self.searched = False  # the answer is based on a web search
        self.has_heard = asyncio.Event()  # set when there is a transcript
        self._known: list[tuple[ToolCall, ToolOutcome]] = []  # confirmed calls and their outcomes
        self._turn = turn
        self._services = services
        self._own_words = own_words
        self._toning = toning
        self._patience = patience
        self._timeline = turn.timeline
        self._spawn = spawn
        self._running: set[asyncio.Task[bool]] = set()
        self._under_way = 0
        self._warned = False  # the brain was told that a limit is reached
        self._stopped = False

    def begin(self, brain_turn: BrainTurn, call: ToolCall, group: asyncio.TaskGroup) -> None:
        """Start a call. `group` waits for the call, and fails if the call fails inside Hearth."""
        self._timeline.mark("first_tool_call")
        self._patience.excuse(call_name(call.id))
        self._under_way += 1
        # Not a task of this turn: a requested call runs to its end, is journalled and answered,
        # even if the turn is cut off.
        running = self._spawn(self._run(brain_turn, call, self._warned))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        group.create_task(self._await(call, running))

    @property
    def under_way(self) -> int:
        return self._under_way

    def remember(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """Store a confirmed call's outcome, which is then returned for any identical call."""
        self._known.append((call, outcome))

    async def over(self) -> None:
        """Wait until no call is running."""
        while self._running:
            await asyncio.wait(set(self._running))

    def note(self, event: Serving | InTalk | Searched) -> None:
        match event:
            case Serving():
                self.talk = None  # the brain that serves now reports its own context
            case InTalk():
                self.talk = event
            case Searched():
                self.searched = True

    async def _await(self, call: ToolCall, running: asyncio.Task[bool]) -> None:
        if not await asyncio.shield(running):
            raise _CallBroke(call.name)
        self._patience.expect(call_name(call.id))

    async def _run(self, brain_turn: BrainTurn, call: ToolCall, warned: bool) -> bool:
        """Run a call and send its outcome to the brain. Return False if the call failed inside
        Hearth.

        `warned` is True if the brain knew that a limit was reached when it made the call.
        """
        moment = asyncio.get_running_loop().call_later(MOMENT_S, self._own_words.say_moment)
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
                await self._stop_brain()
        except Exception:
            _log.exception("the call %s failed with an internal error", call.name)
            return False
        finally:
            moment.cancel()
            self._under_way -= 1
            self._toning.call_ends(self.outcomes, self._under_way)
        return True

    async def _outcome(self, brain_turn: BrainTurn, call: ToolCall) -> ToolOutcome:
        turn = self._turn
        for known, made in self._known:
            if (known.name, known.arguments) == (call.name, call.arguments):
                return replace(made, id=call.id)
        if wants_words(call.name, call.arguments):
            await self._hears()
        try:
            services = self._services.get()
            heard = turn.heard and services.meant(turn.heard)
            outcome = await services.tools.call(
                call, turn.turn_id, heard, turn.language, self._situation()
            )
        except Exception:
            self.broken = True
            await brain_turn.answer(lost(call))
            raise
        self.outcomes.append(outcome)
        turn.follower.called(turn, outcome)
        self._timeline.mark("last_tool_result")
        if outcome.decision is Decision.NEEDS_CONFIRMATION:
            self.gated[call.id] = call
            await turn.ask(call)
        elif outcome.decision is Decision.DENIED and outcome.tier is Tier.SECURE:
            self._own_words.refuse(outcome.sentence)
        elif is_in_doubt(outcome):
            self._own_words.distrust()
        if outcome.stale:
            self._own_words.say_age(outcome.sentence)
        return outcome

    async def _stop_brain(self) -> None:
        turn = self._turn
        if turn.failed:
            return
        _log.warning("the brain %s does not stop calling tools", turn.brain)
        if turn.confirming is None:
            under_way = self._running - {asyncio.current_task()}
            if under_way:
                await asyncio.wait(under_way, timeout=SETTLE_S)
        turn.fail(self._own_words.fault_of_endless_calls(self.outcomes))
        turn.leave_brain()

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
        try:
            async with asyncio.timeout(WORDS_S):
                await self.has_heard.wait()
        except TimeoutError:
            _log.info("a call is judged without the person's words: no transcript came")


def call_name(call_id: str) -> str:
    """Return the reason with which `Patience` is paused during a call."""
    return f"the call {call_id}"


#
# Calls whose results a model must not report itself, and the sentences spoken instead. Pure.
#
# Models say "The door is locked" after a call that timed out or waits for confirmation. No word
# list can tell such claims from honest answers in six languages, so after such a call the answer
# consists of Hearth's own sentences.


OWN_BRAINS = frozenset({"offline", "home-assistant"})  # these use Hearth's own sentences
_OPEN_ENDS = frozenset({Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN})
# Hearth's own tools that change the house, now or later.
_OURS_IN_THE_HOUSE = frozenset({"correct_last", "do_later", "undo"})
# Limits that a model reaches if it keeps calling, whatever the person asked for.
_FOR_MODELS = LIMITS | {"too_fast"}


class OwnWords:
    """Reports calls in Hearth's own sentences when a model can't be trusted to do so."""

    def __init__(self, turn: "Turn", toning: "Toning", catalogue: "Catalogue") -> None:
        self.mute_brain = False  # the brain's further text is discarded
        self._turn = turn
        self._speech = turn.speech
        self._toning = toning
        self._catalogue = catalogue
        self._owed = False  # Hearth still has to report the calls' results

    def silence_brain(self) -> None:
        self.mute_brain = True

    def say_moment(self) -> None:
        """Ask for patience if a call takes a long time and nothing has been spoken yet."""
        turn = self._turn
        alone = turn.under_way and turn.confirming is None and not turn.failed
        if not alone or turn.opening.source == "text":
            return
        self._toning.give_way()
        if not turn.answer:
            line = self._catalogue.line("tools.moment", turn.language)
            turn.say(line.text, line.language)

    def refuse(self, sentence: str) -> None:
        """Say that a security-sensitive action was refused, in place of the model's answer."""
        if self._is_new(sentence):
            self._withdraw_brain()
            self._say(sentence)

    def say_age(self, sentence: str) -> None:
        """Say once how old the data is, because a model may omit that."""
        if self._is_new(sentence):
            self._say(sentence)

    def distrust(self) -> None:
        """Make Hearth report the results in its own sentences once the calls are over, because a
        call's result is unknown and a model could claim success. Brains on this device are trusted.
        """
        if self._turn.confirming is None and self._turn.brain not in OWN_BRAINS:
            self._owed = True
            self._toning.give_way()
            self._withdraw_brain()

    def own_up(self) -> None:
        """Report the calls' results if the model's answer cannot be trusted."""
        turn = self._turn
        if turn.unattended and turn.brain not in OWN_BRAINS and undone(turn.outcomes):
            self._owed = True
            self._withdraw_brain()
        if self._owed:
            self._owed = False
            for sentence in told(turn.outcomes):
                if sentence not in self._speech.reply.text:
                    self._say(sentence)

    def fault_of_endless_calls(self, outcomes: Sequence[ToolOutcome]) -> BrainFault:
        """Return the fault of a brain that keeps calling tools. Its spoken text first reports what
        was done."""
        done = (one for one in outcomes if one.status is not Status.NOT_RUN)
        deeds = _newest(one for one in done if one.tier is not Tier.READ)
        line = self._catalogue.say("fault.endless", self._turn.language)
        message = "The model did not stop calling tools."
        return BrainFault("endless", message, retryable=False, spoken=" ".join([*deeds, line]))

    def _is_new(self, sentence: str) -> bool:
        return self._turn.confirming is None and sentence not in self._speech.reply.text

    def _withdraw_brain(self) -> None:
        self.silence_brain()
        self._speech.reply.withdraw()

    def _say(self, sentence: str) -> None:
        self._turn.say(sentence, self._catalogue.own(self._turn.language))


def is_in_doubt(outcome: ToolOutcome) -> bool:
    """Return True if a change could not be verified or failed in the house."""
    if outcome.tier is Tier.READ or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return False
    # Only the model can explain a failure of another server's tool.
    if outcome.status is Status.FAILED:
        return outcome.server == HOME_ASSISTANT or _is_left_by_us(outcome)
    own_work = outcome.running and outcome.server == HEARTH
    return outcome.status in _OPEN_ENDS and not own_work


def is_undone(outcome: ToolOutcome) -> bool:
    """Return True for a change that did not happen or whose result is unknown."""
    if is_in_doubt(outcome) or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return True
    # The intent of a call to a nonexistent tool is unknown, so it counts as a change.
    changes = outcome.tier is not Tier.READ or not outcome.server
    if outcome.status is Status.FAILED:
        return changes and outcome.server != HEARTH
    return changes and outcome.status is Status.NOT_RUN and outcome.rule not in _FOR_MODELS


def _is_left_by_us(outcome: ToolOutcome) -> bool:
    return outcome.server == HEARTH and outcome.name in _OURS_IN_THE_HOUSE


def undone(outcomes: Sequence[ToolOutcome]) -> list[ToolOutcome]:
    """Return the calls that are undone (see `is_undone`), except those that a later call has put
    right."""
    return [
        one
        for place, one in enumerate(outcomes)
        if is_undone(one) and not any(_puts_right(later, one) for later in outcomes[place + 1 :])
    ]


def told(outcomes: Sequence[ToolOutcome]) -> list[str]:
    """Return Hearth's own sentences about a turn's changes, in order and without duplicates."""
    left = {id(one) for one in undone(outcomes)}
    changes = (one for one in outcomes if id(one) in left or _is_told_as_done(one))
    return list(dict.fromkeys(filter(None, _newest(changes))))


def _is_told_as_done(outcome: ToolOutcome) -> bool:
    return outcome.tier is not Tier.READ and outcome.status is Status.DONE


def _newest(outcomes: Iterable[ToolOutcome]) -> list[str]:
    sentences: dict[tuple[str, ...], str] = {}
    for one in outcomes:
        things = one.entities or (one.id,)
        sentences.pop(things, None)
        sentences[things] = one.sentence
    return [*sentences.values()]


def _puts_right(later: ToolOutcome, failed: ToolOutcome) -> bool:
    """Return True if `later` is a successful repetition of the failed call."""
    if later.status is not Status.DONE or later.tier is Tier.READ:
        return False
    if failed.decision is Decision.NEEDS_CONFIRMATION:
        return (later.name, later.arguments) == (failed.name, failed.arguments)
    # For a call to a nonexistent tool, any later change counts.
    if not failed.server:
        return True
    known = set(failed.entities)
    return later.name == failed.name and (not known or bool(known & set(later.entities)))


# Brains that receive only the transcript, without notes.
_BY_WORDS = frozenset({"offline", "home-assistant"})


def led_by(line: "Announced | None", brain: str | None) -> str:
    """Return the program whose opening line was passed to the brain, or "" if there was none."""
    if line is None or not isinstance(line.then, ForTalk) or brain in _BY_WORDS:
        return ""
    return line.then.caller
