"""`hearth run`: the daemon that listens."""

import argparse
import asyncio
import logging
import signal
from pathlib import Path

from rich.console import Console

from assistant.app import App, open_app
from assistant.cli.command import Command
from assistant.cli.show import show_notices, show_turn
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.echo_paths import EchoPaths
from assistant.echo_plan import plan_echo
from assistant.echo_watch import EchoWatch
from assistant.faces import open_faces
from assistant.input import open_microphone
from assistant.journal.records import StoreError
from assistant.lock import locked
from assistant.output import open_outputs
from assistant.sound_state import SoundState
from assistant.turn.for_ever import listen_for_ever
from assistant.turn.machine import State
from audio.steady import SteadyMicrophone
from audio.wav import WavSource

_FORGET_S = 3600.0
_NOTHING = "null"  # as audio.input
_log = logging.getLogger(__name__)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="do not print the turns")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    with locked(settings.data_folder):
        echo = await plan_echo(settings)
        hears = settings.audio.input != _NOTHING
        async with (
            open_outputs(settings, paced=True, reference=echo.cleaner) as outputs,
            open_app(settings, outputs, hears=hears, resident=True) as app,
            EchoWatch(
                settings.audio,
                echo,
                app.runner.full_duplex,
                EchoPaths(app.bridge.store).known,
                SystemClock(),
            ) as echo_watch,
            open_microphone(settings, outputs, echo.cleaner, echo_watch) as microphone,
            open_faces(
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
            if app.stay is not None and microphone is not None:
                app.stay.mute.attach(microphone)
                microphone.at_rest = lambda: app.runner.state is State.IDLE
            show_notices([echo.complaint] if echo.complaint else [])
            if not arguments.quiet:
                app.log.on_turn = lambda turn: show_turn(turn.record, turn.outcomes)
            forgetting = group.create_task(_forget(app), name="forgetting")
            listening = group.create_task(_listen(app, settings, microphone), name="listening")
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, listening.cancel)
            listening.add_done_callback(lambda _: forgetting.cancel())
    return 0


async def _listen(app: App, settings: Settings, microphone: SteadyMicrophone | None) -> None:
    """Hear the configured source: a file once, a microphone for ever, nothing for ever."""
    name = settings.audio.input
    if name == _NOTHING:
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
