"""Who hears, waits and speaks: what is there before the house, its tools and the brains are.

It brings none of the packages that take long to import, so that a wake word counts a second after
the start. A turn that begins before `serve` waits for it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assistant.config.schema import Settings
from assistant.conversation.acknowledgement import Acknowledging
from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.endpointing import open_endings
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog
from assistant.conversation.rules.machine import Rules
from assistant.conversation.stop_words import DecodedStop, StopListener
from assistant.conversation.turn_services import LateBrain, LateTools, TurnServices
from assistant.domain.brain import TurnRequest
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.records import new_id
from assistant.interfaces.controls import Controls
from assistant.journal.store import Store
from assistant.sound.devices import silent_voice, spare_voices_of, voices_of, wake_engine
from assistant.sound.mute import Mute
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import languages_of
from assistant.speech.output import SpeechOutput
from audio.endpoint import Endpointer
from audio.player import NullPlayer, Outputs, Player
from audio.vad import make_voice_detector
from integrations.home_assistant.house import House

if TYPE_CHECKING:
    from assistant.brains.offline.listen import Listener


@dataclass(slots=True)
class Later:
    """What the conversation asks of the house and the brains; until they are there, of nobody."""

    house: Callable[[], House] = House
    ear: "Callable[[], Awaitable[Listener]] | None" = None  # the device's own recogniser

    async def transcribe(self, pcm: bytes) -> str:
        """What the device's own recogniser hears; "" as long as there is none."""
        return "" if self.ear is None else await (await self.ear()).transcribe(pcm)


@dataclass(frozen=True, slots=True)
class BoxConversation:
    """One process's."""

    settings: Settings
    clock: Clock
    store: Store
    catalogue: Catalogue
    controls: Controls
    mouth: SpeechOutput
    log: TurnLog
    runner: ConversationLoop
    mute: Mute | None  # of a process that stays
    performers: TurnServices
    brain: LateBrain = field(repr=False)
    tools: LateTools = field(repr=False)
    later: Later = field(repr=False)
    speaks: bool = True  # answers are spoken; False: nothing is synthesised

    def serve(self, performers: TurnServices) -> None:
        """These do the work from now on, and of the turn that waits for them."""
        now = self.performers
        now.brain, now.tools = performers.brain, performers.tools
        now.asking, now.tell_heard = performers.asking, performers.tell_heard
        now.profiles, now.limits = performers.profiles, performers.limits
        self.tools.become(performers.tools)
        self.brain.become(performers.brain, self._begin)

    def _begin(self, request: TurnRequest) -> None:
        """A turn that has waited has a profile too."""
        if self.performers.profiles is not None:
            self.performers.profiles.begin(request.turn_id, request.profile)


@asynccontextmanager
async def open_conversation(
    settings: Settings,
    player: Outputs | Player | None,
    *,
    hears: bool,
    resident: bool,
    paced: bool = False,
) -> AsyncIterator[BoxConversation]:
    """See `assistant.app.build.open_app`. Raises ConfigError, AudioError and StoreError.

    Whether the microphone is muted is known when it is given.
    """
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store(settings.database, clock))
        controls = Controls(settings.voice, store, clock)
        await controls.restore()
        catalogue, later = Catalogue(), Later()
        mouth = _mouth(settings, player, controls, resident=resident)
        stack.callback(mouth.close)
        paced = paced or resident
        ear = await _open_ear(stack, settings, later, paced=paced) if hears else None
        log = TurnLog(store)
        brain, tools = LateBrain(), LateTools()
        acknowledging = _acknowledging(settings, later)
        performers = TurnServices(brain, tools, mouth, catalogue, acknowledging=acknowledging)
        runner = ConversationLoop(
            performers,
            ear,
            catalogue,
            clock,
            lambda: new_id(clock.now()),
            log.record,
            languages=languages_of(settings.assistant.languages),
            rules=Rules(follow_up=settings.assistant.follow_up),
            profiles=_profiles(settings),
            stop_listener=_stop_listener(settings, later),
        )
        await stack.enter_async_context(runner)
        mute = Mute(store, runner, mouth.sound, mouth.tell_opening) if resident else None
        if mute is not None:
            await mute.load()
        yield BoxConversation(
            settings,
            clock,
            store,
            catalogue,
            controls,
            mouth,
            log,
            runner,
            mute,
            performers,
            brain,
            tools,
            later,
            speaks=player is not None,
        )


def _profiles(settings: Settings) -> Mapping[str, str]:
    return {word.model: word.profile for word in settings.wake.words if word.profile}


def _mouth(
    settings: Settings, player: Outputs | Player | None, controls: Controls, *, resident: bool
) -> SpeechOutput:
    if player is None:
        return SpeechOutput(silent_voice, NullPlayer(paced=False))
    return SpeechOutput(
        voices_of(settings, controls.pace, ahead=resident),
        player,
        settings.voice.volume,
        fallback=spare_voices_of(settings, controls.pace),
        off=settings.sounds.off,
    )


def _acknowledging(settings: Settings, later: Later) -> Acknowledging:
    habit = settings.voice.acknowledge if settings.sounds.done else "words"
    return Acknowledging(habit, settings.assistant.area, lambda: later.house())


def _stop_listener(settings: Settings, later: Later) -> StopListener | None:
    """Stop words by ear: of the device's own recogniser alone it is known that it hears English."""
    return None if settings.offline.recognizer else DecodedStop(later.transcribe)


async def _open_ear(
    stack: AsyncExitStack, settings: Settings, later: Later, *, paced: bool
) -> AudioFrontEnd:
    """The ear, until the stack is closed."""
    # A file that is read at full speed is ahead of any recogniser.
    languages = settings.assistant.languages if paced else ()
    endings = await stack.enter_async_context(
        open_endings(languages, lambda: later.house(), settings.assistant.area)
    )
    voice = make_voice_detector()
    endpointer = Endpointer(chunk_samples=voice.chunk_samples)
    ear = AudioFrontEnd(wake_engine(settings), voice, endpointer, endings)
    stack.callback(ear.close)
    return ear
