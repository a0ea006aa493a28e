"""Tests of `hearth tools --prompt`: the instruction as a cloud model would get it."""

import json
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.cli.tools import _print_menu
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.policy.rules import tool_json
from integrations.mcp.servers import McpTool, ServerSpec, ServerState


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
    for part in ("# Limits", "Lugo, Spain", "area Kitchen", "light: Kitchen light", "StaySilent"):
        assert part in told
    *_, sent, size = told.splitlines()
    assert sent.startswith("Tools sent (")
    assert "find_tools" in sent
    tokens = int(size.split()[1].replace(",", ""))
    assert 2_000 < tokens <= 2_600


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


SPEC = ServerSpec("files", "http", trust="trusted")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def menu(*names: str, about: str = "What it does in a good many words. ") -> Menu:
    tools = [McpTool(SPEC.name, name, "", about * 3, {}, False) for name in names]
    return build_menu(tools, {SPEC.name: SPEC})


def printed(shown: Menu, capsys: pytest.CaptureFixture[str], reason: str = "") -> list[str]:
    _print_menu([ServerState(SPEC.name, not reason, reason)], shown.entries)
    return capsys.readouterr().out.splitlines()


def test_one_line_a_tool_with_its_whole_name(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"media_player__pretend_to_unmute_it_{n:02}" for n in range(50)]
    lines = printed(menu(*names), capsys)
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines[2:]] == names
    assert lines[1].split() == ["tool", "tier", "rule", "what", "it", "does"]
    assert all(line.split()[1:4] == ["costly", "unknown", "What"] for line in lines[2:])


def test_names_and_reasons_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(menu("a", about="[red]All[/red] "), capsys, reason="[bold] is not there")
    assert lines[0] == "files: not usable [bold] is not there"
    assert "[red]All[/red]" in lines[2]


def test_what_is_left_out_is_marked_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    shown = menu(*(f"tool_{n}" for n in range(300)), about="word " * 90)
    lines = printed(shown, capsys)
    hidden = [entry for entry in shown.entries if entry.hidden]
    assert hidden
    assert sum(" hidden: all tools would" in line for line in lines) == len(hidden)
    said = " ".join(line.strip() for line in lines)
    why = "all tools would take more than 16,000 tokens per turn, and others have priority"
    assert f"{len(hidden)} not offered to the model: {why}." in said
    plain = tool_json(hidden[0])
    assert plain["hidden"] is True
    assert plain["losses"][0] == f"not offered: {why}"
    assert tool_json(shown.entries[0])["losses"] == []


def test_the_embedded_house(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("HEARTH_HOME_ASSISTANT__URL", "demo")
    monkeypatch.setenv("HEARTH_ASSISTANT__DATA", str(tmp_path_factory.mktemp("data")))
    assert main(["tools"]) == 0
    table = capsys.readouterr().out
    assert "Hearth does this itself (GetDateTime)." in table
    assert main(["tools", "--json"]) == 0
    tools = json.loads(capsys.readouterr().out)["tools"]
    keys = "name server description parameters tier rule approved hidden losses".split()
    assert all(list(one) == keys for one in tools)
    (date,) = [one for one in tools if one["name"] == "llm__GetDateTime"]
    assert date["losses"][0] == "not offered: Hearth does this itself (GetDateTime)"
