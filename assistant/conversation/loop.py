"""Does what the turn machine says: feeds it events, carries out its effects, one turn at a time."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.effect_runner import EffectRunner, TurnMaker
from assistant.conversation.hearing import Hearing, Listening
from assistant.conversation.program_turns import ProgramTurns
from assistant.conversation.record import FinishedTurn, TurnListener
from assistant.conversation.rules.effects import CloseTurn, Effect
from assistant.conversation.rules.events import (
    Announced,
    Event,
    Muted,
    SourceBack,
    SourceLost,
    StopAsked,
    TalkEnded,
    Then,
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
from assistant.conversation.timeline import ConversationClock
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import TurnServices, TurnVoice
from assistant.domain.brain import ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.deferred import Deferred
from assistant.domain.rights import Rights
from assistant.speech.identify import Languages
from assistant.speech.sink import PLAIN, Manner
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.frames import FrameSource

_log = logging.getLogger(__name__)

_END_S = 2.0  # for the last turn, when everything ends

_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)

_NONE = (*_GONE, MicrophoneStatus.CLOSED)

_HERE = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)


Observer = Callable[[Standing], None]


class Observers:
    """Tells everybody of every change, once."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self._observers: list[Observer] = []

    def add(self, observer: Observer) -> Callable[[], None]:
        """It is called on the loop's thread with each change, and must not block.

        Returns what ends that; calling it again does nothing.
        """
        self._observers.append(observer)

        def remove() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return remove

    def tell(self, standing: Standing) -> None:
        """It stands like this now."""
        if standing == self.standing:
            return
        self.standing = standing
        for observer in tuple(self._observers):
            try:
                observer(standing)
            except Exception:
                # The edge towards other people's code: the conversation goes on.
                _log.exception("an observer of the conversation broke")


def status_of(machine: Machine, heard: bool) -> MicrophoneStatus:
    """How the microphone stands where nobody tells more of it. `heard`: a frame has come."""
    match machine.microphone:
        case MicrophoneState.OPEN:
            return MicrophoneStatus.LISTENING if heard else MicrophoneStatus.OPENING
        case MicrophoneState.LOST:
            return MicrophoneStatus.MISSING
        case MicrophoneState.ENDED:
            return MicrophoneStatus.CLOSED


# Feeds the turn machine: one event at a time, and each effect carried out before the next.


class Stepping:
    """Owns the machine. On the loop's thread."""

    def __init__(
        self,
        machine: Machine,
        perform: Callable[[Effect], None],
        at_ms: Callable[[], float],
        stepped: Callable[[State], None],
    ) -> None:
        """`perform` carries an effect out. `at_ms`: how far the source of sound has come.
        `stepped` is told after each event, once its effects are carried out, of the state before
        it."""
        self.machine = machine
        self.rules = machine.rules  # from the next turn on
        self._perform = perform
        self._at_ms = at_ms
        self._stepped = stepped
        self._pending: deque[Event] = deque()
        self._changed = asyncio.Event()  # set and replaced after every event

    def take(self, event: Event) -> bool:
        """Give the machine an event. False: it came of an effect, and waits for its turn."""
        self._pending.append(event)
        if len(self._pending) > 1:
            return False
        try:
            while self._pending:
                self._step(self._pending[0])
                self._pending.popleft()
        finally:
            self._pending.clear()  # whatever an effect raises, the next event must be taken
        self._use_rules()
        self.wake_waiters()
        return True

    def use(self, rules: Rules) -> None:
        """Go by these from the next turn on; one under way ends by those by which it began."""
        self.rules = rules
        self._use_rules()

    def drop_announcements(self) -> None:
        """Leave out what waits to be announced: everything ends, and nobody will hear it."""
        self.machine = replace(self.machine, announcements=())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once it holds; it is looked at after every event."""
        while not condition():
            await self._changed.wait()

    def wake_waiters(self) -> None:
        """Something else has changed: whoever waits looks again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _step(self, event: Event) -> None:
        before, at_ms = self.machine, self._at_ms()
        if before.now_ms < at_ms:
            before = replace(before, now_ms=at_ms)
        self.machine, effects = reduce(before, event)
        for effect in effects:
            self._perform(effect)
        self._stepped(before.state)

    def _use_rules(self) -> None:
        if self.machine.rests and self.machine.rules is not self.rules:
            self.machine = replace(self.machine, rules=self.rules)


