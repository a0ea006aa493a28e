"""SQL for the smaller tables: faults, memories, openings, timers and named values."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from assistant.domain.records import FaultRecord, MemoryRecord, TimerRecord
from assistant.journal.rows import insert_new, instant, put, readable, timer_from, timer_row

if TYPE_CHECKING:
    from assistant.journal.database import Database


def begin_fault(db: sqlite3.Connection, what: str, problem: str, now: str) -> None:
    db.execute(
        "INSERT INTO faults (what, problem, began_at) SELECT ?, ?, ? "
        "WHERE NOT EXISTS (SELECT 1 FROM faults WHERE what = ? AND ended_at IS NULL)",
        (what, problem, now, what),
    )


def end_fault(db: sqlite3.Connection, what: str, now: str) -> None:
    db.execute("UPDATE faults SET ended_at = ? WHERE what = ? AND ended_at IS NULL", (now, what))


def settle_faults(db: sqlite3.Connection, now: str) -> None:
    db.execute("UPDATE faults SET ended_at = ?, settled = 1 WHERE ended_at IS NULL", (now,))


def faults_since(db: sqlite3.Connection, since: str, limit: int) -> list[FaultRecord]:
    rows = db.execute(
        "SELECT * FROM faults WHERE began_at >= ? OR ended_at >= ? OR ended_at IS NULL "
        "ORDER BY began_at DESC, number DESC LIMIT ?",
        (since, since, limit),
    )
    return [_fault(row) for row in rows]


def erase_faults(db: sqlite3.Connection, before: str) -> None:
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


# Search weights of the columns text, about, who, english and spanish.
_WEIGHTS = "2.0, 3.0, 1.0, 1.5, 1.5"
_WRITE = (
    "INSERT INTO memories "
    "(id, text, created_at, who, about, language, sensitive, english, spanish) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET text = excluded.text, created_at = excluded.created_at, "
    "who = excluded.who, about = excluded.about, language = excluded.language, "
    "sensitive = excluded.sensitive, english = excluded.english, spanish = excluded.spanish"
)


class MemoryRows:
    """The store's memories. Every method can raise StoreError.

    Changes are on the disk when a method returns. Erased memories are also removed from the
    write-ahead log and the index.
    """

    def __init__(self, database: "Database") -> None:
        self._database = database

    async def keep(self, *memories: MemoryRecord) -> None:
        """Store all of the memories, or none of them if that fails. Memories with the same ids are
        replaced."""
        replaced = await self._database.run(lambda db: write_memories(db, memories), durable=True)
        if replaced:
            await self._database.empty_log()

    async def all(self) -> list[MemoryRecord]:
        """Return all memories, oldest first."""
        return await self._database.read(_all_memories)

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        """Return at most `limit` memories that match an FTS5 query, with their scores, best match
        first. Scores can be compared only within one query."""
        return await self._database.read(lambda db: _found_memories(db, query, limit))

    async def forget(self, memory_id: str) -> bool:
        """Erase a memory. Returns False if it doesn't exist."""
        found = await self._database.run(lambda db: _forget_memory(db, memory_id), durable=True)
        await self._database.empty_log()
        return found

    async def forget_all(self) -> int:
        """Erase all memories and return their number."""
        count = await self._database.run(_forget_memories, durable=True)
        await self._database.empty_log()
        return count


def write_memories(db: sqlite3.Connection, memories: Iterable[MemoryRecord]) -> bool:
    """Store memories. Returns True if any of them replaced an existing one."""
    replaced = False
    for memory in memories:
        known = db.execute("SELECT 1 FROM memories WHERE id = ?", (memory.id,)).fetchone()
        replaced = replaced or known is not None
        db.execute(
            _WRITE,
            (
                memory.id,
                memory.text,
                instant(memory.created_at),
                memory.who,
                memory.about,
                memory.language,
                int(memory.sensitive),
                memory.english,
                memory.spanish,
            ),
        )
    if replaced:
        _index_anew(db)
    return replaced


def _all_memories(db: sqlite3.Connection) -> list[MemoryRecord]:
    rows = db.execute("SELECT * FROM memories ORDER BY created_at, number").fetchall()
    return [_memory(row) for row in rows]


def _found_memories(
    db: sqlite3.Connection, query: str, limit: int
) -> list[tuple[MemoryRecord, float]]:
    rows = db.execute(
        f"SELECT memories.*, bm25(memory_words, {_WEIGHTS}) AS score FROM memory_words "
        "JOIN memories ON memories.number = memory_words.rowid WHERE memory_words MATCH ? "
        "ORDER BY score, created_at DESC, number DESC LIMIT ?",
        (query, limit),
    ).fetchall()
    # FTS5's scores are lower for better matches.
    return [(_memory(row), -row["score"]) for row in rows]


