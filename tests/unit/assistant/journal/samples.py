"""Sample records with every field filled."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from assistant.domain.brain import Usage
from assistant.domain.clock import VirtualClock
from assistant.domain.records import (
    AuditRecord,
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    TimerRecord,
    TurnRecord,
    WakeRecord,
)
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome


def a_turn(clock: VirtualClock, turn_id: str = "t1") -> TurnRecord:
    return TurnRecord(
        turn_id=turn_id,
        started_at=clock.now(),
        source="voice",
        language="es",
        brain="offline",
        wake=WakeRecord("alexa", 0.97, 812.5),
        heard="enciende la luz",
        answer="La luz está encendida.",
        clauses=("La luz está encendida.",),
        cut_at="La luz",
        sound="done",
        audio_ms=1210.0,
        timeline={"wake": 812.5, "answer_done": 3000.0},
        usage=Usage(10, 20, {"audio": 30}),
        cost_usd=0.25,
        error=ErrorRecord("timeout", "The house did not answer."),
        confirmation=ConfirmationRecord("Unlock the front door?", "yes", "yes"),
        caller="mqtt",
    )


def a_call(clock: VirtualClock, call_id: str = "c1", turn_id: str = "t1") -> CallRecord:
    return CallRecord(
        turn_id,
        call_id,
        "house",
        "HassTurnOn",
        {"name": "Küche"},
        Decision.ALLOWED,
        Tier.COMFORT,
        clock.now(),
    )


def an_outcome(call_id: str = "c1") -> ToolOutcome:
    return ToolOutcome(
        id=call_id,
        server="house",
        name="HassTurnOn",
        arguments={"name": "Küche"},
        decision=Decision.CONFIRMED,
        tier=Tier.SECURE,
        status=Status.DONE,
        observed=(Observed("light.kitchen", "off", "on"),),
        ms=250.0,
        sentence="The light is on.",
        reason="no such service: geheim",
    )


def a_timer(clock: VirtualClock, timer_id: str, minutes: float) -> TimerRecord:
    due = clock.now() + timedelta(minutes=minutes)
    return TimerRecord(timer_id, due, minutes * 60, clock.now(), "pasta", "es")


def an_audit(clock: VirtualClock, call_id: str = "c1", **changes: Any) -> AuditRecord:
    row = AuditRecord(
        at=clock.now(),
        turn_id="t1",
        call_id=call_id,
        server="house",
        name="HassTurnOn",
        arguments={"name": "Küche"},
        tier=Tier.COMFORT,
        decision=Decision.ALLOWED,
        status=Status.DONE,
        rule="comfort",
        entities=("light.kitchen",),
        confirmed_by="voice",
        observed=(Observed("light.kitchen", "off", "on"),),
        ms=250.0,
        heard="enciende la luz",
        sentence="The light is on.",
        satellite="Kitchen box",
    )
    return replace(row, **changes)
