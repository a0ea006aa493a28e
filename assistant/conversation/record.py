"""A finished turn as a record for the store, and a record as the object that `--json` prints."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from assistant.conversation.claims import undone
from assistant.conversation.effects import CloseTurn
from assistant.conversation.live import LiveTurn
from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import ConfirmationRecord, ErrorRecord, TurnRecord, WakeRecord


def record_of(turn: LiveTurn, closing: CloseTurn) -> TurnRecord:
    """What is kept of a turn that is over."""
    wake = turn.opening.wake
    timeline = turn.timeline.as_dict()
    # What broke inside tells more than that the turn was then cut short.
    error = turn.error or ((closing.error, closing.message) if closing.error else None)
    return TurnRecord(
        turn_id=turn.turn_id,
        started_at=turn.started_at,
        source=turn.opening.source,
        language=turn.language,
        brain=turn.brain,
        wake=WakeRecord(wake.word, round(wake.score, 3), timeline["wake"]) if wake else None,
        heard=turn.heard,
        answer=turn.answer or None,
        clauses=turn.spoken.clauses,
        cut_at=turn.sounded.cut_at,
        sound=turn.sound,
        audio_ms=round(turn.spoken.audio_ms, 1),
        timeline=timeline,
        usage=turn.bill.usage,
        cost_usd=turn.bill.cost_usd,
        error=ErrorRecord(*error) if error else None,
        confirmation=turn.confirmation,
        caller=turn.opening.caller,
        model=turn.bill.model,
        understood=turn.understood,
    )


def wordless(record: TurnRecord) -> TurnRecord:
    """The same turn without what was said in it, as it is kept of guests."""
    error, asked = record.error, record.confirmation
    return replace(
        record,
        heard=None,
        answer=None,
        clauses=(),
        cut_at=None,
        error=ErrorRecord(error.kind, None) if error else None,
        confirmation=ConfirmationRecord(None, None, asked.verdict) if asked else None,
    )


def as_json(record: TurnRecord, outcomes: Iterable[ToolOutcome]) -> dict[str, Any]:
    """The one object that `hear` and `ask` print."""
    outcomes = list(outcomes)
    return {
        "turn_id": record.turn_id,
        "brain": record.brain,
        "wake": asdict(record.wake) if record.wake else None,
        "heard": record.heard,
        "answer": record.answer,
        "spoken": _spoken(record),
        "tool_calls": [_call(outcome) for outcome in outcomes],
        "not_done": [_not_done(outcome) for outcome in undone(outcomes)],
        "confirmation": asdict(record.confirmation) if record.confirmation else None,
        "timeline": record.timeline,
        "usage": asdict(record.usage) if record.usage else None,
        "cost_usd": record.cost_usd,
        "error": asdict(record.error) if record.error else None,
    }


def no_wake() -> dict[str, Any]:
    """The object for sound in which nobody said the wake word."""
    return {
        "turn_id": None,
        "brain": None,
        "wake": None,
        "heard": None,
        "answer": None,
        "spoken": {"clauses": [], "audio_ms": 0.0},
        "tool_calls": [],
        "not_done": [],
        "confirmation": None,
        "timeline": {},
        "usage": None,
        "cost_usd": 0.0,
        "error": {"kind": "no_wake", "message": NO_WAKE},
    }


NO_WAKE = "The wake word was not heard"


def _spoken(record: TurnRecord) -> dict[str, Any]:
    spoken: dict[str, Any] = {"clauses": list(record.clauses), "audio_ms": record.audio_ms}
    if record.cut_at is not None:
        spoken["heard"] = record.cut_at
    if record.sound:
        spoken["sound"] = record.sound
    return spoken


def _call(outcome: ToolOutcome) -> dict[str, Any]:
    return {
        "id": outcome.id,
        "server": outcome.server,
        "name": outcome.name,
        "arguments": outcome.arguments,
        "decision": outcome.decision,
        "tier": outcome.tier,
        "status": outcome.status,
        "observed": [asdict(seen) for seen in outcome.observed],
        "ms": round(outcome.ms, 1),
        "rule": outcome.rule,
        "entities": list(outcome.entities),
        "confirmed_by": outcome.confirmed_by,
    }


def _not_done(outcome: ToolOutcome) -> dict[str, Any]:
    return {
        "id": outcome.id,
        "name": outcome.name,
        "decision": outcome.decision,
        "status": outcome.status,
        "sentence": outcome.sentence,
    }
