"""Connects the parts of one process according to the settings. Read `open_around` from top to
bottom: each part is built from the parts above it."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from assistant.app.brains import BrainSet, open_brains
from assistant.app.conversation import BoxConversation, open_conversation
from assistant.app.home import HomeContext, open_home
from assistant.app.services import DaemonServices, make_announcements, open_daemon_services
from assistant.app.tools import BackgroundWork, open_background_work
from assistant.config.schema import Settings
from assistant.confirmation.pin import PinGuard
from assistant.confirmation.witness import Hears, OwnersPhone, Witness
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog
from assistant.conversation.rules.events import Prompter
from assistant.conversation.turn_services import TurnServices
from assistant.interfaces.live_settings import LiveSettings
from assistant.sound.devices import voices_of
from assistant.speech.output import SpeechOutput
from assistant.tools.policy.choices import Profiles
from audio.errors import AudioError
from audio.player import Outputs, Player
from integrations.home_assistant.phones import Phones
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """A fully assembled Hearth process."""

    settings: Settings
    home: HomeContext
    brains: BrainSet
    runner: ConversationLoop
    log: TurnLog
    notices: tuple[str, ...]  # sentences to show at the start
    speech_output: SpeechOutput
    daemon: DaemonServices | None  # None except in the daemon


@asynccontextmanager
async def open_app(
    settings: Settings,
    player: Outputs | Player | None,
    *,
    hears: bool,
    resident: bool = False,
    paced: bool = False,
    prompter: Prompter | None = None,
) -> AsyncIterator[App]:
    """Build and connect all parts, and close them on exit.

    `player` plays the answers; with None, nothing is synthesised. `hears` is True if Hearth will
    listen to audio. `resident` is True if the process keeps running, so that slow work can continue
    in the background. `paced` is True if audio arrives in real time. `prompter` asks questions at
    the keyboard, if a person is there.

    Raises ConfigError, AudioError and StoreError. An unreachable Home Assistant is not an error.
    """
    async with (
        open_conversation(
            settings, player, hears=hears, resident=resident, paced=paced
        ) as conversation,
        open_around(conversation, hears=hears, resident=resident, prompter=prompter) as app,
    ):
        yield app


@asynccontextmanager
async def open_around(
    conversation: BoxConversation,
    *,
    hears: bool,
    resident: bool,
    prompter: Prompter | None = None,
) -> AsyncIterator[App]:
    """Open everything around a conversation that may already be listening; see `open_app`."""
    settings, clock, runner = conversation.settings, conversation.clock, conversation.runner
    mouth, controls, log = conversation.mouth, conversation.controls, conversation.log
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if hears or resident:
            tasks = await enter(OwnedTasks())
            warming = tasks.start(_warm(mouth, settings.assistant.languages), "voices")
        home = await enter(
            open_home(
                settings,
                clock,
                resident=resident,
                store=conversation.store,
                catalogue=conversation.catalogue,
            )
        )
        conversation.home.set(home)
        brains = await enter(
            open_brains(
                settings, home, clock, resident=resident, next_profile=lambda: runner.next_profile
            )
        )
        conversation.brains.set(brains)
        home.tools.when_tainted(brains.forget)
        if hears or resident:
            await warming
        live = LiveSettings(settings, home.store, controls)
        mouth.limit(lambda: live.quiet.loudest(clock.now()))
        controls.serve(mouth, log, brains.forgetting, runner.end_talk)
        announcements = make_announcements(conversation, home) if conversation.mute else None
        say = announcements.say if announcements is not None else runner.announce
        work = await enter(
            open_background_work(
                settings,
                home,
                clock,
                resident=resident,
                brains=brains,
                conversation=conversation,
                say=say,
            )
        )
        # Ends the current turn first on exit, because it needs everything opened above.
        stack.push_async_callback(runner.end)
        daemon, notices = None, list(brains.notices)
        if announcements is not None:
            opening = open_daemon_services(conversation, home, announcements, work, live)
            daemon = await enter(opening)
            notices += ["The microphone is muted."] if daemon.mute.on else []
        services = _turn_services(conversation, home, brains, work, prompter, ahead=resident)
        conversation.services.set(services)
        yield App(settings, home, brains, runner, log, tuple(notices), mouth, daemon)


def _turn_services(
    conversation: BoxConversation,
    home: HomeContext,
    brains: BrainSet,
    work: BackgroundWork,
    prompter: Prompter | None,
    *,
    ahead: bool,
) -> TurnServices:
    settings, controls = conversation.settings, conversation.controls
    voices = partial(voices_of, speed=controls.pace, ahead=ahead)
    return TurnServices(
        brains.chain,
        work.calls,
        asking_services(settings, home, brains, conversation, prompter),
        brains.tell_heard,
        Profiles(settings, conversation.mouth, home.tools.narrow, voices),
        limits=home.tools,
        meant=home.own_sentences.meant,
    )


async def _warm(mouth: SpeechOutput, languages: Sequence[str]) -> None:
    """Load the voices, so that the first answer isn't late."""
    try:
        await mouth.warm(languages)
    except AudioError as error:
        _log.warning("%s", error)  # each turn tries again and reports a failure


def asking_services(
    settings: Settings,
    home: HomeContext,
    brains: BrainSet,
    conversation: BoxConversation,
    prompter: Prompter | None,
) -> AskingServices:
    pin = settings.policy.pin
    guard = PinGuard(pin, home.store, conversation.clock) if pin.get_secret_value() else None
    wake = [word.model.replace("_", " ") for word in settings.wake.words]
    languages = settings.assistant.languages
    witness = Witness(languages, guard, brains.ear, _hears(settings, languages), wake)
    phone = None
    if settings.policy.phone:
        phones = Phones(home.client, home.own_device)
        name = settings.assistant.name
        phone = OwnersPhone(phones, settings.policy.phone, name, home.catalogue)
    return AskingServices(witness, prompter, phone, brains.learn)


def _hears(settings: Settings, languages: Sequence[str]) -> Hears:
    """Return the languages that the recogniser supports, and those in which users may speak a
    secret such as a PIN. Audio with a secret is never sent to a recogniser on another computer."""
    recognizer = settings.offline.recognizer
    if not recognizer:
        return Hears(("en",), ("en",))
    return Hears(tuple(languages), () if "://" in recognizer else tuple(languages))
