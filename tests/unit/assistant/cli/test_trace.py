"""Tests of `hearth trace` (last turns, a week's shares, marks, faults) and `hearth costs`."""

import asyncio
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.console import Terminal
from assistant.cli.main import main
from assistant.cli.trace import show
from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock, VirtualClock
from assistant.domain.records import CallRecord, ErrorRecord, FaultRecord, TurnRecord
from assistant.domain.tool_call import Status
from assistant.journal.store import Store
from assistant.sound.recordings import FOLDER, Recording, write
from audio.sound_files import read_wav
from tests.unit.assistant.journal.samples import a_call, a_turn, an_audit, an_outcome

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
    """Fix the time at ten minutes after NOW, so that no midnight comes between writing and
    reading."""
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
    assert "There is no turn t9; run hearth trace --list for recent turns" in (
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
    together = next(line for line in out.splitlines() if line.startswith("total"))
    assert together.split() == ["total", "2", "$0.2500", "812", "96"]


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
        "estimated_usd": 0.0,
    }


def test_estimates_are_marked(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fill() -> None:
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            usage = Usage(812, 96, {"input_audio": 700}, estimated=True)
            await store.record_turn(replace(DOOR, usage=usage))

    asyncio.run(fill())
    assert hearth(config, "costs") == 0
    out = capsys.readouterr().out
    assert "~$0.2500 of $0.5000" in out
    assert "~ Includes $0.2500 of estimates" in out
    assert hearth(config, "costs", "--json") == 0
    given = told(capsys)
    assert given["estimated_usd"] == given["days"][0]["estimated_usd"] == 0.25
    assert hearth(config, "trace", "--list") == 0
    assert " ~$0.2500" in capsys.readouterr().out
    assert hearth(config, "trace", "t2") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "about $0.2500, 812 tokens in and 96 out, estimated, because" in out


def test_a_cap_that_is_reached(
    config: Path, filled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_LIMITS__DAILY_COST_USD", "0.25")
    assert hearth(filled, "costs") == 0
    assert (
        "limit (limits.daily_cost_usd) is reached: no cloud until midnight."
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["costs", "--days", "0"], "--days must be at least 1, such as --days 7"),
        (["trace", "--list", "0"], "--list must be at least 1, such as --list 50"),
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
        (
            ["trace", "--list"],
            'No turns have been recorded yet; make one with hearth ask "what time is it"',
        ),
        (
            ["trace", "--faults"],
            "No failures have been recorded; run hearth doctor to check the current state",
        ),
        (["costs"], "The journal has no turns from the last 30 days."),
    ],
)
def test_an_empty_journal(
    config: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert hearth(config, *words) == 0
    assert sentence in capsys.readouterr().out


TURN = replace(
    a_turn(VirtualClock()),
    started_at=datetime(2026, 1, 1, 12, tzinfo=UTC),
    caller="",
    model="gemini-3.8-live",
    usage=Usage(812, 96),
    cost_usd=0.0021,
    mark="wrong",
    timeline={
        "wake": 500.0,
        "speech_start": 800.0,
        "speech_end": 2000.0,
        "end_of_turn": 2300.0,
        "heard": 2400.0,
        "first_tool_call": 3900.0,
        "last_tool_result": 4000.0,
        "first_audio_out": 4100.0,
        "answer_done": 5000.0,
    },
)


def shown(turn: TurnRecord, calls: list[CallRecord], width: int, colours: bool = False) -> str:
    clock, out = VirtualClock(), io.StringIO()
    console = Terminal(file=out, width=width, force_terminal=colours)
    fault = FaultRecord("gemini_set_up", "Used without search.", turn.started_at)
    show(console, turn, calls, [an_audit(clock)], [fault])
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_it_fits_any_terminal(width: int) -> None:
    out = shown(TURN, [replace(a_call(VirtualClock()), status=Status.DONE)], width)
    assert max(map(len, out.splitlines())) <= width
    (longest,) = [line for line in out.splitlines() if "longest wait" in line]
    assert longest.startswith("thinking")
    assert "1500 ms" in longest
    assert out.count("◆") == 1  # the wake word, a moment


def test_all_of_it_is_told() -> None:
    out = shown(TURN, [replace(a_call(VirtualClock()), status=Status.DONE)], 100)
    for told in (
        "enciende la luz",
        "HassTurnOn(name=Küche) done",
        "confirmed by voice",
        "Unlock the front door? yes",
        "Used without search.",
        "La luz está encendida.",
        "timeout: The house did not answer.",
        "marked       wrong",
        "first sound  2100 ms after the last word",
        "$0.0021, 812 tokens in and 96 out, gemini-3.8-live",
    ):
        assert told in out


def test_words_of_others_are_no_markup() -> None:
    turn = replace(TURN, heard="[red]turn[/] it [bold]on", answer="[/nothing]")
    out = shown(turn, [], 80)
    assert "[red]turn[/] it [bold]on" in out
    assert "[/nothing]" in out


def test_a_turn_without_anything() -> None:
    out = shown(TurnRecord("t1", TURN.started_at, "text", "en"), [], 80)
    assert out.count("(nothing, or erased)") == 2
    assert "no brain" in out


def test_there_are_colours_where_people_look() -> None:
    assert "\x1b[" in shown(TURN, [], 80, colours=True)


THEN = datetime.now(UTC)


SOUND = bytes([0, 32]) * 40_000  # 2.5 s


RECORDED = Recording(
    "20260101T120003.000000Z-turn-okay_nabu-0.97",
    "turn",
    THEN,
    "okay_nabu",
    0.9712,
    2.5,
    "t1",
)


NEAR = Recording(
    "20260101T120001.500000Z-near-okay_nabu-0.40",
    "near",
    THEN,
    "okay_nabu",
    0.4,
    0.5,
    closeness=0.6,
)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Write a journal with three turns, one of them with its sound."""
    file = tmp_path / "hearth.toml"
    file.write_text(
        f'[assistant]\ndata = "{tmp_path}"\n[audio]\noutput = "file:{tmp_path}/out.wav"\n'
    )

    async def fill() -> None:
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            await store.record_turn(TurnRecord("t1", THEN, "voice", "en"))
            await store.record_turn(TurnRecord("t2", THEN, "voice", "en"))
            await store.record_turn(TurnRecord("t3", THEN, "text", "en"))

    asyncio.run(fill())
    write(tmp_path / FOLDER, RECORDED, SOUND)
    write(tmp_path / FOLDER, NEAR, SOUND[:16_000])
    return file


def trace(recorded: Path, *words: str) -> int:
    return main(["trace", *words, "--config", str(recorded)])


def test_a_turn_is_shown_and_played(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trace(recorded, "t1", "--play") == 0
    assert "t1" in capsys.readouterr().out
    assert read_wav(tmp_path / "out.wav") == SOUND


def test_a_recording_is_played_by_its_name(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trace(recorded, NEAR.name, "--play") == 0
    assert read_wav(tmp_path / "out.wav") == SOUND[:16_000]


@pytest.mark.parametrize(
    ("turn", "keep", "sentence"),
    [
        ("t2", "", "Turn t2 was not recorded; set recordings.keep to record future turns"),
        (
            "t2",
            "[recordings]\nkeep = 5\n",
            "The recording of turn t2 no longer exists; list the stored",
        ),
        ("t3", "", "Turn t3 was not spoken, so it has no recording"),
        ("t9", "", "There is no turn t9"),
    ],
)
def test_where_there_is_no_sound(
    recorded: Path, capsys: pytest.CaptureFixture[str], turn: str, keep: str, sentence: str
) -> None:
    recorded.write_text(recorded.read_text() + keep)
    assert trace(recorded, turn, "--play") == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_all_that_is_kept(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trace(recorded, "--recordings") == 0
    near, turn = capsys.readouterr().out.splitlines()
    assert "near" in near
    assert "0.40" in near
    assert "0.97" in turn
    assert turn.endswith(RECORDED.name)
    assert trace(recorded, "--recordings", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [NEAR.name, RECORDED.name]
    assert rows[1]["turn_id"] == "t1"
    assert Path(rows[1]["file"]).is_file()


def test_nothing_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(f'[assistant]\ndata = "{tmp_path}/none"\n')
    assert trace(file, "--recordings") == 0
    assert "recordings.keep" in capsys.readouterr().out
    assert trace(file, "--recordings", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
