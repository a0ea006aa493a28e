"""What can be saved from a damaged file: not the turns, but what must outlast them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

# Small tables whose loss a person would feel. Each is taken whole or row by row, as far as it can
# be read; with the columns of JSON in it, which are worth nothing when they are none.
_LASTING: dict[str, tuple[str, ...]] = {
    "kept": ("value",),
    "memories": (),
    "openings": (),
    "timers": ("rule", "payload"),
    "announcements": ("options",),
}
_MOST = 100_000  # rows of one table: what is damaged may go round in circles


def salvage(fresh: sqlite3.Connection, damaged: Path, how: str = "mode=ro") -> list[str]:
    """Copy what is readable into the fresh file, which has the same tables or later ones, in the
    transaction that is open. `how` the other is opened; it stays as it was found. Says how many
    rows of what: "3 timers". Raises sqlite3.Error where the fresh file cannot be written.
    """
    try:
        old = sqlite3.connect(f"{damaged.absolute().as_uri()}?{how}", uri=True)
    except sqlite3.Error:
        return []
    saved = []
    with closing(old):
        for table, as_json in _LASTING.items():
            rows = [row for row in _rows(old, table) if _sound(row, as_json)]
            count = _put(fresh, table, rows)
            saved += [f"{count} {table}"] if count else []
    return saved


def _rows(old: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """As many as can be read: from the front, and where that breaks off from the back."""
    found: dict[Any, dict[str, Any]] = {}
    for order in ("", "ORDER BY rowid DESC"):
        try:
            cursor = old.execute(f"SELECT rowid AS _row, * FROM {table} {order} LIMIT {_MOST}")
            names = [column[0] for column in cursor.description]
            for values in cursor:
                row = dict(zip(names, values, strict=True))
                found[row.pop("_row")] = row
            break
        except sqlite3.Error:
            continue
    return [found[key] for key in sorted(found, key=str)]


def _sound(row: dict[str, Any], as_json: tuple[str, ...]) -> bool:
    try:
        for column in as_json:
            if row.get(column) is not None:
                json.loads(row[column])
    except (TypeError, ValueError):
        return False
    return True


def _put(fresh: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> int:
    """How many of them the fresh table took; its own rules refuse what is no row of it."""
    known = {name for _, name, *_ in fresh.execute(f"PRAGMA table_info({table})")}
    taken = 0
    for row in rows:
        columns = [column for column in row if column in known]
        marks = ", ".join("?" * len(columns))
        query = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        try:
            taken += fresh.execute(query, [row[column] for column in columns]).rowcount
        except sqlite3.IntegrityError:
            continue
    return taken
