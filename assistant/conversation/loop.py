"""The conversation: each event goes through the turn machine, and its effects are carried out."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Self

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.effect_runner import EffectRunner, TurnMaker
from assistant.conversation.hearing import Hearing, Listening
from assistant.conversation.program_turns import ProgramTurns
from assistant.conversation.record import FinishedTurn, TurnListener
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.rules.events import (
    Announced,
    Event,
    Muted,
    SourceBack,
    SourceLost,
    StopAsked,
    TalkEnded,
    Typed,
    WakeHeard,
)
from assistant.conversation.rules.machine import reduce
from assistant.conversation.rules.state import (
    ANNOUNCEMENTS_WAITING,
    FollowUp,
    Machine,
    MicrophoneState,
    Rules,
    Standing,
    State,
)
from assistant.conversation.stop_words import HearsStop, is_stop_word
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import ConversationClock, TurnServices, TurnVoice
from assistant.domain.brain import ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred, Listeners
from assistant.domain.tool_call import Rights
from assistant.speech.identify import Languages
from assistant.speech.sink import PLAIN, Manner
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.frames import FrameSource
from audio.steady import SteadyMicrophone

_log = logging.getLogger(__name__)
_END_S = 2.0  # for the last turn, when everything ends
_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_NONE = (*_GONE, MicrophoneStatus.CLOSED)
_HERE = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)
# Where nobody tells more of the microphone.
_STATUS = {
    MicrophoneState.LOST: MicrophoneStatus.MISSING,
    MicrophoneState.ENDED: MicrophoneStatus.CLOSED,
}


class ConversationLoop:
    """Dispatch an event, reduce it by the rules, perform its effects; one turn at a time.

    It owns the machine and the turn under way. Leaving its async context ends every task.

    `on_turn` is given each finished turn and why it closed; it must not block.
    """

    def __init__(
        self,
        voice: TurnVoice,
        services: Deferred[TurnServices],
        ear: AudioFrontEnd | None,
        clock: Clock,
        new_turn_id: Callable[[], str],
        on_turn: Callable[[Turn, CloseTurn], Coroutine[Any, Any, None]],
        languages: Languages | None = None,
        rules: Rules | None = None,
        profiles: Mapping[str, str] | None = None,
        hears_stop: HearsStop | None = None,
    ) -> None:
        """`profiles`: wake word -> name of the profile that its turns have.
        `hears_stop`: hears stop words by itself; None: nobody does.

        Without an ear only typed turns and announcements are possible.
        """
        self.hearing = Hearing(ear)  # ring, wake word and voice activity
        microphone = MicrophoneState.ENDED if ear is None else MicrophoneState.OPEN
        self.machine = Machine(rules=rules or Rules(), microphone=microphone)
        self.ending = False  # nothing more is begun
        self._ended = False  # nor does anything go on
        self._rules = self.machine.rules  # from the next turn on
        self._pending: deque[Event] = deque()
        self._changed = asyncio.Event()  # set and replaced after every event
        self._languages = languages or Languages()
        self._time = ConversationClock(clock)
        self._maker = TurnMaker(
            voice, services, self.hearing, self._time, clock, new_turn_id, self._languages, profiles
        )
        self._effects = EffectRunner(
            voice,
            services,
            self.hearing,
            self._time,
            self._maker,
            on_turn,
            self.dispatch,
            self.wake_waiters,
            hears_stop,
            clock,
        )
        self.programs = ProgramTurns(self, self._effects, voice.mouth, services, clock)
        self._listening = Listening(self, self._effects, self.hearing, self._time)
        self._status: MicrophoneStatus | None = None  # as whoever keeps the microphone tells it
        self._observers: Listeners[[Standing]] = Listeners("the conversation")
        self.standing = self._stands()  # what is to be seen of it now
        self._bells: list[Callable[[], bool]] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._stack.callback(self.hearing.close)  # before the ear is closed
        await self._stack.enter_async_context(self._effects.group)
        self._stack.push_async_callback(self.end)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    @property
    def state(self) -> State:
        """State of the conversation."""
        return self.machine.state

    @property
    def at_ms(self) -> float:
        """Progress of the source of sound, in ms."""
        return self._listening.heard_ms

    async def judging(self) -> None:
        """Return once the ear takes frames, or whoever keeps the microphone says why there are
        none: it is closed, or looked for."""
        await self.until(lambda: self._listening.judged or self._status in _NONE)

    @property
    def lost(self) -> bool:
        """Whoever keeps the microphone says that it is gone."""
        return self._status in _GONE

    @property
    def resting(self) -> bool:
        """No turn is open, and every closed one is written down."""
        return self.machine.rests and not self._effects.unfinished

    @property
    def profile(self) -> str:
        """Name of the newest turn's profile, "" for none."""
        return self._effects.turn.profile if self._effects.turn is not None else ""

    @property
    def exchange(self) -> ConfirmationDialog | None:
        """The question to the person about a call of the newest turn, if there was one."""
        confirming = self._effects.turn.confirming if self._effects.turn is not None else None
        return confirming.exchange if confirming is not None else None

    @property
    def rings(self) -> bool:
        """True while something rings between the turns. Looked at with each frame."""
        return any(rings() for rings in self._bells)

    def add_bell(self, rings: Callable[[], bool], silence: Callable[[], None]) -> None:
        """Respect something that rings between the turns. `rings`: asked whether it does now.

        `silence` is called when a person speaks to us or wants silence.
        """
        self._bells.append(rings)
        self._effects.heard.add(silence)

    def follow(self, follower: TurnListener) -> None:
        """Have it told of every turn from now on."""
        self._effects.followers.add(follower)

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        """Call `observer` with each change of `standing`, on the loop's thread; it must not block.

        Returns a function that ends that; calling it twice is harmless.
        """
        return self._observers.add(observer)

    def mute(self, on: bool) -> None:
        """Listen to nothing, or listen again. An answer under way is still given."""
        self.dispatch(Muted(on))

    def wake(self, word: str = "button", caller: str = "") -> bool:
        """Listen as after a wake word, with the wake sound. `word`: for the journal and profiles.

        `caller`: the program that wants it, "" for a person. For a program a tone sounds first
        that nothing silences; if it cannot be heard, nothing opens.
        False where that cannot be: no microphone, muted, or somebody is listened to already; for a
        program also while anything else is under way.
        """
        if caller:
            return self.programs.listen(word, caller)
        machine, at_ms = self.machine, self.at_ms
        if machine.microphone is not MicrophoneState.OPEN or machine.muted or self.ending:
            return False
        self.dispatch(WakeHeard(word, 1.0, at_ms, at_ms, pressed=True))
        return self.machine.turn > machine.turn

    def stop(self) -> None:
        """Silence: an answer ends, a sentence is given up, what rings falls silent."""
        self.dispatch(StopAsked())

    def full_duplex(self, on: bool) -> None:
        """Let speech cut our voice: for a microphone from which our own voice is taken out.

        An answer under way ends by the rules by which it began.
        """
        self._use(replace(self._rules, barge_in="speech" if on else "wake"))

    def use_follow_up(self, when: FollowUp) -> None:
        """Listen on without the wake word after such answers, from the next turn on."""
        self._use(replace(self._rules, follow_up=when))

    def use_profile(self, name: str) -> None:
        """The profile of a turn whose wake word names none; "" for none."""
        self._maker.use_profile(name)

    @property
    def next_profile(self) -> str:
        """Profile of the next turn whose wake word names none."""
        return self._maker.profile

    def noisy(self, on: bool) -> None:
        """Music plays in the room: a wake word must be surer, as while we speak."""
        self.hearing.distract("media", on)

    def on_microphone(self, change: MicrophoneChange) -> None:
        """Whoever keeps the microphone tells how it stands. Call it on the loop's thread."""
        self._status = change.status
        if change.sentence:
            _log.warning("%s", change.sentence)
        is_lost = self.machine.microphone is MicrophoneState.LOST
        if change.status in _GONE and not is_lost:
            self.dispatch(SourceLost())
        elif change.status in _HERE and is_lost:
            _log.info("the microphone is back")
            self.dispatch(SourceBack(self.at_ms))
        self._tell_standing()
        self.wake_waiters()

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Say something that nobody asked for just now, like that, once the conversation rests.

        It can be stopped and talked over like an answer. Beyond ANNOUNCEMENTS_WAITING the oldest
        of those that wait is given up. Once the context is being left nothing is said any more.
        """
        if self.ending:
            _log.info("an announcement came too late: everything ends")
            return
        if len(self.machine.announcements) >= ANNOUNCEMENTS_WAITING:
            _log.warning("too much waits to be announced; the oldest is left out")
        self.dispatch(Announced(text, language, manner))

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Tell of each announcement that is over its text, and whether all of its sound could be
        played; what somebody stops could be."""
        self._effects.announced.add(ended)

    async def ask_quietly(
        self, text: str, rights: Rights, caller: str, owner: ConversationOwner | None = None
    ) -> FinishedTurn:
        """One typed turn of a program, once the conversation rests: nothing of it sounds, nobody
        is asked, and a person's wake word cuts it. `owner`: as in `ProgramTurns.ask`.

        Raises Busy where it cannot begin within half a minute.
        """
        return await self.programs.ask(text, rights, caller, owner)

    def end_talk(self) -> None:
        """After the answer under way nothing is listened for without the wake word."""
        self.dispatch(TalkEnded(self.machine.turn))

    async def listen(self, source: FrameSource, turns: int | None = None) -> int:
        """Hear `source` until it ends, or until `turns` turns are closed and nothing is asked.

        Returns how many turns were closed; announcements are none. See `Listening.listen`.
        """
        before = self._effects.closed
        await self._listening.listen(source, turns)
        await self.rest()  # the last turn is closed a moment after the last sound was heard
        return self._effects.closed - before

    async def listen_for_ever(self, microphone: SteadyMicrophone) -> None:
        """Hear a microphone that heals, and tell the conversation how it stands.

        Ends only by cancellation: a device that is missing or goes is no error.
        """
        microphone.on_change = self.on_microphone
        await self.listen(microphone)

    async def ask(self, text: str) -> None:
        """One typed turn, until its answer has been given."""
        if self.machine.stops_by_text and is_stop_word(text, self._languages.codes):
            self.stop()
            await self.rest()
            return
        before = self._effects.closed
        self.dispatch(Typed(text))
        await self.until(lambda: self._effects.closed > before and self.resting)

    def retire(self) -> None:
        """Begin nothing more; what is under way goes on until `end`."""
        self.ending = True

    async def end(self) -> None:
        """Cut the turn under way short and begin nothing more; again, it does nothing."""
        self.retire()
        if self._ended:
            return
        self._ended = True
        self.machine = replace(self.machine, announcements=())  # nobody will hear them
        self.dispatch(StopAsked())
        try:
            async with asyncio.timeout(_END_S):
                await self.rest()
        except TimeoutError:
            _log.warning("the last turn did not end in %g s", _END_S)
            if self._effects.task is not None:
                self._effects.task.cancel()

    async def rest(self) -> None:
        """Wait until no turn is open and every closed one is written down."""
        await self.until(lambda: self.resting)

    def dispatch(self, event: Event) -> None:
        """Give the machine an event and carry out the effects. Call it on the loop's thread.

        What comes of an effect waits until all effects of the event before are carried out.
        """
        if isinstance(event, StopAsked):
            self._effects.heard.tell()
        self._pending.append(event)
        if len(self._pending) > 1:
            return
        try:
            while self._pending:
                self._step(self._pending[0])
                self._pending.popleft()
        finally:
            self._pending.clear()  # whatever an effect raises, the next event must be taken
        self._use(self._rules)
        self.wake_waiters()
        if self.machine.wants_sound:
            self._time.listen()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once it holds; it is looked at after every event."""
        while not condition():
            await self._changed.wait()

    def wake_waiters(self) -> None:
        """Have whoever waits look again: something has changed without an event."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _step(self, event: Event) -> None:
        before, at_ms = self.machine, self.at_ms
        if before.now_ms < at_ms:
            before = replace(before, now_ms=at_ms)
        self.machine, effects = reduce(before, event)
        for effect in effects:
            self._effects.perform(effect)
        speaks = self.state is State.SPEAKING
        if speaks is not (before.state is State.SPEAKING):
            self.hearing.distract("speaking", speaks)  # more is asked of a wake word
        self._tell_standing()

    def _use(self, rules: Rules) -> None:
        """Go by these from the next turn on; one under way ends by those by which it began."""
        self._rules = rules
        if self.machine.rests and self.machine.rules is not rules:
            self.machine = replace(self.machine, rules=rules)

    def _tell_standing(self) -> None:
        standing = self._stands()
        if standing != self.standing:
            self.standing = standing
            self._observers.tell(standing)

    def _stands(self) -> Standing:
        status = self._status or _STATUS.get(self.machine.microphone)
        if status is None:
            heard = self.at_ms > 0
            status = MicrophoneStatus.LISTENING if heard else MicrophoneStatus.OPENING
        return Standing(self.machine.state, self.machine.muted, status)
