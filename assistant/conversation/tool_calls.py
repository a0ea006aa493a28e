"""The calls of one turn: run and answered, whatever becomes of the turn."""

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
        turn: "Turn",
        services: Deferred[TurnServices],
        own_words: "OwnWords",
        toning: "Toning",
        patience: "Patience",
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
        self._services = services
        self._own_words = own_words
        self._toning = toning
        self._patience = patience
        self._timeline = turn.timeline
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
        """Number of calls that have not come back."""
        return self._under_way

    def remember(self, call: ToolCall, outcome: ToolOutcome) -> None:
        """A brain that goes on after a yes is given this for an equal call: it was made."""
        self._known.append((call, outcome))

    async def over(self) -> None:
        """Return when none runs any more: they outlive their turn."""
        while self._running:
            await asyncio.wait(set(self._running))

    def note(self, event: Serving | InTalk | Searched) -> None:
        """Keep what the brain tells of the sources of its answer."""
        match event:
            case Serving():
                self.talk = None  # whoever serves now tells of its own
            case InTalk():
                self.talk = event
            case Searched():
                self.searched = True

    async def _await(self, call: ToolCall, running: asyncio.Task[bool]) -> None:
        if not await asyncio.shield(running):
            raise _CallBroke(call.name)
        self._patience.expect(call_name(call.id))

    async def _run(self, brain_turn: BrainTurn, call: ToolCall, warned: bool) -> bool:
        """Run it and answer it. False: it broke, which must not end more than this turn.

        `warned`: the brain knew of a limit when it asked.
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
            _log.exception("the call %s broke", call.name)
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
            outcome = await self._services.get().tools.call(
                call, turn.turn_id, turn.heard, turn.language, self._situation()
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
        """Leave a brain that goes on calling although it was told that it is too much."""
        turn = self._turn
        if turn.failed:
            return
        _log.warning("the brain %s does not stop calling", turn.brain)
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
        """Return when something was heard, or too late to wait for it."""
        try:
            async with asyncio.timeout(WORDS_S):
                await self.has_heard.wait()
        except TimeoutError:
            _log.info("a call is judged without the person's words: no transcript came")


def call_name(call_id: str) -> str:
    """Return the name of a call for the patience with a brain."""
    return f"the call {call_id}"


#
# Calls of which no model may claim that they came about, and what is said of them instead. Pure.
#
# Models say "The door is locked" of a call that timed out, and of one that waits for a person's
# yes. No list of words tells a claim from an honest answer in six languages, so that from such a
# call on the answer is made of our own sentences.


OWN_BRAINS = frozenset({"offline", "home-assistant"})  # what they say is from our catalogue
_OPEN_ENDS = frozenset({Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN})
# Tools of ours that switch things of the house, now or later.
_OURS_IN_THE_HOUSE = frozenset({"correct_last", "do_later", "undo"})
# A model meets these when it does not stop calling; they are no wish of the person's.
_FOR_MODELS = LIMITS | {"too_fast"}


class OwnWords:
    """Says of a turn's calls what no model is trusted with. From then on the model is mute."""

    def __init__(self, turn: "Turn", toning: "Toning", catalogue: "Catalogue") -> None:
        self.mute_brain = False  # nothing more of what the brain says in this turn is said
        self._turn = turn
        self._speech = turn.speech
        self._toning = toning
        self._catalogue = catalogue
        self._owed = False  # what became of the calls is still to be told

    def silence_brain(self) -> None:
        """Leave out whatever else the brain says in this turn."""
        self.mute_brain = True

    def say_moment(self) -> None:
        """Ask for patience: a call takes its time, and nobody has said anything yet."""
        turn = self._turn
        alone = turn.under_way and turn.confirming is None and not turn.failed
        if not alone or turn.opening.source == "text":
            return
        self._toning.give_way()
        if not turn.answer:
            line = self._catalogue.line("tools.moment", turn.language)
            turn.say(line.text, line.language)

    def refuse(self, sentence: str) -> None:
        """Say that a door stays shut: a model may claim what it likes."""
        if self._is_new(sentence):
            self._withdraw_brain()
            self._say(sentence)

    def say_age(self, sentence: str) -> None:
        """Say, once, how old what follows is: a model may leave it out."""
        if self._is_new(sentence):
            self._say(sentence)

    def distrust(self) -> None:
        """Tell the rest of the answer ourselves, once the calls are over: the end of one is not
        known, and the model could claim it. Brains on this device speak by our catalogue."""
        if self._turn.confirming is None and self._turn.brain not in OWN_BRAINS:
            self._owed = True
            self._toning.give_way()
            self._withdraw_brain()

    def own_up(self) -> None:
        """Say what became of the calls where the model's own words cannot be believed."""
        turn = self._turn
        if turn.opening.silent and turn.brain not in OWN_BRAINS and undone(turn.outcomes):
            self._owed = True
            self._withdraw_brain()
        if self._owed:
            self._owed = False
            for sentence in told(turn.outcomes):
                if sentence not in self._speech.reply.text:
                    self._say(sentence)

    def fault_of_endless_calls(self, outcomes: Sequence[ToolOutcome]) -> BrainFault:
        """Tell what was done, the newest last, before a brain that does not stop calling failed."""
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
    """True of a change whose end nobody has seen, or that failed in the house.

    Why a tool of another server failed only the model can tell, from its data. The long work of
    Hearth's own tools is announced when it ends; one that would not do something for later, or not
    take it back, is answered by our own sentence.
    """
    if outcome.tier is Tier.READ or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return False
    if outcome.status is Status.FAILED:
        return outcome.server == HOME_ASSISTANT or _is_left_by_us(outcome)
    own_work = outcome.running and outcome.server == HEARTH
    return outcome.status in _OPEN_ENDS and not own_work


