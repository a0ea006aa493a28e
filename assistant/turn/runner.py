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
from assistant.turn.ear import Ear, EarEvent
from assistant.turn.events import (
    Announced,
    Anticipate,
    AwaitAnswer,
    CancelTurn,
    CloseTurn,
    Effect,
    EndAnswer,
    EndListening,
    Event,
    FinishSpeech,
    ForgetSound,
    HearAnswer,
    Muted,
    NoAnswer,
    OpenTurn,
    PlaySound,
    ReleaseSound,
    SayLine,
    SayText,
    SourceBack,
    SourceEnded,
    SpeechStarted,
    StopAsked,
    StopWatching,
    TalkEnded,
    Tick,
    Typed,
    WakeHeard,
    WakeRising,
    WatchSpeech,
)
from assistant.turn.hearing import Hearing
from assistant.turn.held import HeldBrain
from assistant.turn.language import Languages
from assistant.turn.live import LiveTurn
from assistant.turn.machine import reduce
from assistant.turn.performers import Performers
from assistant.turn.state import (
    ANNOUNCEMENTS_WAITING,
    Machine,
    Microphone,
    Rules,
    State,
)
from assistant.turn.timeline import ConversationClock, Timeline
from audio.errors import AudioError
from audio.frames import SAMPLES_PER_MS, Frame, FrameSource

