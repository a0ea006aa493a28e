"""The audit: one row for each call that was decided or ended, added and never changed.

The triggers of the tables hold that; see `migrations`. The words alone can be taken out of a row,
and a row as a whole goes when it is older than `journal.keep_days`.
"""

import json
import sqlite3
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.domain.clock import Clock
from assistant.domain.outcome import Decision, Observed, Status, Tier, ToolOutcome
from assistant.domain.records import AuditRecord, FaultRecord, Mark, TurnRecord
from assistant.journal import cost_rows, fault_rows, mark_rows
from assistant.journal.rows import instant, turn_from
from assistant.journal.trace import Shares, shares_of

if TYPE_CHECKING:
    from assistant.journal.database import Database


STARS = "****"  # stands for what was said where a PIN was asked for
_COLUMNS = (
    "at, turn_id, call_id, satellite, heard, server, name, arguments, entities, tier, rule, "
    "decision, confirmed_by, status, observed, ms, sentence"
)
HAS_WORDS = "(heard IS NOT NULL OR arguments <> '{}' OR sentence IS NOT NULL)"  # a condition
_INSERT = f"INSERT INTO audit ({_COLUMNS}) VALUES (:{_COLUMNS.replace(', ', ', :')})"


def audit_of(
    outcome: ToolOutcome, at: datetime, turn_id: str, heard: str | None, satellite: str
) -> AuditRecord:
    """The row about a call that was decided or has ended at `at`.

    Of a call that a PIN let through the words are never kept: they may hold it.
    """
    return AuditRecord(
        at=at,
        turn_id=turn_id,
        call_id=outcome.id,
        server=outcome.server,
        name=outcome.name,
        arguments=outcome.arguments,
        tier=outcome.tier,
        decision=outcome.decision,
        status=outcome.status,
        rule=outcome.rule,
        entities=outcome.entities,
        confirmed_by=outcome.confirmed_by,
        observed=outcome.observed,
        ms=outcome.ms,
        heard=STARS if heard and outcome.confirmed_by.startswith("pin ") else heard,
        sentence=outcome.sentence,
        satellite=satellite,
    )


def add(db: sqlite3.Connection, row: dict[str, Any]) -> None:
    """One more row, as `audit_row` makes it."""
    db.execute(_INSERT, row)


def audited(
    db: sqlite3.Connection,
    limit: int,
    since: datetime | None = None,
    until: datetime | None = None,
    entity: str | None = None,
    decision: Decision | None = None,
    turn_id: str | None = None,
) -> list[AuditRecord]:
    """At most `limit` rows from `since` on and before `until`, newest first.

    `entity`: rows that touched or would have touched one like it, "*" and "?" as in file names.
    """
    asked = {
        "at >= ?": instant(since) if since else None,
        "at < ?": instant(until) if until else None,
        "decision = ?": decision,
        "turn_id = ?": turn_id,
    }
    given = {condition: value for condition, value in asked.items() if value is not None}
    where = f"WHERE {' AND '.join(given)}" if given else ""
    query = f"SELECT {_COLUMNS} FROM audit {where} ORDER BY at DESC, number DESC"
    found: list[AuditRecord] = []
    for row in db.execute(query, tuple(given.values())):
        if len(found) == limit:
            break
        record = audit_from(row)
        if entity is None or _touches(record, entity):
            found.append(record)
    return found


def erase_words(db: sqlite3.Connection, before: str) -> None:
    """Take the words out of the rows before this instant."""
    db.execute(
        "UPDATE audit SET heard = NULL, arguments = '{}', sentence = NULL "
        f"WHERE at < ? AND {HAS_WORDS}",
        (before,),
    )


def erase_words_of(db: sqlite3.Connection, turn_id: str) -> None:
    """Take the words out of the rows of one turn."""
    db.execute(
        "UPDATE audit SET heard = NULL, arguments = '{}', sentence = NULL WHERE turn_id = ?",
        (turn_id,),
    )


def erase_rows(db: sqlite3.Connection, before: str) -> None:
    """Delete the rows before this instant: the only way a row ever goes."""
    db.execute("INSERT INTO audit_erasing (before) VALUES (?)", (before,))
    db.execute("DELETE FROM audit WHERE at < ?", (before,))
    db.execute("DELETE FROM audit_erasing")


