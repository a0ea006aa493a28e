"""`hearth link`: print a link that signs a browser in to the console, or sign all browsers out."""

import argparse
import asyncio
from collections.abc import Mapping
from typing import get_args

from rich.text import Text

from assistant.cli.console import Terminal
from assistant.cli.terminal import CliCommand, say
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import (
    GUEST_HOURS,
    MINUTES,
    MOST_HOURS,
    console_link,
    sign_everybody_out,
)
from integrations.qr import in_blocks
from integrations.web.box import Role
from integrations.web.pages import is_loopback

_AS: Mapping[Role, str] = {
    "owner": "an administrator",
    "family": "a member of the family",
    "guest": "a guest",
}


def print_link(
    settings: Settings,
    minutes: int,
    console: Terminal,
    role: Role = "owner",
    name: str = "",
    hours: int = MOST_HOURS,
) -> None:
    """Print a link that signs one browser in to the console. Only the link goes to stdout.
    Blocking. Raises ConfigError."""
    link = console_link(settings, SystemClock().now(), minutes, role, name, hours)
    if not (settings.http.tls_cert or is_loopback(settings.http.host)):
        console.print(
            "The console has no certificate (http.tls_cert), so anyone on your network can read "
            "the traffic.",
            style="yellow",
            soft_wrap=True,
        )
    console.print(
        f"Open this link within {minutes} min, while hearth run is running. It works once, and "
        f"signs in the first browser that opens it as {_AS[role]}:",
        soft_wrap=True,
    )
    say(link)
    if Terminal().is_terminal:
        _print_qr(link, settings, console)


def _print_qr(link: str, settings: Settings, console: Terminal) -> None:
    if is_loopback(settings.http.host):
        console.print(
            "This address works only on this machine. To open the console on a phone, set "
            "http.host.",
            soft_wrap=True,
        )
        return
    console.print("Or scan this code with a phone:")
    # The colours make the code dark on light in every terminal.
    for line in in_blocks(link).splitlines():
        console.print(Text(line, style="bright_white on black"), soft_wrap=True)


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
        "--role",
        choices=get_args(Role),
        default="owner",
        help="owner: everything; family: commands, timers and confirming one's own commands; "
        "guest: ordinary commands, for a limited time (default: owner)",
    )
    parser.add_argument(
        "--name", default="", metavar="NAME", help="whom the link is for, shown in the console"
    )
    parser.add_argument(
        "--hours",
        type=int,
        metavar="N",
        help=f"how long the browser stays signed in (default: {MOST_HOURS}, as a guest "
        f"{GUEST_HOURS})",
    )
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
        hours = arguments.hours
        if hours is None:
            hours = GUEST_HOURS if arguments.role == "guest" else MOST_HOURS
        given = (arguments.minutes, console, arguments.role, arguments.name, hours)
        await asyncio.to_thread(print_link, settings, *given)
    return 0


COMMAND = CliCommand(
    name="link",
    examples=("hearth link", "hearth link --role family --name Ana", "hearth link --role guest"),
    add_arguments=_arguments,
    run=_run,
)
