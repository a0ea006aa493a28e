"""Runs the daemon with one set of settings until it is asked to stop or reload.

The caller owns the process and its lock on the data folder. The microphone and the wake word start
first, and slower parts are opened while Hearth already listens.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from assistant.app.conversation import BoxConversation, open_conversation
from assistant.app.process import Startup, long_lived
from assistant.config.schema import Settings
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.machine import State
from assistant.domain.clock import SystemClock
from assistant.sound.devices import open_microphone, open_outputs
from assistant.sound.echo_plan import EchoPaths, plan_echo
from assistant.sound.echo_watch import EchoWatch
from audio.player import Outputs
from audio.sound_files import WavSource
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.app.build import App
    from assistant.sound.devices import SoundState

NOTHING = "null"  # a value of audio.input
_LOOK_S = 0.1  # seconds between checks for a reload
_FIRST_FRAME_S = 2.0  # seconds to wait for the first frame before opening the slow parts
_log = logging.getLogger(__name__)


class Ended(StrEnum):
    STOP = "stop"  # the process was asked to end
    RELOAD = "reload"  # the caller has new settings, and the conversation was idle
    HEARD = "heard"  # the input file and its last turn have ended


class Requests:
    """Stop and reload requests to a running `serve`, all made on its event loop. A stop takes
    precedence over a reload."""

    def __init__(self) -> None:
        self._wanted: Ended | None = None
        self._changed = asyncio.Event()  # set and replaced with each request

    def stop(self) -> None:
        """Ask `serve` to end immediately. The current turn is interrupted and stored."""
        self._want(Ended.STOP)

    def reload(self) -> None:
        """Ask `serve` to end when the conversation is idle, so that new settings can be loaded."""
        if self._wanted is None:
            self._want(Ended.RELOAD)

    def renew(self) -> None:
        """Clear a reload request that has been handled. A stop request remains in effect."""
        if self._wanted is Ended.RELOAD:
            self._wanted = None

    @property
    def wanted(self) -> Ended | None:
        return self._wanted

    async def wait(self, rests: Callable[[], bool]) -> Ended:
        """Wait until `serve` should stop or reload, and return which of the two it should do. A
        reload waits until `rests` returns True, which means that it would interrupt nothing."""
        while True:
            reloads = self._wanted is Ended.RELOAD
            if self._wanted is Ended.STOP:
                return Ended.STOP
            if reloads and rests():
                return Ended.RELOAD
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S if reloads else None):
                    await self._changed.wait()

    def _want(self, wanted: Ended) -> None:
        self._wanted = wanted
        self._changed.set()
        self._changed = asyncio.Event()


def _nothing_heard(runner: ConversationLoop, microphone: SteadyMicrophone | None) -> None:
    """The default `on_listening`: do nothing."""


def _nothing_stands(app: "App", microphone: SteadyMicrophone | None, sound: "SoundState") -> None:
    """The default `on_ready`: do nothing."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The caller's callbacks and requests. The callbacks must not block."""

    requests: Requests = field(default_factory=Requests)
    # Called when audio is being processed, or when Hearth is waiting for a missing or muted
    # microphone. Slow parts (the house, tool servers, models, interfaces) may still be opening; a
    # turn waits for them.
    on_listening: Callable[[ConversationLoop, SteadyMicrophone | None], None] = _nothing_heard
    # Called when everything is open. `microphone` is None if the input is a file or "null".
    on_ready: Callable[["App", SteadyMicrophone | None, "SoundState"], None] = _nothing_stands
    # Further problems by name: each function returns a sentence, or "" if there is no problem.
    troubles: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    stuck: Callable[[], str] = str  # returns why Hearth must be restarted, or ""
    startup: Startup = field(default_factory=Startup)  # notified of each stage


async def serve(settings: Settings, hooks: Hooks) -> Ended:
    """Run until the input file ends or a stop or reload is requested.

    If these settings can't be applied, raises ConfigError, AudioError, StoreError or
    IntegrationError, alone or in an ExceptionGroup, and leaves nothing open. Cancelling the task
    ends it immediately, like `Requests.stop`.
    """
    echo = await plan_echo(settings)
    if echo.complaint:
        _log.warning("%s", echo.complaint)
    hooks.startup.reach("echo plan")
    hears = settings.audio.input != NOTHING
    async with (
        open_outputs(settings, paced=True, reference=echo.cleaner) as outputs,
        open_conversation(settings, outputs, hears=hears, resident=True) as conversation,
        EchoWatch(
            settings.audio,
            echo,
            conversation.runner.full_duplex,
            EchoPaths(conversation.store).known,
            SystemClock(),
        ) as echo_watch,
        open_microphone(settings, outputs, echo.cleaner, echo_watch) as microphone,
    ):
        hooks.startup.reach("ear")
        if microphone is not None:
            assert conversation.mute is not None
            conversation.mute.attach(microphone.pause)
            microphone.at_rest = lambda: conversation.runner.state is State.IDLE
        service = _Service(conversation, outputs, echo_watch, microphone, hooks)
        return await service.run()


