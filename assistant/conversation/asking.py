"""A program's question inside its turn: asked, heard, weighed, and asked again if that helps."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from assistant.conversation.confirmation_dialog import UNDERSTAND_S
from assistant.conversation.hearing import Hearing
from assistant.conversation.rules.effects import (
    AwaitAnswer,
    CancelReason,
    EndAnswer,
    HearAnswer,
    NoAnswer,
)
from assistant.conversation.rules.events import (
    ConfirmationSettled,
    Ended,
    Event,
    ForAnswer,
    How,
    PlaybackEnded,
    Weighed,
)
from assistant.conversation.speculative_turn import FollowOnTurn, SpeculativeTurn, transcript_of
from assistant.conversation.turn_services import TurnServices
from assistant.domain.deferred import Deferred
from assistant.domain.turn_audio import TurnAudio

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn


_log = logging.getLogger(__name__)
TRIES = 2  # it is asked once more, and then left


class AskedQuestion:
    """One question, owned by its turn. What the brain makes of the answer is never said, and none
    of its calls is run, unless the answer was a command of its own: then that is a turn like any
    other, and what it calls for goes the way of every call."""

    def __init__(
        self,
        wanted: ForAnswer,
        turn: "Turn",
        services: Deferred[TurnServices],
        dispatch: Callable[[Event], None],
        spawn: Callable[[Coroutine[Any, Any, bool]], asyncio.Task[bool]],
    ) -> None:
        """`spawn` starts what outlives the turn."""
        loop = asyncio.get_running_loop()
        self.promoted: FollowOnTurn | None = None  # what answers, as a turn to be
        self._inquiry = wanted.inquiry
        self._turn = turn
        self._number = turn.opening.turn  # in the machine
        self._services = services
        self._dispatch = dispatch
        self._spawn = spawn
        self._said: asyncio.Future[bool] = loop.create_future()
        self._answer: asyncio.Future[How | None] = loop.create_future()  # None: it is complete
        self._ended = False  # whoever asks knows

    def said(self, heard: bool) -> None:
        """The question has been said. `heard`: to its end."""
        if not self._said.done():
            self._said.set_result(heard)

    def give_up(self, cut: CancelReason | None) -> None:
        """The turn is over, however."""
        self._end("cut" if cut == "barge_in" else "stopped")

    def take(
        self,
        effect: AwaitAnswer | HearAnswer | EndAnswer | NoAnswer,
        hearing: Hearing,
        new_turn_id: Callable[[], str],
    ) -> None:
        """Do the next step, as the machine says."""
        match effect:
            case AwaitAnswer():
                pass  # whoever speaks is heard
            case HearAnswer(_, mark_ms):
                self._hear(hearing.answer(mark_ms), new_turn_id())
            case EndAnswer():
                if self._turn.audio is not None:
                    self._turn.audio.finish()
                self._settle(None)
            case NoAnswer(_, waited):
                if self._turn.audio is not None:
                    self._turn.audio.abandon()  # half an answer is none
                self._settle("silence" if waited else "unheard")

    async def run(self) -> None:
        """All of it; a task of the turn. Cancel it to leave it."""
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
            await self._leave_brain()
            if not weighed.again:
                break
        return "unclear"

    def _hear(self, audio: TurnAudio, turn_id: str) -> None:
        """Somebody answers. `turn_id`: of the turn that it will be, if it is a command."""
        brain = self._services.get().brain
        self.promoted = FollowOnTurn.begin(self._turn, audio, turn_id, brain, self._spawn)

    async def _weigh(self) -> Weighed:
        """By a service's words first; where those will not do, by what this device hears too."""
        assert self._turn.audio is not None  # it is complete
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

    async def _leave_brain(self) -> None:
        """Before another answer is heard: the one conversation with a model must be free."""
        if self._held is not None:
            await self._held.close()
        self.promoted = None

    @property
    def _held(self) -> SpeculativeTurn | None:
        return None if self.promoted is None else self.promoted.turn

    def _note(self) -> None:
        """A model has heard the answer too, and knows of no question."""
        if (services := self._services.value) is not None and services.asking is not None:
            services.asking.learn(self._inquiry.note)

    def _settle(self, how: How | None) -> None:
        if not self._answer.done():
            self._answer.set_result(how)

    def _end(self, how: How) -> None:
        if not self._ended:
            self._ended = True
            self._inquiry.end(Ended(how, self._turn.turn_id, self._turn.heard))
