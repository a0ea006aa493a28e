"""`hearth tools --prompt`: the instruction as a cloud model would get it."""

import json
from pathlib import Path

import pytest

from assistant.cli.main import main


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(f"""
[assistant]
data = "{tmp_path / "data"}"
area = "Kitchen"
place = "Lugo, Spain"
persona = "You are dry."
[home_assistant]
url = "demo"
[profiles.kids]
persona = "You are silly."
""")
    monkeypatch.setenv("HEARTH_CONFIG", str(file))


def test_it_prints_rules_and_house(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--prompt"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Your name is Hearth.\nYou are dry.\n")
    for part in ("# Limits", "Lugo, Spain", "area Kitchen", "- names: Kitchen light", "StaySilent"):
        assert part in told


def test_a_profile_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--prompt", "kids", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.startswith("Your name is Hearth.\nYou are silly.\n")


def test_a_house_that_is_away_is_in_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_HOME_ASSISTANT__URL", "http://127.0.0.1:9")
    assert main(["tools", "--prompt"]) == 0
    assert "The home cannot be reached" in capsys.readouterr().out


def test_a_profile_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--prompt", "night"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "hearth: There is no profile night; add a table [profiles.night]\n"


def test_a_prompt_and_an_explanation_exclude_each_other() -> None:
    with pytest.raises(SystemExit) as left:
        main(["tools", "--prompt", "--explain", "{}"])
    assert left.value.code == 2
