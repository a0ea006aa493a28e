"""Does what the turn machine says: feeds it events, carries out its effects, one turn at a time."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from assistant.clock import Clock
from assistant.speech.catalogue import Catalogue
from assistant.speech.manner import PLAIN, Manner
from assistant.turn.ear import Ear, EarEvent
from assistant.turn.effects import CloseTurn
from assistant.turn.events import (
    Announced,
    Event,
    Muted,
    Ringing,
    SourceBack,
    SourceEnded,
    SourceLost,
    SpeechHeld,
    SpeechStarted,
    StopAsked,
    TalkEnded,
    Tick,
    Typed,
    WakeHeard,
    WakeRising,
)
from assistant.turn.hands import Hands
from assistant.turn.hearing import Hearing
from assistant.turn.language import Languages
from assistant.turn.live import LiveTurn
from assistant.turn.machine import reduce
from assistant.turn.opening import TurnMaker
from assistant.turn.performers import Performers
from assistant.turn.standing import Observer, Observers, Standing, status_of
from assistant.turn.state import (
    ANNOUNCEMENTS_WAITING,
    Machine,
    Microphone,
    Rules,
    State,
)
from assistant.turn.stop_words import is_stop_word
from assistant.turn.stopping import StopListener
from assistant.turn.timeline import ConversationClock
from audio.frames import SAMPLES_PER_MS, Frame, FrameSource
from audio.steady import MicrophoneChange, MicrophoneStatus

_log = logging.getLogger(__name__)
_END_S = 2.0  # for the last turn, when everything ends
_STOP_LEAD_MS = 200.0  # from before the first voiced sample: a word may begin without voice
_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_HERE = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)


class Runner:
    """Owns the machine and the turn under way. Leaving its async context ends every task.

    `on_turn` is given each finished turn and why it closed; it must not block.
    """

    def __init__(
        self,
        performers: Performers,
        ear: Ear | None,
        catalogue: Catalogue,
        clock: Clock,
        new_turn_id: Callable[[], str],
        on_turn: Callable[[LiveTurn, CloseTurn], Coroutine[Any, Any, None]],
        languages: Languages | None = None,
        rules: Rules | None = None,
        profiles: Mapping[str, str] | None = None,
        stop_listener: StopListener | None = None,
    ) -> None:
        """`profiles`: wake word -> name of the profile that its turns have.
        `stop_listener`: hears stop words by itself; None: nobody does.

        Without an ear only typed turns and announcements are possible.
        """
        self._hearing = Hearing(ear)
        self._languages = languages or Languages()
        microphone = Microphone.ENDED if ear is None else Microphone.OPEN
        self._machine = Machine(rules=rules or Rules(), microphone=microphone)
        self._conversation = ConversationClock(clock)
        maker = TurnMaker(
            performers,
            self._hearing,
            self._conversation,
            clock,
            new_turn_id,
            self._languages,
            profiles or {},
        )
        self._hands = Hands(
            performers,
            self._hearing,
            catalogue,
            self._conversation,
            maker,
            on_turn,
            self.dispatch,
            stop_listener,
            clock,
        )
        self._hands.on_written = self._wake_waiters
        self._pending: deque[Event] = deque()
        self._changed = asyncio.Event()  # set and replaced after every event
        self._deaf_after: int | None = None  # turns, after which no wake word counts
        self._ending = False  # nothing more is begun
        self._speech_cuts = self._machine.rules.barge_in == "speech"  # from the next turn on
        self._heard_ms = 0.0  # how far the source has come; the machine is told when it matters
        self._status: MicrophoneStatus | None = None  # as whoever keeps the microphone tells it
        self._observers = Observers(self._stands())
        # Asked with each frame whether something rings between the turns.
        self.rings: Callable[[], bool] = lambda: False

    async def __aenter__(self) -> Self:
        await self._hands.group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending = True
        try:
            try:
                await self._end_turns()
            finally:
                await self._hands.group.__aexit__(kind, error, trace)
        finally:
            self._hearing.close()  # before the ear is closed

    @property
    def state(self) -> State:
        """Where the conversation stands."""
        return self._machine.state

    @property
    def muted(self) -> bool:
        """Nothing is listened to."""
        return self._machine.muted

    @property
    def profile(self) -> str:
        """Name of the newest turn's profile, "" for none."""
        return self._hands.turn.profile if self._hands.turn is not None else ""

    @property
    def standing(self) -> Standing:
        """What is to be seen of it now."""
        return self._observers.standing

    @property
    def hearing(self) -> Hearing:
        """Ring, wake word and voice activity, for whoever keeps near misses or sound."""
        return self._hearing

    @property
    def on_heard(self) -> Callable[[], None]:
        """Told when a person speaks to us or wants silence: what rings falls silent."""
        return self._hands.on_heard

    @on_heard.setter
    def on_heard(self, tell: Callable[[], None]) -> None:
        self._hands.on_heard = tell

    def follow(self, opened: Callable[[LiveTurn], None], whole: Callable[[LiveTurn], None]) -> None:
        """Tell of each turn when it has opened, and when its sentence is whole."""
        self._hands.on_opened, self._hands.on_sentence = opened, whole

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Have `observer` called with each change of `standing`; what is returned ends that."""
        return self._observers.add(observer)

    def mute(self, on: bool) -> None:
        """Listen to nothing, or listen again. An answer under way is still given."""
        self.dispatch(Muted(on))

    def wake(self, word: str = "button") -> bool:
        """Listen as after a wake word, with the wake sound. `word`: for the journal and profiles.

        False where that cannot be: no microphone, muted, or somebody is listened to already.
        """
        machine, at_ms = self._machine, self._heard_ms
        if machine.microphone is not Microphone.OPEN or machine.muted or self._ending:
            return False
        self.dispatch(WakeHeard(word, 1.0, at_ms, at_ms, pressed=True))
        return self._machine.turn > machine.turn

    def stop(self) -> None:
        """Silence: an answer ends, a sentence is given up, what rings falls silent."""
        self.dispatch(StopAsked())

    def full_duplex(self, on: bool) -> None:
        """Whether our own voice is taken out of what the microphone hears: then speech cuts it.

        An answer under way ends by the rules by which it began.
        """
        self._speech_cuts = on
        self._set_rules()

    def noisy(self, on: bool) -> None:
        """Music plays in the room: a wake word must be surer, as while we speak."""
        self._hearing.distract("media", on)

    def on_microphone(self, change: MicrophoneChange) -> None:
        """Whoever keeps the microphone tells how it stands. Call it on the loop's thread."""
        self._status = change.status
        if change.sentence:
            _log.warning("%s", change.sentence)
        is_lost = self._machine.microphone is Microphone.LOST
        if change.status in _GONE and not is_lost:
            self.dispatch(SourceLost())
        elif change.status in _HERE and is_lost:
            _log.info("the microphone is back")
            self.dispatch(SourceBack(self._heard_ms))
        self._observers.tell(self._stands())

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Say something that nobody asked for just now, like that, once the conversation rests.

        It can be stopped and talked over like an answer. Beyond ANNOUNCEMENTS_WAITING the oldest
        of those that wait is given up. Once the context is being left nothing is said any more.
        """
        if self._ending:
            _log.info("an announcement came too late: everything ends")
            return
        if len(self._machine.announcements) >= ANNOUNCEMENTS_WAITING:
            _log.warning("too much waits to be announced; the oldest is left out")
        self.dispatch(Announced(text, language, manner))

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Tell of each announcement that is over its text, and whether all of its sound could be
        played; what somebody stops could be."""
        self._hands.on_announced = ended

    def end_talk(self) -> None:
        """After the answer under way nothing is listened for without the wake word."""
        self.dispatch(TalkEnded(self._machine.turn))

    async def listen(self, source: FrameSource, turns: int | None = None) -> int:
        """Hear `source` until it ends, or until `turns` turns are closed and nothing is asked.

        With `turns`, a wake word after so many is not taken: what follows answers our question.
        Returns how many turns were closed; announcements are none. Raises what the source raises
        (see FrameSource), and RuntimeError where there is no ear.
        """
        await self._hearing.restart()
        self._conversation.begin()
        self._hands.in_a_room = not source.pulled
        self._heard_ms = 0.0
        before, end_ms = self._hands.closed, 0.0
        self._deaf_after = None if turns is None else self._hands.opened + turns
        async with aclosing(source.frames()) as frames:
            async for frame in frames:
                if self._machine.microphone is not Microphone.OPEN and self._status not in _GONE:
                    self.dispatch(SourceBack(frame.start / SAMPLES_PER_MS))
                await self._hear(frame)
                end_ms = frame.end / SAMPLES_PER_MS
                if source.pulled:
                    await self._keep_pace()
                if turns is not None and self._hands.closed - before >= turns and self._resting:
                    break
        self.dispatch(SourceEnded(end_ms))
        await self.rest()
        return self._hands.closed - before

    async def ask(self, text: str) -> None:
        """One typed turn, until its answer has been given."""
        if self._machine.stops_by_text and is_stop_word(text, self._languages.codes):
            self.stop()
            await self.rest()
            return
        before = self._hands.closed
        self.dispatch(Typed(text))
        await self._until(lambda: self._hands.closed > before and self._resting)

    async def rest(self) -> None:
        """Wait until no turn is open and every closed one is written down."""
        await self._until(lambda: self._resting)

    def dispatch(self, event: Event) -> None:
        """Give the machine an event and carry out the effects. Call it on the loop's thread."""
        if isinstance(event, StopAsked):
            self.on_heard()
        self._pending.append(event)
        if len(self._pending) > 1:
            return  # an effect brought a further event: it waits for its turn
        try:
            while self._pending:
                machine = self._machine
                if machine.now_ms < self._heard_ms:
                    machine = replace(machine, now_ms=self._heard_ms)
                self._machine, effects = reduce(machine, self._pending[0])
                for effect in effects:
                    self._hands.perform(effect)
                self._pending.popleft()
                self._show(machine.state)
        finally:
            self._pending.clear()  # whatever an effect raises, the next event must be taken
        if self._machine.wants_sound:
            self._conversation.listen()
        self._set_rules()
        self._wake_waiters()

    def _set_rules(self) -> None:
        rules = self._machine.rules
        if self._machine.rests and self._speech_cuts is not (rules.barge_in == "speech"):
            rules = replace(rules, barge_in="speech" if self._speech_cuts else "wake")
            self._machine = replace(self._machine, rules=rules)

    @property
    def _resting(self) -> bool:
        return self._machine.rests and not self._hands.unfinished

    async def _hear(self, frame: Frame) -> None:
        at_ms = frame.end / SAMPLES_PER_MS
        if (rings := self.rings()) is not self._machine.ringing:
            self._hearing.distract("ringing", rings)
            self.dispatch(Ringing(rings))
        events = [] if self.muted else await self._take_in(frame)
        self._conversation.heard(at_ms)
        for event in events:
            if not self._too_late(event):
                self.dispatch(event)
                self._note(event)
        self._heard_ms = at_ms
        if self._machine.tells_time:  # else nobody needs to know, fifty times a second
            self.dispatch(Tick(at_ms))

    def _show(self, before: State) -> None:
        """Tell of a change, and ask more of a wake word while we speak."""
        speaks = self.state is State.SPEAKING
        if speaks is not (before is State.SPEAKING):
            self._hearing.distract("speaking", speaks)
        self._observers.tell(self._stands())

    def _stands(self) -> Standing:
        machine = self._machine
        status = self._status or status_of(machine, heard=self._heard_ms > 0)
        return Standing(machine.state, machine.muted, status)

    async def _take_in(self, frame: Frame) -> list[EarEvent]:
        turn = self._hands.turn
        if turn is not None and turn.audio is not None:
            turn.audio.append(frame.pcm)  # nothing is kept once the sentence is over
        return await self._hearing.hear(frame)

    async def _keep_pace(self) -> None:
        """A source that can wait is not ahead of anybody who listens to it."""
        if self._hands.turn is not None and self._hands.turn.audio is not None:
            await self._hands.turn.audio.taken()
        await self._until(lambda: self._machine.wants_sound)

    def _too_late(self, event: EarEvent) -> bool:
        waking = isinstance(event, WakeHeard | WakeRising)
        return waking and self._deaf_after is not None and self._hands.opened >= self._deaf_after

    def _note(self, event: EarEvent) -> None:
        if self.state is not State.LISTENING or self._hands.turn is None:
            return
        if isinstance(event, SpeechStarted):
            self._hands.turn.timeline.mark("speech_start", self._conversation.at(event.at_ms))
        elif isinstance(event, SpeechHeld) and self._hands.turn.opening.source == "barge_in":
            self._hands.turn.timeline.mark("speech_start", self._conversation.at(event.began_ms))

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    async def _end_turns(self) -> None:
        """Cut the turn under way short and let it be written down."""
        self._machine = replace(self._machine, announcements=())  # nobody will hear them
        self.dispatch(StopAsked())
        try:
            async with asyncio.timeout(_END_S):
                await self.rest()
        except TimeoutError:
            _log.warning("the last turn did not end in %g s", _END_S)
            if self._hands.task is not None:
                self._hands.task.cancel()

    def _wake_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
