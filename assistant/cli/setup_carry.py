"""`hearth setup --export FILE` and `--import FILE`: a household's Hearth on another box."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from assistant.app.process import locked
from assistant.cli.console import Terminal
from assistant.cli.setup_steps import TerminalPerson, confirm
from assistant.cli.terminal import Failed
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.version import own_version
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord
from assistant.interfaces.http_tokens import TokenFile
from assistant.journal.store import Store
from assistant.memory.service import export_rows
from assistant.setup.cloud import four_lines
from assistant.setup.document import NewFile, write_all
from assistant.timers.recurrence import local_zone
from assistant.transfer.bring import Here, bring, change_of, look
from assistant.transfer.contents import (
    KEPT_NAMES,
    MOST_BYTES,
    Contents,
    contents_of,
    pack,
    parts_of,
    unpack,
)
from assistant.transfer.settings import secrets_in, without_secrets


def carry_arguments(parser: argparse.ArgumentParser) -> None:
    """`--export FILE [--with-secrets]`, `--import FILE`."""
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="put settings, memory, timers, ratings, approvals and tokens into one file",
    )
    parser.add_argument(
        "--with-secrets",
        action="store_true",
        help="with --export: access tokens, keys and the registration too; keep that file safe",
    )
    parser.add_argument(
        "--import",
        type=Path,
        metavar="FILE",
        dest="bring",
        help="take such a file up; it is shown first what would change",
    )


def wants_carrying(arguments: argparse.Namespace) -> bool:
    """Return True if an export or import was asked for."""
    return arguments.export is not None or arguments.bring is not None


async def carry(arguments: argparse.Namespace, target: Path, console: Terminal) -> int:
    """Do it. `target`: the configuration. Raises ConfigError, StoreError and Failed."""
    if arguments.export is not None and arguments.bring is not None:
        raise Failed("Give --export or --import, not both", 2)
    target = await asyncio.to_thread(target.absolute)
    text, settings = await asyncio.to_thread(_present, target)
    if arguments.export is not None:
        await _export(arguments, text, settings, console)
    else:
        await _import(arguments, target, text, settings, console)
    return 0


def _present(target: Path) -> tuple[str, Settings]:
    """The configuration's text and what holds. Blocking. Raises ConfigError."""
    if not target.exists():
        return "", Settings()
    settings = load_settings(target, os.environ)
    return target.read_text(encoding="utf-8"), settings


async def _export(
    arguments: argparse.Namespace, text: str, settings: Settings, console: Terminal
) -> None:
    file: Path = await asyncio.to_thread(arguments.export.absolute)
    if await asyncio.to_thread(file.exists) and not arguments.force:
        raise Failed(f"{file} is there already; name another, or write over it with --force", 2)
    clock = SystemClock()
    async with Store(settings.database, clock) as store:
        rows = await export_rows(store.memory)
        timers = await store.timers()
        kept = {name: await store.kept(name) for name in KEPT_NAMES}
        openings = await store.openings()
    secret = bool(arguments.with_secrets)
    contents = Contents(
        settings=without_secrets(text) if text else None,
        secrets=secrets_in(settings) if secret else {},
        timers=timers,
        kept={name: value for name, value in kept.items() if value is not None},
        openings=openings,
        tokens=await asyncio.to_thread(TokenFile(settings.data_folder).rows),
        device=await asyncio.to_thread(_device, settings) if secret else None,
    )
    data = pack(parts_of(contents, rows), own_version(), clock.now())
    await asyncio.to_thread(write_all, [NewFile(file, data)])
    console.print(
        f"{file}: settings, {len(rows)} facts, {len(timers)} timers, "
        f"{', '.join(contents.kept) or 'no ratings'}, {len(contents.tokens)} tokens.",
        soft_wrap=True,
    )
    console.print(
        "With the secrets: whoever has this file has your house."
        if secret
        else "Without secrets: access tokens and keys are asked for on the other box.",
        style="yellow" if secret else "",
    )


async def _import(
    arguments: argparse.Namespace, target: Path, text: str, settings: Settings, console: Terminal
) -> None:
    file: Path = arguments.bring
    clock = SystemClock()
    data = await asyncio.to_thread(_read, file)
    contents = contents_of(unpack(data, str(file)), str(file))
    with locked(settings.data_folder):
        here = await _here(target, text, settings)
        change = change_of(contents, here, clock.now().astimezone(local_zone()))
        console.print(f"{file} would change this box:", soft_wrap=True)
        for line in change.lines:
            console.print(f"- {line}", soft_wrap=True)
        if change.accepted is not None:
            console.print("It brings a yes to Gemini:")
            for line in four_lines(change.accepted):
                console.print(f"- {line}", soft_wrap=True)
        await _agreed(arguments, console)
        await bring(change, here, clock)
    console.tell("Done. Next: [bold]hearth doctor[/]")
    token = settings.home_assistant.token.get_secret_value()
    if not contents.secrets and (not token or "home_assistant.token" in change.lost):
        console.tell(
            "It holds no secrets: give Home Assistant's token by [bold]hearth setup[/] "
            "--token-file FILE."
        )


def _read(file: Path) -> bytes:
    """Raises Failed. Blocking."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Failed(f"{file} cannot be read ({error.strerror})", 2) from error
    if len(data) > MOST_BYTES:
        raise Failed(f"{file} is too large to be an export of Hearth", 2)
    return data


async def _here(target: Path, text: str, settings: Settings) -> Here:
    clock = SystemClock()
    facts, ids = await look(settings, clock)
    async with Store(settings.database, clock) as store:
        kept = {name: await store.kept(name) for name in KEPT_NAMES}
        openings = await store.openings()
    device = await asyncio.to_thread(_device, settings)
    return Here(
        target=target,
        text=text,
        settings=settings,
        memory=facts,
        timer_ids=ids,
        kept=kept,
        openings=openings,
        tokens=await asyncio.to_thread(TokenFile(settings.data_folder).rows),
        registered=device is not None and bool(device.webhook_id),
    )


async def _agreed(arguments: argparse.Namespace, console: Terminal) -> None:
    """Raise Failed unless somebody says yes, or said so beforehand."""
    if arguments.non_interactive:
        return
    if not sys.stdin.isatty():
        raise Failed("There is no terminal to ask on; take it up with --non-interactive", 2)
    if not await confirm(TerminalPerson(console), "Take it up?"):
        raise Failed("Nothing was changed")


def _device(settings: Settings) -> DeviceRecord | None:
    try:
        return DeviceFile(settings.data_folder, SystemClock()).read()
    except ConfigError:  # damaged: there is nothing that could be carried
        return None
