"""What the doctor finds on the machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import box
from assistant.doctor.finding import Finding, examine
from audio.devices import DeviceInfo, Kind
from audio.errors import InputUnusable


def settings(data: Path, **sections: dict[str, Any]) -> Settings:
    given = {
        "audio": {"input": "null", "output": "null"},
        "voice": {"engine": "espeak"},
        **sections,
    }
    return Settings.model_validate({**given, "assistant": {"data": str(data)}})


async def look(name: str, settings: Settings) -> Finding:
    (check,) = (check for check in box.CHECKS if check.name == name)
    (found,) = await examine([check], settings)
    return found


async def test_a_box_that_is_well(tmp_path: Path) -> None:
    findings = await examine(box.CHECKS, settings(tmp_path))
    assert [finding.status for finding in findings] == ["ok"] * len(box.CHECKS)
    assert not any(finding.mend for finding in findings)


@pytest.mark.parametrize("name", ["data folder", "journal"])
async def test_a_data_folder_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    found = await look(name, settings(tmp_path / "file"))
    assert found.status == "fail"
    assert "assistant.data" in found.mend


@pytest.mark.parametrize(
    ("sections", "status", "words"),
    [
        ({}, "ok", "accept_cloud is false"),
        ({"brain": {"order": ["offline"]}}, "ok", "brain.order"),
        ({"privacy": {"accept_cloud": True}}, "fail", "no key"),
        ({"privacy": {"accept_cloud": True}, "gemini": {"api_key": "k3y"}}, "ok", "there is a key"),
    ],
)
async def test_gemini(tmp_path: Path, sections: dict[str, Any], status: str, words: str) -> None:
    found = await look("gemini", settings(tmp_path, **sections))
    assert found.status == status
    assert words in found.detail
    assert "k3y" not in found.detail + found.mend


Find = Callable[[str, str], DeviceInfo]


@pytest.mark.parametrize(("name", "kind"), [("microphone", "input"), ("speaker", "output")])
async def test_sound_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    def here(wanted: str, asked: str) -> DeviceInfo:
        assert (wanted, asked) == ("Jabra", kind)
        return DeviceInfo("Jabra 410", asked, 1, 48_000, False, 3)  # type: ignore[arg-type]

    def away(wanted: str, asked: str) -> DeviceInfo:
        raise InputUnusable("There is no such thing: plug it in.")

    chosen = settings(tmp_path, audio={"input": "Jabra", "output": "Jabra"})
    monkeypatch.setattr(box, "find_device", here)
    monkeypatch.setattr(box, "server_out_of_reach", lambda: False)
    found = await look(name, chosen)
    assert (found.status, found.detail) == ("ok", "Jabra 410, 48000 Hz")
    monkeypatch.setattr(box, "server_out_of_reach", lambda: True)
    found = await look(name, chosen)
    assert (found.status, "libasound2-plugins" in found.mend) == ("warn", True)
    monkeypatch.setattr(box, "find_device", away)
    found = await look(name, chosen)
    assert (found.status, found.mend) == ("fail", "There is no such thing: plug it in.")


@pytest.mark.parametrize(
    ("kind", "more", "detail", "mend"),
    [
        ("input", {"muted": True}, "mic is muted", "pactl set-source-mute mic 0"),
        ("output", {"muted": True}, "mic is muted", "pactl set-sink-mute mic 0"),
        ("input", {"volume": 0.0}, "mic is at volume 0", "pactl set-source-volume mic 80%"),
        ("output", {"volume": 0.0}, "mic is at volume 0", "pactl set-sink-volume mic 80%"),
        ("input", {"monitor": True}, "mic is no microphone", "hearth devices"),
    ],
)
async def test_sound_devices_that_let_nothing_through(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Kind,
    more: dict[str, Any],
    detail: str,
    mend: str,
) -> None:
    device = DeviceInfo("mic", kind, 1, 48_000, False, 3, backend="server", **more)
    monkeypatch.setattr(box, "find_device", lambda wanted, asked: device)
    monkeypatch.setattr(box, "server_out_of_reach", lambda: False)
    chosen = settings(tmp_path, audio={"input": "mic", "output": "mic"})
    found = await look({"input": "microphone", "output": "speaker"}[kind], chosen)
    assert found.status == "fail"
    assert detail in found.detail
    assert mend in found.mend


async def test_a_wake_word_that_is_not_there(tmp_path: Path) -> None:
    found = await look("wake word", settings(tmp_path, wake={"words": ["nobody"]}))
    assert found.status == "fail"
    assert "wake.words" in found.mend


async def test_espeak_in_place_of_piper_is_said(tmp_path: Path) -> None:
    found = await look("voice", settings(tmp_path, voice={"engine": "piper"}))
    assert found.status == "warn"
    assert "espeak" in found.detail
    assert "voice.models" in found.mend


async def test_which_stop_words_work(tmp_path: Path) -> None:
    without = await look("stop words", settings(tmp_path))
    assert "no model stop" in without.detail
    assert "by ear: the English ones" in without.detail
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("stop.json", "stop.tflite"):
        (folder / name).write_text("")
    given = settings(tmp_path, offline={"recognizer": "tcp://host:10300"})
    both = given.assistant.model_copy(update={"languages": ("en", "es")})
    given = given.model_copy(update={"assistant": both})
    found = await look("stop words", given)
    assert found.status == "ok"
    assert "transcript: en, es" in found.detail
    assert "by ear" not in found.detail
    assert found.detail.endswith("the model stop")
