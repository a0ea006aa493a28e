"""`hearth setup`: writes the configuration with you, and makes the box a device of the house."""

import argparse
import asyncio
import getpass
import json
import os
import sys
from pathlib import Path

from rich.console import Console

from assistant.cli.command import Command, Failed
from assistant.cli.setup_device import AskAdmin, become_device, forget_device
from assistant.cli.setup_tokens import settle_tokens, token_arguments, wants_tokens
from assistant.clock import SystemClock
from assistant.config.load import find_file, load_settings
from assistant.config.places import candidate_files
from assistant.config.schema import Settings
from integrations.errors import IntegrationError
from integrations.home_assistant.rest import check

_HOME = "http://homeassistant.local:8123"
_TEMPLATE = """\
# Hearth's configuration. Every key is explained in docs/configuration.md.

[home_assistant]
url = {url}
token_file = {token_file}
{tls}
[assistant]
languages = {languages}   # the first one counts where nothing else tells
area = {area}             # the room this box stands in, as Home Assistant calls it

# Gemini understands far more than this box does by itself. Speech then goes to Google, from the
# wake word to the end of the sentence. A key: https://aistudio.google.com/apikey
# [privacy]
# accept_cloud = true
# [gemini]
# api_key_file = "/etc/hearth/gemini.key"
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help=f"Home Assistant's address (default: {_HOME})")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="read the access token from a file"
    )
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="the authority of its own https certificate"
    )
    parser.add_argument(
        "--no-verify-tls", action="store_true", help="take its https certificate as it is"
    )
    parser.add_argument("--area", default=None, help="the room this box stands in")
    parser.add_argument(
        "--non-interactive", action="store_true", help="ask nothing, take the rest as given"
    )
    parser.add_argument("--force", action="store_true", help="write over a configuration")
    parser.add_argument(
        "--admin-token-file",
        type=Path,
        metavar="FILE",
        help="an administrator's token, used once and not kept: to set the device's area, or with "
        "--forget to remove it",
    )
    parser.add_argument(
        "--forget", action="store_true", help="end the registration as a device of Home Assistant"
    )
    token_arguments(parser)


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.forget:
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
        await forget_device(settings, _admin(arguments), Console(stderr=True))
        return 0
    if wants_tokens(arguments):
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
        console = Console(stderr=True)
        await asyncio.to_thread(settle_tokens, arguments, settings, SystemClock(), console)
        return 0
    target = arguments.config or find_file(None, os.environ) or candidate_files()[0]
    if target.exists() and not arguments.force:
        raise Failed(
            f"{target} is there already; change it by hand, or write over it with --force", 2
        )
    console = Console(stderr=True)
    url = arguments.url or _ask(arguments, "Home Assistant's address", _HOME)
    token = await asyncio.to_thread(_token, arguments)
    area = arguments.area
    if area is None:
        area = _ask(arguments, "The room this box stands in, as Home Assistant calls it", "")
    ca_file = str(arguments.ca_file.absolute()) if arguments.ca_file else ""
    verify_tls = not arguments.no_verify_tls
    try:
        instance = await check(url, token, verify_tls, ca_file)
    except IntegrationError as error:
        raise Failed(f"Nothing was written: {error}") from error
    console.print(f"[green]Home Assistant {instance.version}[/] answers ({instance.name}).")
    await asyncio.to_thread(_write, target, _text(target, url, area, verify_tls, ca_file), token)
    console.print(f"Written: {target}")
    settings = await asyncio.to_thread(load_settings, target, os.environ)
    await become_device(settings, _admin(arguments), console)
    console.print("Next: [bold]hearth doctor[/], then [bold]hearth run[/]")
    return 0


def _ask(arguments: argparse.Namespace, question: str, default: str) -> str:
    if arguments.non_interactive:
        return default
    if not sys.stdin.isatty():
        raise Failed("There is no terminal to ask on; use --non-interactive with --url", 2)
    hint = f" [{default}]" if default else ""
    return input(f"{question}{hint}: ").strip() or default


def _token(arguments: argparse.Namespace) -> str:
    """The access token: from the file, or typed without echo."""
    if arguments.token_file:
        return _token_in(arguments.token_file)
    if arguments.non_interactive or not sys.stdin.isatty():
        raise Failed("The access token is missing; give it with --token-file FILE", 2)
    print(
        "Make a long-lived access token on your profile page in Home Assistant, under Security.",
        file=sys.stderr,
    )
    return getpass.getpass("Access token (not shown): ").strip()


def _admin(arguments: argparse.Namespace) -> AskAdmin:
    """How an administrator's token is come by, for this once: the file, the terminal, or not."""

    def ask(what_for: str) -> str:
        if arguments.admin_token_file:
            return _token_in(arguments.admin_token_file)
        if arguments.non_interactive or not sys.stdin.isatty():
            return ""
        print(
            f"To {what_for}, give an administrator's access token. It is used once and not kept; "
            "press Enter to go on without.",
            file=sys.stderr,
        )
        return getpass.getpass("Administrator's token (not shown): ").strip()

    return ask


def _token_in(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise Failed(f"{file} is not text; write the token into it", 2) from error
    except OSError as error:
        raise Failed(f"{file} cannot be read ({error.strerror})", 2) from error
    if not token:
        raise Failed(f"{file} is empty; write the token into it", 2)
    if len(token.splitlines()) > 1:
        raise Failed(f"{file} has several lines; leave only the token", 2)
    return token


def _text(target: Path, url: str, area: str, verify_tls: bool, ca_file: str) -> str:
    """The configuration. What is as it is by default is left out."""
    tls = f"ca_file = {json.dumps(ca_file, ensure_ascii=False)}\n" if ca_file else ""
    tls += "" if verify_tls else "verify_tls = false\n"
    return _TEMPLATE.format(
        url=json.dumps(url),
        token_file=json.dumps(str(_token_beside(target))),
        tls=tls,
        languages=json.dumps(["en"]),
        area=json.dumps(area, ensure_ascii=False),
    )


def _token_beside(target: Path) -> Path:
    return target.with_name("home_assistant.token")


def _write(target: Path, text: str, token: str) -> None:
    """The configuration, and the token in a file of its own that only its owner may read."""
    token_file = _token_beside(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        token_file.touch(mode=0o600)
        token_file.chmod(0o600)
        token_file.write_text(token + "\n", encoding="utf-8")
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written ({error.strerror})") from error


COMMAND = Command(
    name="setup",
    summary="write the configuration with you",
    example="hearth setup --url http://homeassistant.local:8123",
    add_arguments=_arguments,
    run=_run,
    configured=False,
)
