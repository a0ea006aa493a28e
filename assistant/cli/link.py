"""`hearth link`: print a link that signs a browser in to the console, or sign all browsers out."""

import argparse
import asyncio

from assistant.cli.console import Terminal
from assistant.cli.terminal import CliCommand, say
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import MINUTES, console_link, sign_everybody_out
from integrations.web.pages import is_loopback


def print_link(settings: Settings, minutes: int, console: Terminal) -> None:
    """Print a link that signs one browser in to the console. Only the link goes to stdout.
    Blocking. Raises ConfigError."""
    link = console_link(settings, SystemClock().now(), minutes)
    if not (settings.http.tls_cert or is_loopback(settings.http.host)):
        console.print(
            "The console has no certificate (http.tls_cert), so anyone on your network can read "
            "the traffic.",
            style="yellow",
            soft_wrap=True,
        )
    console.print(
        f"Open this link within {minutes} min, while hearth run is running. It works once, and "
        "signs in the first browser that opens it as an administrator:",
        soft_wrap=True,
    )
    say(link)


def sign_out(settings: Settings, console: Terminal) -> None:
    """Sign every browser out of the console. Blocking. Raises ConfigError."""
    ended = sign_everybody_out(settings.data_folder)
    console.print(f"Signed {ended} {'browser' if ended == 1 else 'browsers'} out of the console.")


def add_minutes_argument(parser: argparse.ArgumentParser, help_text: str = "") -> None:
    parser.add_argument(
        "--minutes",
        type=int,
        default=MINUTES,
        metavar="N",
        help=help_text or f"how long the link stays valid (default: {MINUTES})",
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_minutes_argument(parser)
    parser.add_argument(
        "--sign-out",
        action="store_true",
        help="sign every browser out of the console instead of printing a link",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    console = Terminal(stderr=True)
    if arguments.sign_out:
        await asyncio.to_thread(sign_out, settings, console)
    else:
        await asyncio.to_thread(print_link, settings, arguments.minutes, console)
    return 0


COMMAND = CliCommand(
    name="link",
    examples=("hearth link", "hearth link --minutes 5"),
    add_arguments=_arguments,
    run=_run,
)