def _forget_memory(db: sqlite3.Connection, memory_id: str) -> bool:
    gone = db.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount == 1
    if gone:
        _index_anew(db)
    return gone


def _forget_memories(db: sqlite3.Connection) -> int:
    count = db.execute("DELETE FROM memories").rowcount
    _index_anew(db)
    return count


def _index_anew(db: sqlite3.Connection) -> None:
    # Deleting a row leaves its words in the index.
    db.execute("INSERT INTO memory_words (memory_words) VALUES ('rebuild')")


def _memory(row: sqlite3.Row) -> MemoryRecord:
    return MemoryRecord(
        id=row["id"],
        text=row["text"],
        created_at=datetime.fromisoformat(row["created_at"]),
        who=row["who"],
        about=row["about"],
        language=row["language"],
        sensitive=bool(row["sensitive"]),
        english=row["english"],
        spanish=row["spanish"],
    )


def add_openings(
    db: sqlite3.Connection, openings: Mapping[str, frozenset[str]], now: datetime
) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO openings (entity_id, opened, seen_at) VALUES (?, ?, ?)",
        [(key, name, instant(now)) for key, names in openings.items() for name in sorted(names)],
    )


def read_openings(db: sqlite3.Connection) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in db.execute("SELECT entity_id, opened FROM openings"):
        known = found.get(row["entity_id"], frozenset())
        found[row["entity_id"]] = known | {row["opened"]}
    return found


TimerEnd = Literal["acknowledged", "cancelled", "done", "unknown"]


def running_timers(db: sqlite3.Connection) -> list[TimerRecord]:
    return _timers(db, "running")


def started_timers(db: sqlite3.Connection) -> list[TimerRecord]:
    return _timers(db, "started")


def put_timer(db: sqlite3.Connection, timer: TimerRecord) -> None:
    put(db, "timers", timer_row(timer))


def restore_timers(db: sqlite3.Connection, timers: Iterable[TimerRecord]) -> None:
    """Store the timers that the table doesn't contain yet."""
    for timer in timers:
        insert_new(db, "timers", timer_row(timer))


def change_timer(db: sqlite3.Connection, timer: TimerRecord) -> bool:
    return _changes_one(
        db,
        "UPDATE timers SET due = :due, paused_s = :paused_s, rule = :rule "
        "WHERE id = :id AND status = 'running'",
        timer_row(timer),
    )


def begin_timer(db: sqlite3.Connection, timer_id: str) -> bool:
    query = "UPDATE timers SET status = 'started' WHERE id = ? AND status = 'running'"
    return _changes_one(db, query, (timer_id,))


def end_timer(db: sqlite3.Connection, timer_id: str, status: TimerEnd) -> bool:
    query = "UPDATE timers SET status = ? WHERE id = ? AND status IN ('running', 'started')"
    return _changes_one(db, query, (status, timer_id))


def take_occurrence(
    db: sqlite3.Connection, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
) -> bool:
    status = "running" if due is not None else "done"
    changed = _changes_one(
        db,
        "UPDATE timers SET due = ?, status = ? WHERE id = ? AND status = 'running' AND due = ?",
        (instant(due or timer.due), status, timer.id, instant(timer.due)),
    )
    if changed:
        put_timer(db, occurrence)
    return changed


def erase_timers(db: sqlite3.Connection, before: str) -> None:
    """Delete timers that are no longer running and were due before the given time."""
    db.execute("DELETE FROM timers WHERE status <> 'running' AND due < ?", (before,))


def erase_timer_words(db: sqlite3.Connection, before: str) -> None:
    """Erase the name, text and payload of timers that are no longer running and were due before the
    given time."""
    db.execute(
        "UPDATE timers SET name = '', text = '', payload = NULL "
        "WHERE status <> 'running' AND due < ? "
        "AND (name <> '' OR text <> '' OR payload IS NOT NULL)",
        (before,),
    )


def _timers(db: sqlite3.Connection, status: str) -> list[TimerRecord]:
    rows = db.execute("SELECT * FROM timers WHERE status = ? ORDER BY due", (status,))
    return readable(timer_from, rows.fetchall())


def _changes_one(
    db: sqlite3.Connection, query: str, values: Mapping[str, object] | Sequence[object]
) -> bool:
    return db.execute(query, values).rowcount == 1


def keep_value(db: sqlite3.Connection, name: str, value: str, now: datetime) -> None:
    db.execute(
        "INSERT INTO kept (name, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (name, value, instant(now)),
    )


def kept_value(db: sqlite3.Connection, name: str) -> Any | None:
    row = db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
    return json.loads(row["value"]) if row else None


def drop_value(db: sqlite3.Connection, name: str) -> None:
    db.execute("DELETE FROM kept WHERE name = ?", (name,))


def rewrite_nothing(db: sqlite3.Connection) -> None:
    """Write without changing any data, by setting `user_version` to its current value."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {int(version)}")
