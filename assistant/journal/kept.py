"""Small values under a name."""

import json
import sqlite3
from datetime import datetime
from typing import Any

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


def rewrite_nothing(db: sqlite3.Connection) -> None:
    """A write that changes no row: the file's own number of its tables' version."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {int(version)}")
