"""What the doctor finds on the machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import box
from assistant.doctor.finding import Finding, examine
from audio.devices import DeviceInfo
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
    found = await look(name, chosen)
    assert (found.status, found.detail) == ("ok", "Jabra 410, 48000 Hz")
    monkeypatch.setattr(box, "find_device", away)
    found = await look(name, chosen)
    assert (found.status, found.mend) == ("fail", "There is no such thing: plug it in.")


async def test_a_wake_word_that_is_not_there(tmp_path: Path) -> None:
    found = await look("wake word", settings(tmp_path, wake={"words": ["nobody"]}))
    assert found.status == "fail"
    assert "wake.words" in found.mend


async def test_espeak_in_place_of_piper_is_said(tmp_path: Path) -> None:
    found = await look("voice", settings(tmp_path, voice={"engine": "piper"}))
    assert found.status == "warn"
    assert "espeak" in found.detail
    assert "voice.models" in found.mend
