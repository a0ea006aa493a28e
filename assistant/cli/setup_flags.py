"""Options of `hearth setup` that have been replaced by separate commands. The options still work,
but print which command to use instead."""

import argparse
import asyncio
import os
from argparse import SUPPRESS
from collections.abc import Iterator
from pathlib import Path

from assistant.cli.backup import create_backup, restore_backup
from assistant.cli.console import Terminal
from assistant.cli.link import add_minutes_argument, print_link, sign_out
from assistant.cli.secret_input import admin_asker
from assistant.cli.terminal import Failed, say
from assistant.cli.token import SPEAK, create_token, list_tokens, revoke_token
from assistant.cli.unregister import unregister
from assistant.config.load import load_settings
from assistant.config.schema import Settings

# By argparse's name: the option, and the command that replaces it.
_NOW = {
    "forget": ("--forget", "hearth unregister"),
    "revoke": ("--revoke", "hearth token revoke"),
    "token": ("--token", "hearth token create"),
    "tokens": ("--tokens", "hearth token list"),
    "sign_out": ("--sign-out", "hearth link --sign-out"),
    "console_link": ("--console-link", "hearth link"),
    "export": ("--export", "hearth backup create"),
    "bring": ("--import", "hearth backup restore"),
}


def earlier_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the replaced options. They are hidden from the help."""
    parser.add_argument("--token", metavar="NAME", help=SUPPRESS)
    parser.add_argument("--scopes", default=SPEAK, metavar="A,B", help=SUPPRESS)
    parser.add_argument("--tokens", action="store_true", help=SUPPRESS)
    parser.add_argument("--revoke", metavar="NAME", help=SUPPRESS)
    parser.add_argument("--console-link", action="store_true", help=SUPPRESS)
    add_minutes_argument(parser, SUPPRESS)
    parser.add_argument("--sign-out", action="store_true", help=SUPPRESS)
    parser.add_argument("--forget", action="store_true", help=SUPPRESS)
    parser.add_argument("--export", type=Path, metavar="FILE", help=SUPPRESS)
    parser.add_argument("--with-secrets", action="store_true", help=SUPPRESS)
    parser.add_argument("--import", type=Path, metavar="FILE", dest="bring", help=SUPPRESS)


def wants_other_command(arguments: argparse.Namespace) -> bool:
    return any(True for _ in _given(arguments))


async def run_other_command(arguments: argparse.Namespace, target: Path, console: Terminal) -> int:
    """Run the commands that the replaced options stand for, and print their names. `target` is the
    configuration file."""
    if arguments.export is not None and arguments.bring is not None:
        raise Failed("Use either --export or --import, not both", 2)
    for flag, command in _given(arguments):
        say(f'Note: "{command}" has replaced "hearth setup {flag}".', error=True)
    if arguments.forget:
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
        asker = admin_asker(arguments, ask=not arguments.non_interactive)
        await unregister(settings, asker, console)
    elif any(_NOW[name][0] in _INTO_HTTP for name in _names(arguments)):
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
        await asyncio.to_thread(_let_in, arguments, settings, console)
    elif arguments.export is not None:
        force, secret = arguments.force, arguments.with_secrets
        await create_backup(arguments.export, target, console, with_secrets=secret, force=force)
    else:
        flag = "--non-interactive"
        asks = not arguments.non_interactive
        await restore_backup(arguments.bring, target, console, ask=asks, yes_flag=flag)
    return 0


_INTO_HTTP = frozenset({"--revoke", "--token", "--tokens", "--sign-out", "--console-link"})


def _let_in(arguments: argparse.Namespace, settings: Settings, console: Terminal) -> None:
    if arguments.revoke is not None:
        revoke_token(settings, arguments.revoke, console)
    if arguments.token is not None:
        create_token(settings, arguments.token, arguments.scopes, console)
    if arguments.tokens:
        list_tokens(settings, console)
    if arguments.sign_out:
        sign_out(settings, console)
    if arguments.console_link:
        print_link(settings, arguments.minutes, console)


def _names(arguments: argparse.Namespace) -> Iterator[str]:
    return (name for name in _NOW if getattr(arguments, name) not in (None, False))


def _given(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    return (_NOW[name] for name in _names(arguments))
