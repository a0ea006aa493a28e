"""`hearth run`: the daemon that listens."""

import argparse
import asyncio
import logging
import signal
from functools import partial
from pathlib import Path

from rich.console import Console

from assistant.app import App, open_app
from assistant.cli.command import Command
from assistant.cli.show import show_notices, show_turn
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.journal.records import StoreError
from assistant.lock import locked
from assistant.output import open_player
from assistant.turn.for_ever import listen_for_ever
from assistant.turn.machine import State
from audio.microphone import Microphone
from audio.wav import WavSource
from integrations.serving import serving
from integrations.web.health import Health, health_app

_REOPEN_S = 2.0
_FORGET_S = 3600.0
_log = logging.getLogger(__name__)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="do not print the turns")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    with locked(settings.data_folder):
        async with (
            open_player(settings, paced=True) as player,
            open_app(settings, player, hears=True, resident=True) as app,
            serving(health_app(lambda: _health(app)), settings.http.host, settings.http.port),
            asyncio.TaskGroup() as group,
        ):
            if not arguments.quiet:
                app.log.on_turn = lambda turn: show_turn(turn.record, turn.outcomes)
            forgetting = group.create_task(_forget(app), name="forgetting")
            listening = group.create_task(_listen(app, settings), name="listening")
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, listening.cancel)
            listening.add_done_callback(lambda _: forgetting.cancel())
    return 0


async def _listen(app: App, settings: Settings) -> None:
    """Hear the configured source: a file once, a microphone for ever, nothing for ever."""
    name = settings.audio.input
    words = ", ".join(word.model for word in settings.wake.words)
    if name == "null":
        await asyncio.get_running_loop().create_future()
    console = Console(stderr=True, style="dim", highlight=False, soft_wrap=True)
    show_notices(app.notices)
    console.print(f"hearth: listening for {words} on {name}; Ctrl-C ends it")
    if name.startswith("file:"):
        await app.runner.listen(WavSource(Path(name.removeprefix("file:")), realtime=True))
        return
    await listen_for_ever(app.runner, partial(Microphone, name), SystemClock(), _REOPEN_S)


async def _forget(app: App) -> None:
    """Erase what is older than the settings allow, once an hour."""
    journal = app.settings.journal
    while True:
        try:
            await app.bridge.store.erase_old(journal.keep_days, journal.transcript_hours)
        except StoreError as error:
            _log.error("old turns could not be erased: %s", error)
        await asyncio.sleep(_FORGET_S)


def _health(app: App) -> Health:
    return "degraded" if app.runner.state is State.FAULT else "ok"


COMMAND = Command(
    name="run",
    summary="listen, answer and go on",
    example="hearth run --config /etc/hearth/hearth.toml",
    add_arguments=_arguments,
    run=_run,
)
