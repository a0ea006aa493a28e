"""Small tables: faults, memories, what switches open, timers, and values under a name."""

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
    """It has stopped working. One that is open already stays the one that it is."""
    db.execute(
        "INSERT INTO faults (what, problem, began_at) SELECT ?, ?, ? "
        "WHERE NOT EXISTS (SELECT 1 FROM faults WHERE what = ? AND ended_at IS NULL)",
        (what, problem, now, what),
    )


def end_fault(db: sqlite3.Connection, what: str, now: str) -> None:
    """It works again."""
    db.execute("UPDATE faults SET ended_at = ? WHERE what = ? AND ended_at IS NULL", (now, what))


def settle_faults(db: sqlite3.Connection, now: str) -> None:
    """Whoever would have ended these has died."""
    db.execute("UPDATE faults SET ended_at = ?, settled = 1 WHERE ended_at IS NULL", (now,))


def faults_since(db: sqlite3.Connection, since: str, limit: int) -> list[FaultRecord]:
    """Those that lasted at `since` or began later, the newest first."""
    rows = db.execute(
        "SELECT * FROM faults WHERE began_at >= ? OR ended_at >= ? OR ended_at IS NULL "
        "ORDER BY began_at DESC, number DESC LIMIT ?",
        (since, since, limit),
    )
    return [_fault(row) for row in rows]


def erase_faults(db: sqlite3.Connection, before: str) -> None:
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


# How much a word counts by the column in which it stands: text, about, who, english, spanish.
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
    """The memories of a store. Every method may raise StoreError.

    What is written is on the disk when a method returns. What is erased is gone from the file, its
    write-ahead log and the index.
    """

    def __init__(self, database: "Database") -> None:
        self._database = database

    async def keep(self, *memories: MemoryRecord) -> None:
        """Write all of these or none; one of the same id is replaced."""
        replaced = await self._database.run(lambda db: write_memories(db, memories), durable=True)
        if replaced:
            await self._database.empty_log()

    async def all(self) -> list[MemoryRecord]:
        """All of them, oldest first."""
        return await self._database.read(_all_memories)

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        """Those that fit a query in FTS5's language, the likest first, each with its likeness.

        A likeness is above 0 and means something beside those of the same query alone (bm25).
        """
        return await self._database.read(lambda db: _found_memories(db, query, limit))

    async def forget(self, memory_id: str) -> bool:
        """Erase one. False if there is none of that id."""
        found = await self._database.run(lambda db: _forget_memory(db, memory_id), durable=True)
        await self._database.empty_log()
        return found

    async def forget_all(self) -> int:
        """Erase all of them; how many there were."""
        count = await self._database.run(_forget_memories, durable=True)
        await self._database.empty_log()
        return count


def write_memories(db: sqlite3.Connection, memories: Iterable[MemoryRecord]) -> bool:
    """Return whether any took the place of another."""
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
    return [(_memory(row), -row["score"]) for row in rows]  # FTS5's is the less the better


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
    """Deleting from the index only marks its words; built anew it holds what there is."""
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
    """Add what each was seen to open, by entity id; what is there stays as it is."""
    db.executemany(
        "INSERT OR IGNORE INTO openings (entity_id, opened, seen_at) VALUES (?, ?, ?)",
        [(key, name, instant(now)) for key, names in openings.items() for name in sorted(names)],
    )


def read_openings(db: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Everything that was seen, by the id of what was switched."""
    found: dict[str, frozenset[str]] = {}
    for row in db.execute("SELECT entity_id, opened FROM openings"):
        known = found.get(row["entity_id"], frozenset())
        found[row["entity_id"]] = known | {row["opened"]}
    return found


TimerEnd = Literal["acknowledged", "cancelled", "done", "unknown"]


def running_timers(db: sqlite3.Connection) -> list[TimerRecord]:
    """Those that run, stand still or ring, the first due first."""
    return _timers(db, "running")


def started_timers(db: sqlite3.Connection) -> list[TimerRecord]:
    """Those whose work has begun and not ended."""
    return _timers(db, "started")


def put_timer(db: sqlite3.Connection, timer: TimerRecord) -> None:
    """Keep one that runs."""
    put(db, "timers", timer_row(timer))


def restore_timers(db: sqlite3.Connection, timers: Iterable[TimerRecord]) -> None:
    """Put those in that are not there."""
    for timer in timers:
        insert_new(db, "timers", timer_row(timer))


def change_timer(db: sqlite3.Connection, timer: TimerRecord) -> bool:
    """Give it another end, or let it stand still or go on. False if no such timer runs."""
    return _changes_one(
        db,
        "UPDATE timers SET due = :due, paused_s = :paused_s, rule = :rule "
        "WHERE id = :id AND status = 'running'",
        timer_row(timer),
    )


def begin_timer(db: sqlite3.Connection, timer_id: str) -> bool:
    """Its work begins. False if it does not run: then it has begun before."""
    query = "UPDATE timers SET status = 'started' WHERE id = ? AND status = 'running'"
    return _changes_one(db, query, (timer_id,))


def end_timer(db: sqlite3.Connection, timer_id: str, status: TimerEnd) -> bool:
    """It is over. False if it was."""
    query = "UPDATE timers SET status = ? WHERE id = ? AND status IN ('running', 'started')"
    return _changes_one(db, query, (status, timer_id))


def take_occurrence(
    db: sqlite3.Connection, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
) -> bool:
    """One occurrence becomes a timer of its own and `timer` goes on to `due`; None: it
    was the last.

    False where `timer` has been changed or ended, or the occurrence was taken before.
    """
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
    """Delete those that are over and were due before this instant."""
    db.execute("DELETE FROM timers WHERE status <> 'running' AND due < ?", (before,))


def erase_timer_words(db: sqlite3.Connection, before: str) -> None:
    """The same with their words alone."""
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


# Small values under a name.
def keep_value(db: sqlite3.Connection, name: str, value: str, now: datetime) -> None:
    """Write a value, as JSON, in the place of what was there under that name."""
    db.execute(
        "INSERT INTO kept (name, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (name, value, instant(now)),
    )


def kept_value(db: sqlite3.Connection, name: str) -> Any | None:
    """The value of that name; None where there is none."""
    row = db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
    return json.loads(row["value"]) if row else None


def drop_value(db: sqlite3.Connection, name: str) -> None:
    """The name has no value any more."""
    db.execute("DELETE FROM kept WHERE name = ?", (name,))


def rewrite_nothing(db: sqlite3.Connection) -> None:
    """A write that changes no row: the file's own number of its tables' version."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {int(version)}")
