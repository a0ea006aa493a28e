"""Reads secrets for a command from a file or from hidden terminal input."""

import argparse
import getpass
import sys
from collections.abc import Callable
from pathlib import Path

from assistant.cli.terminal import Failed, say

# Takes the purpose, such as "set the device's room", and returns an administrator's token or "".
# It can wait for the user, so it runs in a thread.
AskAdmin = Callable[[str], str]


def secret_in(file: Path, what: str) -> str:
    """Return the single line in a file. `what` is "token" or "key", for the error messages.
    Blocking. Raises Failed."""
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise Failed(f"{file} is not a text file: write only the {what} into it", 2) from error
    except OSError as error:
        raise Failed(f"Cannot read {file}: {error.strerror}", 2) from error
    if not secret:
        raise Failed(f"{file} is empty: write the {what} into it", 2)
    if len(secret.splitlines()) > 1:
        raise Failed(f"{file} has several lines: leave only the {what} in it", 2)
    return secret


def add_admin_argument(parser: argparse.ArgumentParser, what_for: str) -> None:
    """Add `--admin-token-file`. `what_for` is its purpose, such as "set the device's room"."""
    parser.add_argument(
        "--admin-token-file",
        type=Path,
        metavar="FILE",
        help=f"read an administrator's access token from a file, to {what_for}; "
        "the token is used once and not stored",
    )


def admin_asker(arguments: argparse.Namespace, *, ask: bool = True) -> AskAdmin:
    """Return a function that gets an administrator's token: from the file that was given, from the
    user if `ask` is True and there is a terminal, or ""."""

    def asked(what_for: str) -> str:
        if arguments.admin_token_file:
            return secret_in(arguments.admin_token_file, "token")
        if not ask or not sys.stdin.isatty():
            return ""
        say(
            f"To {what_for}, Hearth needs an administrator's access token. It is used once and not "
            "stored. Press Enter to skip this.",
            error=True,
        )
        return getpass.getpass("Administrator's token (not shown): ").strip()

    return asked
