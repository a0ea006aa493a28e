"""One turn as a JSON object, as `hearth trace --json` and the HTTP interface give it."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from assistant.domain.records import AuditRecord, CallRecord, TurnRecord


def turn_object(
    turn: TurnRecord, calls: Sequence[CallRecord], audited: Sequence[AuditRecord]
) -> dict[str, Any]:
    """The turn with its calls. `audited`: its rows of the audit, newest first."""
    ends = {row.call_id: row for row in reversed(audited)}
    return {**turn_row(turn), "tool_calls": [_call(call, ends.get(call.id)) for call in calls]}


def turn_row(turn: TurnRecord) -> dict[str, Any]:
    """The turn alone."""
    return _timed(asdict(turn))


def _call(call: CallRecord, row: AuditRecord | None) -> dict[str, Any]:
    return {
        **_timed(asdict(call)),
        "rule": row.rule if row else "",
        "entities": list(row.entities) if row else [],
        "confirmed_by": row.confirmed_by if row else "",
    }


def _timed(fields: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO 8601, which JSON has no form of its own for."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in fields.items()
    }
