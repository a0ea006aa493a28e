"""Deletion of old data by age and by file size, and the background task that does it.

Transcripts are erased before whole rows, and old data before new. To free space, transcripts of the
last day are erased only with their rows, because erasing them alone would free little. Pending
timers and announcements, memories and settings are never deleted.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assistant.config.sections import Journal
from assistant.domain.clock import Clock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import StoreError
from assistant.journal.audit import (
    AUDIT_HAS_WORDS,
    erase_audit_rows,
    erase_audit_words,
    erase_audit_words_of,
)
from assistant.journal.database import Database
from assistant.journal.rows import instant
from assistant.journal.tables import erase_faults, erase_timer_words, erase_timers
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.journal.store import Store

_WORDLESS_TURN = (
    "heard = NULL, answer = NULL, clauses = '[]', cut_at = NULL, error_message = NULL, "
    "confirmation_asked = NULL, confirmation_heard = NULL"
)
_WORDLESS_CALL = "arguments = '{}', sentence = NULL, reason = ''"
_OVER = "(started_at IS NOT NULL OR done_at IS NOT NULL OR expires_at <= ?)"
# SQL conditions for rows that still contain text to erase, by table.
HAS_WORDS = {
    "turns": "(heard IS NOT NULL OR answer IS NOT NULL OR clauses <> '[]' OR cut_at IS NOT NULL "
    "OR error_message IS NOT NULL OR confirmation_asked IS NOT NULL "
    "OR confirmation_heard IS NOT NULL)",
    "calls": "(arguments <> '{}' OR sentence IS NOT NULL OR reason <> '')",
    "audit": AUDIT_HAS_WORDS,
}


def erase_before(db: sqlite3.Connection, words: str, rows: str, now: str) -> None:
    erase_rows(db, rows, now)
    erase_words(db, words, now)


def erase_rows(db: sqlite3.Connection, before: str, now: str) -> None:
    """Delete turns, calls, audit rows, ended faults, and finished timers and announcements from
    before the given time."""
    db.execute("DELETE FROM turns WHERE started_at < ?", (before,))
    db.execute("DELETE FROM calls WHERE started_at < ?", (before,))
    erase_audit_rows(db, before)
    erase_faults(db, before)
    erase_timers(db, before)
    db.execute(f"DELETE FROM announcements WHERE created_at < ? AND {_OVER}", (before, now))


def erase_words(db: sqlite3.Connection, before: str, now: str) -> None:
    """Erase text such as transcripts and arguments from turns, calls, audit rows, and finished
    timers and announcements from before the given time."""
    # Skip rows without text, because every updated row is written to the disk again.
    for table, change in (("turns", _WORDLESS_TURN), ("calls", _WORDLESS_CALL)):
        condition = f"started_at < ? AND {HAS_WORDS[table]}"
        db.execute(f"UPDATE {table} SET {change} WHERE {condition}", (before,))
    erase_audit_words(db, before)
    erase_timer_words(db, before)
    db.execute(
        "UPDATE announcements SET text = '', options = '{}' "
        f"WHERE created_at < ? AND (text <> '' OR options <> '{{}}') AND {_OVER}",
        (before, now),
    )


def erase_words_of(db: sqlite3.Connection, turn_id: str) -> None:
    db.execute(f"UPDATE turns SET {_WORDLESS_TURN} WHERE turn_id = ?", (turn_id,))
    db.execute(f"UPDATE calls SET {_WORDLESS_CALL} WHERE turn_id = ?", (turn_id,))
    erase_audit_words_of(db, turn_id)


_log = logging.getLogger(__name__)
_AIM = 0.9  # fraction of the limit, so that not every new row requires a deletion
_STEPS = 20  # steps to erase everything; turns can be stored between them
_AT_LEAST = 200  # rows per step
_PAGES = 500  # pages freed per step (2 MB); turns can be stored between steps
_INCREMENTAL = 2  # the value of PRAGMA auto_vacuum
_TIMES = {"turns": "started_at", "calls": "started_at", "audit": "at"}


@dataclass(frozen=True, slots=True)
class _Way:
    # Called with the connection, the time before which to erase, and the current time.
    erase: Callable[[sqlite3.Connection, str, str], None]
    worded: bool  # only rows with text are affected
    younger: timedelta  # rows younger than this are kept


_WORDS = _Way(erase_words, worded=True, younger=timedelta(days=1))
_ROWS = _Way(erase_rows, worded=False, younger=timedelta())


async def bound_size(database: Database, most_bytes: int, now: datetime) -> int:
    """Erase old data until the file is within the limit, and return its size in bytes (see
    `Store.bound`). Raises StoreError."""
    size = await database.read(_used)
    if size > most_bytes:
        goal = int(most_bytes * _AIM)
        for way in (_WORDS, _ROWS):
            while size > goal and await _step(database, way, now):
                size = await database.read(_used)
        if size > most_bytes:
            _log.warning(
                "the journal has %.1f MB, more than journal.max_mb, and nothing in it may be "
                "deleted",
                size / 1e6,
            )
    await _shrink(database)
    return await database.read(_file_bytes)


def _file_bytes(db: sqlite3.Connection) -> int:
    return _pragma(db, "page_count") * _pragma(db, "page_size")


def _used(db: sqlite3.Connection) -> int:
    return _file_bytes(db) - _pragma(db, "freelist_count") * _pragma(db, "page_size")


async def _step(database: Database, way: _Way, now: datetime) -> bool:
    def work(db: sqlite3.Connection) -> bool:
        before = _oldest_part(db, way, instant(now - way.younger))
        if before is None:
            return False
        way.erase(db, before, instant(now))
        return True

    return await database.run(work)


def _oldest_part(db: sqlite3.Connection, way: _Way, until: str) -> str | None:
    """Return the time before which to erase data in this step, or None if nothing is left."""
    tables = " UNION ALL ".join(
        f"SELECT {time} AS at FROM {table} WHERE {time} <= :until"
        + (f" AND {HAS_WORDS[table]}" if way.worded else "")
        for table, time in _TIMES.items()
    )
    given: dict[str, object] = {"until": until}
    (count,) = db.execute(f"SELECT COUNT(*) FROM ({tables})", given).fetchone()
    if not count:
        return None
    given["part"] = min(count, max(_AT_LEAST, count // _STEPS)) - 1
    query = f"SELECT at FROM ({tables}) ORDER BY at LIMIT 1 OFFSET :part"
    (last,) = db.execute(query, given).fetchone()
    # "~" sorts after any character in a time, so this includes the last row.
    return f"{last}~"


async def _shrink(database: Database) -> None:
    mode, free = await database.read(_vacancy)
    if mode != _INCREMENTAL:  # the file is from an earlier version
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


FORGET_S = 3600.0  # seconds between deletions
CHECK_S = 6 * 3600.0  # seconds between checks of the whole file
PROBE_S = 30.0  # seconds between attempts to write while the disk fails
_SETTLE_S = 20.0  # seconds before the first check, which would otherwise slow down startup
_MOST_FAULTS = 100  # queued faults; beyond this, the oldest is dropped


@dataclass(frozen=True, slots=True)
class _Change:
    what: str
    problem: str | None  # None if the fault has ended
    at: datetime


class Care:
    """Deletes old data, checks the file and records faults in the background while the context is
    open."""

    def __init__(self, journal: "Store", limits: Journal, bus: EventBus, clock: Clock) -> None:
        self._journal = journal
        self._limits = limits
        self._bus = bus
        self._clock = clock
        self._faults: asyncio.Queue[_Change] = asyncio.Queue(_MOST_FAULTS)
        self._leave: Callable[[], None] = lambda: None
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        await self._try("faults of an earlier process", self._journal.reports.settle_faults)
        self._leave = self._bus.follow(self._happened)
        self._owner.start(self._forget(), "forgetting")
        self._owner.start(self._check(), "checking the journal")
        self._owner.start(self._probe(), "trying to write")
        self._owner.start(self._note_faults(), "faults")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        await self._owner.__aexit__(kind, error, trace)

    async def _forget(self) -> None:
        limits = self._limits

        async def forget() -> None:
            await self._journal.erase_old(limits.keep_days, limits.transcript_hours)
            await self._journal.bound(limits.max_mb * 1_000_000)

        while True:
            await self._try("old turns", forget)
            await self._clock.sleep(FORGET_S)

    async def _check(self) -> None:
        await self._clock.sleep(_SETTLE_S)
        while True:
            await self._try("the whole journal", self._journal.check)
            await self._clock.sleep(CHECK_S)

    async def _probe(self) -> None:
        while True:
            await self._clock.sleep(PROBE_S)
            if self._journal.problem:
                await self._try("the disk", self._journal.probe)

    def _happened(self, happening: BusEvent) -> None:
        on = happening.data.get("on")
        if happening.kind != "fault" or on is None:  # a rejected command isn't a lasting fault
            return
        if self._faults.full():
            self._faults.get_nowait()
        problem = str(happening.data.get("problem", "")) if on else None
        self._faults.put_nowait(_Change(str(happening.data["what"]), problem, self._clock.now()))

    async def _note_faults(self) -> None:
        reports, unwritten = self._journal.reports, dict[str, _Change]()
        while True:
            change = await self._faults.get()
            # A fault that couldn't be recorded when it started is recorded when it ends.
            begun = unwritten.pop(change.what, None) if change.problem is None else change
            if begun is not None and begun.problem is not None:
                begin = partial(reports.begin_fault, begun.what, begun.problem, begun.at)
                if not await self._try("a fault", begin) and begun is change:
                    unwritten[change.what] = change
            if change.problem is None:
                end = partial(reports.end_fault, change.what, change.at)
                await self._try("the end of a fault", end)

    async def _try(self, what: str, work: Callable[[], Awaitable[object]]) -> bool:
        try:
            await work()
        except StoreError as error:
            if not error.told:
                _log.error("the journal's maintenance failed at %s: %s", what, error)
            return False
        return True
