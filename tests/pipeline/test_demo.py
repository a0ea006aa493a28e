"""Tests that `hearth demo` shows its main job, and fails if the job was not done."""

import asyncio
import os
import re
import shlex
import signal
import sys
from pathlib import Path

import httpx
import pytest

from assistant.cli import demo
from assistant.cli.main import main
from assistant.demo.scenes import SCENES, SpokenCommand, Typed
from tests.pipeline.browser_line import page


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hearth.toml").write_text("")
    monkeypatch.setenv("HEARTH_CONFIG", str(tmp_path / "hearth.toml"))


def test_all_scenes_go_as_they_should(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out
    assert "synthetic" in shown
    assert "simulated" in shown
    assert "setup" in pasted(shown, "Connect your own Home Assistant:")
    scenes = re.split(r"^\d/\d  ", shown, flags=re.MULTILINE)[1:]
    assert len(scenes) == len(SCENES)
    for scene in scenes[:-1]:
        assert len(scene.strip().splitlines()) <= 12
    for number, scene in enumerate(SCENES):
        assert scene.words in scenes[number]
        assert (tmp_path / "demo" / f"{scene.name}.answer.wav").stat().st_size > 1_000
    kinds = [type(scene) for scene in SCENES]
    assert (kinds.count(SpokenCommand), kinds.count(Typed)) == (4, 2)


@pytest.mark.parametrize(
    "scene",
    [
        SpokenCommand("deaf", "mumble", "rms", {"light.kitchen": "on 100 %"}),
        Typed("wrong", "turn on the kitchen light", {"light.hall": "on"}),
    ],
)
def test_it_fails_where_the_house_did_not_change(
    scene: SpokenCommand | Typed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "SCENES", (scene,))
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 1
    assert f"Failed: {scene.name}." in capsys.readouterr().out


def pasted(shown: str, above: str) -> list[str]:
    """Return the words of the command that is printed below a line."""
    lines = shown.splitlines()
    return shlex.split(lines[lines.index(above) + 1])


def test_the_command_at_its_end_can_be_pasted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "SCENES", ())
    monkeypatch.setattr(sys, "argv", ["somewhere/else/hearth"])
    folder = tmp_path / "it's a demo"
    assert main(["demo", "--out", str(folder)]) == 0
    words = pasted(capsys.readouterr().out, "Type a command of your own:")
    assert words[:4] == ["somewhere/else/hearth", "ask", "--config", str(folder / "hearth.toml")]
    assert main(words[1:]) == 0
    assert "Turned on the kitchen light." in capsys.readouterr().out


def test_it_names_the_program_as_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin dir" / "hearth"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    assert demo.own_command(str(program)) == f"'{program}'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert demo.own_command(str(program)) == "hearth"
    assert demo.own_command("/x/assistant/__main__.py") == f"{sys.executable} -m assistant"


def test_it_names_what_to_install_for_its_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 1
    assert capsys.readouterr().err == (
        "hearth: The demo speaks with flite and espeak-ng. Install the missing programs: sudo apt "
        "install flite espeak-ng\n"
    )
    assert not (tmp_path / "demo").exists()


async def test_the_browser_can_speak_to_the_simulated_house(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "demo", "--browser", "--out", str(tmp_path / "demo")),
        stdout=asyncio.subprocess.PIPE,
        env={name: value for name, value in environment.items() if "DISPLAY" not in name},
    )
    assert process.stdout is not None
    shown = ""
    try:
        async with asyncio.timeout(90):
            while "#code=" not in shown:
                shown += (await process.stdout.readline()).decode()
        assert "This house is simulated." in shown
        address, _, code = shown.split()[-1].partition("#code=")
        async with httpx.AsyncClient(base_url=address) as browser:
            signed_in = await browser.post("/v1/session", json={"code": code})
        origin = address.rstrip("/")
        cookie = f"hearth_session={signed_in.cookies['hearth_session']}"
        async with page(int(origin.rsplit(":", 1)[1]), {"Cookie": cookie, "Origin": origin}):
            pass
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()


@pytest.mark.parametrize(
    ("environment", "there"), [({}, False), ({"DISPLAY": ":0"}, True), ({"DISPLAY": ""}, False)]
)
def test_whether_a_browser_can_be_opened(environment: dict[str, str], there: bool) -> None:
    assert demo.has_display(environment) is there
