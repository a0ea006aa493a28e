"""Tests that bad input leads to one sentence that names the remedy, and to the right exit code."""

import json
import os
import signal
import socket
import struct
import sys
import threading
import time
import urllib.request
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assistant.cli.main import main
from audio import devices as find
from tests.ports import free_port

Make = Callable[[Path], Path]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HEARTH_CONFIG": str(tmp_path / "hearth.toml"),
        "HEARTH_ASSISTANT__DATA": str(tmp_path / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_HTTP__PORT": str(free_port()),
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "hearth.toml").write_text("")


def _missing(folder: Path) -> Path:
    return folder / "missing.wav"


def _folder(folder: Path) -> Path:
    return folder


def _text(folder: Path) -> Path:
    path = folder / "text.wav"
    path.write_text("turn on the light\n" * 20)
    return path


def _empty(folder: Path) -> Path:
    path = folder / "empty.wav"
    path.touch()
    return path


def _no_samples(folder: Path) -> Path:
    return _wav(folder / "no-samples.wav", b"")


def _truncated(folder: Path) -> Path:
    path = _wav(folder / "truncated.wav", bytes(32_000))
    path.write_bytes(path.read_bytes()[:20_000])
    return path


def _compressed(folder: Path) -> Path:
    path = folder / "mp3.wav"
    body = struct.pack("<4sIHHIIHH", b"fmt ", 16, 0x55, 1, 16_000, 4_000, 1, 0)
    data = struct.pack("<4sI", b"data", 100) + bytes(100)
    path.write_bytes(struct.pack("<4sI4s", b"RIFF", 4 + len(body + data), b"WAVE") + body + data)
    return path


def _wav(path: Path, pcm: bytes, rate: int = 16_000, width: int = 2, channels: int = 1) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(pcm)
    return path


@pytest.mark.parametrize(
    "make", [_missing, _folder, _text, _empty, _no_samples, _truncated, _compressed]
)
def test_a_file_that_is_no_sound(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(tmp_path)
    assert main(["hear", str(path), "--fast", "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    _one_sentence(told.err, str(path))


def test_24_bit_44100_hz_stereo_is_heard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hiss = np.random.default_rng(1).integers(-(2**14), 2**14, 2 * 44_100, dtype=np.int32)
    pcm = hiss.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    path = _wav(tmp_path / "studio.wav", pcm, 44_100, 3, 2)
    assert main(["hear", str(path), "--fast", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["wake"] is None
    assert told["error"]["kind"] == "no_wake"
    assert told["tool_calls"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[wake]\nsensitivty = 'high'\n", "did you mean sensitivity"),
        ("[wakee]\n", "did you mean"),
        ("[audio]\ninput = 3\n", "audio.input"),
        ("[home_assistant]\ntoken_file = '/nowhere/token'\n", "/nowhere/token"),
        ("[assistant\n", "line 1"),
    ],
)
def test_a_configuration_with_a_mistake(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(text)
    assert main(["ask", "what time is it"]) == 2
    _one_sentence(capsys.readouterr().err, words)


def test_a_port_that_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_AUDIO__INPUT", "null")
    monkeypatch.setenv("HEARTH_AUDIO__OUTPUT", "null")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        monkeypatch.setenv("HEARTH_HTTP__PORT", port)
        assert main(["run"]) == 2
    _one_sentence(capsys.readouterr().err, f"Port {port}")


def test_a_part_that_cannot_be_loaded_once_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_AUDIO__INPUT", "null")
    monkeypatch.setenv("HEARTH_AUDIO__OUTPUT", "null")
    monkeypatch.setenv("HEARTH_WYOMING__ENABLED", "true")
    monkeypatch.setitem(sys.modules, "assistant.interfaces.wyoming", None)  # as if it were broken
    assert main(["run"]) == 2
    _one_sentence(capsys.readouterr().err, "assistant.interfaces.wyoming")


def test_without_a_microphone_it_stays_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(find, "raw_devices", list)
    health: list[str] = []

    def ask() -> None:
        try:
            health.append(_health(os.environ["HEARTH_HTTP__PORT"]))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask)
    asking.start()
    assert main(["run", "--quiet"]) == 0
    asking.join()
    assert health == ["degraded"]
    assert "There is no microphone: plug one in" in capsys.readouterr().err


def _health(port: str) -> str:
    """Return what /healthz reports, as soon as it answers."""
    give_up = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
                word: str = answer.read().decode()
        except OSError:
            word = ""
        if word == "degraded" or time.monotonic() > give_up:
            return word
        time.sleep(0.02)


def test_a_second_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assistant.app.process import locked

    with locked(tmp_path / "data"):
        assert main(["run"]) == 2
    _one_sentence(capsys.readouterr().err, "assistant.data")


@pytest.mark.parametrize("arguments", [["ask", "  "], ["tools", "--explain", "{"], ["trace", "x"]])
def test_a_word_that_makes_no_sense(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) in (1, 2)
    _one_sentence(capsys.readouterr().err, "")


@pytest.mark.parametrize("given", ["turn on the light", "[]", '{"tool": "HassTurnOn"}'])
def test_what_is_no_call_is_shown_one(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--explain", given]) == 2
    _one_sentence(capsys.readouterr().err, '{"name": "HassTurnOn", "arguments": ')


def _one_sentence(told: str, words: str) -> None:
    assert told.startswith("hearth: ")
    assert told.count("\n") == 1, told
    assert words in told
    assert "Traceback" not in told
