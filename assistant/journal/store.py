"""Everything that must survive the process: turns, tool calls, timers, memories and the like."""

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
from assistant.journal.database import Database
from assistant.journal.opening import is_alive, own_mark
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
    """One SQLite file, shared by every Hearth process of a data folder.

    Use it as an async context manager; entering raises ConfigError when the file cannot be used.
    Every method may raise StoreError. A write that has begun is finished even if its caller is
    cancelled.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._timers: dict[str, TimerRecord] = {}  # as they were last seen here
        self._database = Database(path, clock.now, self._refill)
        self._mark = own_mark()
        self.reports = Reports(self._database, clock)
        self.memory = MemoryRows(self._database)

    async def __aenter__(self) -> Self:
        """Open the file; calls that a dead process left under way become unknown."""
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
        """Finish what is waiting and close the file."""
        await self._database.close()

    @property
    def problem(self) -> str:
        """Return why nothing can be written now, as a sentence with the mend; "" where it can."""
        return self._database.problem

    async def probe(self) -> None:
        """Write something that changes nothing, to learn whether it can be done again.

        Raises StoreError.
        """
        await self._database.run(rewrite_nothing)

    async def check(self) -> bool:
        """Read the whole file, and begin a fresh one where it is damaged. Whether it was sound.

        Raises StoreError.
        """
        return await self._database.check()

    def stamp(self) -> object:
        """Something else than before once any process has written; costs no more than one `stat`.

        Two writes within a tick of the file system's clock (4 ms) may leave it as it is.
        """
        return self._database.stamp()

    @property
    def waiting(self) -> int:
        """Return how much work has come and is not done."""
        return self._database.waiting

    # --- turns and calls

    async def record_turn(self, turn: TurnRecord) -> None:
        """Keep a turn; one of the same id is replaced, but for what was said of it (`mark`)."""
        await self._database.run(lambda db: put(db, "turns", turn_row(turn), keep=("mark",)))

    async def turn(self, turn_id: str) -> TurnRecord | None:
        """The turn of that id, if it is kept."""
        turns = await self._turns("WHERE turn_id = ?", (turn_id,))
        return turns[0] if turns else None

    async def last_turn(self) -> TurnRecord | None:
        """The turn that began last, of those that somebody asked for."""
        turns = await self._turns(
            "WHERE source NOT IN (?, ?) ORDER BY started_at DESC, rowid DESC LIMIT 1", UNASKED
        )
        return turns[0] if turns else None

    async def turns_of_people(self, limit: int) -> list[TurnRecord]:
        """The last turns that people asked for, newest first: none of a program's own."""
        return await self._turns(
            "WHERE source NOT IN (?, ?) AND (source != 'text' OR caller IN ('', ?)) "
            "ORDER BY started_at DESC, rowid DESC LIMIT ?",
            (*UNASKED, REQUEST, limit),
        )

    async def turns(self, limit: int, before: str | None = None) -> list[TurnRecord]:
        """The last turns, newest first, with announcements and what work has cost. `before`: those
        that began before the turn of that id; none where there is no such turn."""
        newest = "ORDER BY started_at DESC, rowid DESC LIMIT ?"
        if before is None:
            return await self._turns(newest, (limit,))
        than = "(SELECT started_at, rowid FROM turns WHERE turn_id = ?)"
        return await self._turns(f"WHERE (started_at, rowid) < {than} {newest}", (before, limit))

    async def spent_since(self, since: datetime, besides: Collection[str] = ()) -> float:
        """Return what the turns begun since then cost, in USD, but for the turns of these ids."""
        rows = await self._rows(
            # One text for any number of ids: the connection keeps each statement that it saw.
            "SELECT COALESCE(SUM(cost_usd), 0.0) AS spent FROM turns "
            "WHERE started_at >= ? AND turn_id NOT IN (SELECT value FROM json_each(?))",
            (instant(since), json.dumps(list(besides))),
        )
        return float(rows[0]["spent"])

    async def start_call(self, call: CallRecord) -> None:
        """Keep a call as started. To be awaited before it is sent."""
        await self._database.run(lambda db: put(db, "calls", call_row(call, self._mark)))

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """Keep how a call ended; one that never started is kept too."""
        began = self._clock.now() - timedelta(milliseconds=outcome.ms)
        row = call_row(ended_call(turn_id, outcome, began), self._mark)
        await self._database.run(lambda db: put(db, "calls", row, keep=("started_at",)))

    async def calls(self, turn_id: str) -> list[CallRecord]:
        """The calls of a turn in their order."""
        return await self._calls("WHERE turn_id = ? ORDER BY rowid", (turn_id,))

    # --- the audit

    async def audit(self, record: AuditRecord) -> None:
        """Add one row about a call that was decided or ended. It can never be changed."""
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
        """The rows from `since` on and before `until`, newest first, no more than `limit`.

        `entity` is an entity's id, or a pattern with "*" and "?".
        """
        return await self._database.read(
            lambda db: audit_rows(db, limit, since, until, entity, decision, turn_id)
        )

    # --- small values

    async def keep(self, name: str, value: Any) -> None:
        """Keep a JSON value in the place of what that name held; on the disk when this returns."""
        text, now = json.dumps(value, ensure_ascii=False), self._clock.now()
        await self._database.run(lambda db: keep_value(db, name, text, now), durable=True)

    async def kept(self, name: str) -> Any | None:
        """Return what `keep` was given last under that name; None if nothing, or dropped."""
        return await self._database.read(lambda db: kept_value(db, name))

    async def drop_kept(self, name: str) -> None:
        """Let go of what is kept under that name, if anything is."""
        await self._database.run(lambda db: drop_value(db, name), durable=True)

    # --- what switches open

    async def add_openings(self, openings: Mapping[str, frozenset[str]]) -> None:
        """Keep what each of these was seen to open, besides what is known of it; on the disk when
        this returns."""
        now = self._clock.now()
        await self._database.run(lambda db: add_openings(db, openings, now), durable=True)

    async def openings(self) -> dict[str, frozenset[str]]:
        """Return what was seen to open something, and what that was, by entity id."""
        return await self._database.read(read_openings)

    # --- timers

    async def add_timer(self, timer: TimerRecord) -> None:
        """Keep a running timer; on the disk when this returns."""
        await self._database.run(lambda db: put_timer(db, timer), durable=True)
        self._timers[timer.id] = timer

    async def timers(self) -> list[TimerRecord]:
        """Timers that run or ring, the first due first."""
        found = await self._database.read(running_timers)
        self._timers = {timer.id: timer for timer in found}
        return found

    async def change_timer(self, timer: TimerRecord) -> bool:
        """Give it another end, or let it stand still or go on. False if no such timer runs."""
        changed = await self._database.run(lambda db: change_timer(db, timer), durable=True)
        if changed:
            self._timers[timer.id] = timer
        return changed

    async def take_occurrence(
        self, timer: TimerRecord, occurrence: TimerRecord, due: datetime | None
    ) -> bool:
        """One occurrence of what comes again becomes a timer of its own, and `timer` goes on to
        `due` (None: it was the last). False: it was taken before, or the timer has changed."""
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
        """Its work is about to begin. False: it has before, or was ended; do not do it."""
        begun = await self._database.run(lambda db: begin_timer(db, timer_id), durable=True)
        self._timers.pop(timer_id, None)  # in a fresh file it must not begin once more
        return begun

    async def begun_timers(self) -> list[TimerRecord]:
        """Those whose work has begun and not ended, here or in a process that died."""
        return await self._database.read(started_timers)

    async def finish_timer(self, timer_id: str, *, known: bool = True) -> bool:
        """Its work has ended; `known`: and how. False if it had."""
        return await self._end_timer(timer_id, "done" if known else "unknown")

    async def acknowledge_timer(self, timer_id: str) -> bool:
        """It has rung and was heard. False if no such timer runs."""
        return await self._end_timer(timer_id, "acknowledged")

    async def cancel_timer(self, timer_id: str) -> bool:
        """It is no longer wanted. False if no such timer runs."""
        return await self._end_timer(timer_id, "cancelled")

    # --- announcements

    async def add_announcement(self, announcement: AnnouncementRecord) -> bool:
        """Keep an announcement until it is spoken; on the disk when this returns. False: one of
        that id was kept before, and stays as it is, spoken or not."""
        row = announcement_row(announcement)
        return await self._database.run(
            lambda db: insert_new(db, "announcements", row), durable=True
        )

    async def knows_announcement(self, announcement_id: str) -> bool:
        """Return whether one of that id was kept before."""
        query = "SELECT 1 FROM announcements WHERE id = ?"
        return bool(await self._rows(query, (announcement_id,)))

    async def pending_announcements(self) -> list[AnnouncementRecord]:
        """Those that have not begun and not expired, oldest first."""
        rows = await self._rows(
            "SELECT * FROM announcements WHERE started_at IS NULL AND done_at IS NULL "
            "AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at, rowid",
            (instant(self._clock.now()),),
        )
        return readable(announcement_from, rows)

    async def start_announcement(self, announcement_id: str) -> bool:
        """Its first sample is about to be played. False: it has been before, do not play it."""
        return await self._change(
            "UPDATE announcements SET started_at = ? WHERE id = ? AND started_at IS NULL",
            (instant(self._clock.now()), announcement_id),
        )

    async def finish_announcement(self, announcement_id: str) -> bool:
        """It was spoken, or is no longer wanted. False if that was known."""
        return await self._change(
            "UPDATE announcements SET done_at = ? WHERE id = ? AND done_at IS NULL",
            (instant(self._clock.now()), announcement_id),
        )

    # --- forgetting

    async def erase_old(self, keep_days: int, transcript_hours: int) -> None:
        """Erase words older than `transcript_hours` and whole rows older than `keep_days`.

        What is erased is overwritten in the file, and gone from the write-ahead log.
        """
        now = self._clock.now()
        words = instant(now - timedelta(hours=transcript_hours))
        rows = instant(now - timedelta(days=keep_days))
        await self._database.run(lambda db: erase_before(db, words, rows, instant(now)))
        await self._database.empty_log()
        await self._database.erase_set_aside(now - timedelta(hours=transcript_hours))

    async def bound(self, most_bytes: int) -> int:
        """Erase from the oldest end until the file is no larger than that: words before rows.

        What is to come or to be remembered stays whatever its size. Bytes of the file now.
        """
        return await bound_size(self._database, most_bytes, self._clock.now())

    async def forget_words(self, turn_id: str) -> None:
        """Erase what was said and answered in one turn; that something was done stays known."""
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
        """Timers that this process knows go on, although the file that held them was damaged."""
        restore_timers(db, list(self._timers.values()))

    async def _change(self, query: str, values: tuple[Any, ...]) -> bool:
        """Return whether the one row was there to be changed; on the disk when this returns."""
        done = await self._database.run(lambda db: db.execute(query, values).rowcount, durable=True)
        return done == 1


def _settle_dead_calls(db: sqlite3.Connection) -> None:
    """Nobody will ever tell how they ended. Calls of living processes are left alone."""
    writers = db.execute("SELECT DISTINCT writer FROM calls WHERE status = ?", (STARTED,))
    for writer in [row["writer"] for row in writers.fetchall()]:
        if not is_alive(writer):
            db.execute(
                "UPDATE calls SET status = ? WHERE status = ? AND writer = ?",
                (Status.UNKNOWN, STARTED, writer),
            )