def audit_row(record: AuditRecord) -> dict[str, Any]:
    """The columns of one row."""
    return {
        "at": instant(record.at),
        "turn_id": record.turn_id,
        "call_id": record.call_id,
        "satellite": record.satellite,
        "heard": record.heard,
        "server": record.server,
        "name": record.name,
        "arguments": json.dumps(record.arguments, ensure_ascii=False),
        "entities": json.dumps(record.entities, ensure_ascii=False),
        "tier": record.tier,
        "rule": record.rule,
        "decision": record.decision,
        "confirmed_by": record.confirmed_by,
        "status": record.status,
        "observed": json.dumps([asdict(seen) for seen in record.observed], ensure_ascii=False),
        "ms": record.ms,
        "sentence": record.sentence,
    }


def audit_from(row: sqlite3.Row) -> AuditRecord:
    """The record of a row."""
    return AuditRecord(
        at=datetime.fromisoformat(row["at"]),
        turn_id=row["turn_id"],
        call_id=row["call_id"],
        satellite=row["satellite"],
        heard=row["heard"],
        server=row["server"],
        name=row["name"],
        arguments=json.loads(row["arguments"]),
        entities=tuple(json.loads(row["entities"])),
        tier=Tier(row["tier"]),
        rule=row["rule"],
        decision=Decision(row["decision"]),
        confirmed_by=row["confirmed_by"],
        status=Status(row["status"]),
        observed=tuple(Observed(**seen) for seen in json.loads(row["observed"])),
        ms=row["ms"],
        sentence=row["sentence"],
    )


def _touches(record: AuditRecord, like: str) -> bool:
    touched = {*record.entities, *(seen.entity_id for seen in record.observed)}
    return any(fnmatchcase(entity_id, like) for entity_id in touched)


# What the journal tells of many turns at once: costs, how the turns went, and faults.


T = TypeVar("T")
_MOST_DAYS = 36_500  # no journal is older


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one brain with one model has cost on one day."""

    day: date  # in this machine's time zone, as `limits.daily_cost_usd` counts it
    brain: str  # as in `brain.order`; "" where none was asked
    model: str  # "" where the brain has none, or the row is older than the column
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio": tokens, ...


def first_midnight(days: int, now: datetime) -> datetime:
    """The midnight with which the last so many days begin, the present one among them."""
    first = now.date() - timedelta(days=min(days, _MOST_DAYS) - 1)
    # Without a zone as yet: `astimezone` finds the offset that counted on that very day.
    return datetime.combine(first, time.min).astimezone()


class Reports:
    """Reads over many rows, and the few words that are written about them afterwards.

    Every method may raise StoreError.
    """

    def __init__(self, database: "Database", clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def costs(self, since: datetime) -> list[CostRow]:
        """By day, brain and model from `since` on, the newest day first; within a day the dearest.

        Announcements, which cost nothing, are left out; what jobs have cost is there.
        """
        rows = await self._database.read(lambda db: cost_rows.costs(db, instant(since)))
        return [CostRow(**row) for row in rows]

    async def shares(self, since: datetime) -> Shares:
        """How the commands of people from `since` on have gone; see `Shares`."""
        judged = await self._database.read(lambda db: mark_rows.judged(db, instant(since)))
        return shares_of(judged)

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Say of a turn that it was wrong or misheard; "" takes it back. False: no such turn."""
        return await self._database.run(lambda db: mark_rows.mark(db, turn_id, mark), durable=True)

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """What a person asked for last, from `since` on: no announcement, no program's turn,
        none in which nothing was said, and none that only marked another one."""
        span = (instant(since), instant(self._clock.now()))
        row = await self._database.read(lambda db: mark_rows.last_command(db, *span))
        return turn_from(row) if row is not None else None

    async def faults(self, since: datetime, limit: int = 1000) -> list[FaultRecord]:
        """What did not work from `since` on, or still does not; the newest first."""
        return await self._database.read(lambda db: fault_rows.faults(db, instant(since), limit))

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Something has stopped working; it lasts until `end_fault`."""
        await self._database.run(lambda db: fault_rows.begin(db, what, problem, instant(at)))

    async def end_fault(self, what: str, at: datetime) -> None:
        """It works again."""
        await self._database.run(lambda db: fault_rows.end(db, what, instant(at)))

    async def settle_faults(self) -> None:
        """End what an earlier process left open: nobody knows when it was over. For the one
        process that writes faults down, at its start."""
        now = instant(self._clock.now())
        await self._database.run(lambda db: fault_rows.settle(db, now))
