"""The composition root: wires the parts of one process together by the settings."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from assistant.announcements import Announcements
from assistant.bridge import Bridge, open_bridge
from assistant.clock import Clock, SystemClock
from assistant.config.schema import Settings
from assistant.house_device import DeviceKeeper
from assistant.journal.records import new_id
from assistant.minds import open_minds
from assistant.questions import means_of
from assistant.speech.identify import identify
from assistant.speech.mouth import Mouth
from assistant.timers.ringer import Ringer
from assistant.tools.watch import Watch
from assistant.turn.ear import Ear
from assistant.turn.exchange import Prompter
from assistant.turn.language import Languages
from assistant.turn.log import TurnLog
from assistant.turn.machine import Rules
from assistant.turn.performers import Performers
from assistant.turn.runner import Runner
from assistant.voices import silent_voice, voices_of
from assistant.works import Works
from audio.endpoint import Endpointer
from audio.errors import AudioError
from audio.player import NullPlayer, Player
from audio.tts import EspeakVoice
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """What one process of Hearth is made of."""

    settings: Settings
    bridge: Bridge
    runner: Runner
    log: TurnLog
    notices: tuple[str, ...]  # what a person should know at the start, a sentence each


@asynccontextmanager
async def open_app(
    settings: Settings,
    player: Player | None,
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
        mouth = _mouth(settings, player, works.controls.pace)
        stack.callback(mouth.close)
        if hears:
            await _warm(mouth, settings.assistant.languages)
        ear = _ear(settings) if hears else None
        if ear is not None:
            stack.callback(ear.close)
        log = TurnLog(bridge.store)
        log.keep_words = bridge.keeps_words
        runner = Runner(
            Performers(
                minds.ladder,
                works.runner_of_calls(resident=resident),
                mouth,
                bridge.catalogue,
                means_of(settings, bridge, minds, clock, prompter),
            ),
            ear,
            bridge.catalogue,
            clock,
            lambda: new_id(clock.now()),
            log.record,
            languages=_languages(settings),
            rules=Rules(follow_up=settings.assistant.follow_up),
            profiles={word.model: word.profile for word in settings.wake.words if word.profile},
        )
        works.serve(minds, runner, log, mouth)
        await stack.enter_async_context(runner)
        if player is not None:
            works.announcer.here = runner.announce
        if resident:
            await _stay(stack, settings, bridge, runner, mouth, clock)
        yield App(settings, bridge, runner, log, minds.notices)


async def _stay(
    stack: AsyncExitStack,
    settings: Settings,
    bridge: Bridge,
    runner: Runner,
    mouth: Mouth,
    clock: Clock,
) -> None:
    """What only a process that stays does: watch movements, ring timers, be a device."""
    watch = Watch(bridge.home, bridge.catalogue, runner.announce)
    bridge.tools.tell((await stack.enter_async_context(watch)).follow)
    ringer = Ringer(bridge.store, runner, mouth.sound, mouth.stop, bridge.catalogue, clock)
    runner.on_heard = (await stack.enter_async_context(ringer)).heard
    if bridge.demo is None:
        await _be_a_device(stack, settings, bridge, runner, mouth, clock)


async def _be_a_device(
    stack: AsyncExitStack,
    settings: Settings,
    bridge: Bridge,
    runner: Runner,
    mouth: Mouth,
    clock: Clock,
) -> None:
    """Home Assistant has Hearth among its devices, and what it sends there is spoken."""
    codes = tuple(settings.assistant.languages)
    announcements = await stack.enter_async_context(
        Announcements(bridge.store, runner, mouth.sound, codes[0])
    )
    keeper = DeviceKeeper(
        bridge.device,
        settings,
        bridge.home,
        announcements,
        bridge.catalogue,
        clock,
        lambda text: identify(text, codes),
        set_mode=bridge.moments.modes.set,
    )
    await stack.enter_async_context(keeper)


def _languages(settings: Settings) -> Languages:
    codes = tuple(settings.assistant.languages)
    return Languages(codes, lambda text, expected: identify(text, codes, expected))


async def _warm(mouth: Mouth, languages: Sequence[str]) -> None:
    """Load the voices; the recogniser's models load while the first person speaks."""
    try:
        await mouth.warm(languages)
    except AudioError as error:
        _log.warning("%s", error)  # each turn tries again, and says if it cannot


def _mouth(settings: Settings, player: Player | None, pace: Callable[[], float]) -> Mouth:
    if player is None:
        return Mouth(silent_voice, NullPlayer(paced=False))
    return Mouth(
        voices_of(settings, pace),
        player,
        settings.voice.volume,
        fallback=lambda language: EspeakVoice(language, pace),
    )


def _ear(settings: Settings) -> Ear:
    wake = settings.wake
    engine = make_wake_engine(
        wake.engine,
        [word.model for word in wake.words],
        wake.sensitivity,
        {word.model: word.sensitivity for word in wake.words if word.sensitivity},
    )
    voice = make_voice_detector()
    return Ear(engine, voice, Endpointer(chunk_samples=voice.chunk_samples))
