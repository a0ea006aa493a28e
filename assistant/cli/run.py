"""`hearth run`: run the daemon."""

import argparse
import faulthandler
import logging
import os
from contextvars import Context
from typing import TYPE_CHECKING

from assistant.app.process import Startup, locked, share_heap
from assistant.cli.control import open_control
from assistant.cli.terminal import CliCommand, say
from assistant.config.exposed_secrets import exposed_secrets
from assistant.config.load import find_file, load_settings
from assistant.config.masked_log import hide_in_logs
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn
from assistant.domain.clock import SystemClock
from assistant.service.notify import runtime_folder, service_manager, starts_of
from assistant.service.reload import Reloading
from assistant.service.service import Service

if TYPE_CHECKING:  # imported at run time only after listening has started
    from assistant.app.build import App


_log = logging.getLogger(__name__)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="don't print turns")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    share_heap()
    first = Startup.of_process()
    first.reach("settings")

    def load() -> Settings:
        found = load_settings(arguments.config, os.environ)
        hide_in_logs(found)
        return found

    def parser_for(words: list[str]) -> argparse.ArgumentParser:
        from assistant.cli.main import parser_of  # also imports the command's modules

        return parser_of(words)

    def tell(app: "App", startup: Startup, listening: str) -> None:
        control.use(app)
        _announce(app, startup, listening, quiet=arguments.quiet)

    for one in exposed_secrets(settings, find_file(arguments.config, os.environ)):
        _log.warning("%s", one.sentence)
    manager = service_manager(os.environ)
    if manager.there:
        faulthandler.enable()  # prints a traceback if the watchdog kills the process
    with locked(settings.data_folder):
        reloading = Reloading(settings, load, runtime_folder(os.environ))
        async with open_control(settings.data_folder, parser_for) as control:
            service = Service(reloading, manager, starts_of(os.environ), SystemClock(), tell, first)
            await service.run()
    return 0


def _announce(app: "App", startup: Startup, listening: str, *, quiet: bool) -> None:
    where = f" on {app.settings.audio.input}" if listening.startswith("Listening") else ""
    told = f"{listening[0].lower()}{listening[1:].rstrip('.')}{where}; Ctrl-C to stop"
    for notice in (*app.notices, told, f"started: {startup}"):
        say(f"hearth: {notice}", error=True)
    if not quiet:
        app.log.on_turn(
            _show, from_start=True
        )  # some turns may have started before the house was open


def _show(turn: FinishedTurn) -> None:
    # A command from another terminal runs in a context that prints there. Use a new context to
    # print here.
    Context().run(_show_here, turn)


def _show_here(turn: FinishedTurn) -> None:
    from assistant.cli.ask import show_turn  # imported when first needed

    show_turn(turn.record, turn.outcomes)


COMMAND = CliCommand(
    name="run",
    examples=("hearth run", "hearth run --config /etc/hearth/hearth.toml"),
    add_arguments=_arguments,
    run=_run,
)
