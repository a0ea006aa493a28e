"""Opens the parts that listen and speak, before the house, its tools and the brains. This module
must not import slow packages, so that Hearth listens soon after the start."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.config.schema import Settings
from assistant.conversation.acknowledgement import Acknowledging
from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.endpointing import open_endings
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog
from assistant.conversation.rules.machine import Rules
from assistant.conversation.stop_words import HearsStop, hears_stop
from assistant.conversation.turn_services import TurnServices, TurnVoice
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.events import Deferred
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
    from assistant.app.brains import BrainSet
    from assistant.app.home import HomeContext


@dataclass(frozen=True, slots=True)
class BoxConversation:
    """The conversation of one process, and the parts opened with it. `home`, `brains` and
    `services` are set later, by `assistant.app.build.open_around`."""

    settings: Settings
    clock: Clock
    store: Store
    catalogue: Catalogue
    controls: Controls
    mouth: SpeechOutput
    log: TurnLog
    runner: ConversationLoop
    mute: Mute | None  # None except in the daemon
    speaks: bool  # False if nothing is synthesised
    home: "Deferred[HomeContext]"
    brains: "Deferred[BrainSet]"
    services: Deferred[TurnServices]


@asynccontextmanager
async def open_conversation(
    settings: Settings,
    player: Outputs | Player | None,
    *,
    hears: bool,
    resident: bool,
    paced: bool = False,
) -> AsyncIterator[BoxConversation]:
    """Open the conversation and restore the mute state. See `app.build.open_app` for the
    parameters. Raises ConfigError, AudioError and StoreError."""
    clock = SystemClock()
    home: Deferred[HomeContext] = Deferred()
    brains: Deferred[BrainSet] = Deferred()
    services: Deferred[TurnServices] = Deferred()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store(settings.database, clock))
        controls = Controls(settings.voice, store, clock)
        await controls.restore()
        catalogue = Catalogue()
        mouth = _mouth(settings, player, controls, resident=resident)
        stack.callback(mouth.close)
        unheard = SpeechOutput(silent_voice, NullPlayer(paced=False))
        stack.callback(unheard.close)
        paced = paced or resident
        ear = await _open_ear(stack, settings, home, paced=paced) if hears else None
        log = TurnLog(store, partial(_keeps_words, home), controls.written)
        runner = ConversationLoop(
            TurnVoice(mouth, catalogue, _acknowledging(settings, home), unheard),
            services,
            ear,
            clock,
            lambda: new_id(clock.now()),
            log.record,
            languages=languages_of(settings.assistant.languages),
            rules=Rules(follow_up=settings.assistant.follow_up),
            profiles=_profiles(settings),
            hears_stop=_stop_listener(settings, brains),
        )
        await stack.enter_async_context(runner)
        mute = Mute(store, runner.mute, mouth.sound, mouth.tell_opening) if resident else None
        if mute is not None:
            await mute.load()
        speaks = player is not None
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
            speaks,
            home,
            brains,
            services,
        )


def _house(home: "Deferred[HomeContext]") -> House:
    return House() if home.value is None else home.value.client.house


def _keeps_words(home: "Deferred[HomeContext]") -> bool:
    return home.value is None or home.value.keeps_words()


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


def _acknowledging(settings: Settings, home: "Deferred[HomeContext]") -> Acknowledging:
    habit = settings.voice.acknowledge if settings.sounds.done else "words"
    return Acknowledging(habit, settings.assistant.area, partial(_house, home))


def _stop_listener(settings: Settings, brains: "Deferred[BrainSet]") -> HearsStop | None:
    """Return a function that recognises stop words, or None if `offline.recognizer` is set, because
    only the built-in recogniser is sure to understand the English stop words."""

    async def transcribe(pcm: bytes) -> str:
        if brains.value is None:
            return ""
        return await (await brains.value.ear()).transcribe(pcm)

    return None if settings.offline.recognizer else partial(hears_stop, transcribe=transcribe)


async def _open_ear(
    stack: AsyncExitStack, settings: Settings, home: "Deferred[HomeContext]", *, paced: bool
) -> AudioFrontEnd:
    # A file that is read at full speed is over before any recogniser has a result.
    languages = settings.assistant.languages if paced else ()
    endings = await stack.enter_async_context(
        open_endings(languages, partial(_house, home), settings.assistant.area)
    )
    voice = make_voice_detector()
    endpointer = Endpointer(chunk_samples=voice.chunk_samples)
    ear = AudioFrontEnd(wake_engine(settings), voice, endpointer, endings)
    stack.callback(ear.close)
    return ear
