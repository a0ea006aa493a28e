"""`hearth demo`: it shows the main job, and fails where the job was not done."""

import re
from pathlib import Path

import pytest

from assistant.cli import demo
from assistant.cli.main import main
from assistant.demo.scenes import SCENES, SpokenCommand, Typed


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hearth.toml").write_text("")
    monkeypatch.setenv("HEARTH_CONFIG", str(tmp_path / "hearth.toml"))


def test_all_scenes_go_as_they_should(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out
    assert "synthetic" in shown
    assert "simulated" in shown
    assert "hearth setup" in shown
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
    assert f"Went wrong: {scene.name}" in capsys.readouterr().out
