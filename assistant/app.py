"""The composition root: wires the parts of one process together by the settings."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from assistant.bridge import Bridge, open_bridge
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.endings import open_endings
from assistant.journal.records import new_id
from assistant.minds import Minds, open_minds
from assistant.questions import means_of
from assistant.resident import Resident, Stay
from assistant.speech.mouth import Mouth
from assistant.turn.acknowledging import Acknowledging
from assistant.turn.ear import Ear
from assistant.turn.exchange import Means, Prompter
from assistant.turn.language import languages_of
from assistant.turn.log import TurnLog
from assistant.turn.machine import Rules
from assistant.turn.performers import Performers
from assistant.turn.runner import Runner
from assistant.turn.stopping import DecodedStop, StopListener
from assistant.voices import silent_voice, spare_voices_of, voices_of
from assistant.wake_words import wake_engine
from assistant.works import Works
from audio.endpoint import Endpointer
from audio.errors import AudioError
from audio.player import NullPlayer, Outputs, Player
from audio.vad import make_voice_detector

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """What one process of Hearth is made of."""

    settings: Settings
    bridge: Bridge
    runner: Runner
    log: TurnLog
    notices: tuple[str, ...]  # what a person should know at the start, a sentence each
    mouth: Mouth
    stay: Stay | None  # of a process that stays


@asynccontextmanager
async def open_app(
    settings: Settings,
    player: Outputs | Player | None,
    *,
    hears: bool,
    resident: bool = False,
    prompter: Prompter | None = None,
) -> AsyncIterator[App]:
    """Build and connect everything, and close it in the end.

    `player`: where answers sound; None: nothing is synthesised, as for typed turns.
    `hears`: whether a source of sound will be listened to.
    `resident`: the process stays, so what takes long may go on in the background.
    `prompter`: who can be asked by keyboard, where there is anybody.
    Raises ConfigError, AudioError and StoreError; a Home Assistant that is away is no error.
    """
    clock = SystemClock()
    async with open_bridge(settings, clock, resident=resident) as bridge, AsyncExitStack() as stack:
        minds = await stack.enter_async_context(
            open_minds(settings, bridge, clock, resident=resident)
        )
        works = await stack.enter_async_context(Works(settings, bridge, clock, resident=resident))
        await works.controls.restore()
        mouth = _mouth(settings, player, works.controls.pace, resident)
        stack.callback(mouth.close)
        if hears or resident:
            await _warm(mouth, settings.assistant.languages)
        ear = await _open_ear(stack, settings, bridge, resident) if hears else None
        log = TurnLog(bridge.store)
        log.keep_words = bridge.keeps_words
        means = means_of(settings, bridge, minds, clock, prompter)
        runner = Runner(
            _performers(settings, bridge, minds, works, mouth, means, resident),
            ear,
            bridge.catalogue,
            clock,
            lambda: new_id(clock.now()),
            log.record,
            languages=languages_of(settings.assistant.languages),
            rules=Rules(follow_up=settings.assistant.follow_up),
            profiles={word.model: word.profile for word in settings.wake.words if word.profile},
            stop_listener=_stop_listener(settings, minds),
        )
        works.serve(minds, runner, log, mouth)
        await stack.enter_async_context(runner)
        if player is not None:
            works.announcer.here = runner.announce
        stay = None
        notices = list(minds.notices)
        if resident:
            stay = await Resident(settings, bridge, runner, mouth, log, clock, works).stay(stack)
            notices += ["The microphone is muted."] if stay.mute.on else []
        yield App(settings, bridge, runner, log, tuple(notices), mouth, stay)


async def _warm(mouth: Mouth, languages: Sequence[str]) -> None:
    """Load the voices; the recogniser's models load while the first person speaks."""
    try:
        await mouth.warm(languages)
    except AudioError as error:
        _log.warning("%s", error)  # each turn tries again, and says if it cannot


def _mouth(
    settings: Settings, player: Outputs | Player | None, pace: Callable[[], float], resident: bool
) -> Mouth:
    if player is None:
        return Mouth(silent_voice, NullPlayer(paced=False))
    return Mouth(
        voices_of(settings, pace, ahead=resident),
        player,
        settings.voice.volume,
        fallback=spare_voices_of(settings, pace),
        off=settings.sounds.off,
    )


def _performers(
    settings: Settings,
    bridge: Bridge,
    minds: Minds,
    works: Works,
    mouth: Mouth,
    means: Means,
    resident: bool,
) -> Performers:
    return Performers(
        minds.ladder,
        works.runner_of_calls(resident=resident),
        mouth,
        bridge.catalogue,
        means,
        _acknowledging(settings, bridge),
        minds.tell_heard,
        bridge.tools,
    )


def _acknowledging(settings: Settings, bridge: Bridge) -> Acknowledging:
    habit = settings.voice.acknowledge if settings.sounds.done else "words"
    return Acknowledging(habit, settings.assistant.area, lambda: bridge.home.house)


def _stop_listener(settings: Settings, minds: Minds) -> StopListener | None:
    """Stop words by ear: of the device's own recogniser alone it is known that it hears English."""
    if settings.offline.recognizer:
        return None

    async def transcribe(pcm: bytes) -> str:
        return await (await minds.ear()).transcribe(pcm)

    return DecodedStop(transcribe)


async def _open_ear(
    stack: AsyncExitStack, settings: Settings, bridge: Bridge, resident: bool
) -> Ear:
    """The ear, until the stack is closed."""
    # A file that is read at full speed is ahead of any recogniser.
    languages = settings.assistant.languages if resident else ()
    house = bridge.home
    endings = await stack.enter_async_context(open_endings(languages, lambda: house.house))
    voice = make_voice_detector()
    endpointer = Endpointer(chunk_samples=voice.chunk_samples)
    ear = Ear(wake_engine(settings), voice, endpointer, endings)
    stack.callback(ear.close)
    return ear
