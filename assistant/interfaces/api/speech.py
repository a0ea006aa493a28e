"""Speech from browsers. Each browser that is connected to `/v1/speech` has its own conversation,
with the same rules, brains and tools as the one at the box, but its own sound and history."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from assistant.announcements.service import AnnouncementService
from assistant.config.schema import Settings
from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.endpointing import open_endings
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnListener, TurnLog, TurnTelling, record_of
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.rules.events import SourceBack, SourceEnded, WakeHeard
from assistant.conversation.rules.state import Rules, Standing, State
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import Speaker, TurnServices, TurnVoice
from assistant.domain.brain import ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred, EventBus
from assistant.domain.records import new_id
from assistant.domain.tool_call import CALLERS, ToolOutcome
from assistant.interfaces.api.parts import OnPage
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import languages_of
from assistant.speech.output import SpeechOutput
from audio.endpoint import Endpointer
from audio.frames import (
    FRAME_BYTES,
    FRAME_MS,
    FRAME_SAMPLES,
    SAMPLE_RATE,
    SAMPLES_PER_MS,
    Frame,
    Framer,
)
from audio.player import AHEAD_SECONDS, NullPlayer
from audio.vad import make_voice_detector
from audio.wake import Detection, NearMiss
from integrations.home_assistant.house import House
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.requests import AnnounceRequest, SpeechCommand
from integrations.web.speech import SpeechLine

WORD = "browser"  # in the journal, in place of the wake word
# The page shows what these tones tell at the box.
_UNPLAYED = ("wake", "end", "open", "thinking")
# Without sound from the browser for this long, silence is assumed: a hidden page sends none. A slow
# network only delays the sound.
_STALL_S = 2.0
_HEARS = frozenset({State.WAKING, State.LISTENING, State.FOLLOW_UP})
# The browser may still be playing the end of the answer when the microphone opens.
_ECHO_TAIL_MS = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechParts:
    """The components that the conversations of all browsers share."""

    settings: Settings
    clock: Clock
    catalogue: Catalogue
    mouth: SpeechOutput  # the box's; browsers use its voices
    log: TurnLog
    box: ConversationLoop  # the box's own conversation
    services: Deferred[TurnServices]
    bus: EventBus
    announcing: AnnouncementService
    house: Callable[[], House]
    silence: Callable[[], None]  # ends the ringing of timers, as a person who speaks does


class BrowserSpeech:
    """The conversations of all browsers. On exit, they are ended and their calls finished."""

    def __init__(self, parts: SpeechParts) -> None:
        self._parts = parts
        self._group = asyncio.TaskGroup()
        self._open: list[tuple[SpeechLine, ConversationLoop]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for line, _ in self._open:
            line.gone.set()
        await self._group.__aexit__(kind, error, trace)

    def asked(self) -> Sequence[ConfirmationDialog | None]:
        """Return the newest confirmation of each conversation."""
        return [runner.exchange for _, runner in self._open]

    async def converse(self, line: SpeechLine, recalls: bool) -> None:
        """Converse with the person at this browser until it is gone. With `recalls`, the brain may
        use memories."""
        conversation = self._group.create_task(self._converse(line, recalls), name="browser speech")
        await asyncio.shield(conversation)  # it finishes the calls after the browser has left

    async def _converse(self, line: SpeechLine, recalls: bool) -> None:
        try:
            async with _open_conversation(self._parts, line, recalls) as (runner, microphone):
                self._open.append((line, runner))
                listening = asyncio.create_task(runner.listen(microphone))
                leaving = asyncio.create_task(line.gone.wait())
                try:
                    line.tell("ready")
                    await asyncio.wait({listening, leaving}, return_when=asyncio.FIRST_COMPLETED)
                    if listening.done():
                        listening.result()  # it ends only by failing
                finally:
                    for task in (listening, leaving):
                        task.cancel()
                    await asyncio.wait({listening, leaving})
                    self._open.remove((line, runner))
        except Exception:  # one browser must not end the daemon
            _log.exception("the conversation with a browser broke")


@asynccontextmanager
async def _open_conversation(
    parts: SpeechParts, line: SpeechLine, recalls: bool
) -> AsyncIterator[tuple[ConversationLoop, "PageMicrophone"]]:
    settings, caller = parts.settings, line.caller
    who = caller.session[:16] or caller.token
    name = "" if caller.is_person else caller.name
    speaker = Speaker(ConversationOwner(name, who, recalls), name)
    player = PagePlayer(line)
    mouth = parts.mouth.beside(player, {*_UNPLAYED, *settings.sounds.off})
    services = Deferred[TurnServices]()
    async with AsyncExitStack() as stack:
        stack.callback(mouth.close)
        languages = settings.assistant.languages
        endings = await stack.enter_async_context(
            open_endings(languages, parts.house, settings.assistant.area)
        )
        voice = await asyncio.to_thread(make_voice_detector)
        endpointer = Endpointer(chunk_samples=voice.chunk_samples)
        ear = AudioFrontEnd(NoWakeWord(), voice, endpointer, endings)
        stack.callback(ear.close)
        page = PageTurns(parts, line, player)
        runner = ConversationLoop(
            TurnVoice(mouth, parts.catalogue, speaker=speaker),
            services,
            ear,
            parts.clock,
            lambda: new_id(parts.clock.now()),
            page.record,
            languages=languages_of(languages),
            rules=Rules(
                settle_ms=0, echo_tail_ms=_ECHO_TAIL_MS, follow_up=settings.assistant.follow_up
            ),
        )
        services.set(_services_of(parts, line, runner))
        runner.follow(page)
        runner.follow(TurnTelling(parts.bus))
        stack.callback(runner.observe(page.stand))
        if caller.may("speak"):
            runner.add_bell(lambda: False, parts.silence)
        await stack.enter_async_context(runner)
        yield runner, PageMicrophone(line, runner, page)


def _services_of(parts: SpeechParts, line: SpeechLine, runner: ConversationLoop) -> TurnServices:
    """Return the box's services, with the page as the only place where calls are confirmed."""
    shared = parts.services.get()
    asking = None
    if line.caller.is_person and shared.asking is not None:
        page = OnPage(line.caller.session, lambda: runner.exchange)
        asking = replace(shared.asking, prompter=page, learn=lambda text: None, on_page=True)
    profiles = shared.profiles.without_voices() if shared.profiles is not None else None
    return replace(shared, asking=asking, profiles=profiles)


