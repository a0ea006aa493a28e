"""What a person's command cannot look at, the Hearth that runs looks at."""

from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import http as secrets
from assistant.doctor.daemon import Daemon
from assistant.doctor.finding import Finding
from assistant.doctor.http import by_the_daemon, lacking
from assistant.doctor.scene import May
from tests.unit.assistant.doctor.scenes import RUNS, scene, settings

ASKS = May(ask_daemon=True)
THEIRS = [Finding(check, "ok", "", "") for check in ("journal", "token", "gemini", "broker")]


@pytest.mark.parametrize(
    ("sections", "parts"),
    [
        ({}, {"house"}),
        ({"home_assistant": {"token": "t"}}, set()),
        ({"home_assistant": {"url": "demo"}}, set()),
        ({"home_assistant": {"token": "t"}, "privacy": {"accept_cloud": True}}, {"gemini"}),
        ({"home_assistant": {"token": "t"}, "mqtt": {"host": "b", "username": "u"}}, {"broker"}),
        ({"home_assistant": {"token": "t"}, "mqtt": {"host": "b"}}, set()),
    ],
)
def test_what_is_lacking(tmp_path: Path, sections: dict[str, Any], parts: set[str]) -> None:
    assert lacking(settings(tmp_path, **sections)) == parts


async def test_it_is_asked_for_that_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def theirs(settings: Settings, daemon: Daemon) -> list[Finding]:
        asked.append(daemon.url)
        return [*THEIRS, Finding("server search", "ok", "", "")]

    monkeypatch.setattr(secrets, "its_findings", theirs)
    without = settings(tmp_path)
    found = await by_the_daemon(scene(without, ASKS, RUNS))
    assert {part: [one.check for one in rows] for part, rows in found.items()} == {
        "house": ["token", "server search"]
    }
    assert len(asked) == 1
    # It asks nobody where it is itself the one that runs, where none does, and where nothing lacks.
    assert await by_the_daemon(scene(without, May(), RUNS)) == {}
    assert await by_the_daemon(scene(without, ASKS)) == {}
    assert await by_the_daemon(scene(without, ASKS, Daemon("u", "ok"))) == {}
    whole = settings(tmp_path, home_assistant={"token": "t"})
    assert await by_the_daemon(scene(whole, ASKS, RUNS)) == {}
    assert len(asked) == 1
