"""What switches were seen to open, in the table `openings`."""

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from assistant.journal.rows import instant


def add(db: sqlite3.Connection, openings: Mapping[str, frozenset[str]], now: datetime) -> None:
    """Add what each was seen to open, by entity id; what is there stays as it is."""
    db.executemany(
        "INSERT OR IGNORE INTO openings (entity_id, opened, seen_at) VALUES (?, ?, ?)",
        [(key, name, instant(now)) for key, names in openings.items() for name in sorted(names)],
    )


def read(db: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Everything that was seen, by the id of what was switched."""
    found: dict[str, frozenset[str]] = {}
    for row in db.execute("SELECT entity_id, opened FROM openings"):
        known = found.get(row["entity_id"], frozenset())
        found[row["entity_id"]] = known | {row["opened"]}
    return found
