"""Faults in the tables: what did not work, from when to when."""

import sqlite3
from datetime import datetime

from assistant.domain.records import FaultRecord


def begin(db: sqlite3.Connection, what: str, problem: str, now: str) -> None:
    """It has stopped working. One that is open already stays the one that it is."""
    db.execute(
        "INSERT INTO faults (what, problem, began_at) SELECT ?, ?, ? "
        "WHERE NOT EXISTS (SELECT 1 FROM faults WHERE what = ? AND ended_at IS NULL)",
        (what, problem, now, what),
    )


def end(db: sqlite3.Connection, what: str, now: str) -> None:
    """It works again."""
    db.execute("UPDATE faults SET ended_at = ? WHERE what = ? AND ended_at IS NULL", (now, what))


def settle(db: sqlite3.Connection, now: str) -> None:
    """Whoever would have ended these has died."""
    db.execute("UPDATE faults SET ended_at = ?, settled = 1 WHERE ended_at IS NULL", (now,))


def faults(db: sqlite3.Connection, since: str, limit: int) -> list[FaultRecord]:
    """Those that lasted at `since` or began later, the newest first."""
    rows = db.execute(
        "SELECT * FROM faults WHERE began_at >= ? OR ended_at >= ? OR ended_at IS NULL "
        "ORDER BY began_at DESC, number DESC LIMIT ?",
        (since, since, limit),
    )
    return [_fault(row) for row in rows]


def erase(db: sqlite3.Connection, before: str) -> None:
    """Delete those that were over before this instant."""
    db.execute("DELETE FROM faults WHERE ended_at < ?", (before,))


def _fault(row: sqlite3.Row) -> FaultRecord:
    ended = row["ended_at"]
    return FaultRecord(
        what=row["what"],
        problem=row["problem"],
        began_at=datetime.fromisoformat(row["began_at"]),
        ended_at=datetime.fromisoformat(ended) if ended else None,
        settled=bool(row["settled"]),
    )
