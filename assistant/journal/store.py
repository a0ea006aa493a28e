"""API of the journal: turns, tool calls, the audit log, timers, announcements and memories."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assistant.domain.clock import Clock
from assistant.domain.records import (
    UNASKED,
    AnnouncementRecord,
    AuditRecord,
    CallRecord,
    StoreError,
    TimerRecord,
    TurnRecord,
)
from assistant.domain.tool_call import REQUEST, Decision, Status, ToolOutcome
from assistant.journal.audit import add_audit_row, audit_row, audit_rows
from assistant.journal.database import Database, is_alive, own_mark
from assistant.journal.reports import Reports
from assistant.journal.retention import bound_size, erase_before, erase_words_of
from assistant.journal.rows import (
    STARTED,
    announcement_from,
    announcement_row,
    call_from,
    call_row,
    ended_call,
    insert_new,
    instant,
    put,
    readable,
    turn_from,
    turn_row,
)
from assistant.journal.tables import (
    MemoryRows,
    TimerEnd,
    add_openings,
    begin_timer,
    change_timer,
    drop_value,
    end_timer,
    keep_value,
    kept_value,
    put_timer,
    read_openings,
    restore_timers,
    rewrite_nothing,
    running_timers,
    started_timers,
    take_occurrence,
)


class Store:
    """The journal, a SQLite file shared by all Hearth processes that use this data folder.

    Use it as an async context manager. Entering it raises ConfigError if the file can't be used.
    Every asynchronous method can raise StoreError. A write that has started finishes even if the
    caller is cancelled.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._timers: dict[str, TimerRecord] = {}  # running timers that this process knows
        self._database = Database(path, clock.now, self._refill)
        self._mark = own_mark()
        self.reports = Reports(self._database, clock)
        self.memory = MemoryRows(self._database)

    async def __aenter__(self) -> Self:
        await self._database.open()
        try:
            await self._database.run(_settle_dead_calls)
        except StoreError as error:
            if not error.told:
                await self._database.close()
                raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._database.close()

    @property
    def problem(self) -> str:
        """A sentence that says why nothing can be written, or "" if writing works."""
        return self._database.problem

    async def probe(self) -> None:
        """Try to write, without changing any data. Raises StoreError if that fails."""
        await self._database.run(rewrite_nothing)

    async def check(self) -> bool:
        """Check the whole file, and replace it if it is damaged. Return False if it was damaged."""
        return await self._database.check()

    def stamp(self) -> object:
        """Return a value that changes when a process writes (see `Database.stamp`)."""
        return self._database.stamp()

    @property
    def waiting(self) -> int:
        """Number of reads and writes that are queued or running."""
        return self._database.waiting

    # --- turns and calls

    async def record_turn(self, turn: TurnRecord) -> None:
        """Store a turn. An existing turn with the same id is replaced, but keeps its `mark`."""
        await self._database.run(lambda db: put(db, "turns", turn_row(turn), keep=("mark",)))

    async def turn(self, turn_id: str) -> TurnRecord | None:
        turns = await self._turns("WHERE turn_id = ?", (turn_id,))
        return turns[0] if turns else None

    async def last_turn(self) -> TurnRecord | None:
        """Return the newest turn that a person or a program requested, or None."""
        turns = await self._turns(
            "WHERE source NOT IN (?, ?) ORDER BY started_at DESC, rowid DESC LIMIT 1", UNASKED
        )
        return turns[0] if turns else None

    async def turns_of_people(self, limit: int) -> list[TurnRecord]:
        """Return people's newest turns, newest first."""
        return await self._turns(
            "WHERE source NOT IN (?, ?) AND (source != 'text' OR caller IN ('', ?)) "
            "ORDER BY started_at DESC, rowid DESC LIMIT ?",
            (*UNASKED, REQUEST, limit),
        )

    async def turns(self, limit: int, before: str | None = None) -> list[TurnRecord]:
        """Return the newest turns, announcements and jobs, newest first. If `before` is a turn's
        id, return only earlier ones."""
        newest = "ORDER BY started_at DESC, rowid DESC LIMIT ?"
        if before is None:
            return await self._turns(newest, (limit,))
        than = "(SELECT started_at, rowid FROM turns WHERE turn_id = ?)"
        return await self._turns(f"WHERE (started_at, rowid) < {than} {newest}", (before, limit))

    async def spent_since(self, since: datetime, besides: Collection[str] = ()) -> float:
        """Return the cost in USD of all turns since the given time, except those in `besides`."""
        rows = await self._rows(
            # The SQL is the same for any number of ids, because the connection caches statements.
            "SELECT COALESCE(SUM(cost_usd), 0.0) AS spent FROM turns "
            "WHERE started_at >= ? AND turn_id NOT IN (SELECT value FROM json_each(?))",
            (instant(since), json.dumps(list(besides))),
        )
        return float(rows[0]["spent"])

    async def start_call(self, call: CallRecord) -> None:
        """Record that a tool call has started. Await this before sending the call."""
        await self._database.run(lambda db: put(db, "calls", call_row(call, self._mark)))

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """Record a tool call's result, including for calls that never started."""
        began = self._clock.now() - timedelta(milliseconds=outcome.ms)
        row = call_row(ended_call(turn_id, outcome, began), self._mark)
        await self._database.run(lambda db: put(db, "calls", row, keep=("started_at",)))

    async def calls(self, turn_id: str) -> list[CallRecord]:
        return await self._calls("WHERE turn_id = ? ORDER BY rowid", (turn_id,))

    # --- the audit

    async def tool_uses(self, since: datetime) -> dict[tuple[str, str], int]:
        """Return how often each tool was called since the given time, by server and tool name."""
        rows = await self._rows(
            "SELECT server, name, COUNT(*) AS uses FROM calls WHERE started_at >= ? "
            "GROUP BY server, name",
            (instant(since),),
        )
        return {(row["server"], row["name"]): row["uses"] for row in rows}

    async def audit(self, record: AuditRecord) -> None:
        """Add a row to the audit log. Its text can be erased later, but not changed."""
        row = audit_row(record)
        await self._database.run(lambda db: add_audit_row(db, row))

    async def audited(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
        entity: str | None = None,
        decision: Decision | None = None,
        turn_id: str | None = None,
    ) -> list[AuditRecord]:
        """Return at most `limit` audit rows, newest first, from `since` (inclusive) to `until`
        (exclusive). `entity` is an entity id or a pattern with "*" and "?"."""
        return await self._database.read(
            lambda db: audit_rows(db, limit, since, until, entity, decision, turn_id)
        )

    # --- small values

    async def keep(self, name: str, value: Any) -> None:
        """Store a JSON value durably under a name, replacing the previous one."""
        text, now = json.dumps(value, ensure_ascii=False), self._clock.now()
        await self._database.run(lambda db: keep_value(db, name, text, now), durable=True)

    async def kept(self, name: str) -> Any | None:
        """Return the value stored under a name, or None if there is none."""
        return await self._database.read(lambda db: kept_value(db, name))

    async def drop_kept(self, name: str) -> None:
        await self._database.run(lambda db: drop_value(db, name), durable=True)

    # --- openings

    async def add_openings(self, openings: Mapping[str, frozenset[str]]) -> None:
        """Record durably which entities each entity was seen to open."""
        now = self._clock.now()
        await self._database.run(lambda db: add_openings(db, openings, now), durable=True)

    async def openings(self) -> dict[str, frozenset[str]]:
        """Return the ids of the entities that each entity was seen to open, keyed by that entity's
        id."""
        return await self._database.read(read_openings)

    # --- timers

    async def add_timer(self, timer: TimerRecord) -> None:
        """Store a running timer durably."""
        await self._database.run(lambda db: put_timer(db, timer), durable=True)
        self._timers[timer.id] = timer

    async def timers(self) -> list[TimerRecord]:
        """Return all running, paused and ringing timers, by due time."""
        found = await self._database.read(running_timers)
        self._timers = {timer.id: timer for timer in found}
        return found

    async def change_timer(self, timer: TimerRecord) -> bool:
        """Change when a timer is due, pause it, or resume it. Returns False if it isn't running."""
        changed = await self._database.run(lambda db: change_timer(db, timer), durable=True)
        if changed:
            self._timers[timer.id] = timer
        return changed

    async def take_occurrence(
        self, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
    ) -> bool:
        """Split an occurrence off a repeating timer, which becomes due at `due` or ends if `due` is
        None. Return False if the repeating timer has changed meanwhile."""
        taken = await self._database.run(
            lambda db: take_occurrence(db, timer, occurrence, due), durable=True
        )
        if taken:
            self._timers[occurrence.id] = occurrence
            self._timers.pop(timer.id, None)
            if due is not None:
                self._timers[timer.id] = replace(timer, due=due)
        return taken

    async def begin_timer(self, timer_id: str) -> bool:
        """Record that a timer's action has started. Return False if the timer isn't running, in
        which case the action must not run."""
        begun = await self._database.run(lambda db: begin_timer(db, timer_id), durable=True)
        self._timers.pop(timer_id, None)  # so that a replaced file doesn't start it again
        return begun

    async def begun_timers(self) -> list[TimerRecord]:
        """Return timers whose action has started but not finished."""
        return await self._database.read(started_timers)

    async def finish_timer(self, timer_id: str, *, known: bool = True) -> bool:
        """Record that a timer's action has finished. `known` is False if its result is unknown.
        Return False if the timer had already ended."""
        return await self._end_timer(timer_id, "done" if known else "unknown")

    async def acknowledge_timer(self, timer_id: str) -> bool:
        """End a timer that somebody has heard ringing. Returns False if it had already ended."""
        return await self._end_timer(timer_id, "acknowledged")

    async def cancel_timer(self, timer_id: str) -> bool:
        """Cancel a timer. Returns False if it had already ended."""
        return await self._end_timer(timer_id, "cancelled")

    # --- announcements

    async def add_announcement(self, announcement: AnnouncementRecord) -> bool:
        """Store an announcement durably until it has been spoken. Return False and change nothing
        if there is already one with this id."""
        row = announcement_row(announcement)
        return await self._database.run(
            lambda db: insert_new(db, "announcements", row), durable=True
        )

    async def knows_announcement(self, announcement_id: str) -> bool:
        """Return True if there is an announcement with this id, even if it has been spoken."""
        query = "SELECT 1 FROM announcements WHERE id = ?"
        return bool(await self._rows(query, (announcement_id,)))

    async def pending_announcements(self) -> list[AnnouncementRecord]:
        """Return the announcements that are still to be spoken, oldest first."""
        rows = await self._rows(
            "SELECT * FROM announcements WHERE started_at IS NULL AND done_at IS NULL "
            "AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at, rowid",
            (instant(self._clock.now()),),
        )
        return readable(announcement_from, rows)

    async def start_announcement(self, announcement_id: str) -> bool:
        """Mark an announcement as started. Return False if it had already been started, in which
        case it must not be played again."""
        return await self._change(
            "UPDATE announcements SET started_at = ? WHERE id = ? AND started_at IS NULL",
            (instant(self._clock.now()), announcement_id),
        )

    async def finish_announcement(self, announcement_id: str) -> bool:
        """Mark an announcement as spoken or dropped. Returns False if it was already marked."""
        return await self._change(
            "UPDATE announcements SET done_at = ? WHERE id = ? AND done_at IS NULL",
            (instant(self._clock.now()), announcement_id),
        )

    # --- retention

    async def erase_old(self, keep_days: int, transcript_hours: int) -> None:
        """Erase transcripts older than `transcript_hours`, and delete rows older than `keep_days`.

        Erased data is overwritten in the file and removed from the write-ahead log. Backups of
        damaged files are deleted after `transcript_hours`.
        """
        now = self._clock.now()
        words = instant(now - timedelta(hours=transcript_hours))
        rows = instant(now - timedelta(days=keep_days))
        await self._database.run(lambda db: erase_before(db, words, rows, instant(now)))
        await self._database.empty_log()
        await self._database.erase_set_aside(now - timedelta(hours=transcript_hours))

    async def bound(self, most_bytes: int) -> int:
        """Erase the oldest data until the file is within the limit, and return its size in bytes,
        which is larger if nothing more can be deleted."""
        return await bound_size(self._database, most_bytes, self._clock.now())

    async def forget_words(self, turn_id: str) -> None:
        """Erase a turn's transcripts, answer and arguments, but not the names of its calls."""
        await self._database.run(lambda db: erase_words_of(db, turn_id))
        await self._database.empty_log()

    async def _turns(self, where: str, values: tuple[Any, ...]) -> list[TurnRecord]:
        return readable(turn_from, await self._rows(f"SELECT * FROM turns {where}", values))

    async def _calls(self, where: str, values: tuple[Any, ...]) -> list[CallRecord]:
        return readable(call_from, await self._rows(f"SELECT * FROM calls {where}", values))

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
        return await self._database.read(lambda db: db.execute(query, values).fetchall())

    async def _end_timer(self, timer_id: str, status: TimerEnd) -> bool:
        self._timers.pop(timer_id, None)
        return await self._database.run(lambda db: end_timer(db, timer_id, status), durable=True)

    def _refill(self, db: sqlite3.Connection) -> None:
        restore_timers(db, list(self._timers.values()))

    async def _change(self, query: str, values: tuple[Any, ...]) -> bool:
        done = await self._database.run(lambda db: db.execute(query, values).rowcount, durable=True)
        return done == 1


def _settle_dead_calls(db: sqlite3.Connection) -> None:
    # Their results will never arrive.
    writers = db.execute("SELECT DISTINCT writer FROM calls WHERE status = ?", (STARTED,))
    for writer in [row["writer"] for row in writers.fetchall()]:
        if not is_alive(writer):
            db.execute(
                "UPDATE calls SET status = ? WHERE status = ? AND writer = ?",
                (Status.UNKNOWN, STARTED, writer),
            )
