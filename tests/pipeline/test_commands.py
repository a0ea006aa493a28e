"""Tests of the commands as a person runs them: sound in, one JSON value and sound out."""

import json
import wave
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assistant.app.build import open_app
from assistant.cli.main import main
from assistant.demo.scenes import SpokenCommand, make_clip
from tests.pipeline.rig import splice

KEYS = {
    *("turn_id", "brain", "wake", "heard", "answer", "spoken", "tool_calls", "confirmation"),
    "not_done",
    *("timeline", "usage", "cost_usd", "error"),
}
IN_ORDER = (
    *("wake", "speech_start", "speech_end", "end_of_turn", "heard", "first_tool_call"),
    *("last_tool_result", "first_reply_text", "first_audio_out", "answer_done"),
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hearth.toml").write_text("")
    for name, value in {
        "HEARTH_CONFIG": str(tmp_path / "hearth.toml"),
        "HEARTH_ASSISTANT__DATA": str(tmp_path / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_SOUNDS__THINKING": "false",  # a slow machine would play it
        "HEARTH_ASSISTANT__LANGUAGES": '["en", "es"]',
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Return one breath: the wake word and a command, spoken by flite."""
    return make_clip(SpokenCommand("clip", "turn off the dining room light", "rms"), tmp_path)


def _one_value(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


@pytest.mark.parametrize("pace", ["--fast", "--realtime"])
def test_hear_gives_the_whole_turn(
    pace: str, clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.wav"
    with patch("assistant.cli.ask.open_app", wraps=open_app) as opened:
        assert main(["hear", str(clip), pace, "--json", "--out", str(answer)]) == 0
    assert opened.call_args.kwargs["paced"] is (pace == "--realtime")
    turn = _one_value(capsys)
    assert set(turn) == KEYS
    assert turn["brain"] == "offline"
    assert turn["wake"]["word"] == "okay_nabu"
    assert turn["heard"] == "turn off the dining room light"
    assert turn["error"] is None
    [call] = turn["tool_calls"]
    assert (call["decision"], call["tier"], call["status"]) == ("allowed", "comfort", "done")
    assert call["observed"] == [
        {"entity_id": "light.dining_room", "before": "on 71 %", "after": "off"}
    ]
    moments = turn["timeline"]
    assert [moment for moment in IN_ORDER if moment not in moments] == []
    assert [moments[moment] for moment in IN_ORDER] == sorted(moments[m] for m in IN_ORDER)
    assert turn["wake"]["at_ms"] == moments["wake"]
    # Words that are a whole command need a shorter pause; at full speed they are not judged.
    least, most = (250, 1000) if pace == "--realtime" else (650, 800)
    assert least <= moments["end_of_turn"] - moments["speech_end"] <= most
    with wave.open(str(answer)) as file:
        spoken_ms = file.getnframes() / file.getframerate() * 1000
    assert spoken_ms == pytest.approx(turn["spoken"]["audio_ms"], abs=1)
    assert spoken_ms > 500
    if pace == "--realtime":
        assert moments["answer_done"] - moments["first_audio_out"] >= 0.9 * spoken_ms


def test_the_trace_of_that_turn(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hear", str(clip), "--fast"]) == 0
    capsys.readouterr()
    assert main(["trace", "last"]) == 0
    shown = capsys.readouterr().out
    for words in ("turn off the dining room light", "recognition", "allowed, done", "ms"):
        assert words in shown


def test_a_wake_word_and_nothing_else(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], speech: Path
) -> None:
    alone = splice(tmp_path / "alone.wav", speech / "okay_nabu.wav", 7.0)
    assert main(["hear", str(alone), "--fast", "--json"]) == 1
    turn = _one_value(capsys)
    assert turn["error"]["kind"] == "no_speech"
    assert turn["wake"]["word"] == "okay_nabu"
    assert turn["tool_calls"] == []
    assert turn["spoken"] == {"clauses": [], "audio_ms": 0.0}


@pytest.mark.parametrize(
    ("text", "tools", "words"),
    [
        (
            "turn on the kitchen light and set the living room to 21 degrees",
            ["intent__HassTurnOn", "climate__HassClimateSetTemperature"],
            "21",
        ),
        ("is the front door locked", [], "locked"),
        ("apaga la luz del comedor", ["intent__HassTurnOff"], "comedor"),
        ("¿está cerrada la puerta principal?", [], ""),
    ],
)
def test_ask(text: str, tools: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", text, "--json"]) == 0
    turn = _one_value(capsys)
    assert turn["wake"] is None
    assert turn["heard"] == text
    assert [call["name"] for call in turn["tool_calls"]] == tools
    assert {call["status"] for call in turn["tool_calls"]} <= {"done"}
    assert words in turn["answer"]


def test_what_was_not_understood_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "make me a sandwich", "--json"]) == 1
    turn = _one_value(capsys)
    assert turn["tool_calls"] == []
    assert "didn't understand" in turn["answer"]


@pytest.mark.parametrize(
    "text", ["unlock the front door", "open the garage door", "run welcome home"]
)
def test_what_opens_or_is_unknown_waits_for_a_yes(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", text, "--json"]) == 0
    turn = _one_value(capsys)
    [call] = turn["tool_calls"]
    assert call["decision"] == "needs_confirmation"
    assert (call["status"], call["observed"]) == ("not_run", [])
    assert turn["confirmation"]["asked"] == turn["answer"]


def test_home_assistant_is_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_HOME_ASSISTANT__URL", "http://127.0.0.1:9")
    assert main(["ask", "turn on the kitchen light", "--json"]) == 1
    turn = _one_value(capsys)
    assert turn["error"]["kind"] == "house_away"
    assert "Home Assistant" in turn["answer"]


def test_tools_lists_the_menu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--json"]) == 0
    told = _one_value(capsys)
    assert told["servers"] == [{"name": "home_assistant", "ok": True, "reason": None}]
    assert {"intent__HassTurnOn", "light__HassLightSet"} <= {tool["name"] for tool in told["tools"]}
    keys = {
        *("name", "server", "description", "parameters", "tier", "rule"),
        *("approved", "hidden", "losses"),
    }
    assert all(set(tool) == keys for tool in told["tools"])


def test_say_writes_what_it_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "said.wav"
    text = "**Temperature**: 21.5°C, door `lock.front_door` is *locked* 🔒 at 6:05 AM"
    assert main(["say", text, "--out", str(out), "--json"]) == 0
    said = _one_value(capsys)
    spoken = " ".join(said["clauses"])
    assert not set("*`🔒°_") & set(spoken)
    assert "front door is locked" in spoken
    with wave.open(str(out)) as file:
        assert file.getnframes() / file.getframerate() * 1000 == pytest.approx(
            said["audio_ms"], abs=1
        )
