"""Tests of `hearth doctor`: its report, and that it fails if something must be repaired."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import doctor as command
from assistant.cli.main import main
from assistant.config.schema import Settings
from assistant.doctor.daemon import May
from assistant.doctor.finding import Finding, Group, Watch
from integrations.demo_home.rest import DemoHome
from tests.ports import free_port


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HEARTH_ASSISTANT__DATA": str(tmp_path / "data"),
        "HEARTH_AUDIO__INPUT": "null",
        "HEARTH_AUDIO__OUTPUT": "null",
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_HTTP__PORT": str(free_port()),  # where no other Hearth answers
    }.items():
        monkeypatch.setenv(name, value)


Findings = dict[str, dict[str, Any]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hearth.toml"


async def doctor(
    file: Path, capsys: pytest.CaptureFixture[str], code: int, *, text: str
) -> Findings:
    """Run the doctor and return its findings by check."""
    _write(file, text)
    assert await asyncio.to_thread(main, ["doctor", "--json", "--config", str(file)]) == code
    findings = json.loads(capsys.readouterr().out)
    for finding in findings:
        assert set(finding) == {"check", "status", "detail", "mend"}
        assert (finding["mend"] == "") == (finding["status"] == "ok")
    return {finding["check"]: finding for finding in findings}


def _write(file: Path, text: str) -> None:
    file.write_text(text)


def at(url: str, token: str, area: str = "Kitchen") -> str:
    home = f'[home_assistant]\nurl = "{url}"\ntoken = "{token}"\n'
    return f'{home}[assistant]\narea = "{area}"\n'


async def test_a_house_that_is_well(
    house: DemoHome, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await doctor(file, capsys, 0, text=at(house.url, house.token))
    assert found["home assistant"]["detail"].startswith("2026.")
    for check in ("configuration", "token", "tools", "live picture", "area"):
        assert found[check]["status"] == "ok"
    assert "exposed" in found["live picture"]["detail"]
    assert found["device"]["status"] == "warn"
    assert "hearth run" in found["device"]["mend"]


async def test_the_simulated_house_inside(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = await doctor(file, capsys, 0, text=at("demo", ""))
    assert "simulated" in found["home assistant"]["detail"]
    assert found["device"]["status"] == "ok"


async def test_an_area_that_the_house_does_not_have(
    house: DemoHome, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await doctor(file, capsys, 0, text=at(house.url, house.token, "Kitchn"))
    assert found["area"]["status"] == "warn"
    assert 'set assistant.area to "Kitchen"' in found["area"]["mend"]
    found = await doctor(file, capsys, 0, text=at(house.url, house.token, ""))
    assert found["area"]["status"] == "warn"


async def test_a_wrong_token(
    house: DemoHome, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await doctor(file, capsys, 1, text=at(house.url, "wr0ng"))
    assert found["home assistant"]["status"] == "ok"
    assert found["token"]["status"] == "fail"
    assert "long-lived" in found["token"]["mend"]
    assert "tools" not in found
    assert "wr0ng" not in json.dumps(found)


async def test_a_house_that_is_away(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = await doctor(file, capsys, 1, text=at("http://127.0.0.1:9", "t"))
    assert found["home assistant"]["status"] == "fail"
    assert "home_assistant.url" in found["home assistant"]["mend"]
    assert found["wake word"]["status"] == "ok"


async def test_a_configuration_that_cannot_be_used(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await doctor(file, capsys, 1, text="[asistant]\n")
    assert list(found) == ["configuration"]
    assert "assistant" in found["configuration"]["mend"]


async def test_a_person_gets_a_table(
    house: DemoHome, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(file, at(house.url, house.token))
    assert await asyncio.to_thread(main, ["doctor", "--config", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "live picture" in shown
    assert "`hearth run` registers it when it starts" in shown  # what to do
    for title in ("This machine", "Sound", "The house", "Gemini", "Hearth itself"):
        assert f"\n{title}\n" in shown
    assert "to check, of" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("flags", "may"),
    [
        ([], May(listen=True, play=True, ask_daemon=True)),
        (["--silent"], May(listen=True, ask_daemon=True)),
        (["--try-cloud"], May(listen=True, play=True, try_cloud=True, ask_daemon=True)),
    ],
)
async def test_what_it_may_do(
    file: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], may: May
) -> None:
    asked: list[May] = []

    async def examine(settings: Settings, may: May, watch: Watch, config: Path) -> list[Group]:
        asked.append(may)
        return []

    monkeypatch.setattr(command, "examine_groups", examine)
    _write(file, at("demo", ""))
    assert await asyncio.to_thread(main, ["doctor", "--config", str(file), *flags]) == 0
    assert asked == [may]


@pytest.mark.parametrize("columns", [80, 140])
async def test_the_mend_is_beside_or_below(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    columns: int,
) -> None:
    async def examine(settings: Settings, may: May, watch: Watch, config: Path) -> list[Group]:
        well = Finding("journal", "ok", "it opens", "")
        odd = Finding("clock", "warn", "not synchronised", "set it [now]")
        return [Group("Box", [well, odd, Finding("disk", "fail", "full", "make room")])]

    monkeypatch.setattr(command, "examine_groups", examine)
    monkeypatch.setenv("COLUMNS", str(columns))
    _write(file, at("demo", ""))
    assert await asyncio.to_thread(main, ["doctor", "--config", str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    mend = next(line for line in lines if "→ set it [now]" in line)
    assert ("not synchronised" in mend) == (columns == 140)
    assert lines[-1] == "1 to fix, 1 to check, of 4 checks"
