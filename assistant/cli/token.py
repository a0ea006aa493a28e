"""`hearth token`: manage access tokens for programs that use the HTTP interface."""

import argparse
import asyncio
from collections.abc import Sequence

from rich.table import Table

from assistant.cli.console import Terminal
from assistant.cli.terminal import CliCommand, Failed, repeat_common_arguments, say, say_json
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import SCOPES, TokenFile, make_admin_token
from integrations.web.box import Scope

SPEAK = "speak"  # default scope


def create_token(settings: Settings, name: str, scopes: str, console: Terminal) -> None:
    """Create a token and print it. Only the token goes to stdout. `scopes` is a comma-separated
    list. Blocking. Raises ConfigError and Failed."""
    if name == "admin":
        token = make_admin_token(settings)
        console.print(
            "New administrator's token, with all rights. It is shown only once, and the previous "
            "one no longer works:",
            soft_wrap=True,
        )
    else:
        wanted = read_scopes(scopes)
        token = TokenFile(settings.data_folder).make(name, wanted, SystemClock().now())
        console.tell(
            "New token [green]{name}[/] with the scopes {scopes}. It is shown only once; a "
            "running Hearth accepts it immediately:"
            if len(wanted) > 1
            else (
                "New token [green]{name}[/] with the scope {scopes}. It is shown only once; a "
                "running Hearth accepts it immediately:"
            ),
            name=name,
            scopes=", ".join(wanted),
        )
    say(token)


def revoke_token(settings: Settings, name: str, console: Terminal) -> None:
    """Revoke a token. Blocking. Raises ConfigError."""
    TokenFile(settings.data_folder).revoke(name)
    console.print(f"Token {name} revoked; it no longer works.")


def list_tokens(settings: Settings, console: Terminal) -> None:
    """Print a table of the tokens' names and scopes. Blocking. Raises ConfigError."""
    table = Table("name", "scopes", "created", box=None)
    table.add_row("admin", "admin", "by http.token, or by hearth token create admin")
    for row in TokenFile(settings.data_folder).rows():
        table.add_row(row.name, ", ".join(row.scopes), f"{row.created:%Y-%m-%d}")
    console.print(table)


def read_scopes(text: str) -> Sequence[Scope]:
    """Parse a comma-separated list of scopes such as "speak, read". Raises Failed."""
    wanted = {part.strip() for part in text.split(",") if part.strip()}
    if not wanted or not wanted.issubset(SCOPES):
        raise Failed(f"--scopes must be any of {', '.join(SCOPES)}, separated by commas", 2)
    return [scope for scope in SCOPES if scope in wanted]


def scopes_help() -> str:
    return f"what it allows: any of {', '.join(SCOPES)}, separated by commas (default: {SPEAK})"


def _arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="create a token and print it once")
    create.add_argument(
        "name", metavar="NAME", help="the program it is for; admin: the administrator's own token"
    )
    create.add_argument("--scopes", default=SPEAK, metavar="A,B", help=scopes_help())
    listed = actions.add_parser("list", help="list the names and scopes of all tokens")
    listed.add_argument("--json", action="store_true", help="print the result as JSON")
    revoke = actions.add_parser("revoke", help="revoke a token")
    revoke.add_argument(
        "name", metavar="NAME", help="the token's name, as shown by hearth token list"
    )
    for action in (create, listed, revoke):
        repeat_common_arguments(action)


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    await asyncio.to_thread(_act, arguments, settings)
    return 0


def _act(arguments: argparse.Namespace, settings: Settings) -> None:
    console = Terminal(stderr=True)
    if arguments.action == "create":
        create_token(settings, arguments.name, arguments.scopes, console)
    elif arguments.action == "revoke":
        revoke_token(settings, arguments.name, console)
    elif arguments.json:
        rows = TokenFile(settings.data_folder).rows()
        say_json(
            [
                {
                    "name": row.name,
                    "scopes": [*row.scopes],
                    "created": row.created.isoformat(),
                }
                for row in rows
            ]
        )
    else:
        list_tokens(settings, Terminal())


COMMAND = CliCommand(
    name="token",
    examples=("hearth token list", "hearth token create washer --scopes speak"),
    add_arguments=_arguments,
    run=_run,
)
