"""Tests of the audit, which only grows: words can be deleted, rows only by age."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.conversation.record import wordless
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AuditRecord
from assistant.domain.tool_call import Decision, Status
from assistant.journal.audit import STARS, Discreet, audit_of
from assistant.journal.migrations import MIGRATIONS
from assistant.journal.rows import turn_row
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import a_call, a_turn, an_audit, an_outcome


@pytest.fixture
async def written(store: Store, clock: VirtualClock) -> None:
    """Write three rows, a minute apart: a lamp, a lock that is asked about, and its yes."""
    await store.audit(an_audit(clock, "c1"))
    clock.advance(60)
    waiting = an_audit(
        clock,
        "c2",
        entities=("lock.front",),
        decision=Decision.NEEDS_CONFIRMATION,
        status=Status.NOT_RUN,
        observed=(),
        confirmed_by="",
    )
    await store.audit(waiting)
    clock.advance(60)
    done = replace(waiting, at=clock.now(), decision=Decision.CONFIRMED, status=Status.DONE)
    await store.audit(replace(done, confirmed_by="voice", turn_id="t2"))


@pytest.fixture
def outside(path: Path, written: None) -> Iterator[sqlite3.Connection]:
    """Yield a connection of somebody who has the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


async def test_a_row_comes_back_whole(store: Store, clock: VirtualClock) -> None:
    await store.audit(an_audit(clock))
    bare = replace(
        an_audit(clock, "c2"), heard=None, sentence=None, arguments={}, entities=(), observed=()
    )
    await store.audit(bare)
    assert await store.audited() == [bare, an_audit(clock)]  # newest first


async def test_a_question_and_its_end_are_two_rows(store: Store, written: None) -> None:
    rows = await store.audited(entity="lock.front")
    assert [(row.call_id, row.decision, row.confirmed_by) for row in rows] == [
        ("c2", Decision.CONFIRMED, "voice"),
        ("c2", Decision.NEEDS_CONFIRMATION, ""),
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["confirmed", "needs_confirmation", "allowed"]),
        ({"limit": 1}, ["confirmed"]),
        ({"entity": "lock.*"}, ["confirmed", "needs_confirmation"]),
        ({"entity": "lock.*", "limit": 1}, ["confirmed"]),
        ({"entity": "light.kitchen"}, ["allowed"]),
        ({"entity": "light"}, []),
        ({"decision": Decision.CONFIRMED}, ["confirmed"]),
        ({"decision": Decision.DENIED}, []),
        ({"turn_id": "t1"}, ["needs_confirmation", "allowed"]),
        ({"since": 60}, ["confirmed", "needs_confirmation"]),
        ({"since": 61}, ["confirmed"]),
        ({"until": 60}, ["allowed"]),
        ({"since": 30, "until": 90}, ["needs_confirmation"]),
    ],
)
async def test_rows_can_be_chosen(
    store: Store, clock: VirtualClock, written: None, asked: dict[str, Any], found: list[str]
) -> None:
    began = clock.now() - timedelta(seconds=120)
    chosen: dict[str, Any] = {}
    for name, value in asked.items():
        is_moment = name in ("since", "until")
        chosen[name] = began + timedelta(seconds=value) if is_moment else value
    rows = await store.audited(**chosen)
    assert [row.decision for row in rows] == found


@pytest.mark.parametrize(
    "attempt",
    [
        "DELETE FROM audit",
        "DELETE FROM audit WHERE at < '2999'",
        "UPDATE audit SET decision = 'allowed'",
        "UPDATE audit SET confirmed_by = 'nobody'",
        "UPDATE audit SET at = '2999'",
        "UPDATE audit SET number = number + 100",
        "UPDATE audit SET status = 'failed', heard = NULL",
        "UPDATE audit SET heard = 'something else'",
        "UPDATE audit SET sentence = ''",
        'UPDATE audit SET arguments = \'{"name": "other"}\'',
        "UPDATE audit SET entities = '[]'",
        "UPDATE audit SET observed = '[]'",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE number = 1",
        "REPLACE INTO audit (number, at, turn_id, call_id, satellite, server, name, arguments, "
        "entities, tier, rule, decision, confirmed_by, status, observed, ms) "
        "VALUES (1, '', '', '', '', '', '', '', '', '', '', '', '', '', '', 0)",
    ],
)
async def test_no_row_is_changed_or_deleted(
    store: Store, outside: sqlite3.Connection, attempt: str
) -> None:
    before = await store.audited()
    with pytest.raises(sqlite3.IntegrityError, match="a row of the audit"):
        outside.execute(attempt)
    assert await store.audited() == before
    assert len(before) == 3


async def test_erased_words_cannot_be_put_back(store: Store, outside: sqlite3.Connection) -> None:
    outside.execute("UPDATE audit SET heard = NULL, arguments = '{}', sentence = NULL")
    for again in ("heard = 'x'", "sentence = 'x'", "arguments = '{\"a\": 1}'"):
        with pytest.raises(sqlite3.IntegrityError, match="never changes"):
            outside.execute(f"UPDATE audit SET {again}")
    assert {row.heard for row in await store.audited()} == {None}


