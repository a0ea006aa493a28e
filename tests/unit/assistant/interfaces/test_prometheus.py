"""Tests of the measurements of turns, wake words and calls."""

import time
from datetime import UTC, datetime
from math import inf
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assistant.conversation.record import FinishedTurn
from assistant.domain.brain import Usage
from assistant.domain.records import ErrorRecord, TurnRecord, WakeRecord
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.interfaces.prometheus import (
    MOST_ROWS,
    OTHERS,
    Histogram,
    Measures,
    Standing,
    Tally,
    page,
    stages,
)
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


def test_estimated_money_is_told_apart() -> None:
    told = {"brain": "gemini-live", "model": "m", "cost_usd": 0.01}
    measures = Measures()
    measures.finished(finished(usage=Usage(100, 20, estimated=True), **told))
    measures.finished(finished(usage=Usage(100, 20), **told))
    assert dict(measures.costs.rows()) == {("gemini-live", "m"): 0.02}
    assert dict(measures.estimates.rows()) == {("gemini-live", "m"): 0.01}


def test_of_a_job_only_what_is_new_counts() -> None:
    """Its one row is written again with each piece that it costs."""
    measures = Measures()
    first, second = Usage(10, 1, {"input_text": 10}), Usage(30, 4, {"input_text": 30})
    job = {"source": "job", "brain": "gemini-once", "model": "m"}
    measures.finished(finished(turn_id="j", usage=first, cost_usd=0.01, **job))
    measures.finished(finished(turn_id="j", usage=second, cost_usd=0.04, **job))
    measures.finished(finished(turn_id="k", usage=first, cost_usd=0.01, **job))
    assert dict(measures.tokens.rows()) == {("gemini-once", "m", "input_text"): 40.0}
    assert dict(measures.costs.rows()) == {("gemini-once", "m"): pytest.approx(0.05)}
    assert not dict(measures.turns.rows()), "a job is no turn"


# Counters and histograms as plain numbers.


def test_a_tally_counts_each_combination_of_labels() -> None:
    tally = Tally()
    tally.add("a", "x")
    tally.add("a", "x", by=2.5)
    tally.add("a", "y")
    assert dict(tally.rows()) == {("a", "x"): 3.5, ("a", "y"): 1.0}


def test_a_tally_never_has_more_rows_than_it_may() -> None:
    tally = Tally()
    for number in range(MOST_ROWS + 50):
        tally.add(f"word {number}", "x")
    rows = dict(tally.rows())
    assert len(rows) == MOST_ROWS + 1
    assert rows[OTHERS, OTHERS] == 50.0


def test_a_value_counts_in_the_first_bound_that_it_does_not_pass() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe("a", value)
    [(label, buckets, total)] = histogram.rows()
    assert label == "a"
    assert list(buckets) == [(1.0, 2), (2.0, 4), (inf, 5)]
    assert total == 104.0


def test_a_histogram_never_has_more_rows_than_it_may() -> None:
    histogram = Histogram((1.0,))
    for number in range(MOST_ROWS + 50):
        histogram.observe(f"word {number}", 0.0)
    counts = {label: buckets[-1][1] for label, buckets, _ in histogram.rows()}
    assert len(counts) == MOST_ROWS + 1
    assert counts[OTHERS] == 50


# The page for Prometheus, read back by the client library's own parser.


STANDING = Standing(
    "degraded",
    0.25,
    frames={("wake", "passed"): 90, ("wake", "heard"): 10},
    connections={"home_assistant": 3},
    connected={"home_assistant": True, "mqtt": False},
    queues={"announcements": 2},
    timers=1,
    cost_today_usd=0.12,
)


def samples(measures: Measures, standing: Standing = STANDING) -> dict[str, dict[str, float]]:
    """Return name of each sample -> its labels, joined -> its value."""
    found: dict[str, dict[str, float]] = {}
    text = page(measures, standing, "1.2.3", time.time() - 60.0).decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_the_page_tells_what_was_counted() -> None:
    measures = Measures()
    measures.turns.add("voice", "offline", "done", by=4)
    measures.stages.observe("first_sound", 0.3)
    measures.missed(NearMiss("okay_nabu", 0.4, 0.6, 1600))
    found = samples(measures)
    assert found["hearth_turns_total"] == {"brain=offline,outcome=done,source=voice": 4.0}
    buckets = found["hearth_turn_stage_seconds_bucket"]
    assert buckets["le=0.2,stage=first_sound"] == 0.0
    assert buckets["le=0.35,stage=first_sound"] == 1.0
    assert buckets["le=+Inf,stage=first_sound"] == 1.0
    assert found["hearth_near_miss_closeness_count"] == {"word=okay_nabu": 1.0}


def test_the_page_tells_how_it_stands() -> None:
    found = samples(Measures())
    assert found["hearth_health"] == {"state=ok": 0.0, "state=degraded": 1.0, "state=dead": 0.0}
    assert found["hearth_frames_total"] == {
        "stage=wake,what=heard": 10.0,
        "stage=wake,what=passed": 90.0,
    }
    assert found["hearth_connections_total"] == {"to=home_assistant": 3.0}
    assert found["hearth_connected"] == {"to=home_assistant": 1.0, "to=mqtt": 0.0}
    assert found["hearth_queue_depth"] == {"queue=announcements": 2.0}
    assert found["hearth_loop_lag_seconds"] == {"": 0.25}
    assert found["hearth_cost_today_usd"] == {"": 0.12}
    assert found["hearth_info"] == {"version=1.2.3": 1.0}
    assert found["hearth_uptime_seconds"][""] >= 60.0
    assert found["hearth_resident_memory_bytes"][""] > 1_000_000


def test_what_is_not_known_is_left_out() -> None:
    found = samples(Measures(), Standing("ok", 0.0))
    assert "hearth_cost_today_usd" not in found
    assert "hearth_timers" not in found


def test_a_label_is_escaped() -> None:
    measures = Measures()
    measures.missed(NearMiss('my "own"\nword\\', 0.4, 0.6, 1600))
    assert samples(measures)["hearth_near_miss_closeness_count"] == {'word=my "own"\nword\\': 1.0}
