"""The effect runner: carry out the turn machine's effects, one turn at a time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.conversation.hearing import Hearing
from assistant.conversation.record import TurnListeners
from assistant.conversation.rules.effects import (
    AnnounceLine,
    Anticipate,
    AwaitAnswer,
    CancelReason,
    CancelTurn,
    CloseTurn,
    Duck,
    Effect,
    EndAnswer,
    EndListening,
    FinishSpeech,
    ForgetSound,
    HearAnswer,
    Hush,
    ListenForStop,
    NoAnswer,
    OpenTurn,
    PlaySound,
    ReleaseSound,
    SayLine,
    SayText,
    SoundOpening,
    StopWatching,
    WatchSpeech,
    WatchThinking,
)
from assistant.conversation.rules.events import (
    Announced,
    Event,
    OpeningSounded,
    StillThinking,
    StopAsked,
    StopHeard,
)
from assistant.conversation.speculative_turn import SpeculativeBrain
from assistant.conversation.stop_words import HearsStop, Judge
from assistant.conversation.tool_calls import ToolRun
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import (
    ConversationClock,
    Timeline,
    TurnServices,
    TurnVoice,
)
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred, Listeners
from assistant.speech.identify import Languages
from assistant.speech.sink import PLAIN
from audio.errors import AudioError

_log = logging.getLogger(__name__)

_STOP_LEAD_MS = 200.0  # ms before the first voiced sample; a word may begin unvoiced

OnTurn = Callable[[Turn, CloseTurn], Coroutine[Any, Any, None]]


class TurnMaker:
    """Creates the turns of one conversation."""

    def __init__(
        self,
        voice: TurnVoice,
        services: Deferred[TurnServices],
        hearing: Hearing,
        conversation: ConversationClock,
        clock: Clock,
        new_turn_id: Callable[[], str],
        languages: Languages,
        profiles: Mapping[str, str] | None,
    ) -> None:
        self.new_turn_id = new_turn_id
        self._voice = voice
        self._services = services
        self._hearing = hearing
        self._conversation = conversation
        self._clock = clock
        self.languages = languages
        self._profiles = profiles or {}
        self.profile = ""  # used if the wake word selects no profile

    def make(
        self,
        opening: OpenTurn,
        before: Turn | None,
        dispatch: Callable[[Event], None],
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
    ) -> Turn:
        """Create a turn. `before` is the previous turn, and `spawn` starts tasks that outlive the
        new turn."""
        if (who := self._voice.speaker) is not None:
            opening = replace(opening, owner=who.owner, caller=who.caller)
        asked = before.open_question if opening.held and before is not None else None
        held = asked.promoted if asked is not None else None
        conversation = self._conversation
        conversation.listen()
        timeline = Timeline(conversation)
        audio = held.audio if held is not None else self._hearing.sound_for(opening)
        services = self._services
        if held is not None:
            whole = services.get()  # already set: the previous turn used them
            brain = SpeculativeBrain(held.turn, whole.brain)
            services = Deferred.of(replace(whole, brain=brain))
        elif opening.brain is not None:
            services = Deferred.of(replace(services.get(), brain=opening.brain))
        if opening.wake is not None:
            timeline.mark("wake", conversation.at(opening.wake.at_ms))
        if opening.source in ("text", "announcement") or held is not None:
            conversation.stand()
        if opening.source == "text":
            timeline.mark("end_of_turn")
        turn_id = held.turn_id if held is not None else self.new_turn_id()
        profile = self._profile_of(opening, before)
        assumed = ""
        if services.value is not None and services.value.profiles is not None:
            assumed = services.value.profiles.begin(turn_id, profile)
        turn = Turn(
            opening,
            turn_id,
            self._clock.now(),
            self.languages.led_by(assumed),
            timeline,
            self._voice.of_turn(printed=opening.terminal is not None),
            services,
            audio,
            dispatch,
            spawn,
            profile,
            Judge(opening, self.languages.codes, lambda: _said(before)),
        )
        if held is not None:
            turn.end_listening(None, conversation.now_ms)
        return turn

    def use_profile(self, name: str) -> None:
        self.profile = name

    def _profile_of(self, opening: OpenTurn, before: Turn | None) -> str:
        if opening.source in ("follow_up", "barge_in"):
            # The conversation keeps its profile.
            return before.profile if before is not None else ""
        return self._profiles.get(opening.wake.word if opening.wake else "", self.profile)


def _said(turn: Turn | None) -> Sequence[str]:
    return turn.spoken.clauses if turn is not None else ()


class EffectRunner:
    """Carries out effects and owns the current turn. The caller must enter and exit `group`."""

    def __init__(
        self,
        voice: TurnVoice,
        services: Deferred[TurnServices],
        hearing: Hearing,
        conversation: ConversationClock,
        maker: TurnMaker,
        on_turn: OnTurn,
        dispatch: Callable[[Event], None],
        written: Callable[[], None],
        hears_stop: HearsStop | None,
        clock: Clock,
    ) -> None:
        """See `ConversationLoop` for `on_turn`. `dispatch` sends an event to the turn machine.
        `written` is called when `on_turn` has ended."""
        self.turn: Turn | None = None  # the newest turn, open or just closed
        self.task: asyncio.Task[None] | None = None  # task of the newest turn
        self.unfinished = 0  # turns that are open or being stored
        self.opened = self.closed = 0  # counts of turns, without announcements
        self.group = asyncio.TaskGroup()
        # Notified when a person speaks to Hearth or asks for silence, to stop ringing timers.
        self.heard: Listeners[[]] = Listeners("speech to us")
        self.announced: Listeners[[str, bool]] = Listeners("announcements")
        self.followers = TurnListeners()
        self._mouth, self._catalogue = voice.mouth, voice.catalogue
        self._services = services
        self._hearing = hearing
        self._conversation = conversation
        self._maker = maker
        self._on_turn = on_turn
        self._dispatch = dispatch
        self._written = written
        self._hears_stop = hears_stop
        self._clock = clock
        self._waiting: asyncio.Task[None] | None = None  # timer for the thinking tone

    def perform(self, effect: Effect) -> None:
        match effect:
            case OpenTurn():
                self._open(effect)
            case Anticipate():
                self._services.when_set(lambda services: services.brain.anticipate())
            case WatchSpeech(from_ms, after_ms):
                self._hearing.watch(from_ms, after_ms)
            case ReleaseSound() if self.turn is not None and self.turn.audio is not None:
                self.turn.audio.release()
            case StopWatching():
                self._hearing.unwatch()
            case ForgetSound():
                self._hearing.forget()
            case ListenForStop(from_ms, after):
                self._listen_for_stop(from_ms, after)
            case Duck(on):
                self._mouth.duck(on)
            case Hush():
                self.heard.tell()
            case AwaitAnswer() | HearAnswer() | EndAnswer() | NoAnswer():
                if self.turn is not None and (open_question := self.turn.open_question):
                    open_question.take(effect, self._hearing, self._maker.new_turn_id)
                if isinstance(effect, EndAnswer | NoAnswer):
                    self._conversation.stand()
            case PlaySound(name):
                self.group.create_task(self._play(name))
            case SoundOpening(turn):
                self.group.create_task(self._sound_opening(turn))
            case WatchThinking():
                self._watch_thinking(effect)
            case EndListening():
                self._end_listening(effect)
            case SayLine(_, key) if self.turn is not None:
                line = self._catalogue.line(key, self.turn.language)
                self.turn.say(line.text, line.language)
            case SayText(_, text) if self.turn is not None:
                self.turn.say(text, self._catalogue.own(self.turn.language))
            case AnnounceLine(key):
                language = self.turn.language if self.turn else self._maker.languages.first
                line = self._catalogue.line(key, language)
                self._dispatch(Announced(line.text, line.language))
            case FinishSpeech() if self.turn is not None:
                self.turn.speech.reply.finish()
            case CancelTurn(_, reason):
                self._cancel(reason)
            case CloseTurn():
                self._close(effect)

    def _open(self, opening: OpenTurn) -> None:
        if opening.source not in ("text", "announcement"):
            self.heard.tell()
        turn = self._maker.make(opening, self.turn, self._dispatch, self.group.create_task)
        turn.follower = self.followers
        self.turn = turn
        self.opened += _is_asked_for(turn)
        self.unfinished += 1
        self.task = self.group.create_task(self._run(turn))
        self.followers.opened(turn)

    def _watch_thinking(self, watch: WatchThinking) -> None:
        self._forget_waiting()
        if self._hearing.in_a_room:
            self._waiting = self.group.create_task(self._wait(watch))

    async def _wait(self, watch: WatchThinking) -> None:
        await self._clock.sleep(watch.after_ms / 1000)
        self._waiting = None
        self._dispatch(StillThinking(watch.turn))

    def _forget_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _listen_for_stop(self, from_ms: float, after: int) -> None:
        if self._hears_stop is not None:
            pcm = self._hearing.answer(max(0.0, from_ms - _STOP_LEAD_MS)).pcm
            self.group.create_task(self._hear_stop(self._hears_stop, pcm, after))

    async def _hear_stop(self, hears_stop: HearsStop, pcm: bytes, after: int) -> None:
        if await hears_stop(pcm):
            self._dispatch(StopHeard(after))

    def _cancel(self, reason: CancelReason) -> None:
        self._mouth.stop()
        if self.task is not None:
            self.task.cancel()
        if self.turn is None:
            return
        self._tell_cut(self.turn)  # report this before the next turn begins
        self.turn.cut_short(reason)
        # Deferred until calls requested in this step have begun, because only those can be left.
        if (services := self._services.value) is not None:
            leave = services.tools.leave
            asyncio.get_running_loop().call_soon(leave, self.turn.turn_id)

    def _tell_cut(self, turn: Turn) -> None:
        heard = turn.sounded.take_cut()
        if heard is not None and turn.brain is not None:
            self._services.get().tell_heard(turn.brain, turn.turn_id, heard)

    async def _run(self, turn: Turn) -> None:
        try:
            await turn.run()
        except Exception:
            # Last resort: whatever failed in this turn, the next one must work.
            _log.exception("turn %s broke", turn.turn_id)
            turn.break_off()
            if self.turn is turn:
                self._dispatch(StopAsked())
                if not (turn.opening.silent or turn.opening.terminal):
                    # Play the error sound, so that the person does not wait for an answer.
                    self.group.create_task(self._play("error"))

    def _end_listening(self, ending: EndListening) -> None:
        if self.turn is None:
            return
        speech_end = ending.speech_end_ms
        if speech_end is None:
            # The end of a file or the time limit ended the sentence.
            speech_end = self._hearing.last_voiced_ms
        if speech_end is not None:
            speech_end = self._conversation.at(speech_end)
        self.turn.end_listening(speech_end, self._conversation.at(ending.decided_ms))
        self._conversation.stand()
        self.followers.whole(self.turn)

    def _close(self, closing: CloseTurn) -> None:
        self._forget_waiting()
        if self.turn is not None and self.task is not None:
            self.group.create_task(self._write_down(self.turn, self.task, closing))

    async def _write_down(self, turn: Turn, task: asyncio.Task[None], closing: CloseTurn) -> None:
        await asyncio.wait([task])  # a cancelled turn still has to finish
        self._tell_cut(turn)
        turn.close(closing)
        if turn.opening.source == "announcement":
            self._end_announcement(turn)
        try:
            await self._on_turn(turn, closing)
        finally:
            turn.written.set()
            self.closed += _is_asked_for(turn)
            self.unfinished -= 1
            self._written()

    def _end_announcement(self, turn: Turn) -> None:
        opening = turn.opening
        if turn.asking is not None:
            return  # the program decides whether to ask again
        if turn.cut == "barge_in" and turn.sounded.only_toned:
            # Only the opening tone was audible, so queue the announcement again.
            manner = opening.manner or PLAIN
            self._dispatch(Announced(opening.text or "", turn.language, manner, opening.then))
        else:
            self.announced.tell(opening.text or "", turn.error is None)

    async def _sound_opening(self, turn: int) -> None:
        self._dispatch(OpeningSounded(turn, await self._mouth.tell_opening()))

    async def _play(self, name: str) -> None:
        try:
            await self._mouth.sound(name)
        except AudioError as error:
            _log.warning("the %s sound could not be played: %s", name, error)


def _is_asked_for(turn: Turn) -> bool:
    return turn.opening.source != "announcement"
