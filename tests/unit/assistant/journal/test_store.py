"""The store keeps what it is given, forgets on time, and survives what processes and disks do."""

import asyncio
import logging
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.brains.protocol import Usage
from assistant.clock import VirtualClock
from assistant.config import ConfigError
from assistant.journal import database
from assistant.journal.migrations import MIGRATIONS
from assistant.journal.records import (
    AnnouncementRecord,
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    StoreError,
    TimerRecord,
    TurnRecord,
    WakeRecord,
    new_id,
)
from assistant.journal.store import Store
from assistant.tools.outcome import Decision, Observed, Status, Tier, ToolOutcome


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "hearth.db"


@pytest.fixture
async def store(path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(path, clock) as opened:
        yield opened


def a_turn(clock: VirtualClock, turn_id: str = "t1") -> TurnRecord:
    return TurnRecord(
        turn_id=turn_id,
        started_at=clock.now(),
        source="voice",
        language="es",
        brain="offline",
        wake=WakeRecord("alexa", 0.97, 812.5),
        heard="enciende la luz",
        answer="La luz está encendida.",
        clauses=("La luz está encendida.",),
        sound="done",
        audio_ms=1210.0,
        timeline={"wake": 812.5, "answer_done": 3000.0},
        usage=Usage(10, 20, {"audio": 30}),
        cost_usd=0.25,
        error=ErrorRecord("timeout", "The house did not answer."),
        confirmation=ConfirmationRecord("Unlock Front Door?", "yes", "yes"),
    )


def a_call(clock: VirtualClock, call_id: str = "c1", turn_id: str = "t1") -> CallRecord:
    return CallRecord(
        turn_id,
        call_id,
        "house",
        "HassTurnOn",
        {"name": "Küche"},
        Decision.ALLOWED,
        Tier.COMFORT,
        clock.now(),
    )


def an_outcome(call_id: str = "c1") -> ToolOutcome:
    return ToolOutcome(
        id=call_id,
        server="house",
        name="HassTurnOn",
        arguments={"name": "Küche"},
        decision=Decision.CONFIRMED,
        tier=Tier.SECURE,
        status=Status.DONE,
        observed=(Observed("light.kitchen", "off", "on"),),
        ms=250.0,
        sentence="The light is on.",
    )


def a_timer(clock: VirtualClock, timer_id: str, minutes: float) -> TimerRecord:
    due = clock.now() + timedelta(minutes=minutes)
    return TimerRecord(timer_id, due, minutes * 60, clock.now(), "pasta", "es")


async def test_a_turn_comes_back_whole(store: Store, clock: VirtualClock) -> None:
    await store.record_turn(a_turn(clock))
    assert await store.turn("t1") == a_turn(clock)
    bare = TurnRecord("t2", clock.now(), "text", "en")
    await store.record_turn(bare)
    assert await store.turn("t2") == bare
    assert await store.turn("none") is None


async def test_turns_come_newest_first(store: Store, clock: VirtualClock) -> None:
    assert await store.last_turn() is None
    for number in range(4):
        await store.record_turn(a_turn(clock, f"t{number}"))
        clock.advance(0.5)
    assert [turn.turn_id for turn in await store.turns(3)] == ["t3", "t2", "t1"]
    last = await store.last_turn()
    assert last
    assert last.turn_id == "t3"


async def test_a_call_is_started_then_ended_in_its_place(store: Store, clock: VirtualClock) -> None:
    await store.start_call(a_call(clock, "c1"))
    await store.start_call(a_call(clock, "c2"))
    assert [call.status for call in await store.calls("t1")] == [None, None]
    began = clock.now()
    clock.advance(1)
    await store.finish_call("t1", an_outcome("c1"))
    first, second = await store.calls("t1")
    assert (first.id, first.status, first.decision) == ("c1", Status.DONE, Decision.CONFIRMED)
    assert first.observed == (Observed("light.kitchen", "off", "on"),)
    assert (first.started_at, first.ms, first.sentence) == (began, 250.0, "The light is on.")
    assert second.status is None


async def test_a_call_that_was_never_sent_is_kept_too(store: Store, clock: VirtualClock) -> None:
    denied = replace(an_outcome("c9"), decision=Decision.DENIED, status=Status.NOT_RUN)
    await store.finish_call("t1", denied)
    (call,) = await store.calls("t1")
    assert (call.decision, call.status) == (Decision.DENIED, Status.NOT_RUN)
    assert call.started_at == clock.now() - timedelta(milliseconds=250)


async def test_the_same_call_id_in_two_turns_is_two_calls(
    store: Store, clock: VirtualClock
) -> None:
    await store.start_call(a_call(clock, "1", "t1"))
    await store.start_call(a_call(clock, "1", "t2"))
    assert len(await store.calls("t1")) == len(await store.calls("t2")) == 1


async def test_timers_run_until_acknowledged_or_cancelled(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        for name, minutes in (("late", 9), ("soon", 1), ("mid", 5)):
            await store.add_timer(a_timer(clock, name, minutes))
        clock.advance(120)  # "soon" rings: it stays until it is heard
    async with Store(path, clock) as store:
        assert [timer.id for timer in await store.timers()] == ["soon", "mid", "late"]
        assert await store.acknowledge_timer("soon") is True
        assert await store.acknowledge_timer("soon") is False
        assert await store.cancel_timer("mid") is True
        assert await store.cancel_timer("none") is False
        (late,) = await store.timers()
    assert late == replace(a_timer(clock, "late", 9), due=late.due, created_at=late.created_at)
    assert late.due - late.created_at == timedelta(minutes=9)


async def test_an_announcement_is_begun_once_and_only_in_time(
    store: Store, clock: VirtualClock
) -> None:
    def announcement(name: str, lasts_s: float | None) -> AnnouncementRecord:
        expires = clock.now() + timedelta(seconds=lasts_s) if lasts_s else None
        return AnnouncementRecord(name, "Dinner!", clock.now(), expires, {"volume": 0.5})

    for name, lasts in (("short", 10), ("long", 100), ("ever", None)):
        await store.add_announcement(announcement(name, lasts))
    assert [a.id for a in await store.pending_announcements()] == ["short", "long", "ever"]
    clock.advance(10)
    assert [a.id for a in await store.pending_announcements()] == ["long", "ever"]
    assert await store.start_announcement("long") is True
    assert await store.start_announcement("long") is False
    assert await store.finish_announcement("ever") is True
    assert await store.finish_announcement("ever") is False
    assert await store.pending_announcements() == []


async def test_words_go_after_hours_and_rows_after_days(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    await store.record_turn(a_turn(clock, "old"))
    await store.finish_call("old", an_outcome())
    for name in ("said", "unsaid"):
        await store.add_announcement(AnnouncementRecord(name, f"{name} Geheimnis", clock.now()))
    await store.start_announcement("said")
    clock.advance(3601)
    new_began = clock.now()
    await store.record_turn(a_turn(clock, "new"))
    await store.erase_old(keep_days=30, transcript_hours=1)

    old, (call,) = await store.turn("old"), await store.calls("old")
    assert old
    assert (old.heard, old.answer, old.clauses) == (None, None, ())
    assert old.error == ErrorRecord("timeout", None)
    assert old.confirmation == ConfirmationRecord(None, None, "yes")
    assert (old.timeline["wake"], old.cost_usd, old.brain) == (812.5, 0.25, "offline")
    assert (call.arguments, call.sentence, call.status) == ({}, None, Status.DONE)
    assert await store.turn("new") == replace(a_turn(clock, "new"), started_at=new_began)
    assert [a.text for a in await store.pending_announcements()] == ["unsaid Geheimnis"]

    clock.advance(30 * 86400 + 1)
    await store.erase_old(keep_days=30, transcript_hours=1)
    assert await store.turns(9) == []
    assert await store.calls("old") == []
    assert len(await store.pending_announcements()) == 1


async def test_erased_words_are_in_no_file(store: Store, clock: VirtualClock, path: Path) -> None:
    await store.record_turn(replace(a_turn(clock), heard="xylophonsonate"))
    assert any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())
    clock.advance(10)
    await store.erase_old(keep_days=30, transcript_hours=0)
    assert not any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())


async def test_running_timers_are_never_forgotten(store: Store, clock: VirtualClock) -> None:
    await store.add_timer(a_timer(clock, "forgotten", 1))
    await store.add_timer(a_timer(clock, "heard", 1))
    await store.acknowledge_timer("heard")
    clock.advance(400 * 86400)
    await store.erase_old(keep_days=1, transcript_hours=1)
    assert [timer.id for timer in await store.timers()] == ["forgotten"]


async def test_only_the_owner_may_read(store: Store, clock: VirtualClock, path: Path) -> None:
    await store.record_turn(a_turn(clock))
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {part.name: part.stat().st_mode & 0o777 for part in path.parent.iterdir()}
    assert {"hearth.db", "hearth.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


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
    """More at once than the queue holds: all are kept."""
    async with asyncio.TaskGroup() as tasks:
        for number in range(600):
            tasks.create_task(store.record_turn(a_turn(clock, f"t{number:03}")))
    assert len(await store.turns(1000)) == 600


async def test_two_stores_share_the_file(path: Path, clock: VirtualClock) -> None:
    """As a daemon and `hearth ask` beside it do, opened at the same moment."""
    one, two = Store(path, clock), Store(path, clock)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(one.__aenter__())
        tasks.create_task(two.__aenter__())
    await one.start_call(a_call(clock))
    async with Store(path, clock) as third:  # its opening leaves the living's calls alone
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
    monkeypatch.setattr(database, "_BUSY_S", 0.05)
    async with Store(path, clock) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=f"The journal {path} failed: database is locked"):
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
from assistant.clock import SystemClock
from assistant.journal.records import CallRecord, TimerRecord
from assistant.journal.store import Store
from assistant.tools.outcome import Decision, Tier

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
    """kill -9 in the middle: every confirmed row is there, and what was under way is unknown."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _WRITER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout
    confirmed = -1
    while confirmed < 20:
        confirmed = int(await writer.stdout.readline())
    async with Store(path, clock) as beside:  # it lives: its calls are under way
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
        assert len(await store.unknown_calls(calls[0].started_at)) == len(calls)
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
    async with Store(path, clock) as store:  # mood was not left behind
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
