"""How large the file may be: what is oldest goes first, words before rows.

The words of the last day stay as long as their rows do: to take them would give little room.
"""

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from assistant.journal import erasing
from assistant.journal.database import Database
from assistant.journal.rows import instant

_log = logging.getLogger(__name__)
_AIM = 0.9  # of what is allowed: so that not every new row makes an old one go
_STEPS = 20  # in which all of it would go; each is a transaction of its own, and turns go between
_AT_LEAST = 200  # rows a step
_PAGES = 500  # given back at once, 2 MB: turns go between here too
_INCREMENTAL = 2  # as PRAGMA auto_vacuum tells it

_TIMES = {"turns": "started_at", "calls": "started_at", "audit": "at"}


@dataclass(frozen=True, slots=True)
class _Way:
    """What of the old rows goes."""

    erase: Callable[[sqlite3.Connection, str, str], None]  # what is before an instant; and now
    worded: bool  # only rows with words are touched
    younger: timedelta  # rows that are younger are spared


_WORDS = _Way(erasing.erase_words, worded=True, younger=timedelta(days=1))
_ROWS = _Way(erasing.erase_rows, worded=False, younger=timedelta())


async def bound(database: Database, most_bytes: int, now: datetime) -> int:
    """Erase until the file is no larger than that, if erasing can do it. Bytes of the file now.

    Raises StoreError.
    """
    size = await database.read(_used)
    if size > most_bytes:
        goal = int(most_bytes * _AIM)
        for way in (_WORDS, _ROWS):
            while size > goal and await _step(database, way, now):
                size = await database.read(_used)
        if size > most_bytes:
            _log.warning(
                "the journal has %.1f MB, more than journal.max_mb, and nothing in it may go",
                size / 1e6,
            )
    await _shrink(database)
    return await database.read(_file_bytes)


def _file_bytes(db: sqlite3.Connection) -> int:
    """The size of the file without its write-ahead log."""
    return _pragma(db, "page_count") * _pragma(db, "page_size")


def _used(db: sqlite3.Connection) -> int:
    """Bytes of the pages in which something stands."""
    return _file_bytes(db) - _pragma(db, "freelist_count") * _pragma(db, "page_size")


async def _step(database: Database, way: _Way, now: datetime) -> bool:
    """Erase the oldest part. False: there was nothing to be erased."""

    def work(db: sqlite3.Connection) -> bool:
        before = _oldest_part(db, way, instant(now - way.younger))
        if before is None:
            return False
        way.erase(db, before, instant(now))
        return True

    return await database.run(work)


def _oldest_part(db: sqlite3.Connection, way: _Way, until: str) -> str | None:
    """The instant before which the oldest part of the rows lies; None where there are none."""
    tables = " UNION ALL ".join(
        f"SELECT {time} AS at FROM {table} WHERE {time} <= :until"
        + (f" AND {erasing.HAS_WORDS[table]}" if way.worded else "")
        for table, time in _TIMES.items()
    )
    given: dict[str, object] = {"until": until}
    (count,) = db.execute(f"SELECT COUNT(*) FROM ({tables})", given).fetchone()
    if not count:
        return None
    given["part"] = min(count, max(_AT_LEAST, count // _STEPS)) - 1
    query = f"SELECT at FROM ({tables}) ORDER BY at LIMIT 1 OFFSET :part"
    (last,) = db.execute(query, given).fetchone()
    return f"{last}~"  # after every text that begins so: the last one goes too


async def _shrink(database: Database) -> None:
    """Give pages that nothing stands in back to the disk."""
    mode, free = await database.read(_vacancy)
    if mode != _INCREMENTAL:  # a file of an earlier version
        await database.statement(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
        await database.statement("VACUUM")
    elif free:
        for _ in range(0, free, _PAGES):
            await database.statement(f"PRAGMA incremental_vacuum({_PAGES})")
    await database.empty_log()


def _vacancy(db: sqlite3.Connection) -> tuple[int, int]:
    return _pragma(db, "auto_vacuum"), _pragma(db, "freelist_count")


def _pragma(db: sqlite3.Connection, name: str) -> int:
    (value,) = db.execute(f"PRAGMA {name}").fetchone()
    return int(value)
