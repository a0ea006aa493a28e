"""Tests of the data that is carried beside the settings: unchanged, and checked on arrival."""

import io
import json
import zipfile
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
    SETTINGS,
    TIMERS,
    TOKENS,
    VERSION,
    Contents,
    Package,
    contents_of,
    pack,
    parts_of,
    still_to_come,
    unpack,
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
    with pytest.raises(
        ConfigError, match=rf"x contains {part}\.json, which this version of Hearth cannot read"
    ):
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


MADE = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
PARTS = {SETTINGS: b"# ours\n", MEMORY: b"[]"}


def test_a_package_comes_out_as_it_went_in() -> None:
    package = unpack(pack(PARTS, "0.1.0", MADE), "x.zip")
    assert dict(package.parts) == PARTS
    assert (package.hearth, package.made) == ("0.1.0", MADE)


def remade(change: dict[str, object], parts: dict[str, bytes] | None = None) -> bytes:
    """Return an export with a changed manifest or other parts."""
    with zipfile.ZipFile(io.BytesIO(pack(PARTS, "0.1.0", MADE))) as file:
        manifest = json.loads(file.read("manifest.json")) | change
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("manifest.json", json.dumps(manifest))
        for name, part in (PARTS if parts is None else parts).items():
            file.writestr(name, part)
    return whole.getvalue()


def spoiled(kind: int) -> bytes:
    """Return an export whose compressed manifest is corrupted."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", kind) as file:
        file.writestr("manifest.json", json.dumps({"made": "x" * 500}))
    data, start = bytearray(whole.getvalue()), 30 + len("manifest.json")
    data[start + 9 : start + 19] = b"\xff" * 10
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not a Hearth backup"),
        (b"PK\x03\x04 half a zip", "not a Hearth backup"),
        (remade({"format": "other"}), "not a Hearth backup"),
        (remade({"version": VERSION + 1}), "made by a newer Hearth"),
        (remade({"parts": {"../../etc/passwd": "0" * 64}}), "does not know"),
        (remade({}, {SETTINGS: b"# theirs\n", MEMORY: b"[]"}), r"damaged \(settings.toml\)"),
        (remade({}, {SETTINGS: PARTS[SETTINGS]}), "damaged"),
        (remade({}, {SETTINGS: bytes(17 * 1024 * 1024), MEMORY: b"[]"}), "damaged"),
        (pack(PARTS, "0.1.0", MADE)[:-40], "not a Hearth backup"),
        (spoiled(zipfile.ZIP_DEFLATED), "not a Hearth backup"),
        (spoiled(zipfile.ZIP_LZMA), "not a Hearth backup"),
        (spoiled(zipfile.ZIP_BZIP2), "not a Hearth backup"),
    ],
)
def test_what_cannot_be_taken_up_is_told_in_a_sentence(data: bytes, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        unpack(data, "x.zip")
