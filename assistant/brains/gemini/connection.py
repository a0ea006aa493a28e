"""One open session: whose events are whose, which calls are open, what was told to it."""

import asyncio
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
MAX_STRAYS = 8  # calls of one answer that nobody waits for; a model that makes more may never end


Listener = Callable[[LiveEvent | Answered], None]


@dataclass(frozen=True, slots=True)
class LiveServices:
    """Collaborators that every session of the brain shares."""

    client: LiveClient
    briefer: Briefer
    make_setup: Callable[[Briefing], LiveSetup]
    tasks: OwnedTasks
    clock: Clock
    timeouts: LiveTimeouts


class LiveConnection:
    """Gives each turn its own events, and answers what no turn is there to answer."""

    def __init__(
        self,
        setup: LiveSetup,
        seeded: tuple[Exchange, ...],
        owner: "LiveSessionManager",
        services: LiveServices,
    ) -> None:
        """`setup`: without handle and history; `seeded`: the exchanges that are told as text."""
        self.setup = setup
        self.closed = False
        self.active = False  # an activity is open
        self.update_unproven = False  # a change was told, and no turn has ended since
        self._seeded = seeded
        self._owner = owner
        self._meter = owner.meter
        self._clock = services.clock
        self._timeouts = services.timeouts
        self._session: LiveSession | None = None
        self._calls = OpenCalls()
        self._unsent: dict[str, ToolOutcome] = {}  # results that wait for others of their batch
        self._given: list[ToolOutcome] = []  # results to which the model's answer has not ended
        self._sending = asyncio.Lock()  # messages go out whole and in the order of their making
        self._listener: Listener | None = None
        self._belonging = TurnAttribution()
        self._paid = False  # that answer has just ended; its token counts may follow
        self._strays = 0  # calls of an answer that nobody waits for

    def begin(self, session: LiveSession) -> None:
        """The connection stands."""
        self._session = session

    @property
    def handle(self) -> str | None:
        """Handle that resumes this session."""
        return None if self._session is None else self._session.handle

    # The turn that uses the link.

    def attach(self, listener: Listener) -> None:
        """From here on a turn gets its events."""
        self._belonging.attach()
        self._listener = listener

    def detach(self, listener: Listener) -> bool:
        """The turn is over; False: another one has taken its place already."""
        if self._listener is not listener:
            return False
        self._leave()
        return True

    def _leave(self) -> None:
        self._belonging.leave()
        self._listener = None

    # What is sent.

    async def begin_activity(self) -> None:
        """The person speaks. Raises IntegrationError, as everything that sends."""
        self._begin_interaction()
        self._belonging.speech_begins()
        self.active = True
        await self._send(self._open.begin_activity)

    async def send_audio(self, pcm: bytes) -> None:
        """A piece of the sentence."""
        await self._send(lambda: self._open.send_audio(pcm))

    async def end_activity(self) -> None:
        """The sentence is over: the model's answer is this turn's."""
        self._belonging.sentence_over()

        async def end() -> None:
            await self._open.end_activity()
            self.active = False  # right here: the answer may come, and be cut off, at once

        await self._send(end)

    async def ask(self, text: str) -> None:
        """A whole sentence as text."""
        self._begin_interaction()
        self._belonging.sentence_over()
        await self._send(lambda: self._open.send_text(text, complete=True))

    async def tell(self, text: str) -> None:
        """Something that the model is to know; it does not answer."""
        await self._send(lambda: self._open.send_text(text, complete=False))

    async def update(self, setup: LiveSetup) -> None:
        """Tell the session what has changed in instruction and functions.

        The vocabulary cannot change in a session: a new one counts from the next session on.
        """
        instruction = declarations = None
        if setup.instruction != self.setup.instruction:
            instruction = with_history(setup.instruction, self._seeded)
        if setup.declarations != self.setup.declarations:
            declarations = setup.declarations
        if instruction is not None or declarations is not None:
            self.update_unproven = True
            await self._send(
                lambda: self._open.update(instruction=instruction, declarations=declarations)
            )
        self.setup = setup

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give a call's result to the model. Never raises: what it cannot be given is noted."""
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
        """Answer calls that are not run. Never raises."""
        to_send: Answers = ()
        try:
            async with self._sending:
                for call in calls:
                    to_send += self._calls.answered(call.id, response) or ()
                await self._send_answers(to_send)
        except IntegrationError as error:
            self._missed_answers(error)

    async def settle(self) -> None:
        """Wait until no call of an earlier turn is open; after a while say that it is unknown."""
        try:
            await within(self._clock, self._timeouts.open_calls_s, self._calls.settled())
        except TimeoutError:
            async with self._sending:
                await self._send_answers(self._calls.give_up(unknown_response()))

    async def close(self) -> None:
        """End the session. Never raises; bounded in time."""
        self.closed = True
        session = self._session
        try:
            if session is not None:
                await within(self._clock, self._timeouts.close_s, session.close())
        except (IntegrationError, TimeoutError) as error:
            _log.warning("a Gemini session did not close well: %r", error)
        self._end(None)

    @property
    def _open(self) -> LiveSession:
        assert self._session is not None  # a link is given out once it is connected
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
            raise Unavailable("Gemini takes nothing any more.") from None
        except Refused as error:
            raise self._reason(error) from error

    async def _send_answers(self, answers: Answers) -> None:
        if not answers:
            return
        self._belonging.continues()
        for answer in answers:
            outcome = self._unsent.pop(answer.id, None)
            if outcome is not None:
                self._given.append(outcome)
        # Told before it is sent: what the model makes of it may come while we still send.
        if self._answering is not None:
            self._answering(Answered(tuple(answer.id for answer in answers)))
        await self._send_now(lambda: self._open.answer(answers))

    def _begin_interaction(self) -> None:
        if not self._belonging.debt:
            self._meter.begin()  # else at the end of the earlier turn's answer

    @property
    def _answering(self) -> Listener | None:
        """The turn whose calls are open, if they are a turn's that is still there."""
        return self._listener if self._belonging.phase is Phase.ANSWERING else None

    def _missed_answers(self, error: IntegrationError) -> None:
        _log.warning("a tool's result did not reach Gemini: %s", error)
        self._note_results()

    def _note_results(self) -> None:
        """Note results that no answer has followed: they may have gone with the session."""
        for outcome in (*self._given, *self._unsent.values()):
            self._note(outcome)
        self._given.clear()
        self._unsent.clear()

    def _note(self, outcome: ToolOutcome) -> None:
        text = note_about(outcome)
        if text is not None:
            self._owner.note(text)

    # What comes.

    def take(self, event: LiveEvent) -> None:
        """One event of the session. Called by its reader; returns at once."""
        if self._paid and not isinstance(event, TokensUsed):
            self._paid = False
            self._meter.begin()  # token counts come behind the end that they belong to
        match event:
            case GoAway(left_s):
                self._owner.going_away(self, left_s)
            case TokensUsed():
                self._meter.count(event)
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
        self._note_results()
        self._owner.lost(self, error)
        if listener is not None:
            listener(Closed(error or Unavailable("The connection to Gemini was given up.")))

    def _reason(self, error: IntegrationError) -> IntegrationError:
        """Why it ended, as the turn is to take it; a send may learn of it before the reader."""
        if not (self.update_unproven and isinstance(error, Refused)):
            return error
        # The socket is closed for the change, not for the turn: without it the turn may work.
        self._owner.update_refused()
        return Unavailable(f"Gemini did not take a change of the session: {error}")

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
            # Of an answer that nobody waits for; but a call left open makes the session mute.
            self._owner.start(self._decline(new), "gemini-live refusal")

    async def _decline(self, calls: tuple[FunctionCall, ...]) -> None:
        self._strays += len(calls)
        await self.refuse(calls, not_run_response())
        if self._strays > MAX_STRAYS and not self.closed:
            _log.warning("Gemini goes on calling for nobody: its session is given up")
            await self.close()

    def _pass_on(self, event: LiveEvent) -> bool:
        """Give the turn what is its own. Returns whether it was."""
        was_in_debt = self._belonging.debt
        mine = self._belonging.judge(event)
        if mine and self._listener is not None:
            self._listener(event)
        elif isinstance(event, InputText) and self._belonging.phase is Phase.FREE:
            self._owner.late_input(event.text)
        if isinstance(event, TurnComplete):
            self.update_unproven = False
            if event.idle:
                self._given.clear()
        if was_in_debt and not self._belonging.debt:
            self._paid = True
            self._strays = 0
        return mine