_log = logging.getLogger(__name__)
_END_S = 2.0  # for the last turn, when everything ends


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
    ) -> None:
        """`profiles`: wake word -> name of the profile that its turns have.

        Without an ear only typed turns and announcements are possible.
        """
        self._performers = performers
        self._hearing = Hearing(ear)
        self._catalogue = catalogue
        self._clock = clock
        self._new_turn_id = new_turn_id
        self._on_turn = on_turn
        self._languages = languages or Languages()
        self._profiles = profiles or {}
        microphone = Microphone.ENDED if ear is None else Microphone.OPEN
        self._machine = Machine(rules=rules or Rules(), microphone=microphone)
        self._conversation = ConversationClock(clock)
        self._turn: LiveTurn | None = None  # the newest one, open or just closed
        self._task: asyncio.Task[None] | None = None  # the newest turn's
        self._unfinished = 0  # turns that are open or being written down
        self._pending: deque[Event] = deque()
        self._opened = self._closed = 0  # turns that somebody asked for
        self._changed = asyncio.Event()  # set and replaced after every event
        self._deaf_after: int | None = None  # turns, after which no wake word counts
        self._ending = False  # nothing more is begun
        # Told when a person speaks to us or wants silence: what rings falls silent.
        self.on_heard: Callable[[], None] = lambda: None
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
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
                await self._group.__aexit__(kind, error, trace)
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
        return self._turn.profile if self._turn is not None else ""

    def mute(self, on: bool) -> None:
        """Listen to nothing, or listen again. An answer under way is still given."""
        self.dispatch(Muted(on))

    def announce(self, text: str, language: str) -> None:
        """Say something that nobody asked for just now, once the conversation rests.

        It can be stopped and talked over like an answer. Beyond ANNOUNCEMENTS_WAITING the oldest
        of those that wait is given up. Once the context is being left nothing is said any more.
        """
        if self._ending:
            _log.info("an announcement came too late: everything ends")
            return
        if len(self._machine.announcements) >= ANNOUNCEMENTS_WAITING:
            _log.warning("too much waits to be announced; the oldest is left out")
        self.dispatch(Announced(text, language))

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
        before, end_ms = self._closed, 0.0
        self._deaf_after = None if turns is None else self._opened + turns
        async with aclosing(source.frames()) as frames:
            async for frame in frames:
                if self._machine.microphone is not Microphone.OPEN:
                    self.dispatch(SourceBack())
                await self._hear(frame)
                end_ms = frame.end / SAMPLES_PER_MS
                if source.pulled:
                    await self._keep_pace()
                if turns is not None and self._closed - before >= turns and self._resting:
                    break
        self.dispatch(SourceEnded(end_ms))
        await self.rest()
        return self._closed - before

    async def ask(self, text: str) -> None:
        """One typed turn, until its answer has been given."""
        before = self._closed
        self.dispatch(Typed(text))
        await self._until(lambda: self._closed > before and self._resting)

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
                self._machine, effects = reduce(self._machine, self._pending[0])
                for effect in effects:
                    self._perform(effect)
                self._pending.popleft()
        finally:
            self._pending.clear()  # whatever an effect raises, the next event must be taken
        if self._machine.wants_sound:
            self._conversation.listen()
        self._wake_waiters()

    @property
    def _resting(self) -> bool:
        return self._machine.rests and not self._unfinished

    async def _hear(self, frame: Frame) -> None:
        at_ms = frame.end / SAMPLES_PER_MS
        events = [] if self.muted else await self._take_in(frame)
        self._conversation.heard(at_ms)
        for event in events:
            if not self._too_late(event):
                self.dispatch(event)
                self._note(event)
        self.dispatch(Tick(at_ms))

    async def _take_in(self, frame: Frame) -> list[EarEvent]:
        turn = self._turn
        if turn is not None and turn.audio is not None:
            turn.audio.append(frame.pcm)  # nothing is kept once the sentence is over
        return await self._hearing.hear(frame)

    async def _keep_pace(self) -> None:
        """A source that can wait is not ahead of anybody who listens to it."""
        if self._turn is not None and self._turn.audio is not None:
            await self._turn.audio.taken()
        await self._until(lambda: self._machine.wants_sound)

    def _too_late(self, event: EarEvent) -> bool:
        waking = isinstance(event, WakeHeard | WakeRising)
        return waking and self._deaf_after is not None and self._opened >= self._deaf_after

    def _note(self, event: EarEvent) -> None:
        if isinstance(event, SpeechStarted) and self.state is State.LISTENING and self._turn:
            self._turn.timeline.mark("speech_start", self._conversation.at(event.at_ms))

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case OpenTurn():
                self._open(effect)
            case Anticipate():
                self._performers.brain.anticipate()
            case WatchSpeech(from_ms, after_ms):
                self._hearing.watch(from_ms, after_ms)
            case ReleaseSound() if self._turn is not None and self._turn.audio is not None:
                self._turn.audio.release()
            case StopWatching():
                self._hearing.unwatch()
            case ForgetSound():
                self._hearing.forget()
            case AwaitAnswer() | HearAnswer() | EndAnswer() | NoAnswer():
                if self._turn is not None and self._turn.confirming is not None:
                    self._turn.confirming.take(effect, self._hearing, self._new_turn_id)
                if isinstance(effect, EndAnswer | NoAnswer):
                    self._conversation.stand()
            case PlaySound(name):
                self._group.create_task(self._play(name))
            case EndListening():
                self._end_listening(effect)
            case SayLine(_, key) if self._turn is not None:
                language = self._turn.language
                self._turn.say(self._catalogue.say(key, language), language)
            case SayText(_, text) if self._turn is not None:
                self._turn.say(text)
            case FinishSpeech() if self._turn is not None:
                self._turn.finish_speech()
            case CancelTurn():
                self._cancel()
            case CloseTurn():
                self._close(effect)

    def _open(self, opening: OpenTurn) -> None:
        if opening.source in ("voice", "follow_up"):
            self.on_heard()
        asked = self._turn.confirming if opening.held and self._turn is not None else None
        held = asked.promoted if asked is not None else None
        self._conversation.listen()
        timeline = Timeline(self._conversation)
        audio = held.audio if held is not None else self._hearing.sound_for(opening)
        performers = self._performers
        if held is not None:
            performers = replace(performers, brain=HeldBrain(held.turn, performers.brain))
        if opening.wake is not None:
            timeline.mark("wake", self._conversation.at(opening.wake.at_ms))
        if opening.source in ("text", "announcement") or held is not None:
            self._conversation.stand()
        if opening.source == "text":
            timeline.mark("end_of_turn")
        turn = LiveTurn(
            opening,
            held.turn_id if held is not None else self._new_turn_id(),
            self._clock.now(),
            self._languages,
            timeline,
            performers,
            audio,
            self.dispatch,
            self._group.create_task,
            self._profile_of(opening),
        )
        self._turn = turn
        if held is not None:
            turn.end_listening(None, self._conversation.now_ms)
        self._opened += _is_asked_for(turn)
        self._unfinished += 1
        self._task = self._group.create_task(self._run(turn))

    def _profile_of(self, opening: OpenTurn) -> str:
        if opening.source == "follow_up":
            return self.profile  # it goes on as it began
        return self._profiles.get(opening.wake.word, "") if opening.wake else ""

    def _cancel(self) -> None:
        self._performers.mouth.stop()
        if self._task is not None:
            self._task.cancel()
        if self._turn is None:
            return
        # Behind the calls that were asked for just now: what is not begun yet cannot be left.
        leave = self._performers.tools.leave
        asyncio.get_running_loop().call_soon(leave, self._turn.turn_id)
        if self._turn.audio is not None:
            self._turn.audio.abandon()  # its end would pass for the end of a sentence

    async def _run(self, turn: LiveTurn) -> None:
        try:
            await turn.run()
        except Exception:
            # The edge of a turn: whatever broke in it, the next turn must work.
            _log.exception("turn %s broke", turn.turn_id)
            turn.broke = ("broken", "The turn stopped with an internal error.")
            if self._turn is turn:
                self.dispatch(StopAsked())
                # A person who gets no answer must not wait for it.
                self._group.create_task(self._play("error"))

    def _end_listening(self, ending: EndListening) -> None:
        if self._turn is None:
            return
        speech_end = ending.speech_end_ms
        if speech_end is None:
            speech_end = self._hearing.last_voiced_ms  # cut off by the end of a file or of the time
        if speech_end is not None:
            speech_end = self._conversation.at(speech_end)
        self._turn.end_listening(speech_end, self._conversation.at(ending.decided_ms))
        self._conversation.stand()

    def _close(self, closing: CloseTurn) -> None:
        if self._turn is not None and self._task is not None:
            self._group.create_task(self._write_down(self._turn, self._task, closing))

    async def _write_down(
        self, turn: LiveTurn, task: asyncio.Task[None], closing: CloseTurn
    ) -> None:
        await asyncio.wait([task])  # the end of a cancelled turn is part of it
        try:
            await self._on_turn(turn, closing)
        finally:
            self._closed += _is_asked_for(turn)
            self._unfinished -= 1
            self._wake_waiters()

    async def _end_turns(self) -> None:
        """Cut the turn under way short and let it be written down."""
        self._machine = replace(self._machine, announcements=())  # nobody will hear them
        self.dispatch(StopAsked())
        try:
            async with asyncio.timeout(_END_S):
                await self.rest()
        except TimeoutError:
            _log.warning("the last turn did not end in %g s", _END_S)
            if self._task is not None:
                self._task.cancel()

    async def _play(self, name: str) -> None:
        try:
            await self._performers.mouth.sound(name)
        except AudioError as error:
            _log.warning("the %s sound could not be played: %s", name, error)

    def _wake_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_asked_for(turn: LiveTurn) -> bool:
    return turn.opening.source != "announcement"