class ConversationLoop:
    """Owns the machine and the turn under way. Leaving its async context ends every task.

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
        self._hearing = Hearing(ear)
        self._languages = languages or Languages()
        self._conversation = ConversationClock(clock)
        self._maker = TurnMaker(
            voice,
            services,
            self._hearing,
            self._conversation,
            clock,
            new_turn_id,
            self._languages,
            profiles or {},
        )
        self._hands = EffectRunner(
            voice,
            services,
            self._hearing,
            self._conversation,
            self._maker,
            on_turn,
            self.dispatch,
            lambda: self._steps.wake_waiters(),
            hears_stop,
            clock,
        )
        microphone = MicrophoneState.ENDED if ear is None else MicrophoneState.OPEN
        machine = Machine(rules=rules or Rules(), microphone=microphone)
        self._steps = Stepping(machine, self._hands.perform, lambda: self.at_ms, self._show)
        self._programs = ProgramTurns(self, self._hands, voice.mouth, services, clock)
        self._ending = False  # nothing more is begun
        self._ended = False  # nor does anything go on
        self._listening = Listening(self, self._hands, self._hearing, self._conversation)
        self._status: MicrophoneStatus | None = None  # as whoever keeps the microphone tells it
        self._observers = Observers(self._stands())
        self._bells: list[Callable[[], bool]] = []

    async def __aenter__(self) -> Self:
        await self._hands.group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            try:
                await self.end()
            finally:
                await self._hands.group.__aexit__(kind, error, trace)
        finally:
            self._hearing.close()  # before the ear is closed

    @property
    def state(self) -> State:
        """Where the conversation stands."""
        return self.machine.state

    @property
    def machine(self) -> Machine:
        """Everything that the rules know of it."""
        return self._steps.machine

    @property
    def at_ms(self) -> float:
        """How far the source of sound has come."""
        return self._listening.heard_ms

    async def judging(self) -> None:
        """Return once the ear takes frames, or whoever keeps the microphone says why there are
        none: it is closed, or looked for."""
        listens = asyncio.ensure_future(self._listening.judged.wait())
        absent = asyncio.ensure_future(self.until(lambda: self._status in _NONE))
        try:
            await asyncio.wait([listens, absent], return_when=asyncio.FIRST_COMPLETED)
        finally:
            listens.cancel()
            absent.cancel()

    @property
    def lost(self) -> bool:
        """Whoever keeps the microphone says that it is gone."""
        return self._status in _GONE

    @property
    def resting(self) -> bool:
        """No turn is open, and every closed one is written down."""
        return self.machine.rests and not self._hands.unfinished

    @property
    def ending(self) -> bool:
        """Nothing more is begun."""
        return self._ending

    @property
    def muted(self) -> bool:
        """Nothing is listened to."""
        return self.machine.muted

    @property
    def profile(self) -> str:
        """Name of the newest turn's profile, "" for none."""
        return self._hands.turn.profile if self._hands.turn is not None else ""

    @property
    def exchange(self) -> ConfirmationDialog | None:
        """The question to the person about a call of the newest turn, if there was one."""
        confirming = self._hands.turn.confirming if self._hands.turn is not None else None
        return confirming.exchange if confirming is not None else None

    @property
    def standing(self) -> Standing:
        """What is to be seen of it now."""
        return self._observers.standing

    @property
    def hearing(self) -> Hearing:
        """Ring, wake word and voice activity, for whoever keeps near misses or sound."""
        return self._hearing

    @property
    def rings(self) -> bool:
        """True while something rings between the turns. Looked at with each frame."""
        return any(rings() for rings in self._bells)

    def add_bell(self, rings: Callable[[], bool], silence: Callable[[], None]) -> None:
        """Respect something that rings between the turns. `rings`: asked whether it does now.

        `silence` is called when a person speaks to us or wants silence.
        """
        self._bells.append(rings)
        self._hands.heard.add(silence)

    def follow(self, follower: TurnListener) -> None:
        """Have it told of every turn from now on."""
        self._hands.followers.add(follower)

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Have `observer` called with each change of `standing`; what is returned ends that."""
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
            return self._programs.listen(word, caller)
        machine, at_ms = self.machine, self.at_ms
        if machine.microphone is not MicrophoneState.OPEN or machine.muted or self._ending:
            return False
        self.dispatch(WakeHeard(word, 1.0, at_ms, at_ms, pressed=True))
        return self.machine.turn > machine.turn

    def stop(self) -> None:
        """Silence: an answer ends, a sentence is given up, what rings falls silent."""
        self.dispatch(StopAsked())

    def full_duplex(self, on: bool) -> None:
        """Whether our own voice is taken out of what the microphone hears: then speech cuts it.

        An answer under way ends by the rules by which it began.
        """
        self._steps.use(replace(self._steps.rules, barge_in="speech" if on else "wake"))

    def use_follow_up(self, when: FollowUp) -> None:
        """Listen on without the wake word after such answers, from the next turn on."""
        self._steps.use(replace(self._steps.rules, follow_up=when))

    def use_profile(self, name: str) -> None:
        """The profile of a turn whose wake word names none; "" for none."""
        self._maker.use_profile(name)

    @property
    def next_profile(self) -> str:
        """Profile of the next turn whose wake word names none."""
        return self._maker.profile

    def noisy(self, on: bool) -> None:
        """Music plays in the room: a wake word must be surer, as while we speak."""
        self._hearing.distract("media", on)

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
        self._observers.tell(self._stands())
        self._steps.wake_waiters()

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Say something that nobody asked for just now, like that, once the conversation rests.

        It can be stopped and talked over like an answer. Beyond ANNOUNCEMENTS_WAITING the oldest
        of those that wait is given up. Once the context is being left nothing is said any more.
        """
        if self._ending:
            _log.info("an announcement came too late: everything ends")
            return
        if len(self.machine.announcements) >= ANNOUNCEMENTS_WAITING:
            _log.warning("too much waits to be announced; the oldest is left out")
        self.dispatch(Announced(text, language, manner))

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Tell of each announcement that is over its text, and whether all of its sound could be
        played; what somebody stops could be."""
        self._hands.announced.add(ended)

    async def put(self, text: str, language: str, manner: Manner, then: Then) -> bool:
        """Say it for a program once the conversation rests, and then open the microphone.

        Returns when it has begun; False: everything ends, and it is not said.
        """
        return await self._programs.put(text, language, manner, then)

    def withdraw(self, then: Then) -> None:
        """Whoever had that said has gone: where it is under way it ends."""
        self._programs.withdraw(then)

    async def ask_quietly(
        self, text: str, rights: Rights, caller: str, owner: ConversationOwner | None = None
    ) -> FinishedTurn:
        """One typed turn of a program, once the conversation rests: nothing of it sounds, nobody
        is asked, and a person's wake word cuts it. `owner`: as in `ProgramTurns.ask`.

        Raises Busy where it cannot begin within half a minute.
        """
        return await self._programs.ask(text, rights, caller, owner)

    def end_talk(self) -> None:
        """After the answer under way nothing is listened for without the wake word."""
        self.dispatch(TalkEnded(self.machine.turn))

    async def listen(self, source: FrameSource, turns: int | None = None) -> int:
        """Hear `source` until it ends, or until `turns` turns are closed and nothing is asked.

        Returns how many turns were closed; announcements are none. See `Listening.listen`.
        """
        before = self._hands.closed
        await self._listening.listen(source, turns)
        await self.rest()  # the last turn is closed a moment after the last sound was heard
        return self._hands.closed - before

    async def ask(self, text: str) -> None:
        """One typed turn, until its answer has been given."""
        if self.machine.stops_by_text and is_stop_word(text, self._languages.codes):
            self.stop()
            await self.rest()
            return
        before = self._hands.closed
        self.dispatch(Typed(text))
        await self.until(lambda: self._hands.closed > before and self.resting)

    def retire(self) -> None:
        """Begin nothing more; what is under way goes on until `end`."""
        self._ending = True

    async def end(self) -> None:
        """Cut the turn under way short and begin nothing more; again, it does nothing."""
        self.retire()
        if not self._ended:
            self._ended = True
            await self._end_turns()

    async def rest(self) -> None:
        """Wait until no turn is open and every closed one is written down."""
        await self.until(lambda: self.resting)

    def dispatch(self, event: Event) -> None:
        """Give the machine an event and carry out the effects. Call it on the loop's thread."""
        if isinstance(event, StopAsked):
            self._hands.heard.tell()
        if self._steps.take(event) and self.machine.wants_sound:
            self._conversation.listen()

    def _show(self, before: State) -> None:
        """Tell of a change, and ask more of a wake word while we speak."""
        speaks = self.state is State.SPEAKING
        if speaks is not (before is State.SPEAKING):
            self._hearing.distract("speaking", speaks)
        self._observers.tell(self._stands())

    def _stands(self) -> Standing:
        machine = self.machine
        status = self._status or status_of(machine, heard=self.at_ms > 0)
        return Standing(machine.state, machine.muted, status)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once it holds; it is looked at after every event."""
        await self._steps.until(condition)

    async def _end_turns(self) -> None:
        """Cut the turn under way short and let it be written down."""
        self._steps.drop_announcements()
        self.dispatch(StopAsked())
        try:
            async with asyncio.timeout(_END_S):
                await self.rest()
        except TimeoutError:
            _log.warning("the last turn did not end in %g s", _END_S)
            if self._hands.task is not None:
                self._hands.task.cancel()
