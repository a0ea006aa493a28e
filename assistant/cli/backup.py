"""`hearth backup`: save Hearth's settings and data to a file, and restore them on this or another
device."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from assistant.app.process import locked
from assistant.cli.console import Terminal
from assistant.cli.setup_steps import TerminalPerson, confirm
from assistant.cli.terminal import CliCommand, Failed, repeat_common_arguments
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings, candidate_files
from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import TokenFile
from assistant.journal.store import Store
from assistant.setup.cloud import four_lines
from assistant.setup.document import NewFile, write_all
from assistant.timers.recurrence import local_zone
from assistant.transfer.bring import Here, bring, change_of, look
from assistant.transfer.contents import (
    KEPT_NAMES,
    MOST_BYTES,
    backup_of,
    contents_of,
    device_of,
    unpack,
)


def _absolute(*paths: Path) -> tuple[Path, ...]:
    return tuple(path.absolute() for path in paths)


def _present(target: Path) -> tuple[str, Settings]:
    if not target.exists():
        return "", Settings()
    settings = load_settings(target, os.environ)
    return target.read_text(encoding="utf-8"), settings


async def create_backup(
    file: Path, target: Path, console: Terminal, *, with_secrets: bool, force: bool
) -> None:
    """Write a backup to `file`, and print what it contains. `target` is the configuration file.
    Raises ConfigError, StoreError and Failed."""
    file, target = await asyncio.to_thread(_absolute, file, target)
    text, settings = await asyncio.to_thread(_present, target)
    if await asyncio.to_thread(file.exists) and not force:
        raise Failed(f"{file} already exists: choose another name, or overwrite it with --force", 2)
    clock = SystemClock()
    async with Store(settings.database, clock) as store:
        made = await backup_of(store, settings, text, clock, with_secrets=with_secrets)
    await asyncio.to_thread(write_all, [NewFile(file, made.data)])
    contents = made.contents
    facts, timers = _some(made.facts, "fact"), _some(len(contents.timers), "timer")
    counted = f"settings, {facts}, {timers}"
    kinds = ", ".join(contents.kept) or "no ratings"
    console.print(
        f"Written: {file}: {counted}, {kinds}, {_some(len(contents.tokens), 'token')}.",
        soft_wrap=True,
    )
    console.print(
        "It contains secrets: anyone who has this file has access to your home."
        if with_secrets
        else "It contains no secrets: enter access tokens and keys again on the other box.",
        style="yellow" if with_secrets else "",
        soft_wrap=True,
    )


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


async def restore_backup(
    file: Path, target: Path, console: Terminal, *, ask: bool, yes_flag: str = "--yes"
) -> None:
    """Show what restoring a backup would change, and restore it. With `ask`, the user has to
    confirm first; `yes_flag` is the option that skips this. Raises ConfigError, StoreError and
    Failed."""
    (target,) = await asyncio.to_thread(_absolute, target)
    text, settings = await asyncio.to_thread(_present, target)
    clock = SystemClock()
    data = await asyncio.to_thread(_read, file)
    contents = contents_of(unpack(data, str(file)), str(file))
    with locked(settings.data_folder):
        here = await _here(target, text, settings)
        change = change_of(contents, here, clock.now().astimezone(local_zone()))
        console.print(f"Restoring {file} will make these changes on this box:", soft_wrap=True)
        for line in change.lines:
            console.print(f"- {line}", soft_wrap=True)
        if change.accepted is not None:
            console.print("It turns Gemini on:")
            for line in four_lines(change.accepted):
                console.print(f"- {line}", soft_wrap=True)
        if ask:
            await _confirmed(console, yes_flag)
        await bring(change, here, clock)
    console.tell("Restored. Next: [bold]hearth doctor[/]")
    token = settings.home_assistant.token.get_secret_value()
    if not contents.secrets and (not token or "home_assistant.token" in change.lost):
        console.tell(
            "The backup contains no secrets: enter Home Assistant's token with "
            "[bold]hearth setup --token-file FILE[/]."
        )


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Failed(f"Cannot read {file}: {error.strerror}", 2) from error
    if len(data) > MOST_BYTES:
        raise Failed(f"{file} is too large to be a Hearth backup", 2)
    return data


async def _here(target: Path, text: str, settings: Settings) -> Here:
    clock = SystemClock()
    facts, ids = await look(settings, clock)
    async with Store(settings.database, clock) as store:
        kept = {name: await store.kept(name) for name in KEPT_NAMES}
        openings = await store.openings()
    device = await asyncio.to_thread(device_of, settings)
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


async def _confirmed(console: Terminal, yes_flag: str) -> None:
    if not sys.stdin.isatty():
        raise Failed(f"No terminal to ask for confirmation on: confirm with {yes_flag}", 2)
    if not await confirm(TerminalPerson(console), "Restore it?"):
        raise Failed("Nothing was changed")


def _arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser(
        "create", help="write settings, memory, timers, ratings, approvals and tokens to a file"
    )
    create.add_argument("file", type=Path, metavar="FILE", help="the backup, such as hearth.zip")
    create.add_argument(
        "--with-secrets",
        action="store_true",
        help="include access tokens, keys and the registration; keep that file safe",
    )
    create.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    restore = actions.add_parser(
        "restore", help="show what a backup would change, and restore it once you confirm"
    )
    restore.add_argument(
        "file", type=Path, metavar="FILE", help="a backup from this or another box"
    )
    restore.add_argument("--yes", action="store_true", help="restore without asking")
    for action in (create, restore):
        repeat_common_arguments(action)


async def _run(arguments: argparse.Namespace, _: Settings) -> int:
    console = Terminal(stderr=True)
    target = arguments.config or find_file(None, os.environ) or candidate_files()[0]
    file: Path = arguments.file
    if arguments.action == "create":
        force, secret = arguments.force, arguments.with_secrets
        await create_backup(file, target, console, with_secrets=secret, force=force)
    else:
        await restore_backup(file, target, console, ask=not arguments.yes)
    return 0


COMMAND = CliCommand(
    name="backup",
    examples=("hearth backup create hearth.zip", "hearth backup restore hearth.zip"),
    add_arguments=_arguments,
    run=_run,
    configured=False,  # a new device has no configuration until it restores one
)
