"""Tests that the journal goes on if the disk is full, read-only or damaged, and stays within its
size."""

import errno
import logging
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord, StoreError
from assistant.journal import database
from assistant.journal.database import Database
from assistant.journal.migrations import MIGRATIONS
from assistant.journal.rows import put, timer_row, turn_row
from assistant.journal.store import Store
from assistant.journal.tables import keep_value, kept_value
from tests.unit.assistant.journal.samples import a_timer, a_turn, an_audit

_AT = ("2026-01-01T12:00:00.000000+00:00",)
ROOM = "PRAGMA max_page_count = {}"  # beyond this size SQLite fails as on a full disk


@pytest.fixture
async def small(path: Path, clock: VirtualClock) -> AsyncIterator[Database]:
    found = Database(path, clock.now)
    await found.open()
    await found.run(lambda db: db.execute("CREATE TABLE things (text TEXT)"))
    yield found
    await found.close()


def add(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO things VALUES (?)", ("x" * 20_000,))


def count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM things").fetchone()[0])


async def test_a_full_disk_is_told_once_and_is_over_by_itself(
    small: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await small.run(add)
    await small.statement(ROOM.format(1))  # no page more than the file has
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with pytest.raises(StoreError, match="is full, so nothing is saved: free") as said:
                await small.run(add)
            assert said.value.told
        assert await small.read(count) == 1
        assert "is full" in small.problem
        await small.statement(ROOM.format(100_000))
        await small.run(add)
    assert small.problem == ""
    assert await small.read(count) == 2
    full, again = caplog.messages
    assert "free some space there" in full
    assert "can be written again" in again


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC])
async def test_it_opens_on_a_disk_that_cannot_be_written(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The file's contents are read; once the disk is writable, it is written."""
    async with Store(path, clock) as store:
        await store.record_turn(a_turn(clock))
    with monkeypatch.context() as patch:
        patch.setattr(database, "_AGAIN_S", 0.0)
        with monkeypatch.context() as broken:
            broken.setattr("assistant.journal.opening.os.open", _refusing(code))
            store = await Store(path, clock).__aenter__()
            assert await store.turn("t1") == a_turn(clock)
            with pytest.raises(StoreError, match="nothing is saved") as said:
                await store.add_timer(a_timer(clock, "tea", 5))
            assert said.value.told
            assert store.problem
            with pytest.raises(StoreError):
                await store.probe()
        await store.probe()
        assert store.problem == ""
        await store.add_timer(a_timer(clock, "tea", 5))
        await store.__aexit__(None, None, None)
    async with Store(path, clock) as store:
        assert [timer.id for timer in await store.timers()] == ["tea"]


def _refusing(code: int) -> Callable[..., int]:
    def refuse(*arguments: object, **options: object) -> int:
        raise OSError(code, os.strerror(code))

    return refuse


async def test_nothing_there_yet_and_nothing_can_be_written(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr("assistant.journal.opening.os.open", _refusing(errno.ENOSPC))
    async with Store(path, clock) as store:
        assert await store.last_turn() is None
        assert await store.timers() == []
        with pytest.raises(StoreError, match="is full"):
            await store.record_turn(a_turn(clock))
    assert _size(path) == 0


@pytest.mark.parametrize("spoilt", ["of an earlier version", "damaged"])
async def test_what_lasts_is_read_though_the_file_cannot_be_brought_up_to_date(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, spoilt: str
) -> None:
    """This is the case when an update has filled the disk."""
    with monkeypatch.context() as earlier:
        if spoilt == "of an earlier version":
            earlier.setattr("assistant.journal.migrations.MIGRATIONS", MIGRATIONS[:6])
        before = Database(path, clock.now)
        await before.open()
        await before.run(partial(put, table="timers", row=timer_row(a_timer(clock, "tea", 5))))
        query = "INSERT INTO memories (id, text, created_at) VALUES ('m1', 'Bins', ?)"
        await before.run(lambda db: db.execute(query, _AT))
        await before.close()
    if spoilt == "damaged":
        _garble_table(path, "turns")
    monkeypatch.setattr("assistant.journal.opening.os.open", _refusing(errno.ENOSPC))
    async with Store(path, clock) as store:
        assert store.problem
        assert [timer.id for timer in await store.timers()] == ["tea"]
        assert [fact.text for fact in await store.memory.all()] == ["Bins"]


async def test_damage_that_a_write_meets(
    path: Path, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The write goes into a new file, with everything that the process has in memory."""
    found = Database(path, clock.now, lambda db: keep_value(db, "tea", '"5 min"', clock.now()))
    await found.open()
    for number in range(60):
        row = turn_row(a_turn(clock, f"t{number}"))
        await found.run(partial(put, table="turns", row=row))
    await found.empty_log()  # all of it is now in the file ...
    await found.statement("PRAGMA shrink_memory")  # ... and none of it in memory
    _garble(path)
    row = turn_row(a_turn(clock, "after"))
    await found.run(partial(put, table="turns", row=row))
    rows = await found.read(lambda db: db.execute("SELECT turn_id FROM turns").fetchall())
    assert [row["turn_id"] for row in rows] == ["after"]
    assert await found.read(lambda db: kept_value(db, "tea")) == "5 min"
    await found.close()
    assert "was damaged; it is kept as" in caplog.text
    assert _size(path.with_name("hearth.db.corrupt-20260101T120000"))


async def test_damage_while_it_runs_costs_no_timer(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        for number in range(60):
            await store.record_turn(a_turn(clock, f"t{number}"))
        await store.add_timer(a_timer(clock, "tea", 5))
        await store.add_timer(a_timer(clock, "eggs", 4))
        await store.cancel_timer("eggs")
        await store.erase_old(30, 24)
        _garble(path)
        assert not await store.check()
        await store.record_turn(a_turn(clock, "after"))
        assert [timer.id for timer in await store.timers()] == ["tea"]
        assert [turn.turn_id for turn in await store.turns(99)] == ["after"]
        (fault,) = await store.reports.faults(clock.now() - timedelta(days=1))
        assert (
            "so a new one was started; the old one is hearth.db.corrupt-20260101T120000"
            in fault.problem
        )


def _size(path: Path) -> int:
    """Return the size in bytes; 0 if there is no file."""
    return path.stat().st_size if path.exists() else 0


def _garble(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(1, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 512)


async def test_what_outlasts_turns_is_saved_from_a_damaged_file(
    path: Path, clock: VirtualClock
) -> None:
    async with Store(path, clock) as store:
        await store.keep("volume", 0.5)
        await store.add_timer(a_timer(clock, "tea", 5))
        await store.add_openings({"switch.hall": frozenset({"lock.front"})})
        await store.record_turn(a_turn(clock))
    _garble_table(path, "turns")
    async with Store(path, clock) as store:  # another process, which has no state in memory
        assert await store.turns(9) == []
        assert await store.kept("volume") == 0.5
        assert [timer.id for timer in await store.timers()] == ["tea"]
        assert await store.openings() == {"switch.hall": frozenset({"lock.front"})}


async def test_a_check_finds_what_nobody_has_read_yet(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        for number in range(60):
            await store.record_turn(a_turn(clock, f"t{number}"))
        await store.erase_old(30, 24)
        assert await store.check()
        _garble(path)
        assert not await store.check()
        assert await store.turns(9) == []
        assert await store.check()


async def test_a_file_that_another_process_has_set_aside_is_left(
    path: Path, clock: VirtualClock
) -> None:
    async with Store(path, clock) as one, Store(path, clock) as two:
        await one.record_turn(a_turn(clock, "before"))
        await one.erase_old(30, 24)
        _garble(path)
        assert not await one.check()
        await one.record_turn(a_turn(clock, "by one"))
        await two.record_turn(a_turn(clock, "by two"))
        found = [{turn.turn_id for turn in await store.turns(9)} for store in (one, two)]
        assert found == [{"by one", "by two"}] * 2
    assert len(list(path.parent.glob("*.corrupt-20260101T120000"))) == 1


async def test_damaged_files_go_when_their_words_would(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        await store.record_turn(a_turn(clock))
        await store.erase_old(30, 24)
        path.with_name("hearth.db.corrupt-20260101T120000").write_bytes(b"words")
        path.with_name("hearth.db.corrupt-20260101T120000-wal").write_bytes(b"words")
        clock.advance(23 * 3600)
        await store.erase_old(30, 24)
        assert len(list(path.parent.glob("*.corrupt-*"))) == 2
        clock.advance(2 * 3600)
        await store.erase_old(30, 24)
        assert list(path.parent.glob("*.corrupt-*")) == []


async def test_what_is_oldest_goes_first_where_there_is_too_much(
    path: Path, clock: VirtualClock
) -> None:
    """Words go first, then rows, and timers stay; the file itself shrinks."""
    async with Store(path, clock) as store:
        await store.add_timer(a_timer(clock, "tea", 5))
        for number in range(600):
            turn = replace(a_turn(clock, f"t{number:03}"), answer="word " * 200)
            await store.record_turn(turn)
            await store.audit(an_audit(clock, f"c{number}", turn_id=turn.turn_id))
            clock.advance(300)
        before = await store.bound(100_000_000)
        assert await store.bound(before - 100_000) <= before - 100_000
        turns = await store.turns(999)
        assert turns[-1].answer is None  # the oldest turn left
        assert all(turn.answer for turn in turns[:280])  # the turns of the last day
        few = await store.bound(450_000)
        assert few == _size(path) <= 450_000
        left = await store.turns(999)
        assert 0 < len(left) < 600
        assert left[0].turn_id == "t599"
        assert await store.audited(turn_id="t000") == []
        assert [timer.id for timer in await store.timers()] == ["tea"]


async def test_a_file_of_an_earlier_version_shrinks_too(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        for number in range(300):
            await store.record_turn(replace(a_turn(clock, f"t{number:03}"), answer="word " * 200))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute("VACUUM")
    db.close()
    async with Store(path, clock) as store:
        clock.advance(31 * 24 * 3600)
        await store.erase_old(30, 24)
        assert await store.bound(100_000_000) == _size(path) < 200_000


async def test_what_fails_while_it_is_mended_is_tried_again_with_nothing_lost(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged disk is often full or read-only as well."""
    async with Store(path, clock) as store:
        await store.keep("volume", 0.5)
        for number in range(60):
            await store.record_turn(a_turn(clock, f"t{number}"))
        await store.erase_old(30, 24)
        _garble_table(path, "turns")
        with monkeypatch.context() as full:
            full.setattr("assistant.journal.opening.salvage", _no_room)
            with pytest.raises(StoreError, match="is full"):
                await store.check()
            assert await store.kept("volume") == 0.5  # intact parts can still be read
        assert not await store.check()
        assert await store.turns(99) == []
        assert await store.kept("volume") == 0.5
        await store.record_turn(a_turn(clock, "after"))
    assert not list(path.parent.glob("*.new*"))
    async with Store(path, clock) as store:
        assert await store.kept("volume") == 0.5
        assert [turn.turn_id for turn in await store.turns(99)] == ["after"]


def _garble_table(path: Path, table: str) -> None:
    """Damage the table's first page."""
    with sqlite3.connect(path) as db:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (root,) = db.execute(query, (table,)).fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)


def _no_room(fresh: sqlite3.Connection, damaged: Path) -> list[str]:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


async def test_what_was_begun_does_not_begin_again_in_a_fresh_file(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if nothing could be saved: a call that was sent once is not sent again."""
    monkeypatch.setattr("assistant.journal.opening.salvage", lambda fresh, damaged: [])
    async with Store(path, clock) as store:
        for name in ("lock up", "tea", "daily"):
            await store.add_timer(a_timer(clock, name, 5))
        _, tea, daily = sorted(await store.timers(), key=lambda one: one.id == "daily")
        assert await store.begin_timer("lock up")
        longer = replace(tea, due=tea.due + timedelta(minutes=5))
        assert await store.change_timer(longer)
        once = replace(daily, id="daily-1")
        following = daily.due + timedelta(days=1)
        assert await store.take_occurrence(daily, once, following)
        for number in range(60):
            await store.record_turn(a_turn(clock, f"t{number}"))
        await store.erase_old(30, 24)
        _garble(path)
        assert not await store.check()
        assert {timer.id: timer.due for timer in await store.timers()} == {
            "tea": longer.due,
            "daily-1": daily.due,
            "daily": following,
        }


async def test_the_memory_is_read_where_nothing_can_be_written(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_day = MemoryRecord("m1", "The bin goes out on Tuesday", clock.now())
    async with Store(path, clock) as store:
        await store.memory.keep(bin_day)
    monkeypatch.setattr("assistant.journal.opening.os.open", _refusing(errno.EROFS))
    async with Store(path, clock) as store:
        assert await store.memory.all() == [bin_day]
        assert [fact.id for fact, _ in await store.memory.found('"bin"', 5)] == ["m1"]
        with pytest.raises(StoreError, match="nothing is saved"):
            await store.memory.forget("m1")
