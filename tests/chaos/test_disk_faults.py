"""Tests of a full, read-only or damaged disk: people are served as before, and are informed."""

import os
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.records import TimerRecord
from assistant.journal.store import Store
from tests.chaos.daemon import Daemon, listener
from tests.chaos.disks import failing_disk, fill, make_room, needs_root, run, small_disk
from tests.chaos.faults import fault
from tests.chaos.served import served, written

KEPT = "earlier turns; a running timer keeps running"
NOT_SET = "I can't read or save timers right now, so I didn't change anything."
pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]


@fault(
    "the disk is full",
    hears=(
        f"commands work; a new timer gets “{NOT_SET}” Reported once: “The disk of … is full, so "
        "nothing is saved: free some space there.”"
    ),
    retried="writing, in each turn and every 30 s",
    kept=KEPT,
)
@needs_root
async def test_a_full_disk(tmp_path: Path, office: Path) -> None:
    folder = tmp_path / "small"
    with small_disk(folder, megabytes=4):
        async with listener(tmp_path, ASSISTANT__DATA=str(folder)) as box:
            await box.up()
            before = await box.ask("set a timer for an hour")
            fill(folder)
            box.writes = False
            await served(box, office)
            full = f"The disk of {folder} is full, so nothing is saved: free some space there."
            assert await box.trouble("journal") == full
            refused = await box.ask("set a timer for ten minutes")
            assert refused["answer"] == NOT_SET
            assert (await box.timer())["left_s"] > 3000, "it goes on"
            make_room(folder)
            await box.ask("turn off the office lights")
            await box.sound("journal")
            assert box.log.count("is full") == 1, "it is said once"
            assert "can be written again" in box.log
            assert written(box, f"turns WHERE turn_id = '{before['turn_id']}'") == 1


@fault(
    "the disk becomes read-only, before the start or while Hearth is running",
    hears=(
        "the same as with a full disk. Reported problem: “The disk of … is read-only, so nothing "
        "is saved: mount it writable, …”"
    ),
    retried="writing, in each turn and every 30 s",
    kept=KEPT,
)
@needs_root
async def test_a_disk_that_turns_read_only(tmp_path: Path, office: Path) -> None:
    folder = tmp_path / "failing"
    with failing_disk(folder, tmp_path / "image") as disk:
        async with listener(tmp_path, ASSISTANT__DATA=str(folder / "data")) as box:
            for broken in (True, False):  # while it runs; and before it starts
                await box.up()
                if broken:
                    before = await box.ask("set a timer for an hour")
                    run("sync", "--file-system", folder)  # the kernel writes with a delay
                    disk.break_down()
                    box.writes = False
                await served(box, office)
                trouble = await box.trouble("journal")
                assert trouble == (
                    f"The disk of {folder / 'data'} is read-only, so nothing is saved: mount "
                    "it writable, and check the disk if that fails."
                )
                assert (await box.timer())["left_s"] > 3000, "it goes on"
                assert await box.end() == 0
                assert _wrote(box, before["turn_id"], tmp_path / f"copy {broken}")
            assert box.log.count("is read-only") == 2


@fault(
    "the database is damaged at the start",
    hears="nothing. In the log: “… was damaged; it is kept as …”",
    retried="nothing",
    kept=(
        "the damaged file next to the new one; all readable timers, memories, "
        "announcements and small settings in it"
    ),
)
async def test_a_database_that_was_damaged_before(tmp_path: Path, office: Path) -> None:
    async with listener(tmp_path) as box:
        now = SystemClock().now()
        async with Store(box.data / "hearth.db", SystemClock()) as store:
            await store.add_timer(TimerRecord("soon", now + timedelta(hours=1), 3600, now))
        _damage(box, "turns")
        await box.up()
        await box.logged("was damaged; it is kept as")
        await served(box, office)
        assert (await box.timer())["left_s"] > 3000, "what can be read of it goes on"
        assert await box.end() == 0
        assert list(box.data.glob("hearth.db.corrupt-*"))
        assert written(box, "turns") == 1
        assert written(box, "faults WHERE what = 'journal_damage'") == 1


@fault(
    "the database is damaged while Hearth is running",
    hears=(
        "nothing. Reported as above; Hearth notices it at the next read, or at the full "
        "check 20 s after the start and every 6 h"
    ),
    retried="the operation that noticed the damage, once",
    kept="the same as above, and the timers in memory",
)
async def test_a_database_that_is_damaged_while_it_runs(tmp_path: Path, office: Path) -> None:
    async with listener(tmp_path) as box:
        await box.up()
        await box.ask("set a timer for an hour")
        _damage(box, "turns", "timers", "calls", "audit")
        box.writes = False  # what of it is lost, is
        await served(box, office)
        await box.logged("was damaged; it is kept as")
        assert (await box.timer())["left_s"] > 3000, "it goes on"
        await box.ask("turn off the office lights")
        assert await box.end() == 0
        assert written(box, "timers WHERE status = 'running'") == 1
        assert written(box, "turns") >= 1
        assert written(box, "faults WHERE what = 'journal_damage'") == 1


def _wrote(box: Daemon, turn_id: str, folder: Path) -> bool:
    """Return whether the journal has that turn.

    A copy is read: beside a file on a read-only disk SQLite cannot open its log.
    """
    folder.mkdir()
    for part in box.data.glob("hearth.db*"):
        shutil.copy(part, folder)
    copy = sqlite3.connect(folder / "hearth.db")
    try:
        return bool(copy.execute("SELECT 1 FROM turns WHERE turn_id = ?", (turn_id,)).fetchone())
    finally:
        copy.close()


def _damage(box: Daemon, *tables: str) -> None:
    """Overwrite the beginnings of these tables in the file and its log, as a bad card does."""
    file = box.data / "hearth.db"
    connection = sqlite3.connect(file, timeout=5.0)
    try:
        roots = {
            root
            for table in tables
            for (root,) in connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
            )
        }
        if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise AssertionError("the log could not be brought into the file")
        [[size]] = connection.execute("PRAGMA page_size").fetchall()
    finally:
        connection.close()
    assert len(roots) == len(tables)
    with file.open("r+b") as damaged:
        for root in roots:
            damaged.seek((root - 1) * size)
            damaged.write(os.urandom(size))
