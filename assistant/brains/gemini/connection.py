"""A connected Live session, which passes events to its turn and sends audio, text and results."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.brains.briefing.briefer import Briefer, Briefing
from assistant.brains.briefing.prompt import Exchange, with_history
from assistant.brains.gemini.calls import (
    Answers,
    OpenCalls,
    not_run_response,
    note_about,
    response_to,
    unknown_response,
)
from assistant.brains.gemini.event_reader import Answered, Phase, TurnAttribution
from assistant.brains.gemini.lifecycle import LiveTimeouts, within
from assistant.brains.gemini.model_chain import ModelChain
from assistant.brains.gemini.repair import SetupRepair
from assistant.domain.clock import Clock
from assistant.domain.tool_call import ToolOutcome
from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.gemini.events import (
    Closed,
    FunctionCall,
    FunctionCalls,
    FunctionCallsCancelled,
    GoAway,
    InputText,
    LiveEvent,
    TokensUsed,
    TurnComplete,
)
from integrations.gemini.live import LiveClient, LiveSession
from integrations.gemini.setup import LiveSetup
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.brains.gemini.session_manager import LiveSessionManager

_log = logging.getLogger(__name__)
MAX_STRAYS = 8  # calls of an abandoned answer; a model that makes more may never stop
Listener = Callable[[LiveEvent | Answered], None]


@dataclass(frozen=True, slots=True)
class LiveServices:
    """Dependencies shared by all sessions of the brain."""

    client: LiveClient | SetupRepair
    briefer: Briefer
    models: ModelChain
    make_setup: Callable[[Briefing], LiveSetup]  # for the model to use now
    tasks: OwnedTasks
    clock: Clock
    timeouts: LiveTimeouts


class LiveConnection:
    """A Live session on an open socket, which passes events to the turn that they belong to.

    `setup` contains neither a handle nor a history. `seeded` are the exchanges that the session's
    instruction includes as text. All methods that send raise IntegrationError unless they say
    otherwise.
    """

    def __init__(
        self,
        setup: LiveSetup,
        seeded: tuple[Exchange, ...],
        owner: "LiveSessionManager",
        services: LiveServices,
    ) -> None:
        self.setup = setup
        self.closed = False
        self.active = False  # the person is speaking
        self.update_unproven = False  # an update was sent, and no turn has ended since
        self._refusal: IntegrationError | None = None  # why the service ended the session
        self._seeded = seeded
        self._owner = owner
        self._meter = owner.meter
        self._clock = services.clock
        self._timeouts = services.timeouts
        self._session: LiveSession | None = None
        self._calls = OpenCalls()
        self._unsent: dict[str, ToolOutcome] = {}  # results whose batch isn't complete yet
        self._given: list[ToolOutcome] = []  # results that the model hasn't finished responding to
        self._sending = asyncio.Lock()  # sends one message at a time
        self._listener: Listener | None = None
        self._belonging = TurnAttribution()
        self._paid = False  # an abandoned answer has just ended; its token counts may follow
        self._strays = 0  # calls of an abandoned answer

    def begin(self, session: LiveSession) -> None:
        self._session = session

    @property
    def handle(self) -> str | None:
        """The handle that resumes the session, or None if a new session is needed.

        A resumed session still waits for the results of its calls. gemini-3.8-live takes the next
        input only for the end of their exchange, so a command would be lost (pydantic/pydantic-ai,
        realtime/google.py).
        """
        waits = self._calls.are_open or self._given
        return None if self._session is None or waits else self._session.handle

    # --- for the turn that uses the connection ---

    def attach(self, listener: Listener) -> None:
        """Pass the events of the turn that begins now to this listener."""
        self._belonging.attach()
        self._listener = listener

    def detach(self, listener: Listener) -> bool:
        """End the turn. Returns False if another turn has already taken over."""
        if self._listener is not listener:
            return False
        self._leave()
        return True

    def _leave(self) -> None:
        self._belonging.leave()
        self._listener = None

    # --- sending ---

    async def begin_activity(self) -> None:
        """Signal that the person has started to speak."""
        self._begin_interaction()
        self._belonging.speech_begins()
        self.active = True
        await self._send(self._open.begin_activity)

    async def send_audio(self, pcm: bytes) -> None:
        await self._send(lambda: self._open.send_audio(pcm))
        self._meter.heard(pcm)

    async def end_activity(self) -> None:
        """Signal the end of the sentence. The model's answer then belongs to the current turn."""
        self._generates()

        async def end() -> None:
            await self._open.end_activity()
            self.active = False  # set immediately, because the answer can be cut off right away

        await self._send(end)

    async def ask(self, text: str) -> None:
        self._begin_interaction()
        self._meter.wrote(text)
        self._generates()
        await self._send(lambda: self._open.send_text(text, complete=True))

    async def tell(self, text: str) -> None:
        """Send a note that the model doesn't answer."""
        self._meter.wrote(text)
        await self._send(lambda: self._open.send_text(text, complete=False))

    async def update(self, setup: LiveSetup) -> None:
        """Send a changed instruction or changed functions to the session.

        A changed vocabulary takes effect only in the next session.
        """
        instruction = declarations = None
        if setup.instruction != self.setup.instruction:
            instruction = with_history(setup.instruction, self._seeded)
        if setup.declarations != self.setup.declarations:
            declarations = setup.declarations
        if instruction is not None or declarations is not None:
            self.update_unproven = True
            self._meter.changed(self.setup, setup)
            await self._send(
                lambda: self._open.update(instruction=instruction, declarations=declarations)
            )
        self.setup = setup

    async def answer(self, outcome: ToolOutcome) -> None:
        """Send a call's result to the model. If that fails, keep it as a note. Never raises."""
        try:
            async with self._sending:
                to_send = None
                if not self.closed:
                    to_send = self._calls.answered(outcome.id, response_to(outcome))
                if to_send is None:
                    self._note(outcome)
                    return
                self._unsent[outcome.id] = outcome
                await self._send_answers(to_send)
        except IntegrationError as error:
            self._missed_answers(error)

    async def refuse(self, calls: Sequence[FunctionCall], response: dict[str, Any]) -> None:
        """Answer calls that aren't executed. Never raises."""
        to_send: Answers = ()
        try:
            async with self._sending:
                for call in calls:
                    to_send += self._calls.answered(call.id, response) or ()
                await self._send_answers(to_send)
        except IntegrationError as error:
            self._missed_answers(error)

    async def settle(self) -> None:
        """Wait for open calls of earlier turns. After a timeout, answer them as unknown."""
        try:
            await within(self._clock, self._timeouts.open_calls_s, self._calls.settled())
        except TimeoutError:
            async with self._sending:
                await self._send_answers(self._calls.give_up(unknown_response()))

    async def close(self) -> None:
        """End the session within a limited time. Never raises."""
        self.closed = True
        session = self._session
        try:
            if session is not None:
                await within(self._clock, self._timeouts.close_s, session.close())
        except (IntegrationError, TimeoutError) as error:
            _log.warning("a Gemini session did not close cleanly: %r", error)
        self._end(None)

    @property
    def _open(self) -> LiveSession:
        assert self._session is not None  # `acquire` returns only connected sessions
        return self._session

    async def _send(self, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async with self._sending:
            await self._send_now(send)

    async def _send_now(self, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self.closed:
            raise Unavailable("The connection to Gemini is closed.")
        try:
            await within(self._clock, self._timeouts.send_s, send())
        except TimeoutError:
            raise Unavailable("Gemini no longer accepts input.") from None
        except Refused as error:
            raise self._reason(error) from error

    async def _send_answers(self, answers: Answers) -> None:
        if not answers:
            return
        self._belonging.continues()
        self._meter.wrote(*(json.dumps(answer.response) for answer in answers))
        self._meter.generates()
        for answer in answers:
            outcome = self._unsent.pop(answer.id, None)
            if outcome is not None:
                self._given.append(outcome)
        # Report it first, because the model can react before sending has finished.
        if self._answering is not None:
            self._answering(Answered(tuple(answer.id for answer in answers)))
        await self._send_now(lambda: self._open.answer(answers))

    def _begin_interaction(self) -> None:
        if not self._belonging.debt:
            self._meter.begin()  # otherwise when the earlier turn's answer ends
            self._paid = False

    def _generates(self) -> None:
        self._belonging.sentence_over()
        self._meter.generates(is_next=self._belonging.debt or self._paid)

    @property
    def _answering(self) -> Listener | None:
        return self._listener if self._belonging.phase is Phase.ANSWERING else None

    def _missed_answers(self, error: IntegrationError) -> None:
        _log.warning("a tool's result did not reach Gemini: %s", error)
        self._note_results()

    def _note_results(self) -> None:
        # Unacknowledged results can be lost with the session.
        for outcome in (*self._given, *self._unsent.values()):
            self._note(outcome)
        self._given.clear()
        self._unsent.clear()

    def _note(self, outcome: ToolOutcome) -> None:
        text = note_about(outcome)
        if text is not None:
            self._owner.history.note(text)

    # --- receiving ---

    def take(self, event: LiveEvent) -> None:
        """Process one event. The session's reader calls this, so it must not block."""
        if self._paid and not isinstance(event, TokensUsed):
            self._paid = False
            self._meter.begin()  # token counts arrive after the end of their answer
        self._meter.note(event)
        match event:
            case GoAway(left_s):
                self._owner.going_away(self, left_s)
            case TokensUsed():
                self._owner.counted()  # they can arrive after their turn
            case Closed(error):
                self._end(error)
            case FunctionCallsCancelled(ids):
                self._take_cancelled(ids)
            case FunctionCalls(calls):
                self._take_calls(calls)
            case _:
                self._pass_on(event)

    def _end(self, error: IntegrationError | None) -> None:
        self.closed = True
        listener = self._listener
        if error is not None:
            error = self._reason(error)
        self._leave()
        self._owner.lost(self, error)
        self._note_results()
        if listener is not None:
            listener(Closed(error or Unavailable("Hearth gave up the connection to Gemini.")))

    def _reason(self, error: IntegrationError) -> IntegrationError:
        if type(error) is not Refused:
            return error
        if not self.update_unproven:
            # The reader and a sender can both report it.
            self._refusal = self._refusal or self._owner.refused(error)
            return self._refusal
        # The service rejected the update, not the turn, which can work without the update.
        self._owner.update_refused()
        return Unavailable(f"Gemini did not accept a change to the session: {error}")

    def _take_cancelled(self, ids: tuple[str, ...]) -> None:
        gone, to_send = self._calls.cancelled(ids)
        for id in gone:
            outcome = self._unsent.pop(id, None)
            if outcome is not None:
                self._note(outcome)
        if to_send:
            self._owner.start(self._answer_rest(to_send), "gemini-live answer")
        if gone and self._answering is not None:
            self._answering(FunctionCallsCancelled(gone))

    async def _answer_rest(self, answers: Answers) -> None:
        try:
            async with self._sending:
                await self._send_answers(answers)
        except IntegrationError as error:
            self._missed_answers(error)

    def _take_calls(self, calls: tuple[FunctionCall, ...]) -> None:
        new = self._calls.opened(calls)
        if new and not self._pass_on(FunctionCalls(new)):
            # The answer was abandoned, but the session stays silent until its calls are answered.
            self._owner.start(self._decline(new), "gemini-live refusal")

    async def _decline(self, calls: tuple[FunctionCall, ...]) -> None:
        self._strays += len(calls)
        await self.refuse(calls, not_run_response())
        if self._strays > MAX_STRAYS and not self.closed:
            _log.warning(
                "Gemini keeps calling tools although nobody is waiting; closing its session"
            )
            await self.close()

    def _pass_on(self, event: LiveEvent) -> bool:
        was_in_debt = self._belonging.debt
        mine = self._belonging.judge(event)
        if mine and self._listener is not None:
            self._listener(event)
        elif isinstance(event, InputText) and self._belonging.phase is Phase.FREE:
            self._owner.history.late_input(event.text)
        if isinstance(event, TurnComplete):
            self.update_unproven = False
            if event.idle:
                self._given.clear()
        if was_in_debt and not self._belonging.debt:
            self._paid = True
            self._strays = 0
        return mine
