"""The part of `hearth setup` that lets programs and people into the HTTP interface: tokens, and
one-time links to the console."""

import argparse
from collections.abc import Sequence

from rich.table import Table

from assistant.cli.command import Failed
from assistant.cli.paper import Terminal
from assistant.cli.terminal import say
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.interfaces.console_link import MINUTES, console_link
from assistant.interfaces.http_sessions import sign_everybody_out
from assistant.interfaces.http_tokens import SCOPES, TokenFile, make_admin_token
from integrations.web.callers import Scope
from integrations.web.hosts import is_loopback


def token_arguments(parser: argparse.ArgumentParser) -> None:
    """`--token NAME --scopes …`, `--tokens`, `--revoke NAME`, `--console-link --minutes N`,
    `--sign-out`."""
    parser.add_argument(
        "--token",
        metavar="NAME",
        help="make a token of the HTTP interface for a program; admin: the administrator's own",
    )
    parser.add_argument(
        "--scopes",
        default="speak",
        metavar="A,B",
        help=f"what it may: any of {', '.join(SCOPES)} (default: speak)",
    )
    parser.add_argument("--tokens", action="store_true", help="list those tokens")
    parser.add_argument("--revoke", metavar="NAME", help="end one of them")
    parser.add_argument(
        "--console-link",
        action="store_true",
        help="print an address of the console that signs in whoever opens it first",
    )
    parser.add_argument(
        "--minutes",
        type=int,
        default=MINUTES,
        metavar="N",
        help=f"for how long that address holds (default: {MINUTES})",
    )
    parser.add_argument(
        "--sign-out", action="store_true", help="sign out every browser from the console"
    )


def wants_tokens(arguments: argparse.Namespace) -> bool:
    """Whether that is what was asked for."""
    by_name = arguments.token is not None or arguments.revoke is not None
    return bool(by_name or arguments.tokens or arguments.console_link or arguments.sign_out)


def settle_tokens(
    arguments: argparse.Namespace, settings: Settings, clock: Clock, console: Terminal
) -> None:
    """Do it. A new token or link is all that goes to stdout. Blocking. Raises ConfigError and
    Failed."""
    file = TokenFile(settings.data_folder)
    if arguments.revoke is not None:
        file.revoke(arguments.revoke)
        console.print(f"The token {arguments.revoke} lets nobody in any more.")
    if arguments.token == "admin":
        token = make_admin_token(settings)
        console.print(
            "The administrator's token, which may do everything. It is shown this once, and the "
            "one before it lets nobody in any more:",
            soft_wrap=True,
        )
        say(token)
    elif arguments.token is not None:
        scopes = _scopes(arguments.scopes)
        token = file.make(arguments.token, scopes, clock.now())
        may = ", ".join(scopes)
        console.tell(
            "The token [green]{name}[/], which may {may}. It is shown this once; a hearth run that "
            "runs takes it already:",
            name=arguments.token,
            may=may,
        )
        say(token)
    if arguments.tokens:
        _list(file, console)
    if arguments.sign_out:
        ended = sign_everybody_out(settings.data_folder)
        console.print(f"Signed out from the console: {ended}.")
    if arguments.console_link:
        link = console_link(settings, clock.now(), arguments.minutes)
        if not (settings.http.tls_cert or is_loopback(settings.http.host)):
            console.print(
                "Without http.tls_cert whoever is in the home's network can read along.",
                style="yellow",
            )
        console.print(
            f"Open this within {arguments.minutes} min, while hearth run runs. It signs in whoever "
            "opens it first, once, as an administrator:",
            soft_wrap=True,
        )
        say(link)


def _scopes(text: str) -> Sequence[Scope]:
    wanted = {part.strip() for part in text.split(",") if part.strip()}
    if not wanted or not wanted.issubset(SCOPES):
        raise Failed(f"--scopes takes any of {', '.join(SCOPES)}, with commas between", 2)
    return [scope for scope in SCOPES if scope in wanted]


def _list(file: TokenFile, console: Terminal) -> None:
    table = Table("name", "scopes", "made", box=None)
    table.add_row("admin", "admin", "set by http.token, or by --token admin")
    for row in file.rows():
        table.add_row(row.name, ", ".join(row.scopes), f"{row.created:%Y-%m-%d}")
    console.print(table)
