"""What is carried beside the settings: the same after the way, and checked on it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.config.errors import ConfigError
from assistant.domain.records import MemoryRecord, TimerRecord
from assistant.interfaces.device.registration import DeviceRecord
from assistant.interfaces.http_tokens import TokenRow
from assistant.timers.recurrence import Rule
from assistant.transfer.contents import (
    DEVICE,
    KEPT,
    MEMORY,
    SECRETS,
    TIMERS,
    TOKENS,
    Contents,
    Package,
    contents_of,
    parts_of,
    still_to_come,
)

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=ZoneInfo("Europe/Madrid"))
FACT = MemoryRecord("m1", "The bins go out on Monday", datetime(2026, 1, 1, tzinfo=UTC), who="Ana")
ROWS = [
    {
        "id": "m1",
        "text": FACT.text,
        "created_at": FACT.created_at.isoformat(),
        "who": "Ana",
        "about": "",
        "language": "",
        "sensitive": False,
        "english": "",
        "spanish": "",
    }
]


def timer(name: str, **more: Any) -> TimerRecord:
    due = more.pop("due", NOW + timedelta(minutes=5))
    return TimerRecord(name, due, 300.0, NOW, name=name, **more)


ALL = Contents(
    settings="# ours\n",
    secrets={"home_assistant.token": "t"},
    memory=(FACT,),
    timers=(timer("tea"), timer("bins", kind="reminder", text="Bins", payload=None)),
    kept={"ratings": {"script.movie": "comfort"}, "approvals": {"s": {"t": {"hash": "h"}}}},
    openings={"switch.hall": frozenset({"lock.front", "cover.gate"})},
    tokens=(TokenRow(name="panel", scopes=("read",), sha256="0" * 64, created=NOW),),
    device=DeviceRecord("box", "http://ha", "hook"),
)


def package(**changed: bytes) -> Package:
    names = {"memory": MEMORY, "timers": TIMERS, "kept": KEPT, "tokens": TOKENS, "secrets": SECRETS}
    names["device"] = DEVICE
    parts = parts_of(ALL, ROWS) | {names[name]: data for name, data in changed.items()}
    return Package("0.1.0", NOW, parts)


def test_it_comes_out_as_it_went_in() -> None:
    found = contents_of(package(), "x")
    assert found == ALL


@pytest.mark.parametrize(
    ("part", "data"),
    [
        ("memory", [{"id": "m1"}]),
        ("memory", "a fact"),
        ("timers", [{"id": "t"}]),
        (
            "timers",
            [{"id": "t", "due": "2026-01-01T00:00:00", "duration_s": 1, "created_at": "2026"}],
        ),
        ("kept", {"ratings": {"script.x": "whatever"}}),
        ("kept", {"microphone_muted": True}),
        ("kept", []),
        ("tokens", [{"name": "admin panel"}]),
        ("secrets", {"home_assistant.token": 1}),
        ("device", {"identifier": "x", "other": 1}),
    ],
)
def test_what_cannot_be_read_is_refused(part: str, data: object) -> None:
    with pytest.raises(ConfigError, match=rf"x holds a {part}\.json that this Hearth cannot read"):
        contents_of(package(**{part: json.dumps(data).encode()}), "x")


def test_a_timer_that_is_over_is_left_and_what_comes_again_goes_on() -> None:
    past = NOW - timedelta(days=3)
    daily = Rule(at=NOW.replace(hour=7).time(), weekdays=(1, 2, 3, 4, 5, 6, 7)).as_json()
    once = Rule(at=NOW.time(), dates=(past.date(),)).as_json()
    found = still_to_come(
        [
            timer("tea"),
            timer("egg", due=past),
            timer("paused", due=past, paused_s=30.0),
            timer("wake up", due=past, kind="alarm", rule=daily),
            timer("dentist", due=past, kind="alarm", rule=once),
        ],
        NOW,
    )
    assert [(one.id, one.due) for one in found] == [
        ("tea", NOW + timedelta(minutes=5)),
        ("paused", past),
        ("wake up", NOW.replace(day=24, hour=7)),
    ]
