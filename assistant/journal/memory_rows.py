"""What people asked to be remembered, and the index of its words."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from assistant.domain.records import MemoryRecord
from assistant.journal.database import Database
from assistant.journal.rows import instant

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

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, *memories: MemoryRecord) -> None:
        """Write all of these or none; one of the same id is replaced."""
        replaced = await self._database.run(lambda db: write(db, memories), durable=True)
        if replaced:
            await self._database.empty_log()

    async def all(self) -> list[MemoryRecord]:
        """All of them, oldest first."""
        return await self._database.read(_all)

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        """Those that fit a query in FTS5's language, the likest first, each with its likeness.

        A likeness is above 0 and means something beside those of the same query alone (bm25).
        """
        return await self._database.read(lambda db: _found(db, query, limit))

    async def forget(self, memory_id: str) -> bool:
        """Erase one. False if there is none of that id."""
        found = await self._database.run(lambda db: _forget(db, memory_id), durable=True)
        await self._database.empty_log()
        return found

    async def forget_all(self) -> int:
        """Erase all of them; how many there were."""
        count = await self._database.run(_forget_all, durable=True)
        await self._database.empty_log()
        return count


def write(db: sqlite3.Connection, memories: Iterable[MemoryRecord]) -> bool:
    """Whether any took the place of another."""
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


def _all(db: sqlite3.Connection) -> list[MemoryRecord]:
    rows = db.execute("SELECT * FROM memories ORDER BY created_at, number").fetchall()
    return [_memory(row) for row in rows]


def _found(db: sqlite3.Connection, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
    rows = db.execute(
        f"SELECT memories.*, bm25(memory_words, {_WEIGHTS}) AS score FROM memory_words "
        "JOIN memories ON memories.number = memory_words.rowid WHERE memory_words MATCH ? "
        "ORDER BY score, created_at DESC, number DESC LIMIT ?",
        (query, limit),
    ).fetchall()
    return [(_memory(row), -row["score"]) for row in rows]  # FTS5's is the less the better


def _forget(db: sqlite3.Connection, memory_id: str) -> bool:
    gone = db.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount == 1
    if gone:
        _index_anew(db)
    return gone


def _forget_all(db: sqlite3.Connection) -> int:
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
