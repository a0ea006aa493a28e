"""The conversation loop: pass each event through the turn machine and carry out the effects."""

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
    AtTerminal,
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
from assistant.domain.brain import Brain, ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred, Listeners
from assistant.domain.tool_call import Rights
from assistant.speech.identify import Languages
from assistant.speech.sink import PLAIN, Manner
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.frames import FrameSource
from audio.steady import SteadyMicrophone

_log = logging.getLogger(__name__)
_END_S = 2.0  # seconds for the last turn when the process ends
_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_NONE = (*_GONE, MicrophoneStatus.CLOSED)
_HERE = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)
# Used until the microphone reports a status.
_STATUS = {
    MicrophoneState.LOST: MicrophoneStatus.MISSING,
    MicrophoneState.ENDED: MicrophoneStatus.CLOSED,
}


class ConversationLoop:
    """Dispatches events to the rules and performs the resulting effects, one turn at a time.

    Exiting its async context ends every task. `on_turn` is called with each finished turn and the
    reason why the turn closed; it must not block.
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
        """`profiles` maps wake words to profiles. `hears_stop` recognises stop words on this
        device; None disables them. Without an audio front end (`ear`), only typed turns and
        announcements are possible."""
        self.hearing = Hearing(ear)  # ring buffer, wake word and voice activity
        microphone = MicrophoneState.ENDED if ear is None else MicrophoneState.OPEN
        self.machine = Machine(rules=rules or Rules(), microphone=microphone)
        self.ending = False  # no new turns are accepted
        self._ended = False  # the current turn has been interrupted too
        self._rules = self.machine.rules  # rules for the next turn
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
        self._status: MicrophoneStatus | None = None  # the latest one that the microphone reported
        self._observers: Listeners[[Standing]] = Listeners("the conversation")
        self.standing = self._stands()  # the visible state
        self._bells: list[Callable[[], bool]] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._stack.callback(self.hearing.close)  # before the audio front end is closed
        await self._stack.enter_async_context(self._effects.group)
        self._stack.push_async_callback(self.end)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    @property
    def state(self) -> State:
        return self.machine.state

    @property
    def at_ms(self) -> float:
        """The time of the audio source, in ms since its first sample."""
        return self._listening.heard_ms

    async def judging(self) -> None:
        """Wait until audio reaches the front end or it is clear that there is no microphone."""
        await self.until(lambda: self._listening.judged or self._status in _NONE)

    @property
    def lost(self) -> bool:
        return self._status in _GONE

    @property
    def resting(self) -> bool:
        """True if no turn is open or being stored, and nobody is expected to speak."""
        return self.machine.rests and not self._effects.unfinished

    @property
    def profile(self) -> str:
        return self._effects.turn.profile if self._effects.turn is not None else ""

    @property
    def exchange(self) -> ConfirmationDialog | None:
        """The confirmation question about a call in the newest turn, or None."""
        confirming = self._effects.turn.confirming if self._effects.turn is not None else None
        return confirming.exchange if confirming is not None else None

    @property
    def rings(self) -> bool:
        """True while a timer or alarm is ringing."""
        return any(rings() for rings in self._bells)

    def add_bell(self, rings: Callable[[], bool], silence: Callable[[], None]) -> None:
        """Register a bell, such as a timer's. `rings` returns True while it is ringing, and
        `silence` is called when a person speaks to Hearth or asks for silence."""
        self._bells.append(rings)
        self._effects.heard.add(silence)

    def follow(self, follower: TurnListener) -> None:
        self._effects.followers.add(follower)

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        """Call `observer` on the event loop whenever `standing` changes, and return a function that
        unregisters it. The observer must not block."""
        return self._observers.add(observer)

    def mute(self, on: bool) -> None:
        """Mute or unmute the microphone. An answer in progress continues."""
        self.dispatch(Muted(on))

    def wake(self, word: str = "button", caller: str = "") -> bool:
        """Open the microphone as after a wake word. `word` selects the profile.

        `caller` is the program that opens the microphone, or "" for a person. For a program, an
        opening tone that cannot be silenced is played first; if the tone fails, the microphone
        stays closed. Return False if Hearth can't listen now.
        """
        if caller:
            return self.programs.listen(word, caller)
        machine, at_ms = self.machine, self.at_ms
        if machine.microphone is not MicrophoneState.OPEN or machine.muted or self.ending:
            return False
        self.dispatch(WakeHeard(word, 1.0, at_ms, at_ms, pressed=True))
        return self.machine.turn > machine.turn

    def stop(self) -> None:
        self.dispatch(StopAsked())

    def full_duplex(self, on: bool) -> None:
        """Set whether speech can interrupt Hearth. Turn this on only if Hearth's own voice is
        removed from the microphone signal."""
        self._use(replace(self._rules, barge_in="speech" if on else "wake"))

    def use_follow_up(self, when: FollowUp) -> None:
        """Choose the answers after which the microphone stays open, starting with the next turn."""
        self._use(replace(self._rules, follow_up=when))

    def use_profile(self, name: str) -> None:
        """Set the profile for turns whose wake word doesn't select one, or "" for none."""
        self._maker.use_profile(name)

    @property
    def next_profile(self) -> str:
        return self._maker.profile

    def noisy(self, on: bool) -> None:
        """Set whether wake words need a higher score because media is playing in the room."""
        self.hearing.distract("media", on)

    def on_microphone(self, change: MicrophoneChange) -> None:
        """Handle a change in the microphone's status. Must be called on the loop's thread."""
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
        """Speak an announcement once the conversation is idle. If more than ANNOUNCEMENTS_WAITING
        are queued, the oldest is dropped."""
        if self.ending:
            _log.info("an announcement was dropped: Hearth is shutting down")
            return
        if len(self.machine.announcements) >= ANNOUNCEMENTS_WAITING:
            _log.warning("too many announcements are waiting; the oldest was dropped")
        self.dispatch(Announced(text, language, manner))

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Register a callback for finished announcements. It receives the text, and False if part
        of the audio could not be played."""
        self._effects.announced.add(ended)

    async def ask_quietly(
        self,
        text: str,
        rights: Rights,
        caller: str,
        owner: ConversationOwner | None = None,
        brain: Brain | None = None,
    ) -> FinishedTurn:
        """Run a program's typed turn, without speaking, once the conversation is idle (see
        `ProgramTurns.ask`). Raises Busy if it can't start in time."""
        return await self.programs.ask(text, rights, caller, owner, brain)

    def end_talk(self) -> None:
        """Close the microphone after the current answer, until the next wake word."""
        self.dispatch(TalkEnded(self.machine.turn))

    async def listen(self, source: FrameSource, turns: int | None = None) -> int:
        """Listen to a source (see `Listening.listen`) and return the number of turns that closed,
        not counting announcements."""
        before = self._effects.closed
        await self._listening.listen(source, turns)
        await self.rest()  # the last turn closes shortly after its last audio
        return self._effects.closed - before

    async def listen_for_ever(self, microphone: SteadyMicrophone) -> None:
        """Listen to a microphone that recovers from failures, and follow its status until
        cancelled."""
        microphone.on_change = self.on_microphone
        await self.listen(microphone)

    async def ask(self, text: str) -> None:
        """Run a typed turn until its answer is complete."""
        if await self._stopped_by(text):
            return
        before = self._effects.closed
        self.dispatch(Typed(text))
        await self.until(lambda: self._effects.closed > before and self.resting)

    async def ask_at_terminal(
        self, text: str, terminal: AtTerminal, brain: Brain | None = None
    ) -> list[FinishedTurn]:
        """Run a typed turn for a terminal once the conversation is idle, without speaking.

        `brain` replaces the configured brains. Return the turn and any follow-on turns, or an empty
        list if the text only stopped something. Raises Busy.
        """
        if brain is None and await self._stopped_by(text):
            return []
        return await self.programs.ask_at_terminal(text, terminal, brain)

    async def _stopped_by(self, text: str) -> bool:
        if not (self.machine.stops_by_text and is_stop_word(text, self._languages.codes)):
            return False
        self.stop()
        await self.rest()
        return True

    def retire(self) -> None:
        """Accept no new turns. Work in progress continues until `end` is called."""
        self.ending = True

    async def end(self) -> None:
        """Interrupt the current turn and accept no new turns."""
        self.retire()
        if self._ended:
            return
        self._ended = True
        self.machine = replace(self.machine, announcements=())  # there is no time to play these
        self.dispatch(StopAsked())
        try:
            async with asyncio.timeout(_END_S):
                await self.rest()
        except TimeoutError:
            _log.warning("the last turn did not end in %g s", _END_S)
            if self._effects.task is not None:
                self._effects.task.cancel()

    async def rest(self) -> None:
        await self.until(lambda: self.resting)

    def dispatch(self, event: Event) -> None:
        """Pass an event to the turn machine and carry out its effects. Must be called on the event
        loop.

        Events that an effect causes are handled after all effects of the current event.
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
            self._pending.clear()  # accept the next event even if an effect raised
        self._use(self._rules)
        self.wake_waiters()
        if self.machine.wants_sound:
            self._time.listen()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition is true. It is checked after every event."""
        while not condition():
            await self._changed.wait()

    def wake_waiters(self) -> None:
        """Make `until` check its conditions again after a change that didn't cause an event."""
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
            self.hearing.distract("speaking", speaks)  # a wake word needs a higher score
        self._tell_standing()

    def _use(self, rules: Rules) -> None:
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
