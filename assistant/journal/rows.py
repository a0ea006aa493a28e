"""Conversion between records and database rows."""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from assistant.domain.brain import Usage
from assistant.domain.records import (
    AnnouncementRecord,
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    TimerRecord,
    TurnRecord,
    WakeRecord,
)
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome

T = TypeVar("T")
_log = logging.getLogger(__name__)
STARTED = "started"  # a call's status until its result arrives


def instant(time: datetime) -> str:
    """Format a time for the database: UTC, ISO 8601 with microseconds, so that it sorts as text."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def turn_row(turn: TurnRecord) -> dict[str, Any]:
    error, asked = turn.error, turn.confirmation
    return {
        "turn_id": turn.turn_id,
        "started_at": instant(turn.started_at),
        "source": turn.source,
        "language": turn.language,
        "brain": turn.brain,
        "wake": _json(asdict(turn.wake)) if turn.wake else None,
        "heard": turn.heard,
        "answer": turn.answer,
        "clauses": _json(turn.clauses),
        "cut_at": turn.cut_at,
        "sound": turn.sound,
        "audio_ms": turn.audio_ms,
        "timeline": _json(turn.timeline),
        "usage": _json(asdict(turn.usage)) if turn.usage else None,
        "cost_usd": turn.cost_usd,
        "error_kind": error.kind if error else None,
        "error_message": error.message if error else None,
        "confirmation_asked": asked.asked if asked else None,
        "confirmation_heard": asked.heard if asked else None,
        "confirmation_verdict": asked.verdict if asked else None,
        "caller": turn.caller,
        "model": turn.model,
        "understood": int(turn.understood),
        "mark": turn.mark,
    }


def turn_from(row: sqlite3.Row) -> TurnRecord:
    verdict, kind = row["confirmation_verdict"], row["error_kind"]
    return TurnRecord(
        turn_id=row["turn_id"],
        started_at=datetime.fromisoformat(row["started_at"]),
        source=row["source"],
        language=row["language"],
        brain=row["brain"],
        wake=WakeRecord(**json.loads(row["wake"])) if row["wake"] else None,
        heard=row["heard"],
        answer=row["answer"],
        clauses=tuple(json.loads(row["clauses"])),
        cut_at=row["cut_at"],
        sound=row["sound"],
        audio_ms=row["audio_ms"],
        timeline=json.loads(row["timeline"]),
        usage=Usage(**json.loads(row["usage"])) if row["usage"] else None,
        cost_usd=row["cost_usd"],
        error=ErrorRecord(kind, row["error_message"]) if kind else None,
        confirmation=ConfirmationRecord(
            row["confirmation_asked"], row["confirmation_heard"], verdict
        )
        if verdict
        else None,
        caller=row["caller"],
        model=row["model"],
        understood=bool(row["understood"]),
        mark=row["mark"],
    )


def columns(record: Any) -> dict[str, Any]:
    """Return a record's fields by name, without the deep copy that `asdict` makes."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def call_row(call: CallRecord, writer: str) -> dict[str, Any]:
    return {
        **columns(call),
        "arguments": _json(call.arguments),
        "started_at": instant(call.started_at),
        "writer": writer,
        "status": call.status or STARTED,
        "observed": _json([asdict(seen) for seen in call.observed]),
    }


def call_from(row: sqlite3.Row) -> CallRecord:
    return CallRecord(
        turn_id=row["turn_id"],
        id=row["id"],
        server=row["server"],
        name=row["name"],
        arguments=json.loads(row["arguments"]),
        decision=Decision(row["decision"]),
        tier=Tier(row["tier"]),
        started_at=datetime.fromisoformat(row["started_at"]),
        status=None if row["status"] == STARTED else Status(row["status"]),
        observed=tuple(Observed(**seen) for seen in json.loads(row["observed"])),
        ms=row["ms"],
        sentence=row["sentence"],
        reason=row["reason"],
    )


def timer_row(timer: TimerRecord) -> dict[str, Any]:
    """Return a running timer's columns."""
    return {
        **columns(timer),
        "due": instant(timer.due),
        "created_at": instant(timer.created_at),
        "status": "running",
        "rule": _json(timer.rule) if timer.rule is not None else None,
        "payload": _json(timer.payload) if timer.payload is not None else None,
    }


def timer_from(row: sqlite3.Row) -> TimerRecord:
    return TimerRecord(
        id=row["id"],
        due=datetime.fromisoformat(row["due"]),
        duration_s=row["duration_s"],
        created_at=datetime.fromisoformat(row["created_at"]),
        name=row["name"],
        language=row["language"],
        paused_s=row["paused_s"],
        kind=row["kind"],
        rule=json.loads(row["rule"]) if row["rule"] else None,
        text=row["text"],
        payload=json.loads(row["payload"]) if row["payload"] else None,
        caller=row["caller"],
    )


def announcement_row(announcement: AnnouncementRecord) -> dict[str, Any]:
    """Return the columns of an announcement that hasn't been spoken."""
    expires = announcement.expires_at
    return {
        "id": announcement.id,
        "text": announcement.text,
        "created_at": instant(announcement.created_at),
        "expires_at": instant(expires) if expires else None,
        "options": _json(announcement.options),
        "started_at": None,
        "done_at": None,
    }


def announcement_from(row: sqlite3.Row) -> AnnouncementRecord:
    expires = row["expires_at"]
    return AnnouncementRecord(
        id=row["id"],
        text=row["text"],
        created_at=datetime.fromisoformat(row["created_at"]),
        expires_at=datetime.fromisoformat(expires) if expires else None,
        options=json.loads(row["options"]),
    )


def readable(make: Callable[[sqlite3.Row], T], rows: Iterable[sqlite3.Row]) -> list[T]:
    """Convert rows to records. Damaged rows are logged and skipped."""
    records = []
    for row in rows:
        try:
            records.append(make(row))
        except (ValueError, TypeError) as error:
            _log.error("skipped a damaged row of the journal: %s", type(error).__name__)
    return records


def put(
    db: sqlite3.Connection, table: str, row: Mapping[str, Any], keep: tuple[str, ...] = ()
) -> None:
    """Insert a row. If its key exists, overwrite all columns except those in `keep`."""
    values = ", ".join(f":{column}" for column in row)
    changes = ", ".join(f"{column} = :{column}" for column in row if column not in keep)
    query = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})"
    db.execute(f"{query} ON CONFLICT DO UPDATE SET {changes}", row)


def insert_new(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> bool:
    """Insert a row. Returns False and changes nothing if its key exists."""
    values = ", ".join(f":{column}" for column in row)
    query = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values}) ON CONFLICT DO NOTHING"
    return db.execute(query, row).rowcount == 1


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def ended_call(turn_id: str, outcome: ToolOutcome, began: datetime) -> CallRecord:
    return CallRecord(
        turn_id=turn_id,
        id=outcome.id,
        server=outcome.server,
        name=outcome.name,
        arguments=outcome.arguments,
        decision=outcome.decision,
        tier=outcome.tier,
        started_at=began,
        status=outcome.status,
        observed=outcome.observed,
        ms=outcome.ms,
        sentence=outcome.sentence,
        reason=outcome.reason,
    )
