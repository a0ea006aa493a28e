"""The audit log: one row for each decision about a tool call and one for its result.

Database triggers (see `migrations`) prevent changes to a row. Only the transcript, the arguments
and the sentence in a row can be erased. Whole rows are deleted after `journal.keep_days`, or
earlier if the file exceeds `journal.max_mb`.
"""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from assistant.domain.records import AuditRecord, CallRecord
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome
from assistant.journal.rows import columns, instant

if TYPE_CHECKING:
    from assistant.journal.store import Store


STARS = "****"  # replaces a transcript that may contain a PIN
_COLUMNS = (
    "at, turn_id, call_id, satellite, heard, server, name, arguments, entities, tier, rule, "
    "decision, confirmed_by, status, observed, ms, sentence"
)
# SQL condition for rows that still contain text to erase.
AUDIT_HAS_WORDS = "(heard IS NOT NULL OR arguments <> '{}' OR sentence IS NOT NULL)"
_INSERT = f"INSERT INTO audit ({_COLUMNS}) VALUES (:{_COLUMNS.replace(', ', ', :')})"


def audit_of(
    outcome: ToolOutcome, at: datetime, turn_id: str, heard: str | None, satellite: str
) -> AuditRecord:
    """Return the audit row for a decision about a call or for its result.

    If a PIN confirmed the call, STARS replaces the transcript, which may contain the PIN.
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


def add_audit_row(db: sqlite3.Connection, row: dict[str, Any]) -> None:
    db.execute(_INSERT, row)


def audit_rows(
    db: sqlite3.Connection,
    limit: int,
    since: datetime | None = None,
    until: datetime | None = None,
    entity: str | None = None,
    decision: Decision | None = None,
    turn_id: str | None = None,
) -> list[AuditRecord]:
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


def erase_audit_words(db: sqlite3.Connection, before: str) -> None:
    """Erase transcripts, arguments and sentences from rows older than the given time."""
    db.execute(
        "UPDATE audit SET heard = NULL, arguments = '{}', sentence = NULL "
        f"WHERE at < ? AND {AUDIT_HAS_WORDS}",
        (before,),
    )


def erase_audit_words_of(db: sqlite3.Connection, turn_id: str) -> None:
    db.execute(
        "UPDATE audit SET heard = NULL, arguments = '{}', sentence = NULL WHERE turn_id = ?",
        (turn_id,),
    )


def erase_audit_rows(db: sqlite3.Connection, before: str) -> None:
    """Delete rows older than the given time."""
    # The database's triggers refuse any other deletion.
    db.execute("INSERT INTO audit_erasing (before) VALUES (?)", (before,))
    db.execute("DELETE FROM audit WHERE at < ?", (before,))
    db.execute("DELETE FROM audit_erasing")


def audit_row(record: AuditRecord) -> dict[str, Any]:
    return {
        **columns(record),
        "at": instant(record.at),
        "arguments": json.dumps(record.arguments, ensure_ascii=False),
        "entities": json.dumps(record.entities, ensure_ascii=False),
        "observed": json.dumps([asdict(seen) for seen in record.observed], ensure_ascii=False),
    }


def audit_from(row: sqlite3.Row) -> AuditRecord:
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


class Discreet:
    """Wraps the store, and drops transcripts, arguments and sentences while `keep_words` returns
    False."""

    def __init__(self, journal: "Store", keep_words: Callable[[], bool]) -> None:
        self._journal = journal
        self._keep_words = keep_words

    async def start_call(self, call: CallRecord) -> None:
        kept_value = call if self._keep_words() else replace(call, arguments={}, sentence=None)
        await self._journal.start_call(kept_value)

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        wordless = replace(outcome, arguments={}, sentence="", reason="")
        await self._journal.finish_call(turn_id, outcome if self._keep_words() else wordless)

    async def audit(self, record: AuditRecord) -> None:
        wordless = replace(record, heard=None, arguments={}, sentence=None)
        await self._journal.audit(record if self._keep_words() else wordless)
