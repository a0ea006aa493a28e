"""Timers and the like as JSON, for models and programs."""

from datetime import datetime
from typing import Any

from assistant.domain.records import TimerRecord
from assistant.timers.book import is_over, left_of


def row_of(timer: TimerRecord, now: datetime) -> dict[str, Any]:
    """All that is known of one; `now` on the clock of the house. Times are ISO 8601."""
    return {
        "id": timer.id,
        "kind": timer.kind,
        "name": timer.name,
        "text": timer.text,
        "due": timer.due.astimezone(now.tzinfo).isoformat(timespec="seconds"),
        "set_for_s": round(timer.duration_s),
        "left_s": round(left_of(timer, now)),
        "state": state_of(timer, now),
        "repeat": _repeat(timer),
        "caller": timer.caller,
    }


def state_of(timer: TimerRecord, now: datetime) -> str:
    """ "runs", "paused" or "rings"."""
    if timer.paused_s is not None:
        return "paused"
    return "rings" if is_over(timer, now) else "runs"


def _repeat(timer: TimerRecord) -> dict[str, Any] | None:
    rule = timer.rule
    if rule is None or not (rule["weekdays"] or len(rule["dates"]) > 1):
        return None
    return {"weekdays": rule["weekdays"], "dates": rule["dates"]}
