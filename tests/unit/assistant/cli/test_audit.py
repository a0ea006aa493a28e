"""Tests of `hearth audit` and of the parts that `hearth trace` uses."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.cli.audit import moment
from assistant.cli.main import main
from assistant.cli.terminal import Failed
from assistant.domain.clock import SystemClock
from assistant.domain.records import AuditRecord, CallRecord, TurnRecord
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from assistant.journal.store import Store

NOW = datetime.now(UTC)
LAMP = AuditRecord(
    at=NOW - timedelta(hours=3),
    turn_id="t1",
    call_id="c1",
    server="home_assistant",
    name="HassTurnOff",
    arguments={"name": "Kitchen Light"},
    tier=Tier.COMFORT,
    decision=Decision.ALLOWED,
    status=Status.DONE,
    rule="comfort",
    entities=("light.kitchen",),
    observed=(Observed("light.kitchen", "on", "off"),),
    ms=81.0,
    heard="turn off the kitchen light",
    sentence="Done. Kitchen Light: off.",
    satellite="Kitchen",
)
ASKED = replace(
    LAMP,
    at=NOW - timedelta(minutes=2),
    turn_id="t2",
    name="HassTurnOff",
    arguments={"name": "Front Door"},
    tier=Tier.SECURE,
    decision=Decision.NEEDS_CONFIRMATION,
    status=Status.NOT_RUN,
    rule="unlock",
    entities=("lock.front_door", "script.[bold]x[/]"),
    observed=(),
    heard="unlock the front door",
)
DONE = replace(
    ASKED,
    at=NOW - timedelta(minutes=1),
    decision=Decision.CONFIRMED,
    status=Status.DONE,
    confirmed_by="voice",
    observed=(Observed("lock.front_door", "locked", "unlocked"),),
)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEARTH_CONFIG", str(tmp_path / "hearth.toml"))
    monkeypatch.setenv("HEARTH_ASSISTANT__DATA", str(tmp_path))
    monkeypatch.setenv("HEARTH_JOURNAL__PATH", str(tmp_path / "hearth.db"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "hearth.toml").touch()
    return tmp_path


def _write(data: Path, rows: Sequence[AuditRecord] = (LAMP, ASKED, DONE)) -> None:
    async def write() -> None:
        async with Store(data / "hearth.db", SystemClock()) as store:
            for row in rows:
                await store.audit(row)
            await store.record_turn(TurnRecord("t2", ASKED.at, "voice", "en", heard=ASKED.heard))
            call = CallRecord(
                "t2",
                "c1",
                DONE.server,
                DONE.name,
                DONE.arguments,
                DONE.decision,
                DONE.tier,
                ASKED.at,
                DONE.status,
                DONE.observed,
                DONE.ms,
            )
            await store.start_call(call)

    asyncio.run(write())


def test_the_table_tells_who_did_what_and_why(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(data)
    assert main(["audit"]) == 0
    shown = capsys.readouterr().out
    told = [
        "“turn off the kitchen light”",
        "HassTurnOff (home_assistant)",
        "allowed",
        "comfort, comfort",
        "done 81 ms",
        "light.kitchen on → off",
        "needs_confirmation",
        "script.[bold]x[/]",
        "confirmed",
        "secure, unlock",
        "by voice",
        "lock.front_door locked → unlocked",
    ]
    assert [words for words in told if words not in shown] == []
    assert shown.index("allowed") < shown.index("needs_confirmation") < shown.index("by voice")


def test_the_table_fits_a_terminal(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _write(data)
    assert main(["audit"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "needs_confirmation" in shown  # no word is cut in two


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ([], [DONE, ASKED, LAMP]),
        (["--entity", "lock.*"], [DONE, ASKED]),
        (["--decision", "confirmed"], [DONE]),
        (["--limit", "1"], [DONE]),
        (["--since", "2h"], [DONE, ASKED]),
        (["--since", "1w", "--until", "2h"], [LAMP]),
        (["--entity", "siren.*"], []),
    ],
)
def test_json_is_one_array_newest_first(
    data: Path, capsys: pytest.CaptureFixture[str], words: list[str], rows: list[AuditRecord]
) -> None:
    _write(data)
    assert main(["audit", "--json", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["decision"] for one in told] == [row.decision for row in rows]
    for one, row in zip(told, rows, strict=True):
        assert set(one) == set(AuditRecord.__slots__)
        assert datetime.fromisoformat(one["at"]) == row.at
        assert (one["entities"], one["heard"]) == (list(row.entities), row.heard)


def test_nothing_to_tell_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--since", "today"]) == 0
    assert (
        "No tool calls match. Run `hearth ask turn on the light` to make one"
        in capsys.readouterr().out
    )
    assert main(["audit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--since", "last week"], "--since cannot be 'last week'; use 2h"),
        (["--until", "2026-13-01"], "--until cannot be '2026-13-01'"),
        (["--since", "999999999w"], "--since cannot be"),
        (["--limit", "0"], "--limit must be at least 1, such as --limit 20"),
    ],
)
def test_a_mistake_is_one_line_with_the_mend(
    capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    assert main(["audit", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert named in told.err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["audit", "--help"])
    assert ended.value.code == 0
    assert "hearth audit --since yesterday" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2h", 2),
        ("90m", 1.5),
        ("3d", 72),
        ("1w", 168),
        (" 2H ", 2),
    ],
)
def test_so_long_ago(text: str, hours: float) -> None:
    assert moment(text, NOW, "--since") == NOW - timedelta(hours=hours)


def test_days_begin_at_midnight_here() -> None:
    now = datetime(2026, 11, 22, 18, 2).astimezone()
    assert moment("today", now, "") == datetime(2026, 11, 22).astimezone()
    assert moment("yesterday", now, "") == datetime(2026, 11, 21).astimezone()
    assert moment("2026-11-20", now, "") == datetime(2026, 11, 20).astimezone()
    assert moment("2026-11-20T09:30", now, "") == datetime(2026, 11, 20, 9, 30).astimezone()
    assert moment("2026-11-20T09:30+00:00", now, "") == datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    with pytest.raises(Failed):
        moment("", now, "--since")


def test_the_trace_tells_rule_entities_and_who_said_yes(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(data)
    assert main(["trace", "t2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "secure by rule unlock; for script.[bold]x[/]; confirmed by voice" in told
    assert main(["trace", "t2", "--json"]) == 0
    (call,) = json.loads(capsys.readouterr().out)["tool_calls"]
    assert (call["rule"], call["confirmed_by"]) == ("unlock", "voice")
    assert call["entities"] == ["lock.front_door", "script.[bold]x[/]"]
