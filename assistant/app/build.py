"""The composition root: wires the parts of one process together by the settings."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from assistant.app.background import BackgroundWork, means_of
from assistant.app.brains import BrainSet, open_brains
from assistant.app.conversation import BoxConversation, open_conversation
from assistant.app.home import HomeContext, open_home
from assistant.app.services import DaemonServices, Stay
from assistant.config.schema import Settings
from assistant.conversation.confirmation_dialog import Prompter
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog
from assistant.conversation.turn_services import TurnServices
from assistant.sound.devices import voices_of
from assistant.speech.output import SpeechOutput
from assistant.tools.policy.choices import Profiles
from audio.errors import AudioError
from audio.player import Outputs, Player
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """What one process of Hearth is made of."""

    settings: Settings
    bridge: HomeContext
    minds: BrainSet
    runner: ConversationLoop
    log: TurnLog
    notices: tuple[str, ...]  # what a person should know at the start, a sentence each
    mouth: SpeechOutput
    stay: Stay | None  # of a process that stays


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
    """Build and connect everything, and close it in the end.

    `player`: where answers sound; None: nothing is synthesised, as for typed turns.
    `hears`: whether a source of sound will be listened to.
    `resident`: the process stays, so what takes long may go on in the background.
    `paced`: the sound comes as fast as it is spoken, as a resident's always does.
    `prompter`: who can be asked by keyboard, where there is anybody.
    Raises ConfigError, AudioError and StoreError; a Home Assistant that is away is no error.
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
    """Everything else, around a conversation that may go on already. See `open_app`."""
    settings, clock, runner = conversation.settings, conversation.clock, conversation.runner
    mouth, log = conversation.mouth, conversation.log
    async with AsyncExitStack() as stack:
        if hears or resident:
            tasks = await stack.enter_async_context(OwnedTasks())
            warming = tasks.start(_warm(mouth, settings.assistant.languages), "voices")
        bridge = await stack.enter_async_context(
            open_home(
                settings,
                clock,
                resident=resident,
                store=conversation.store,
                catalogue=conversation.catalogue,
            )
        )
        minds = await stack.enter_async_context(
            open_brains(settings, bridge, clock, resident=resident)
        )
        works = BackgroundWork(
            settings, bridge, clock, resident=resident, controls=conversation.controls
        )
        await stack.enter_async_context(works)
        log.keep_words = bridge.keeps_words
        conversation.later.house = lambda: bridge.home.house
        conversation.later.ear = minds.ear
        if hears or resident:
            await warming
        works.serve(minds, runner, log, mouth)
        minds.ladder.expected = lambda: runner.next_profile
        # First of all in the end: a turn needs everything around it.
        stack.push_async_callback(runner.end)
        if conversation.speaks:
            works.announcer.here = runner.announce
        performers = _performers(conversation, bridge, minds, works, prompter, resident=resident)
        stay = None
        notices = list(minds.notices)
        if conversation.mute is not None:
            resident_parts = DaemonServices(
                settings, bridge, runner, mouth, log, clock, works, conversation.mute
            )
            stay = await resident_parts.stay(stack)
            notices += ["The microphone is muted."] if stay.mute.on else []
        conversation.serve(performers)
        yield App(settings, bridge, minds, runner, log, tuple(notices), mouth, stay)


async def _warm(mouth: SpeechOutput, languages: Sequence[str]) -> None:
    """Load the voices; the recogniser's models load while the first person speaks."""
    try:
        await mouth.warm(languages)
    except AudioError as error:
        _log.warning("%s", error)  # each turn tries again, and says if it cannot


def _performers(
    conversation: BoxConversation,
    bridge: HomeContext,
    minds: BrainSet,
    works: BackgroundWork,
    prompter: Prompter | None,
    *,
    resident: bool,
) -> TurnServices:
    settings, pace = conversation.settings, conversation.controls.pace
    means = means_of(settings, bridge, minds, conversation.clock, prompter)
    voices = partial(voices_of, speed=pace, ahead=resident)
    profiles = Profiles(settings, conversation.mouth, bridge.tools, voices)
    return TurnServices(
        minds.ladder,
        works.runner_of_calls(resident=resident),
        conversation.mouth,
        bridge.catalogue,
        means,
        conversation.performers.acknowledging,
        minds.tell_heard,
        profiles=profiles,
        limits=bridge.tools,
    )
