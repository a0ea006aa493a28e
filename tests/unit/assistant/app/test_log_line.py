"""Tests of the log line of each turn, which contains nobody's words."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from assistant.app.log_line import log_line, log_turns
from assistant.conversation.record import FinishedTurn, TurnLog
from assistant.domain.brain import Usage
from assistant.domain.records import ConfirmationRecord, ErrorRecord, TurnRecord, WakeRecord
from assistant.domain.tool_call import Decision, Status
from tests.unit.assistant.journal.samples import an_outcome

TURN = TurnRecord(
    turn_id="1m83psbdhvqw",
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    source="voice",
    language="en",
    brain="gemini-live",
    model="gemini-3.8-live",
    wake=WakeRecord("okay_nabu", 0.973, 500.0),
    heard="unlock the secret door",
    answer="The secret door is unlocked.",
    clauses=("The secret door is unlocked.",),
    cut_at="The secret",
    audio_ms=1210.4,
    timeline={
        "wake": 500.0,
        "speech_start": 800.0,
        "speech_end": 2000.0,
        "end_of_turn": 2300.0,
        "first_tool_call": 2900.0,
        "last_tool_result": 3000.0,
        "first_audio_out": 3100.0,
    },
    usage=Usage(812, 96),
    cost_usd=0.0021,
    confirmation=ConfirmationRecord("Unlock the secret door?", "yes secret", "yes"),
    error=ErrorRecord("no_sound", "The secret loudspeaker is gone."),
)


def test_the_whole_line() -> None:
    call = replace(an_outcome(), arguments={"name": "secret"}, sentence="The secret is out.")
    refused = replace(call, name="GetSecrets", decision=Decision.DENIED, status=Status.NOT_RUN)
    assert log_line(TURN, [call, refused]) == (
        "turn id=1m83psbdhvqw source=voice language=en wake=okay_nabu score=0.97 "
        "brain=gemini-live model=gemini-3.8-live latency_ms=1100 speech_ms=1200 pause_ms=300 "
        "thinking_ms=600 house_ms=100 voice_ms=100 longest=thinking audio_ms=1210 "
        "calls=HassTurnOn:done:250ms,GetSecrets:denied:250ms confirmation=yes "
        "tokens_in=812 tokens_out=96 cost_usd=0.002100 cut=yes error=no_sound"
    )
    assert "secret" not in log_line(TURN, [call]).lower()


def test_estimated_tokens_are_marked() -> None:
    turn = replace(TURN, usage=Usage(812, 96, estimated=True))
    assert " tokens_in=812 tokens_out=96 tokens_estimated=yes cost_usd=" in log_line(turn, [])


def test_little_is_said_of_little() -> None:
    line = log_line(TurnRecord("t1", TURN.started_at, "text", "es", caller="http:my panel"))
    assert line == 'turn id=t1 source=text language=es caller="http:my panel" cost_usd=0'


def test_a_value_never_looks_like_another_key() -> None:
    call = replace(an_outcome(), name='x" error=none\nturn id=2')
    (line,) = log_line(TurnRecord("t1", TURN.started_at, "text", "es"), [call]).splitlines()
    assert r'calls="x\" error=none\nturn id=2:done:250ms"' in line


class Turns(TurnLog):
    """A turn log with one follower."""

    def __init__(self) -> None:
        pass

    def follow(self, follower: Callable[[FinishedTurn], None]) -> Callable[[], None]:
        self.tell = follower
        return lambda: None


def test_turns_are_logged_and_jobs_are_not(caplog: pytest.LogCaptureFixture) -> None:
    turns = Turns()
    log_turns(turns)
    turns.tell(FinishedTurn(TURN, ()))
    turns.tell(FinishedTurn(replace(TURN, source="job"), ()))
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage() == log_line(TURN)
