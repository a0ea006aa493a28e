"""`hearth run`: the daemon that listens."""

import argparse
import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console
from starlette.applications import Starlette

from assistant.app import App, open_app
from assistant.box import Box
from assistant.cli.command import Command
from assistant.cli.show import show_notices, show_turn
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.echo_paths import EchoPaths
from assistant.echo_plan import plan_echo
from assistant.echo_watch import EchoWatch
from assistant.http_token import http_token
from assistant.input import open_microphone
from assistant.journal.records import StoreError
from assistant.lock import locked
from assistant.output import open_outputs
from assistant.sound_state import SoundState
from assistant.turn.for_ever import listen_for_ever
from assistant.turn.machine import State
from audio.steady import SteadyMicrophone
from audio.wav import WavSource
from integrations.serving import serving
from integrations.web.api import api_routes
from integrations.web.health import health_route

_FORGET_S = 3600.0
_log = logging.getLogger(__name__)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="do not print the turns")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    with locked(settings.data_folder):
        echo = await plan_echo(settings)
        async with (
            open_outputs(settings, paced=True, reference=echo.cleaner) as outputs,
            open_app(settings, outputs, hears=True, resident=True) as app,
            EchoWatch(
                settings.audio,
                echo,
                app.runner.full_duplex,
                EchoPaths(app.bridge.store).known,
                SystemClock(),
            ) as echo_watch,
            open_microphone(settings, outputs, echo.cleaner, echo_watch) as microphone,
            _serving(
                settings,
                app,
                SoundState(
                    microphone,
                    outputs,
                    echo_watch,
                    near_misses=lambda: app.runner.hearing.near_misses,
                ),
            ),
            asyncio.TaskGroup() as group,
        ):
            if app.mute is not None and microphone is not None:
                app.mute.attach(microphone)
                microphone.at_rest = lambda: app.runner.state is State.IDLE
            show_notices([echo.complaint] if echo.complaint else [])
            if not arguments.quiet:
                app.log.on_turn = lambda turn: show_turn(turn.record, turn.outcomes)
            forgetting = group.create_task(_forget(app), name="forgetting")
            listening = group.create_task(_listen(app, settings, microphone), name="listening")
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, listening.cancel)
            listening.add_done_callback(lambda _: forgetting.cancel())
    return 0


@asynccontextmanager
async def _serving(settings: Settings, app: App, sound: SoundState) -> AsyncIterator[None]:
    """The HTTP interface. Raises ConfigError and Misconfigured."""
    assert app.mute is not None
    token = await asyncio.to_thread(http_token, settings)
    modes, clock = app.bridge.moments.modes, SystemClock()
    with Box(app.runner, app.mute.set, modes, clock, sound, app.announcements) as box:
        routes = [health_route(lambda: sound.health), *api_routes(box, token)]
        async with serving(Starlette(routes=routes), settings.http.host, settings.http.port):
            try:
                yield
            finally:
                box.events.close()  # the server waits for who still listens


async def _listen(app: App, settings: Settings, microphone: SteadyMicrophone | None) -> None:
    """Hear the configured source: a file once, a microphone for ever, nothing for ever."""
    name = settings.audio.input
    if name == "null":
        await asyncio.get_running_loop().create_future()
    words = ", ".join(word.model for word in settings.wake.words)
    console = Console(stderr=True, style="dim", highlight=False, soft_wrap=True)
    show_notices(app.notices)
    console.print(f"hearth: listening for {words} on {name}; Ctrl-C ends it")
    if microphone is not None:
        await listen_for_ever(app.runner, microphone)
    else:
        await app.runner.listen(WavSource(Path(name.removeprefix("file:")), realtime=True))


async def _forget(app: App) -> None:
    """Erase what is older than the settings allow, once an hour."""
    journal = app.settings.journal
    while True:
        try:
            await app.bridge.store.erase_old(journal.keep_days, journal.transcript_hours)
        except StoreError as error:
            _log.error("old turns could not be erased: %s", error)
        await asyncio.sleep(_FORGET_S)


COMMAND = Command(
    name="run",
    summary="listen, answer and go on",
    example="hearth run --config /etc/hearth/hearth.toml",
    add_arguments=_arguments,
    run=_run,
)
