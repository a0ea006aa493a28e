"""Checks of what Hearth keeps: its data folder, the journal, and the disk they lie on."""

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.config.exposed_secrets import Exposed, exposed_secrets
from assistant.config.load import find_file
from assistant.doctor import disk
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.doctor.scene import Scene
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError
from assistant.interfaces.device import old_orders
from assistant.interfaces.device.commands import MARK
from assistant.journal.store import Store


async def _data_folder(scene: Scene) -> Found:
    folder = scene.settings.data_folder

    def try_it() -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"hearth")

    try:
        await asyncio.to_thread(try_it)
    except OSError as error:
        return bad(
            f"{folder} cannot be written ({error.strerror})",
            "let Hearth's user write it, or set assistant.data to another folder",
        )
    return good(str(folder))


async def _journal(scene: Scene) -> Found:
    settings = scene.settings
    try:
        async with Store(settings.database, SystemClock()) as store:
            await store.last_turn()
    except (ConfigError, StoreError) as error:
        return bad("the journal does not open", str(error))
    size = await asyncio.to_thread(_size, settings.database)
    return disk.judge_journal(str(settings.database), size, settings.journal.max_mb)


def _size(database: Path) -> int:
    """Bytes, with what is not yet written into the file itself."""
    total = 0
    for name in (database, database.with_name(f"{database.name}-wal")):
        try:
            total += name.stat().st_size
        except OSError:
            continue  # the second is there only while somebody writes
    return total


async def _disk(scene: Scene) -> Found:
    folder = scene.settings.data_folder

    def look() -> Found:
        try:
            return disk.judge_disk(disk.look(folder))
        except OSError as error:
            return bad(
                f"{folder} cannot be looked at ({error.strerror})",
                "let Hearth's user read it, or set assistant.data to another folder",
            )

    return await asyncio.to_thread(look)


async def _secrets(scene: Scene) -> Found:
    config = scene.config or find_file(None, os.environ)
    found = await asyncio.to_thread(exposed_secrets, scene.settings, config)
    return judge_secrets(found)


def judge_secrets(found: Sequence[Exposed]) -> Found:
    """By the files that others can read."""
    if not found:
        return good("only Hearth's user can read them")
    told = "; ".join(f"{one.by} can read {one.path}" for one in found)
    return odd(told, " && ".join(one.command for one in found))


async def _messages(scene: Scene) -> Found:
    clock = SystemClock()
    try:
        async with Store(scene.settings.database, clock) as store:
            kept = await store.kept(old_orders.NAME)
    except (ConfigError, StoreError):
        return odd("not known", "mend the journal first")
    return judge_messages(old_orders.recent(kept, clock.now()))


def judge_messages(old: Mapping[str, old_orders.OldOrder]) -> Found:
    """By the messages of Home Assistant whose text was an order in earlier versions."""
    if not old:
        return good("none has its order in the text")
    told = ", ".join(f"{what} ({one.count})" for what, one in sorted(old.items()))
    last = max(one.last for one in old.values()).astimezone()
    order = min(old).removeprefix("command_")
    return odd(
        f"not obeyed, since the order is in the text: {told}; the last on {last:%Y-%m-%d at %H:%M}",
        "change the automation in Home Assistant that ran then: in its notify action, put "
        f'"data: {{{MARK}: {order}}}" in place of the text (docs/home-assistant.md has the rest)',
    )


CHECKS: tuple[Check[Scene], ...] = (
    Check("data folder", _data_folder),
    Check("journal", _journal),
    Check("disk", _disk),
    Check("secrets", _secrets),
    Check("messages", _messages),
)
