"""The page for Prometheus, read back by the client library's own parser."""

import time

from prometheus_client.parser import text_string_to_metric_families

from assistant.interfaces.prometheus import Measures, Standing, page
from audio.wake import NearMiss

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
    """Name of each sample -> its labels, joined -> its value."""
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