class PageTurns(TurnListener):
    """Tells the page about its turns, and stores them."""

    def __init__(self, parts: SpeechParts, line: SpeechLine, player: "PagePlayer") -> None:
        self._parts = parts
        self._line = line
        self._player = player
        self._turn: Turn | None = None
        self._told = ""  # the answer so far, as told
        self._state = State.IDLE  # as told
        self.on_box = False  # answers are spoken on the box
        player.before = self._tell_answer

    @property
    def profile(self) -> str:
        """The profile of the next turn."""
        return self._parts.box.next_profile

    def press(self, command: SpeechCommand) -> bool:
        """Apply where the answer is to be heard. Returns False if the caller may not choose it."""
        on_box = command.answer == "box"
        if on_box and not self._line.caller.may("speak"):
            self._line.fail("forbidden", "You can't have answers spoken on the box.")
            return False
        self.on_box, self._player.on = on_box, command.answer == "page"
        return True

    def stand(self, standing: Standing) -> None:
        self._tell_answer()
        if standing.state is not self._state:
            self._state = standing.state
            self._line.tell("state", state=standing.state.name.lower())

    def opened(self, turn: Turn) -> None:
        self._turn, self._told = turn, ""
        if name := turn.opening.caller:
            limits = self._parts.services.get().limits
            assert limits is not None  # always set in the daemon
            limits.restrict(turn.turn_id, CALLERS, name)  # before the turn's first step

    def heard(self, turn: Turn) -> None:
        self._line.tell("heard", text=turn.heard or "", final=False)

    def understood(self, turn: Turn) -> None:
        if turn.heard:
            self._line.tell("heard", text=turn.heard, final=True)

    def asked(self, turn: Turn) -> None:
        self._line.tell("confirmation", turn_id=turn.turn_id)

    def called(self, turn: Turn, outcome: ToolOutcome) -> None:
        told = {"status": str(outcome.status), "decision": str(outcome.decision)}
        self._line.tell("call", name=outcome.name, **told)

    async def record(self, turn: Turn, closing: CloseTurn) -> None:
        """Store the finished turn and tell the page about it."""
        await self._parts.log.record(turn, closing)
        record = record_of(turn, closing)
        error = None
        if record.error is not None:
            error = {"kind": record.error.kind, "message": record.error.message}
        told = {"turn_id": record.turn_id, "heard": record.heard, "answer": record.answer}
        self._line.tell("done", **told, error=error)
        if self.on_box and record.answer:
            await self._say_on_box(record.answer)
        if turn.opening.caller and (limits := self._parts.services.get().limits) is not None:
            await turn.calls.over()
            limits.release(turn.turn_id)

    async def _say_on_box(self, answer: str) -> None:
        wanted = AnnounceRequest(text=answer[:1000], preannounce=False)
        try:
            await self._parts.announcing.announce(wanted, self._line.caller)
        except (NotAnnounced, NotPossible) as error:
            self._line.fail("not_announced", str(error))

    def _tell_answer(self) -> None:
        """Tell the answer's text as far as it is known, just before it is heard."""
        text = self._turn.answer if self._turn is not None else ""
        if text != self._told:
            self._told = text
            self._line.tell("answer", text=text)