class _Service:
    def __init__(
        self,
        conversation: BoxConversation,
        outputs: Outputs,
        echo: EchoWatch,
        microphone: SteadyMicrophone | None,
        hooks: Hooks,
    ) -> None:
        self._conversation = conversation
        self._outputs = outputs
        self._echo = echo
        self._microphone = microphone
        self._hooks = hooks
        self._ready = asyncio.Event()
        self._unsaid: Callable[[], bool] = lambda: False  # True while an announcement is waiting

    async def run(self) -> Ended:
        asked = asyncio.ensure_future(self._asked())
        listening = asyncio.ensure_future(self._listen())
        around = asyncio.ensure_future(self._open_around())
        every = (asked, listening, around)
        try:
            await asyncio.wait(every, return_when=asyncio.FIRST_COMPLETED)
            for one in every:
                if one.done() and one is not asked:
                    one.result()  # raises the error that ended it
            return asked.result() if asked.done() else Ended.HEARD
        finally:
            for one in every:  # stop listening before closing the parts it uses
                one.cancel()
                await asyncio.wait([one])

    async def _asked(self) -> Ended:
        runner = self._conversation.runner
        wanted = await self._hooks.requests.wait(lambda: runner.resting and not self._unsaid())
        runner.retire()
        return wanted

    async def _listen(self) -> None:
        name, runner = self._conversation.settings.audio.input, self._conversation.runner
        if name == NOTHING:
            await asyncio.get_running_loop().create_future()
        elif self._microphone is not None:
            await runner.listen_for_ever(self._microphone)
        else:
            await self._ready.wait()  # a file can wait
            path = Path(name.removeprefix("file:"))
            await runner.listen(WavSource(path, realtime=True))

    async def _open_around(self) -> None:
        async with OwnedTasks() as tasks:
            told = tasks.start(self._tell_listening(), "the first frame")
            with suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_FRAME_S):
                    await asyncio.shield(told)
            await asyncio.to_thread(_import)
            self._hooks.startup.reach("modules")
            await self._stand()

    async def _tell_listening(self) -> None:
        if self._microphone is not None:
            await self._conversation.runner.judging()
        self._hooks.startup.reach("listening")
        self._hooks.on_listening(self._conversation.runner, self._microphone)

    async def _stand(self) -> None:
        from assistant.app.build import open_around
        from assistant.app.interfaces import open_interfaces
        from assistant.sound.devices import SoundState

        conversation, hooks = self._conversation, self._hooks
        hears = conversation.settings.audio.input != NOTHING
        sound = SoundState(
            self._microphone,
            self._outputs,
            self._echo,
            near_misses=lambda: conversation.runner.hearing.near_misses,
        )
        async with open_around(conversation, hears=hears, resident=True) as app:
            hooks.startup.reach("house and brains")
            assert app.daemon is not None
            announcements = app.daemon.announcements
            self._unsaid = lambda: announcements.unsaid
            async with open_interfaces(app, sound, more_troubles=hooks.troubles, stuck=hooks.stuck):
                hooks.startup.reach("ready")
                hooks.on_ready(app, self._microphone, sound)
                self._ready.set()
                async with OwnedTasks() as tasks:
                    tasks.start(self._measure_echo(app), "echo measurement")
                    tasks.start(app.brains.load(), "first turn")
                    with long_lived(app.log.follow):
                        await asyncio.get_running_loop().create_future()

    async def _measure_echo(self, app: "App") -> None:
        """Measure the echo when the room is quiet, and reload if echo cancellation is needed."""
        from assistant.sound.echo_measurement import EchoMeasurement, is_quiet

        microphone, speaker, runner = self._microphone, self._outputs, app.runner
        assert app.daemon is not None
        mute = app.daemon.mute
        if microphone is None or not isinstance(speaker, Speaker):
            return
        paths, audio = EchoPaths(self._conversation.store), app.settings.audio
        measurement = EchoMeasurement(self._echo, microphone, speaker, paths, audio, SystemClock())
        await measurement.run(
            rests=lambda: runner.resting and not runner.rings and not mute.on,
            quiet=lambda: not app.speech_output.limited and is_quiet(runner.hearing.level.read()),
        )
        _log.info("Hearth opens the sound devices again, now with echo cancellation.")
        self._hooks.requests.reload()


def _import() -> None:
    """Import the remaining modules. Takes a second or two, so it runs in a thread."""
    # Skip httpx's command line: it isn't needed and imports rich, click and pygments (4 MB).
    sys.modules.setdefault("httpx._main", cast(ModuleType, None))
    import assistant.app.build
    import assistant.app.interfaces
    import assistant.sound.devices  # noqa: F401  (loads the modules for later imports)
