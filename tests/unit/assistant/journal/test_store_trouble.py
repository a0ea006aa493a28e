"""Tests that the store survives trouble with processes and disks."""

import asyncio
import logging
import os
import signal
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.config import ConfigError
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError, new_id
from assistant.domain.tool_call import Status
from assistant.journal import opening
from assistant.journal.migrations import MIGRATIONS
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import a_call, a_turn


async def test_a_write_is_finished_though_its_caller_was_cancelled(
    store: Store, clock: VirtualClock
) -> None:
    task = asyncio.get_running_loop().create_task(store.record_turn(a_turn(clock)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.turn("t1") == a_turn(clock)


async def test_many_writers_wait_their_turn(store: Store, clock: VirtualClock) -> None:
    """More writes than the queue holds are all kept."""
    async with asyncio.TaskGroup() as tasks:
        for number in range(600):
            tasks.create_task(store.record_turn(a_turn(clock, f"t{number:03}")))
    assert len(await store.turns(1000)) == 600


async def test_two_stores_share_the_file(path: Path, clock: VirtualClock) -> None:
    """A daemon and `hearth ask` do this when they start at the same moment."""
    one, two = Store(path, clock), Store(path, clock)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(one.__aenter__())
        tasks.create_task(two.__aenter__())
    await one.start_call(a_call(clock))
    # Its opening does not touch calls of the living process.
    async with Store(path, clock) as third:
        assert [call.status for call in await third.calls("t1")] == [None]
    await two.record_turn(a_turn(clock))
    assert await one.turn("t1") == a_turn(clock)
    for store in (one, two):
        await store.__aexit__(None, None, None)


async def test_a_busy_file_is_waited_for(store: Store, clock: VirtualClock, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.get_running_loop().create_task(store.record_turn(a_turn(clock)))
        done, _ = await asyncio.wait([task], timeout=0.1)
        assert not done
        other.execute("COMMIT")
    await task
    assert await store.turn("t1")


async def test_what_is_busy_for_too_long_is_said(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_BUSY_S", 0.05)
    async with Store(path, clock) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="is in use by another program; try again"):
                await store.record_turn(a_turn(clock))
        await store.record_turn(a_turn(clock))


async def test_a_failed_write_leaves_the_store_usable(store: Store, clock: VirtualClock) -> None:
    broken = replace(a_turn(clock), source=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="NOT NULL"):
        await store.record_turn(broken)
    await store.record_turn(a_turn(clock))


async def test_after_closing_it_says_so(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        pass
    with pytest.raises(StoreError, match="closed"):
        await store.last_turn()


_WRITER = """
import asyncio, sys
from pathlib import Path
from assistant.domain.clock import SystemClock
from assistant.domain.records import CallRecord, TimerRecord
from assistant.journal.store import Store
from assistant.domain.tool_call import Decision, Tier

async def main():
    clock = SystemClock()
    async with Store(Path(sys.argv[1]), clock) as store:
        await store.add_timer(TimerRecord("tea", clock.now(), 60.0, clock.now()))
        number = 0
        while True:
            await store.start_call(CallRecord("t1", f"c{number}", "house", "HassTurnOn", {},
                                              Decision.ALLOWED, Tier.COMFORT, clock.now()))
            print(number, flush=True)
            number += 1

asyncio.run(main())
"""


async def test_a_process_killed_while_writing_loses_nothing(
    path: Path, clock: VirtualClock
) -> None:
    """kill -9 in the middle: every confirmed row is there, and calls under way are unknown."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _WRITER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout
    confirmed = -1
    while confirmed < 20:
        confirmed = int(await writer.stdout.readline())
    async with Store(path, clock) as beside:  # the writer is alive, so its calls are under way
        assert (await beside.calls("t1"))[0].status is None
    os.kill(writer.pid, signal.SIGKILL)
    rest = (await writer.stdout.read()).split(b"\n")
    confirmed = max([confirmed, *(int(line) for line in rest[:-1])])
    await writer.wait()
    async with Store(path, clock) as store:
        calls = await store.calls("t1")
        assert [call.id for call in calls[: confirmed + 1]] == [
            f"c{number}" for number in range(confirmed + 1)
        ]
        assert {call.status for call in calls} == {Status.UNKNOWN}
        assert [timer.id for timer in await store.timers()] == ["tea"]


@pytest.mark.parametrize("damage", ["all", "head", "middle"])
async def test_a_damaged_file_is_set_aside(
    path: Path, clock: VirtualClock, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Store(path, clock) as store:
        for number in range(60):
            await store.record_turn(a_turn(clock, f"t{number}"))
    content = _damage(path, damage)
    with caplog.at_level(logging.ERROR):
        async with Store(path, clock) as store:
            assert await store.turns(9) == []
            await store.record_turn(a_turn(clock))
    aside = path.with_name("hearth.db.corrupt-20260101T120000")
    assert aside.read_bytes() == content
    assert f"the journal {path} was damaged; it is kept as {aside}" in caplog.text


def _damage(path: Path, how: str) -> bytes:
    content = bytearray(path.read_bytes())
    if how == "all":
        content = bytearray(b"this is no database" * 100)
    elif how == "head":
        content[:16] = b"\xff" * 16
    else:
        content[4096 * 2 : 4096 * 6] = b"\xff" * 4096 * 4
    path.write_bytes(content)
    return bytes(content)


async def test_a_later_version_is_left_alone(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(ConfigError, match="later version of Hearth; update Hearth or set"):
        async with Store(path, clock):
            pass
    assert [part.name for part in path.parent.iterdir() if "corrupt" in part.name] == []


async def test_a_step_that_fails_changes_nothing(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Store(path, clock) as store:
        await store.record_turn(a_turn(clock))
    second = "ALTER TABLE turns ADD COLUMN mood TEXT; INSERT INTO nowhere VALUES (1);"
    with monkeypatch.context() as patch:
        patch.setattr("assistant.journal.migrations.MIGRATIONS", (*MIGRATIONS, second))
        with pytest.raises(ConfigError, match="no such table: nowhere"):
            async with Store(path, clock):
                pass
    good = "ALTER TABLE turns ADD COLUMN mood TEXT;"
    monkeypatch.setattr("assistant.journal.migrations.MIGRATIONS", (*MIGRATIONS, good))
    async with Store(path, clock) as store:  # the failed migration was rolled back
        assert await store.turn("t1") == a_turn(clock)


async def test_a_place_that_cannot_be_used_is_named(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "hearth.db"
    with pytest.raises(ConfigError) as caught:
        async with Store(path, clock):
            pass
    assert str(caught.value).startswith(f"{path} cannot be used as the journal (")
    assert str(caught.value).endswith("; correct journal.path or assistant.data")
    with pytest.raises(ConfigError, match="cannot be used as the journal"):
        async with Store(tmp_path, clock):
            pass


def test_ids_are_short_unique_and_sort_by_time() -> None:
    clock = VirtualClock()
    ids = []
    for _ in range(200):
        ids.append(new_id(clock.now()))
        clock.advance(0.001)
    assert ids == sorted(ids)
    assert len(set(ids)) == 200
    assert {len(name) for name in ids} == {12}


def test_ids_of_one_millisecond_differ_and_keep_their_order() -> None:
    now = VirtualClock().now()
    ids = [new_id(now) for _ in range(2_000)]
    assert ids == sorted(set(ids))


def test_ids_that_run_over_their_millisecond_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock()
    clock.advance(3600.0)  # far from the ids of the other tests
    chances = iter((2**15 - 2, 5, 5, 5, 5, 2**15 - 1))
    monkeypatch.setattr("secrets.randbits", lambda bits: next(chances))
    ids = [new_id(clock.now()) for _ in range(4)]
    clock.advance(0.001)
    ids += [new_id(clock.now()) for _ in range(2)]
    assert ids == sorted(set(ids))
