"""Turns that programs start: an opened microphone, an announced question or a typed sentence.

People take precedence: a program's turn interrupts nobody.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from assistant.conversation.confirmation_dialog import UNDERSTAND_S
from assistant.conversation.hearing import Hearing
from assistant.conversation.record import FinishedTurn, record_of
from assistant.conversation.request_queue import RequestQueue, done_within
from assistant.conversation.rules.effects import (
    AwaitAnswer,
    CancelReason,
    EndAnswer,
    HearAnswer,
    NoAnswer,
)
from assistant.conversation.rules.events import (
    Announced,
    AtTerminal,
    ConfirmationSettled,
    Ended,
    Event,
    ForAnswer,
    How,
    PlaybackEnded,
    Then,
    Typed,
    WakeHeard,
    Weighed,
)
from assistant.conversation.rules.state import MicrophoneState
from assistant.conversation.speculative_turn import FollowOnTurn, SpeculativeTurn, transcript_of
from assistant.conversation.turn_services import TurnServices
from assistant.domain.brain import Brain, ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred
from assistant.domain.tool_call import Rights
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.output import SpeechOutput
from assistant.speech.sink import Manner
from integrations.web.box import Busy

if TYPE_CHECKING:
    from assistant.conversation.effect_runner import EffectRunner
    from assistant.conversation.loop import ConversationLoop
    from assistant.conversation.turn import Turn
    from assistant.tools.execution.toolbox import Toolbox


PATIENCE_S = 30.0  # seconds that a program's sentence waits for an idle conversation


class ProgramTurns:
    """Runs turns for programs on the loop's thread."""

    def __init__(
        self,
        conversation: "ConversationLoop",
        effects: "EffectRunner",
        mouth: SpeechOutput,
        services: Deferred[TurnServices],
        clock: Clock,
    ) -> None:
        self._conversation = conversation
        self._effects = effects
        self._mouth = mouth
        self._services = services
        self._clock = clock
        self._queue = RequestQueue(clock)  # for typed sentences
        self._opening = False  # the opening tone is playing

    def listen(self, word: str, caller: str) -> bool:
        """Play the opening tone and, if it was audible, listen as after the wake word. Return False
        if Hearth can't listen now."""
        if not self._may_listen or self._opening:
            return False
        self._opening = True
        self._effects.group.create_task(self._listen(word, caller))
        return True

    async def put(self, text: str, language: str, manner: Manner, then: Then) -> bool:
        """Announce the text once the conversation is idle. Return True when the announcement
        starts, or False if the process is ending."""
        await self._conversation.until(self._may_begin)
        if self._conversation.ending:
            return False
        self._conversation.dispatch(Announced(text, language, manner, then))
        return True

    async def ask(
        self,
        text: str,
        rights: Rights,
        caller: str,
        owner: ConversationOwner | None = None,
        brain: Brain | None = None,
    ) -> FinishedTurn:
        """Run a program's typed turn with the program's rights, without speaking. Raises Busy.

        `owner` is the owner of the conversation that the turn belongs to; None means the caller.
        `brain` replaces the configured brains.
        Once the turn has started, it continues even if the caller stops waiting, so that its calls
        are not left half done.
        """
        limits = (await self._services.wait()).limits
        if limits is None:
            raise RuntimeError("this runner cannot limit programs' rights")
        if self._conversation.ending:
            raise Busy("The assistant is shutting down.")
        owner = owner or ConversationOwner(caller, recalls=rights.recalls)
        typed, begun = Typed(text, caller, owner, brain=brain), asyncio.Event()
        serving = self._effects.group.create_task(self._serve(typed, rights, limits, begun))
        try:
            served = await asyncio.shield(serving)
        except asyncio.CancelledError:
            if not begun.is_set():
                serving.cancel()
            raise
        if isinstance(served, Busy):
            raise served
        return served

    async def ask_at_terminal(
        self, text: str, terminal: AtTerminal, brain: Brain | None = None
    ) -> list[FinishedTurn]:
        """Run a person's typed turn once the conversation is idle, for a terminal that prints it.
        `brain` replaces the configured brains. To interrupt the turn, cancel this coroutine.

        Return the turn and any follow-on turns. Raises Busy if the turn can't start in time.
        """
        async with self._queue.place(PATIENCE_S):
            rests = self._conversation.until(self._may_begin)
            if not await done_within(self._clock, PATIENCE_S, rests):
                raise Busy("Somebody is talking with the assistant.")
            if self._conversation.ending:
                raise Busy("The assistant is shutting down.")
            self._conversation.dispatch(Typed(text, terminal=terminal, brain=brain))
            turn, finished = self._effects.turn, list[FinishedTurn]()
            while turn is not None and turn.opening.terminal is terminal:
                finished.append(await self._finished(turn))
                turn = self._effects.turn if self._effects.turn is not turn else None
            return finished

    async def _finished(self, turn: "Turn") -> FinishedTurn:
        try:
            await turn.written.wait()
        except asyncio.CancelledError:
            now = self._effects.turn
            ours = now is not None and now.opening.terminal is turn.opening.terminal
            if now is not None and ours and now.closing is None:  # leave other people's turns alone
                self._conversation.stop()
            raise
        assert turn.closing is not None  # the turn has been stored
        return FinishedTurn(record_of(turn, turn.closing), tuple(turn.outcomes))

    async def _serve(
        self, typed: Typed, rights: Rights, limits: "Toolbox", begun: asyncio.Event
    ) -> FinishedTurn | Busy:
        until_s = self._clock.monotonic() + PATIENCE_S
        try:
            async with self._queue.place(PATIENCE_S):
                while not self._may_begin():  # check again, because a person may have been faster
                    left_s = until_s - self._clock.monotonic()
                    rests = self._conversation.until(self._may_begin)
                    if not await done_within(self._clock, left_s, rests):
                        return Busy("Somebody is talking with the assistant.")
                if self._conversation.ending:
                    return Busy("The assistant is shutting down.")
                return await self._one_turn(typed, rights, limits, begun)
        except Busy as busy:
            return busy

    async def _one_turn(
        self, typed: Typed, rights: Rights, limits: "Toolbox", begun: asyncio.Event
    ) -> FinishedTurn:
        self._conversation.dispatch(typed)
        turn = self._effects.turn
        assert turn is not None  # the conversation was idle, so the turn has begun
        begun.set()
        limits.restrict(turn.turn_id, rights, typed.caller)  # before the turn's first step
        try:
            await turn.written.wait()
            await turn.calls.over()
        finally:
            limits.release(turn.turn_id)
        assert turn.closing is not None  # the turn has been stored
        return FinishedTurn(record_of(turn, turn.closing), tuple(turn.outcomes))

    async def _listen(self, word: str, caller: str) -> None:
        try:
            heard = await self._mouth.tell_opening()
        finally:
            self._opening = False
        if heard and self._may_listen:
            at_ms = self._conversation.at_ms
            self._conversation.dispatch(
                WakeHeard(word, 1.0, at_ms, at_ms, pressed=True, caller=caller)
            )

    def _may_begin(self) -> bool:
        return self._conversation.ending or (self._conversation.resting and not self._opening)

    @property
    def _may_listen(self) -> bool:
        machine = self._conversation.machine
        hears = machine.microphone is MicrophoneState.OPEN and not machine.muted
        return hears and machine.rests and not self._conversation.ending


