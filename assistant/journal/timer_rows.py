"""Timers in the tables: what runs, what has begun, and the one occurrence of what comes again."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from assistant.domain.records import TimerRecord
from assistant.journal.rows import add as put_new
from assistant.journal.rows import instant, put, readable, timer_from, timer_row

End = Literal["acknowledged", "cancelled", "done", "unknown"]


def running(db: sqlite3.Connection) -> list[TimerRecord]:
    """Those that run, stand still or ring, the first due first."""
    return _all(db, "running")


def started(db: sqlite3.Connection) -> list[TimerRecord]:
    """Those whose work has begun and not ended."""
    return _all(db, "started")


def add(db: sqlite3.Connection, timer: TimerRecord) -> None:
    """Keep one that runs."""
    put(db, "timers", timer_row(timer))


def restore(db: sqlite3.Connection, timers: Iterable[TimerRecord]) -> None:
    """Put those in that are not there."""
    for timer in timers:
        put_new(db, "timers", timer_row(timer))


def change(db: sqlite3.Connection, timer: TimerRecord) -> bool:
    """Give it another end, or let it stand still or go on. False if no such timer runs."""
    return _one(
        db,
        "UPDATE timers SET due = :due, paused_s = :paused_s, rule = :rule "
        "WHERE id = :id AND status = 'running'",
        timer_row(timer),
    )


def begin(db: sqlite3.Connection, timer_id: str) -> bool:
    """Its work begins. False if it does not run: then it has begun before."""
    query = "UPDATE timers SET status = 'started' WHERE id = ? AND status = 'running'"
    return _one(db, query, (timer_id,))


def end(db: sqlite3.Connection, timer_id: str, status: End) -> bool:
    """It is over. False if it was."""
    query = "UPDATE timers SET status = ? WHERE id = ? AND status IN ('running', 'started')"
    return _one(db, query, (status, timer_id))


def take_occurrence(
    db: sqlite3.Connection, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
) -> bool:
    """One occurrence becomes a timer of its own and `timer` goes on to `due`; None: it
    was the last.

    False where `timer` has been changed or ended, or the occurrence was taken before.
    """
    status = "running" if due is not None else "done"
    changed = _one(
        db,
        "UPDATE timers SET due = ?, status = ? WHERE id = ? AND status = 'running' AND due = ?",
        (instant(due or timer.due), status, timer.id, instant(timer.due)),
    )
    if changed:
        add(db, occurrence)
    return changed


def erase_rows(db: sqlite3.Connection, before: str) -> None:
    """Delete those that are over and were due before this instant."""
    db.execute("DELETE FROM timers WHERE status <> 'running' AND due < ?", (before,))


def erase_words(db: sqlite3.Connection, before: str) -> None:
    """The same with their words alone."""
    db.execute(
        "UPDATE timers SET name = '', text = '', payload = NULL "
        "WHERE status <> 'running' AND due < ? "
        "AND (name <> '' OR text <> '' OR payload IS NOT NULL)",
        (before,),
    )


def _all(db: sqlite3.Connection, status: str) -> list[TimerRecord]:
    rows = db.execute("SELECT * FROM timers WHERE status = ? ORDER BY due", (status,))
    return readable(timer_from, rows.fetchall())


def _one(
    db: sqlite3.Connection, query: str, values: Mapping[str, object] | Sequence[object]
) -> bool:
    return db.execute(query, values).rowcount == 1
