"""Forgetting: words first, then rows. What is to come, or to be remembered, stays."""

import sqlite3

from assistant.journal import audit, fault_rows, timer_rows

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