async def test_words_go_after_hours_and_rows_after_days(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    await store.audit(an_audit(clock, heard="xylophonsonate"))
    clock.advance(3601)
    await store.audit(an_audit(clock, "c2"))
    await store.erase_old(keep_days=30, transcript_hours=1)
    new, old = await store.audited()
    assert new == an_audit(clock, "c2")
    assert old == replace(
        an_audit(clock), at=old.at, heard=None, arguments={}, sentence=None
    )  # the entities, decision and observations stay
    assert not any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())

    clock.advance(30 * 86400 - 1)
    await store.erase_old(keep_days=30, transcript_hours=1)
    assert [row.call_id for row in await store.audited()] == ["c2"]
    with closing(sqlite3.connect(path)) as db:  # deletion is blocked again afterwards
        assert db.execute("SELECT * FROM audit_erasing").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("DELETE FROM audit")


async def test_a_clock_put_back_deletes_nothing(store: Store, clock: VirtualClock) -> None:
    await store.audit(an_audit(clock))
    await store.audit(an_audit(clock, "c2", at=clock.now() + timedelta(days=900)))
    clock.advance(-86400)
    await store.erase_old(keep_days=1, transcript_hours=1)
    assert len(await store.audited()) == 2


async def test_the_words_of_one_turn_can_be_forgotten(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    for turn_id in ("t1", "t2"):
        await store.record_turn(replace(a_turn(clock, turn_id), heard=f"geheim {turn_id}"))
        await store.audit(an_audit(clock, turn_id=turn_id, heard=f"geheim {turn_id}"))
    await store.forget_words("t1")
    first, second = await store.turn("t1"), await store.turn("t2")
    assert first is not None
    assert second is not None
    assert (first.heard, first.answer, second.heard) == (None, None, "geheim t2")
    assert [row.heard for row in await store.audited()] == ["geheim t2", None]
    assert not any(b"geheim t1" in part.read_bytes() for part in path.parent.iterdir())


async def test_a_journal_of_the_first_version_gets_its_audit(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("assistant.journal.migrations.MIGRATIONS", MIGRATIONS[:1])
        async with Store(path, clock):
            pass
    row = turn_row(a_turn(clock))
    # Columns of later versions.
    del row["cut_at"], row["caller"], row["model"], row["mark"], row["understood"]
    with closing(sqlite3.connect(path)) as db, db:
        places = ", ".join(f":{column}" for column in row)
        db.execute(f"INSERT INTO turns ({', '.join(row)}) VALUES ({places})", row)
    async with Store(path, clock) as store:
        await store.audit(an_audit(clock))
        assert await store.audited() == [an_audit(clock)]
        assert await store.turn("t1") == replace(a_turn(clock), cut_at=None, caller="")


def test_the_record_holds_nothing_but_what_the_table_has() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS:
            db.executescript(script)
        columns = [row[1] for row in db.execute("PRAGMA table_info(audit)")]
    assert set(columns) == {"number", *AuditRecord.__slots__}


async def test_no_words_are_kept_while_it_says_so(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    guests = True
    journal = Discreet(store, lambda: not guests)
    await journal.start_call(a_call(clock))
    await journal.finish_call("t1", an_outcome())
    await journal.audit(an_audit(clock))
    await store.record_turn(wordless(a_turn(clock)))
    (call,), (row,), turn = await store.calls("t1"), await store.audited(), await store.last_turn()
    assert (call.arguments, call.sentence, call.status) == ({}, "", Status.DONE)
    assert (row.heard, row.arguments, row.sentence) == (None, {}, None)
    assert (row.entities, row.decision) == (("light.kitchen",), Decision.ALLOWED)
    assert turn is not None
    assert (turn.heard, turn.answer, turn.clauses) == (None, None, ())
    assert turn.cost_usd == 0.25
    files = b"".join(part.read_bytes() for part in path.parent.iterdir())
    for words in (
        "enciende",
        "encendida",
        "Küche",
        "The light is on",
        "Unlock Front Door",
        "geheim",
    ):
        assert words.encode() not in files

    guests = False
    await journal.finish_call("t1", an_outcome("c2"))
    await journal.audit(an_audit(clock, "c2"))
    assert (await store.calls("t1"))[1].sentence == "The light is on."
    assert (await store.audited(limit=1))[0] == an_audit(clock, "c2")


def test_the_row_of_an_outcome(clock: VirtualClock) -> None:
    outcome = replace(
        an_outcome(), rule="unlock", entities=("lock.front",), confirmed_by="phone Ana"
    )
    row = audit_of(outcome, clock.now(), "t1", "unlock the door", "Kitchen box")
    assert (row.call_id, row.rule, row.entities) == ("c1", "unlock", ("lock.front",))
    assert (row.confirmed_by, row.heard, row.satellite) == (
        "phone Ana",
        "unlock the door",
        "Kitchen box",
    )
    assert (row.at, row.ms, row.observed) == (clock.now(), 250.0, outcome.observed)


def test_what_was_said_around_a_pin_is_starred(clock: VirtualClock) -> None:
    outcome = replace(an_outcome(), confirmed_by="pin voice")
    assert audit_of(outcome, clock.now(), "t1", "four seven one one", "").heard == STARS
    assert audit_of(outcome, clock.now(), "t1", None, "").heard is None
