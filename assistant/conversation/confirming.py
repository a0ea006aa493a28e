"""Confirmation within a turn: ask, listen to the answer, settle the call and report the result.

The brain stays silent until the question is settled.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assistant.conversation.confirmation_dialog import AskingServices, ConfirmationDialog
from assistant.conversation.hearing import Hearing
from assistant.conversation.rules.effects import AwaitAnswer, EndAnswer, HearAnswer, NoAnswer
from assistant.conversation.rules.events import (
    ConfirmationAsked,
    ConfirmationSettled,
    Event,
    PlaybackEnded,
)
from assistant.conversation.speculative_turn import FollowOnTurn, SpeculativeTurn
from assistant.conversation.turn_services import TurnServices
from assistant.domain.brain import Spent
from assistant.domain.tool_call import (
    CallContext,
    Decision,
    Question,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.execution.guards import LIMITS
from assistant.tools.execution.ledger import DONE_ALREADY
from assistant.tools.execution.requests import lost
from integrations.errors import IntegrationError
from integrations.mcp.servers import HOME_ASSISTANT

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn

_log = logging.getLogger(__name__)
_FOR_MODELS = LIMITS | {"too_fast"}  # limits that a model runs into if it keeps calling
_NO_ONE = Settlement("silence")
# An answer follows Hearth's own voice, so apart from its yes it must not trigger a secure call.
_ANSWERING = CallContext(can_ask=False, spoken=True, near_own_speech=True)


# Hearth's own sentences report the results of their calls, except for readings.
_SWITCHES = (HOME_ASSISTANT, HEARTH)


def gives_data(outcome: ToolOutcome) -> bool:
    """Return True if the call returned data to report, such as a reading or another server's
    answer."""
    gave = outcome.status is Status.DONE and bool(outcome.data)
    return gave and (outcome.tier is Tier.READ or outcome.server not in _SWITCHES)


def _settled(earlier: ToolOutcome, outcome: ToolOutcome) -> ToolOutcome:
    """Return what has become of an earlier outcome, now that a question has led to `outcome`."""
    if earlier.id == outcome.id:
        return outcome
    # The model made the call again while the person was asked.
    waited = earlier.decision is Decision.NEEDS_CONFIRMATION and earlier.rule == DONE_ALREADY
    same = (earlier.server, earlier.name) == (outcome.server, outcome.name)
    if waited and same and set(earlier.entities) == set(outcome.entities):
        return replace(outcome, id=earlier.id, rule=DONE_ALREADY)
    return earlier


@dataclass(frozen=True, slots=True)
class Before:
    """The context of a question that follows another question in the same turn."""

    told: str  # the result of the previous call, spoken before this question
    ids: frozenset[str]  # ids of the calls reported so far


class Confirming:
    """One question in a turn. Its tasks run in the turn's task group."""

    def __init__(
        self,
        exchange: ConfirmationDialog,
        turn: "Turn",
        catalogue: Catalogue,
        services: TurnServices,
        means: AskingServices,
        dispatch: Callable[[Event], None],
        group: asyncio.TaskGroup,
        spawn: Callable[[Coroutine[Any, Any, bool]], asyncio.Task[bool]],
        before: Before | None = None,
    ) -> None:
        """`spawn` starts tasks that outlive the turn. `before` is None for the turn's first
        question."""
        self.exchange = exchange
        self._before = before
        self.promoted: FollowOnTurn | None = None  # set if the answer may be a new command
        self._turn = turn
        self._number = turn.opening.turn  # turn number in the turn machine
        self._services = services
        self._tools = services.tools
        self._catalogue = catalogue
        self._means = means
        self._dispatch = dispatch
        self._group = group
        self._spawn = spawn
        self._outcome: ToolOutcome | None = None
        # Task that waits for an answer by keyboard, phone or voice.
        self._listening: asyncio.Task[None] | None = None
        self._settled = False  # the toolbox has been told

    def begin(self) -> None:
        concluding = self._conclude()
        try:
            self._group.create_task(concluding)
        except RuntimeError:  # the task group is shutting down
            concluding.close()
            self.give_up()
            return
        self._dispatch(ConfirmationAsked(self._number, self.exchange.by))

    def give_up(self) -> None:
        """Settle the question as unanswered if it is still open when the turn ends, so that the
        call never runs."""
        if not self._settled:
            self._spawn(self._settle(_NO_ONE))

    def take(
        self,
        effect: AwaitAnswer | HearAnswer | EndAnswer | NoAnswer,
        hearing: Hearing,
        new_turn_id: Callable[[], str],
    ) -> None:
        match effect:
            case AwaitAnswer(_, "keys"):
                self._listening = self._group.create_task(self.exchange.by_keys())
            case AwaitAnswer(_, "phone"):
                self._listening = self._group.create_task(self._ask_phone())
            case HearAnswer(_, mark_ms):
                self._hear(hearing.answer(mark_ms), new_turn_id())
            case EndAnswer():
                if self._turn.audio is not None:
                    self._turn.audio.finish()
                if self.exchange.private:
                    hearing.forget()  # a PIN must not stay in the ring buffer
            case NoAnswer(_, waited):
                if self._listening is not None:
                    self._listening.cancel()
                    if self._turn.audio is not None:
                        self._turn.audio.abandon()  # a partial answer does not count
                self.exchange.no_answer(waited=waited)

    def _hear(self, audio: TurnAudio, turn_id: str) -> None:
        # A PIN is never passed to a brain.
        if self.exchange.private:
            self._turn.hear_answer(audio)
        else:
            self._turn.leave_brain()
            self.promoted = FollowOnTurn.begin(
                self._turn, audio, turn_id, self._services.brain, self._spawn
            )
        self._listening = self._group.create_task(self.exchange.by_ear(audio, self._held))

    @property
    def _held(self) -> SpeculativeTurn | None:
        return None if self.promoted is None else self.promoted.turn

    async def _ask_phone(self) -> None:
        try:
            await self.exchange.by_phone()
        except IntegrationError as error:
            _log.warning("the phone could not be asked: %s", error)
            self.exchange.settle(Settlement("silence", why="asking.no_phone"))

    async def _conclude(self) -> None:
        exchange = self.exchange
        try:
            if await self._ask():
                self._dispatch(PlaybackEnded(self._number))
            else:
                exchange.no_answer(waited=False)  # the question was not played to the end
            settlement = await exchange.settlement
            self._turn.leave_brain()
            # Not a task of this turn: a confirmed call runs to its end even if the turn is cut off.
            settling = self._settle(None if exchange.nobody else settlement)
            await asyncio.shield(self._spawn(settling))
            following = await self._following(None if exchange.nobody else settlement)
            if settlement.verdict != "new_command":
                if following is not None:
                    await self._hand_over(following, settlement)
                elif not await self._let_answer(settlement):
                    await self._tell(settlement)
                return
        except BaseException:
            if self._held is not None:
                self._held.drop()
            raise
        self._dispatch(
            ConfirmationSettled(
                self._number,
                new_command=True,
                text=exchange.typed_text,
                terminal=self._turn.opening.terminal,
            )
        )

    async def _ask(self) -> bool:
        if self._before is None:
            return await self._turn.ask_aloud(self._line())
        return await self._turn.ask_further(f"{self._before.told} {self._line()}".strip())

    async def _following(self, settlement: Settlement | None) -> Question | None:
        while True:
            following = await self._tools.next_question(self._turn.turn_id, settlement)
            if not isinstance(following, ToolOutcome):
                return following
            self._note(following)
            self._turn.follower.called(self._turn, following)

    async def _hand_over(self, following: Question, settlement: Settlement) -> None:
        try:
            self._tell_brain(settlement)
            await self._drop_held()
            told = self._told(settlement)
            self._dispatch(ConfirmationSettled(self._number, more=True))
            self._turn.ask_next(following, Before(told, self._ids_told()))
        except BaseException:
            self._spawn(self._drop(following))
            raise

    async def _drop(self, question: Question) -> bool:
        await self._tools.settle(question, None)
        return True

    async def _let_answer(self, settlement: Settlement) -> bool:
        outcome = self._outcome
        if settlement.verdict != "yes" or outcome is None or not gives_data(outcome):
            return False
        await self._drop_held()
        others = self._others()
        if not self._turn.go_on(self.exchange.call, outcome, " ".join(dict.fromkeys(others))):
            return False
        self._dispatch(ConfirmationSettled(self._number, more=True))
        return True

    async def _drop_held(self) -> None:
        # A brain has only one conversation at a time.
        if self._held is not None:
            await self._held.close()
            self.promoted = None

    def _line(self) -> str:
        exchange = self.exchange
        return self._catalogue.say(
            exchange.line,
            self._turn.language,
            question=exchange.question.text,
            phone=exchange.phone_name,
        )

    async def _tell(self, settlement: Settlement) -> None:
        self._tell_brain(settlement)
        held = self._held
        draining = self._group.create_task(self._drain(held)) if held is not None else None
        speaking = self._turn.speak_again(self._told(settlement))
        self._dispatch(ConfirmationSettled(self._number))
        await speaking
        if draining is not None:
            draining.cancel()

    async def _settle(self, settlement: Settlement | None) -> bool:
        if self._settled:
            return True
        self._settled = True
        if settlement is not None and settlement.verdict == "yes":
            # Until the result is known, record the outcome as unknown: the turn may be stored
            # before that.
            self._note(replace(lost(self.exchange.call), decision=Decision.CONFIRMED))
        try:
            outcome = await self._tools.settle(self.exchange.question, settlement)
        except Exception:
            _log.exception("the call %s failed with an internal error", self.exchange.call.name)
            outcome = self._broke(settlement)
        if outcome is not None:
            self._outcome = outcome
            self._note(outcome)
            self._turn.follower.called(self._turn, outcome)
        return True

    def _note(self, outcome: ToolOutcome) -> None:
        outcomes = self._turn.outcomes
        outcomes[:] = [_settled(one, outcome) for one in outcomes]

    def _broke(self, settlement: Settlement | None) -> ToolOutcome:
        confirmed = settlement is not None and settlement.verdict == "yes"
        return replace(
            lost(self.exchange.call),
            decision=Decision.CONFIRMED if confirmed else Decision.DENIED,
            tier=self.exchange.question.tier,
            status=Status.UNKNOWN if confirmed else Status.NOT_RUN,
            sentence=self._catalogue.say("asking.broke", self._turn.language),
        )

    def _told(self, settlement: Settlement) -> str:
        if self.exchange.nobody:
            return ""
        language, sentences = self._turn.language, self._others()
        if settlement.why:
            sentences.append(self._catalogue.say(settlement.why, language))
        expired = self._catalogue.say("asking.expired", language)
        sentences.append(self._outcome.sentence if self._outcome is not None else expired)
        return " ".join(dict.fromkeys(sentences))

    def _others(self) -> list[str]:
        return [
            one.sentence
            for one in self._turn.outcomes
            if one.tier is not Tier.READ
            and one.id != self.exchange.question.call_id
            and one.decision is not Decision.NEEDS_CONFIRMATION
            and one.rule not in _FOR_MODELS
            and not gives_data(one)  # the model reports these
            and not (self._before and one.id in self._before.ids)
        ]

    def _ids_told(self) -> frozenset[str]:
        done = (
            one.id for one in self._turn.outcomes if one.decision is not Decision.NEEDS_CONFIRMATION
        )
        return frozenset(done)

    def _tell_brain(self, settlement: Settlement) -> None:
        if self.exchange.nobody:
            return
        # The model may have said something wrong about the call.
        sentence = self._outcome.sentence if self._outcome is not None else ""
        self._means.learn(
            "(For your information: the call of "
            f"{json.dumps(self.exchange.call.name)} waited for the person's own yes. They were "
            f"asked and the answer was: {settlement.verdict}. What came of it, as data: "
            f"{json.dumps(sentence, ensure_ascii=False)} Do not repeat it.)"
        )

    async def _drain(self, held: SpeculativeTurn) -> None:
        async with aclosing(held.events(further=False)) as events:
            async for event in events:
                if isinstance(event, Spent):
                    self._turn.bill.add(event)
                elif isinstance(event, ToolCall):
                    self._spawn(self._answer(held, event))

    async def _answer(self, held: SpeculativeTurn, call: ToolCall) -> bool:
        try:
            await held.answer(replace(await self._outcome_for(call), id=call.id))
        except Exception:
            _log.exception("the call %s failed with an internal error", call.name)
            await held.answer(lost(call))
        return True

    async def _outcome_for(self, call: ToolCall) -> ToolOutcome:
        # A repetition of the confirmed call gets that call's outcome.
        frozen, outcome = self.exchange.call, self._outcome
        if outcome is None or (call.name, call.arguments) != (frozen.name, frozen.arguments):
            turn, heard = self._turn, self.exchange.heard
            outcome = await self._tools.call(call, turn.turn_id, heard, turn.language, _ANSWERING)
            if outcome.decision is not Decision.DENIED:
                turn.outcomes.append(outcome)
                turn.follower.called(turn, outcome)
        return outcome
