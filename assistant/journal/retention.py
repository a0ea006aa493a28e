"""The toolbox's journal while guests are in the house: what was done is kept, no words are."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import AuditRecord, CallRecord
from assistant.journal import audit, fault_rows, timer_rows
from assistant.journal.rows import instant

if TYPE_CHECKING:
    from assistant.journal.store import Store


class Discreet:
    """Passes everything on, without words and arguments where `keep_words` says no."""

    def __init__(self, journal: "Store", keep_words: Callable[[], bool]) -> None:
        self._journal = journal
        self._keep_words = keep_words

    async def start_call(self, call: CallRecord) -> None:
        """As of the store."""
        kept = call if self._keep_words() else replace(call, arguments={}, sentence=None)
        await self._journal.start_call(kept)

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """As of the store."""
        kept = outcome if self._keep_words() else replace(outcome, arguments={}, sentence="")
        await self._journal.finish_call(turn_id, kept)

    async def audit(self, record: AuditRecord) -> None:
        """As of the store."""
        wordless = replace(record, heard=None, arguments={}, sentence=None)
        await self._journal.audit(record if self._keep_words() else wordless)


# Forgetting: words first, then rows. What is to come, or to be remembered, stays.


_WORDLESS_TURN = (
    "heard = NULL, answer = NULL, clauses = '[]', cut_at = NULL, error_message = NULL, "
    "confirmation_asked = NULL, confirmation_heard = NULL"
)
_WORDLESS_CALL = "arguments = '{}', sentence = NULL"
_OVER = "(started_at IS NOT NULL OR done_at IS NOT NULL OR expires_at <= ?)"

# Rows that still hold words, by table: conditions.
HAS_WORDS = {
    "turns": "(heard IS NOT NULL OR answer IS NOT NULL OR clauses <> '[]' OR cut_at IS NOT NULL "
    "OR error_message IS NOT NULL OR confirmation_asked IS NOT NULL "
    "OR confirmation_heard IS NOT NULL)",
    "calls": "(arguments <> '{}' OR sentence IS NOT NULL)",
    "audit": audit.HAS_WORDS,
}


def erase(db: sqlite3.Connection, words: str, rows: str, now: str) -> None:
    """Words and rows from before these instants."""
    erase_rows(db, rows, now)
    erase_words(db, words, now)


def erase_rows(db: sqlite3.Connection, before: str, now: str) -> None:
    """Whole rows from before this instant."""
    db.execute("DELETE FROM turns WHERE started_at < ?", (before,))
    db.execute("DELETE FROM calls WHERE started_at < ?", (before,))
    audit.erase_rows(db, before)
    fault_rows.erase(db, before)
    timer_rows.erase_rows(db, before)
    db.execute(f"DELETE FROM announcements WHERE created_at < ? AND {_OVER}", (before, now))


def erase_words(db: sqlite3.Connection, before: str, now: str) -> None:
    """What was said in rows from before this instant."""
    # Only where there are any: a row that is written again is written to the disk again.
    for table, change in (("turns", _WORDLESS_TURN), ("calls", _WORDLESS_CALL)):
        condition = f"started_at < ? AND {HAS_WORDS[table]}"
        db.execute(f"UPDATE {table} SET {change} WHERE {condition}", (before,))
    audit.erase_words(db, before)
    timer_rows.erase_words(db, before)
    db.execute(
        "UPDATE announcements SET text = '', options = '{}' "
        f"WHERE created_at < ? AND (text <> '' OR options <> '{{}}') AND {_OVER}",
        (before, now),
    )


def erase_words_of(db: sqlite3.Connection, turn_id: str) -> None:
    """What was said in one turn."""
    db.execute(f"UPDATE turns SET {_WORDLESS_TURN} WHERE turn_id = ?", (turn_id,))
    db.execute(f"UPDATE calls SET {_WORDLESS_CALL} WHERE turn_id = ?", (turn_id,))
    audit.erase_words_of(db, turn_id)


# Small values under a name.


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