class PagePlayer(NullPlayer):
    """Sends audio to the page, which plays it at once."""

    def __init__(self, line: SpeechLine) -> None:
        super().__init__(paced=True)
        self.on = True  # False: the page doesn't want the sound
        self.before: Callable[[], None] = lambda: None  # called before audio is sent
        self._line = line

    async def play(self, pcm: bytes, rate: int) -> None:
        self.before()
        if not self.on:
            return
        if await self._pace.wait_until(AHEAD_SECONDS):
            self._line.play(pcm, rate)
            self._pace.accept(len(pcm) / 2 / rate)

    def stop(self) -> None:
        if self._pace.ahead > 0:
            self._line.tell("quiet")
        super().stop()


class PageMicrophone:
    """The sound that a page sends, as a source of frames. Between turns, time passes without
    frames. The page's commands take effect in order with its sound."""

    pulled = False

    def __init__(self, line: SpeechLine, runner: ConversationLoop, turns: PageTurns) -> None:
        self._line = line
        self._runner = runner
        self._turns = turns
        self._framer = Framer()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        loop = asyncio.get_running_loop()
        began, waits_s = loop.time(), _STALL_S
        while True:
            try:
                # During a turn, the microphone may be needed at any moment.
                async with asyncio.timeout(None if self._runner.machine.rests else waits_s):
                    given = await self._line.incoming.get()
            except TimeoutError:
                if self._runner.state not in _HEARS:
                    waits_s = _STALL_S
                    continue
                given, waits_s = bytes(FRAME_BYTES), FRAME_MS / 1000
            else:
                waits_s = _STALL_S
            if isinstance(given, bytes):
                for frame in self._framer.push(given):
                    yield frame
            else:
                self._obey(given, loop.time() - began)

    def _obey(self, command: SpeechCommand, now_s: float) -> None:
        runner = self._runner
        match command.type:
            case "press" if runner.state is State.CONFIRMING:
                message = "Answer the question on the screen first, or choose Stop."
                self._line.fail("confirming", message)
            case "press" if runner.state not in (State.WAKING, State.LISTENING):
                if self._turns.press(command):
                    self._skip_to(now_s)
                    at_ms = self._framer.start / SAMPLES_PER_MS
                    runner.use_profile(self._turns.profile)  # as at the box
                    runner.dispatch(WakeHeard(WORD, 1.0, at_ms, at_ms, pressed=True))
            case "release" if runner.state in (State.WAKING, State.LISTENING):
                # The end of the sound ends the sentence, and the next sound is expected at once.
                runner.dispatch(SourceEnded(runner.at_ms))
                runner.dispatch(SourceBack(runner.at_ms))
            case "stop":
                runner.stop()

    def _skip_to(self, now_s: float) -> None:
        """Let the source's clock catch up with real time, because rules measure pauses with it."""
        now = int(now_s * SAMPLE_RATE) // FRAME_SAMPLES * FRAME_SAMPLES
        self._framer = Framer(max(self._framer.start, now))


class NoWakeWord:
    """A wake engine that detects nothing, because a browser has a button."""

    score = closeness = 0.0
    scores: dict[str, float] = {}  # noqa: RUF012  (never changed)

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        return None

    def near_misses(self) -> list[NearMiss]:
        return []

    def strict(self, on: bool) -> None:
        pass

    def restart(self) -> None:
        pass

    def close(self) -> None:
        pass
