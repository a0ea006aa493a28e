"""What is measured of turns, wake words and calls."""

from datetime import UTC, datetime
from typing import Any

import pytest

from assistant.conversation.record import FinishedTurn
from assistant.domain.brain import Usage
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.domain.records import ErrorRecord, TurnRecord, WakeRecord
from assistant.interfaces.prometheus import Histogram, Measures, stages
from audio.wake import NearMiss

NOW = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)


def finished(*outcomes: ToolOutcome, **changes: Any) -> FinishedTurn:
    values = {"turn_id": "t1", "started_at": NOW, "source": "voice", "language": "en", **changes}
    return FinishedTurn(TurnRecord(**values), outcomes)


def counts(histogram: Histogram) -> dict[str, int]:
    return {label: buckets[-1][1] for label, buckets, _ in histogram.rows()}


def test_a_turn_counts_by_its_source_brain_and_outcome() -> None:
    measures = Measures()
    measures.finished(finished(brain="offline"))
    measures.finished(finished(brain="offline", error=ErrorRecord("no_speech", None)))
    measures.finished(finished(source="announcement"))
    assert dict(measures.turns.rows()) == {
        ("voice", "offline", "done"): 1.0,
        ("voice", "offline", "no_speech"): 1.0,
        ("announcement", "none", "done"): 1.0,
    }


@pytest.mark.parametrize(
    ("timeline", "expected"),
    [
        ({}, {}),
        ({"speech_end": 1000.0}, {}),
        ({"speech_end": 1000.0, "end_of_turn": 1350.0}, {"pause": 0.35}),
        # The voice begins when there are words, or when the house has done its part.
        (
            {"first_reply_text": 500.0, "last_tool_result": 900.0, "first_audio_out": 1000.0},
            {"voice": 0.1},
        ),
        ({"first_reply_text": 500.0, "first_audio_out": 800.0}, {"voice": 0.3}),
        # Clocks of different threads: never less than nothing.
        ({"speech_end": 1000.0, "end_of_turn": 999.0}, {"pause": 0.0}),
    ],
)
def test_the_stages_of_a_turn(timeline: dict[str, float], expected: dict[str, float]) -> None:
    assert stages(timeline) == pytest.approx(expected)


def test_wake_words_and_near_misses_count_by_word() -> None:
    measures = Measures()
    measures.finished(finished(wake=WakeRecord("okay_nabu", 0.93, 100.0)))
    measures.missed(NearMiss("okay_nabu", 0.4, 0.6, 1600))
    assert counts(measures.wakes) == {"okay_nabu": 1}
    [(word, buckets, total)] = measures.near_misses.rows()
    assert (word, total) == ("okay_nabu", 0.6)
    assert dict(buckets)[0.5] == 0
    assert dict(buckets)[0.6] == 1


def test_calls_count_by_tier_decision_and_status() -> None:
    call = ToolOutcome(
        id="c1",
        server="home_assistant",
        name="HassTurnOn",
        arguments={"name": "a secret lamp"},
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=Status.DONE,
        observed=(),
        ms=120.0,
        sentence="It is on.",
    )
    measures = Measures()
    measures.finished(finished(call, call))
    assert dict(measures.calls.rows()) == {("comfort", "allowed", "done"): 2.0}
    assert counts(measures.call_times) == {"comfort": 2}


def test_tokens_and_money_count_by_model() -> None:
    usage = Usage(100, 20, {"input_audio": 90, "input_text": 10, "output_text": 20})
    measures = Measures()
    measures.finished(finished(brain="gemini-live", model="m", usage=usage, cost_usd=0.01))
    assert dict(measures.tokens.rows()) == {
        ("gemini-live", "m", "input_audio"): 90.0,
        ("gemini-live", "m", "input_text"): 10.0,
        ("gemini-live", "m", "output_text"): 20.0,
    }
    assert dict(measures.costs.rows()) == {("gemini-live", "m"): 0.01}


def test_of_a_job_only_what_is_new_counts() -> None:
    """Its one row is written down again with each piece that it costs."""
    measures = Measures()
    first, second = Usage(10, 1, {"input_text": 10}), Usage(30, 4, {"input_text": 30})
    job = {"source": "job", "brain": "gemini-once", "model": "m"}
    measures.finished(finished(turn_id="j", usage=first, cost_usd=0.01, **job))
    measures.finished(finished(turn_id="j", usage=second, cost_usd=0.04, **job))
    measures.finished(finished(turn_id="k", usage=first, cost_usd=0.01, **job))
    assert dict(measures.tokens.rows()) == {("gemini-once", "m", "input_text"): 40.0}
    assert dict(measures.costs.rows()) == {("gemini-once", "m"): pytest.approx(0.05)}
    assert not dict(measures.turns.rows()), "a job is no turn"