def is_undone(outcome: ToolOutcome) -> bool:
    """True of a change that did not come about, or is not known to have.

    A call of a tool that does not exist is one, too: nobody knows what it was to do.
    """
    if is_in_doubt(outcome) or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return True
    changes = outcome.tier is not Tier.READ or not outcome.server
    if outcome.status is Status.FAILED:
        return changes and outcome.server != HEARTH
    return changes and outcome.status is Status.NOT_RUN and outcome.rule not in _FOR_MODELS


def _is_left_by_us(outcome: ToolOutcome) -> bool:
    """True where a tool of ours that moves the house has not done so."""
    return outcome.server == HEARTH and outcome.name in _OURS_IN_THE_HOUSE


def undone(outcomes: Sequence[ToolOutcome]) -> list[ToolOutcome]:
    """The calls that did not come about, without those that a later one has put right."""
    return [
        one
        for place, one in enumerate(outcomes)
        if is_undone(one) and not any(_puts_right(later, one) for later in outcomes[place + 1 :])
    ]


def told(outcomes: Sequence[ToolOutcome]) -> list[str]:
    """Tell what became of the changes of a turn, in our own words, each once and in order."""
    left = {id(one) for one in undone(outcomes)}
    changes = (one for one in outcomes if id(one) in left or _is_told_as_done(one))
    return list(dict.fromkeys(filter(None, _newest(changes))))


def _is_told_as_done(outcome: ToolOutcome) -> bool:
    return outcome.tier is not Tier.READ and outcome.status is Status.DONE


def _newest(outcomes: Iterable[ToolOutcome]) -> list[str]:
    """Of a thing that was switched twice, how it is now."""
    sentences: dict[tuple[str, ...], str] = {}
    for one in outcomes:
        things = one.entities or (one.id,)
        sentences.pop(things, None)
        sentences[things] = one.sentence
    return [*sentences.values()]


def _puts_right(later: ToolOutcome, failed: ToolOutcome) -> bool:
    """True where the same was tried again and done; a name that does not exist is put right by
    whatever change was made after it."""
    if later.status is not Status.DONE or later.tier is Tier.READ:
        return False
    if failed.decision is Decision.NEEDS_CONFIRMATION:
        return (later.name, later.arguments) == (failed.name, failed.arguments)
    if not failed.server:
        return True
    known = set(failed.entities)
    return later.name == failed.name and (not known or bool(known & set(later.entities)))


# Brains that are given the person's words and nothing else.
_BY_WORDS = frozenset({"offline", "home-assistant"})


def led_by(line: "Announced | None", brain: str | None) -> str:
    """The program whose words the brain that serves now was given, "" for none."""
    if line is None or not isinstance(line.then, ForTalk) or brain in _BY_WORDS:
        return ""
    return line.then.caller