_log = logging.getLogger(__name__)
TRIES = 2  # ask once more, then give up


class AskedQuestion:
    """A program's question, owned by its turn.

    The brain's response to an answer is not spoken, and its calls are not run. A reply that is a
    command becomes an ordinary turn.
    """

    def __init__(
        self,
        wanted: ForAnswer,
        turn: "Turn",
        services: Deferred[TurnServices],
        dispatch: Callable[[Event], None],
        spawn: Callable[[Coroutine[Any, Any, bool]], asyncio.Task[bool]],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.promoted: FollowOnTurn | None = None  # set if the answer may be a new command
        self._inquiry = wanted.inquiry
        self._turn = turn
        self._number = turn.opening.turn  # turn number in the turn machine
        self._services = services
        self._dispatch = dispatch
        self._spawn = spawn
        self._said: asyncio.Future[bool] = loop.create_future()
        # None: the answer is complete.
        self._answer: asyncio.Future[How | None] = loop.create_future()
        self._ended = False  # the program has been told

    def said(self, heard: bool) -> None:
        """Continue after the question was spoken. `heard` is True if it was played to the end."""
        if not self._said.done():
            self._said.set_result(heard)

    def give_up(self, cut: CancelReason | None) -> None:
        self._end("cut" if cut == "barge_in" else "stopped")

    def take(
        self,
        effect: AwaitAnswer | HearAnswer | EndAnswer | NoAnswer,
        hearing: Hearing,
        new_turn_id: Callable[[], str],
    ) -> None:
        match effect:
            case HearAnswer(_, mark_ms):
                self._hear(hearing.answer(mark_ms), new_turn_id())
            case EndAnswer():
                if self._turn.audio is not None:
                    self._turn.audio.finish()
                self._settle(None)
            case NoAnswer(_, waited):
                if self._turn.audio is not None:
                    self._turn.audio.abandon()  # a partial answer does not count
                self._settle("silence" if waited else "unheard")

    async def run(self) -> None:
        """Ask the question and handle the answer, as a task of the turn. To abandon the question,
        cancel this coroutine."""
        how: How = "stopped"
        try:
            how = await self._ask()
        finally:
            if self.promoted is not None and how != "command":
                self.promoted.turn.drop()
        self._end(how)
        if how == "command":
            self._dispatch(ConfirmationSettled(self._number, new_command=True))
            return
        silence = self._turn.speak_again("")
        self._dispatch(ConfirmationSettled(self._number))
        await silence

    async def _ask(self) -> How:
        heard = await self._said
        for tries in range(TRIES):
            if tries:
                self._answer = asyncio.get_running_loop().create_future()
                heard = await self._turn.ask_aloud(self._inquiry.again, self._turn.language)
            if not heard:
                return "unclear" if tries else "unheard"
            self._dispatch(PlaybackEnded(self._number))
            how = await self._answer
            if how is not None:
                return "unclear" if tries else how
            weighed = await self._weigh()
            if weighed.is_command_like and await self._is_command():
                return "command"
            self._note()
            if weighed.fits:
                return "answered"
            if self._held is not None:
                await self._held.close()  # a brain holds only one conversation at a time
            self.promoted = None
            if not weighed.again:
                break
        return "unclear"

    def _hear(self, audio: TurnAudio, turn_id: str) -> None:
        brain = self._services.get().brain
        self.promoted = FollowOnTurn.begin(self._turn, audio, turn_id, brain, self._spawn)

    async def _weigh(self) -> Weighed:
        assert self._turn.audio is not None  # the answer is complete
        pcm = await self._turn.audio.complete()
        told = [words] if (words := await transcript_of(self._held, checked=False)) else []
        weighed = await self._inquiry.weigh(told) if told else Weighed(fits=False)
        if not weighed.fits and (means := self._services.get().asking) is not None:
            own = await means.witness.recognise(pcm, self._turn.language)
            if own:
                told.append(own)
                weighed = await self._inquiry.weigh(told)
        self._turn.note_answer(told[0] if told else None)
        return weighed

    async def _is_command(self) -> bool:
        if self._held is None:
            return False
        try:
            async with asyncio.timeout(UNDERSTAND_S):
                return await self._held.commanded()
        except TimeoutError:
            return False

    @property
    def _held(self) -> SpeculativeTurn | None:
        return None if self.promoted is None else self.promoted.turn

    def _note(self) -> None:
        # The model heard only the answer.
        if (services := self._services.value) is not None and services.asking is not None:
            services.asking.learn(self._inquiry.note)

    def _settle(self, how: How | None) -> None:
        if not self._answer.done():
            self._answer.set_result(how)

    def _end(self, how: How) -> None:
        if not self._ended:
            self._ended = True
            self._inquiry.end(Ended(how, self._turn.turn_id, self._turn.heard))
