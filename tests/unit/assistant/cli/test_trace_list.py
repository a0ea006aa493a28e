"""`hearth trace`: the last turns, a week's shares, marks and faults; `hearth costs`."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock
from assistant.domain.records import ErrorRecord, TurnRecord
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import an_outcome

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
TIMELINE = {"speech_end": 100.0, "end_of_turn": 400.0, "first_audio_out": 2900.0}
LIGHT = TurnRecord("t1", NOW, "voice", "en", brain="offline", heard="turn on the light")
DOOR = replace(
    LIGHT,
    turn_id="t2",
    started_at=NOW + timedelta(milliseconds=1),
    brain="gemini-live",
    model="gemini-3.8-live",
    heard="open the door " * 20,
    answer="It is open.",
    timeline=TIMELINE,
    usage=Usage(812, 96, {"input_audio": 700}),
    cost_usd=0.25,
    error=ErrorRecord("timeout", "The house did not answer."),
)


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No midnight comes between what is written and what is read."""
    monkeypatch.setattr(SystemClock, "now", lambda clock: NOW + timedelta(minutes=10))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "hearth.toml"
    file.write_text(f'[assistant]\ndata = "{tmp_path}"\n[limits]\ndaily_cost_usd = 0.5\n')
    return file


@pytest.fixture
def filled(config: Path, tmp_path: Path) -> Path:
    async def fill() -> None:
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            await store.record_turn(LIGHT)
            await store.finish_call("t1", an_outcome())
            await store.record_turn(DOOR)
            await store.reports.begin_fault("microphone", "It is gone.", NOW)
            await store.reports.end_fault("microphone", NOW + timedelta(minutes=5))
            await store.reports.begin_fault("mqtt", "The broker is away.", NOW)

    asyncio.run(fill())
    return config


def hearth(config: Path, *words: str) -> int:
    return main([*words, "--config", str(config)])


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_the_last_turns(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "trace", "--list") == 0
    out = capsys.readouterr().out
    heading, first, second, *_, shares = out.splitlines()
    assert heading.split() == "time turn by brain heard first sound cost end".split()
    assert "t1" in first
    assert first.split()[-1] == "ok"
    assert second.split()[-1] == "timeout"
    assert "2800 ms" in second
    assert "$0.2500" in second
    assert "…" in second
    assert shares.endswith("2 commands: 1 right, 1 failed")
    assert "\x1b" not in out


def test_the_last_turns_for_a_program(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "trace", "--list", "1", "--json") == 0
    given = told(capsys)
    assert [turn["turn_id"] for turn in given["turns"]] == ["t2"]
    assert given["turns"][0]["model"] == "gemini-3.8-live"
    assert given["shares"] == {
        "turns": 2,
        "right": 1,
        "corrected": 0,
        "refused": 0,
        "misheard": 0,
        "failed": 1,
    }


def test_a_turn_is_marked(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "trace", "t1", "--mark", "wrong") == 0
    assert "marked       wrong" in capsys.readouterr().out
    assert hearth(filled, "trace", "t1", "--json") == 0
    assert told(capsys)["mark"] == "wrong"
    assert hearth(filled, "trace", "--list") == 0
    assert "1 corrected" in capsys.readouterr().out
    assert hearth(filled, "trace", "t1", "--mark", "none", "--json") == 0
    assert told(capsys)["mark"] == ""


def test_a_turn_that_is_not_there(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "trace", "t9", "--mark", "wrong") == 1
    assert "There is no turn t9; see the last ones with hearth trace --list" in (
        capsys.readouterr().err
    )


def test_faults(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "trace", "--faults") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2:4] for line in lines[1:]] == [["5", "min"], ["lasts", "mqtt"]]
    assert hearth(filled, "trace", "--faults", "--json") == 0
    mqtt, microphone = told(capsys)
    assert mqtt["ended_at"] is None
    assert microphone["problem"] == "It is gone."


def test_costs(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "costs") == 0
    out = capsys.readouterr().out
    assert "$0.2500 of $0.5000" in out
    assert "audio in 700" in out
    together = next(line for line in out.splitlines() if line.startswith("together"))
    assert together.split() == ["together", "2", "$0.2500", "812", "96"]


def test_costs_for_a_program(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth(filled, "costs", "--days", "1", "--json") == 0
    given = told(capsys)
    assert (given["total_usd"], given["today_usd"], given["cap_usd"]) == (0.25, 0.25, 0.5)
    assert given["days"][0] == {
        "day": NOW.astimezone().date().isoformat(),
        "brain": "gemini-live",
        "model": "gemini-3.8-live",
        "turns": 1,
        "cost_usd": 0.25,
        "input_tokens": 812,
        "output_tokens": 96,
        "by_modality": {"input_audio": 700},
    }


def test_a_cap_that_is_reached(
    config: Path, filled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_LIMITS__DAILY_COST_USD", "0.25")
    assert hearth(filled, "costs") == 0
    assert "No cloud until midnight; limits.daily_cost_usd is the cap" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["costs", "--days", "0"], "--days takes a number from 1 on"),
        (["trace", "--list", "0"], "--list takes a number from 1 on"),
    ],
)
def test_numbers_that_are_none(
    config: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert hearth(config, *words) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trace", "--list"], "No turn has been kept yet"),
        (["trace", "--faults"], "Nothing is known that has not worked"),
        (["costs"], "No turn is in the journal of the last 30 days"),
    ],
)
def test_an_empty_journal(
    config: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert hearth(config, *words) == 0
    assert sentence in capsys.readouterr().out
