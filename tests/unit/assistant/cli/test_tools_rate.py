"""`hearth tools rate`, and the owner's rules in `hearth tools`."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import tools_decide
from assistant.cli.main import main
from integrations.demo_home import catalogue
from integrations.demo_home import rest as server
from integrations.demo_home.house import Thing

BELL = "input_button.bell"


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(f"""
[assistant]
data = "{tmp_path / "data"}"
[home_assistant]
url = "demo"
[[policy.rules]]
entity = "lock.*"
decide = "deny"
[[policy.rules]]
tool = "HassTurnO*"
decide = "confirm"
""")
    monkeypatch.setenv("HEARTH_CONFIG", str(file))
    monkeypatch.setattr(tools_decide, "LEARN_S", 0.0)
    more = (Thing(BELL, "Bell", "unknown"), Thing("input_button.gong", "Gong", "unknown"))
    things = (*catalogue.THINGS, *more)
    monkeypatch.setattr(server, "DemoHome", partial(server.DemoHome, things=things))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["tools", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_one_and_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    before = {row["entity_id"]: row["tier"] for row in told(capsys, "rate")}
    assert before[BELL] is None
    call = '{"name": "HassTurnOn", "arguments": {"name": "Bell"}}'
    rated = {row["entity_id"]: row["tier"] for row in told(capsys, "rate", "bell", "secure")}
    assert rated == {**before, BELL: "secure"}
    assert told(capsys, "--explain", call)["tier"] == "secure"
    every = told(capsys, "rate", "--all", "comfort")
    assert {row["tier"] for row in every} == {"comfort"}
    explained = told(capsys, "--explain", call)
    assert (explained["tier"], explained["decision"]) == ("comfort", "needs_confirmation")
    assert explained["rule"] == "policy.rules[1]"
    assert main(["tools", "rate"]) == 0
    assert BELL in capsys.readouterr().out


def test_what_must_run_by_its_name_alone_is_freed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    things = (*catalogue.THINGS, Thing("switch.fridge", "Fridge", "on"))
    monkeypatch.setattr(server, "DemoHome", partial(server.DemoHome, things=things))
    call = '{"name": "HassTurnOff", "arguments": {"name": "Fridge"}}'
    assert told(capsys, "--explain", call)["tier"] == "costly"
    told(capsys, "rate", "fridge", "comfort")
    assert told(capsys, "--explain", call)["tier"] == "comfort"


@pytest.mark.parametrize(
    "opener",
    [
        Thing("switch.gate", "Front gate", "off"),
        # As a template in YAML: no registry knows it, so that it may run anything.
        Thing("switch.gate", "Channel 4", "off", registered=False),
    ],
)
def test_what_may_open_is_freed_one_by_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, opener: Thing
) -> None:
    more = (opener, Thing(BELL, "Bell", "unknown"))
    things = (*catalogue.THINGS, *more)
    monkeypatch.setattr(server, "DemoHome", partial(server.DemoHome, things=things))

    def gate(*words: str) -> dict[str, Any]:
        rows = told(capsys, "rate", *words)
        return next(row for row in rows if row["entity_id"] == "switch.gate")

    assert (gate()["tier"], gate()["unrated"], gate()["seen_opening"]) == (None, "secure", [])
    assert gate("--all", "comfort")["tier"] is None
    assert gate(opener.name, "comfort")["tier"] == "comfort"
    assert main(["tools", "rate"]) == 0
    assert opener.name in capsys.readouterr().out


def test_any_thing_may_be_asked_about_more(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["entity_id"]: row for row in told(capsys, "rate", "Kitchen light", "secure")}
    assert rows["light.kitchen"]["tier"] == "secure"
    assert rows["light.kitchen"]["unrated"] == "comfort"
    call = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen light"}}'
    assert told(capsys, "--explain", call)["tier"] == "secure"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["Front door", "comfort"], "Front door is nothing to rate"),
        (["Bell", "read"], "read is no tier to rate by"),
        (["Bell"], "rate takes a name and a tier"),
        (["Bell", "comfort", "--all", "comfort"], "rate takes a name and a tier"),
        (["--all", "free"], "free is no tier to rate by"),
    ],
)
def test_what_cannot_be_rated(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["tools", "rate", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_tools_show_the_rule_that_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    rules = {row["name"]: row["rule"] for row in told(capsys)["tools"]}
    assert {name for name, rule in rules.items() if rule == "policy.rules[1]"} == {
        name for name in rules if "HassTurnO" in name
    }
    assert "policy.rules[0]" not in rules.values()


def test_people_are_told_how_a_call_is_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    call = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen light"}}'
    assert main(["tools", "--explain", call]) == 0
    out = capsys.readouterr().out
    assert "needs_confirmation by confirm (comfort, rule policy.rules[1])" in out
    assert "Change Kitchen light?" in out
