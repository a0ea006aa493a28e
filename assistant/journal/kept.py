"""Small values under a name, and what a person asked to be remembered."""

import json
import sqlite3
from datetime import datetime
from typing import Any

from assistant.journal.records import MemoryRecord
from assistant.journal.rows import instant


def keep(db: sqlite3.Connection, name: str, value: str, now: datetime) -> None:
    """Write a value, as JSON, in the place of what was there under that name."""
    db.execute(
        "INSERT INTO kept (name, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (name, value, instant(now)),
    )


def kept(db: sqlite3.Connection, name: str) -> Any | None:
    """The value of that name; None where there is none."""
    row = db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
    return json.loads(row["value"]) if row else None


def drop_kept(db: sqlite3.Connection, name: str) -> None:
    """The name has no value any more."""
    db.execute("DELETE FROM kept WHERE name = ?", (name,))


def remember(db: sqlite3.Connection, memory: MemoryRecord) -> None:
    """Write a memory; one of the same id is replaced."""
    db.execute(
        "INSERT INTO memories (id, text, created_at) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET text = excluded.text, created_at = excluded.created_at",
        (memory.id, memory.text, instant(memory.created_at)),
    )


def memories(db: sqlite3.Connection) -> list[MemoryRecord]:
    """All of them, oldest first."""
    rows = db.execute("SELECT * FROM memories ORDER BY created_at, rowid").fetchall()
    return [
        MemoryRecord(row["id"], row["text"], datetime.fromisoformat(row["created_at"]))
        for row in rows
    ]


def forget_memory(db: sqlite3.Connection, memory_id: str) -> bool:
    """Whether there was such a memory; there is not any more."""
    return db.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount == 1
