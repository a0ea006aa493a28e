"""Tests of the check of the systemd unit, and of the parsing of systemd's answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.doctor import gemini, house, local, service
from assistant.doctor.daemon import Daemon, May
from assistant.doctor.finding import Finding, Status, examine
from assistant.doctor.service import by_the_daemon, judge_console, judge_exposure, lacking
from tests.unit.assistant.doctor.scenes import RUNS, scene, settings

SHOWN = """\
Type=notify
Restart=always
NotifyAccess=main
WatchdogUSec=20s
NRestarts=0
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
NeedDaemonReload=no
"""


WELL = service.parse_properties(SHOWN)


@pytest.mark.parametrize(
    ("told", "status", "words"),
    [
        ({}, "ok", "active (running)"),
        ({"NRestarts": "3"}, "ok", "restarted 3 times"),
        ({"LoadState": "not-found"}, "ok", "not installed"),
        ({"LoadState": "masked"}, "warn", "masked"),
        ({"ActiveState": "failed", "SubState": "failed"}, "fail", "failed"),
        ({"ActiveState": "activating", "SubState": "auto-restart"}, "fail", "auto-restart"),
        ({"ActiveState": "activating", "SubState": "start"}, "ok", "activating (start)"),
        ({"ActiveState": "inactive", "SubState": "dead"}, "warn", "inactive"),
        ({"UnitFileState": "disabled"}, "warn", "after a reboot"),
        ({"NeedDaemonReload": "yes"}, "warn", "its unit file has changed"),
    ],
)
def test_the_unit(told: dict[str, str], status: Status, words: str) -> None:
    found = service.judge_unit({**WELL, **told})
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


@pytest.mark.parametrize(
    ("told", "status", "words"),
    [
        ({}, "ok", "hangs for 20s"),
        ({"LoadState": "not-found"}, "ok", "not installed"),
        ({"WatchdogUSec": "0"}, "warn", "WatchdogSec=20s"),
        ({"Type": "simple"}, "warn", "Type=notify"),
        ({"NotifyAccess": "none"}, "warn", "NotifyAccess=main"),
        ({"Restart": "no"}, "warn", "Restart=always"),
    ],
)
def test_the_watchdog(told: dict[str, str], status: Status, words: str) -> None:
    found = service.judge_watchdog({**WELL, **told})
    assert found.status == status
    assert words in found.detail + found.mend


@pytest.mark.parametrize(
    ("text", "exposure", "status"),
    [
        ("→ Overall exposure level for hearth.service: 1.7 OK 🙂\n", 1.7, "ok"),
        ("\n→ Overall exposure level for hearth.service: 2.5 OK :-)", 2.5, "ok"),
        ("→ Overall exposure level for hearth.service: 9.2 UNSAFE 😨", 9.2, "warn"),
        ("Failed to connect to bus", None, "warn"),
    ],
)
def test_hardening(text: str, exposure: float | None, status: Status) -> None:
    assert service.parse_exposure(text) == exposure
    assert service.judge_hardening(exposure).status == status


async def test_a_machine_without_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_BOOTED", tmp_path / "none")
    found = await examine(service.SERVICE_CHECKS, scene(settings(tmp_path)))
    assert {(finding.status, finding.detail) for finding in found} == {
        ("ok", "systemd is not running here")
    }


def _program(folder: Path, name: str, words: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{words}\n")
    file.chmod(0o755)


async def test_systemds_programs_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_BOOTED", tmp_path)
    _program(tmp_path, "systemctl", f"cat <<END\n{SHOWN}END")
    _program(
        tmp_path,
        "systemd-analyze",
        'echo "→ Overall exposure level for hearth.service: 1.7 OK"; exit 1',
    )
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = await examine(service.SERVICE_CHECKS, scene(settings(tmp_path)))
    assert [finding.status for finding in found] == ["ok", "ok", "ok"]
    assert found[2].detail == "exposure 1.7 of 10"


async def test_systemds_programs_that_do_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_BOOTED", tmp_path)
    monkeypatch.setattr(service, "_ASK_S", 1.0)
    _program(tmp_path, "systemctl", f"cat <<END\n{SHOWN}END")
    _program(tmp_path, "systemd-analyze", "exec sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = await examine(service.SERVICE_CHECKS, scene(settings(tmp_path)))
    assert [finding.status for finding in found] == ["ok", "ok", "warn"]
    assert "systemd-analyze security" in found[2].mend


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ({}, "ok", "this machine only"),
        ({"host": "0.0.0.0"}, "warn", "can read the tokens"),
        ({"host": ""}, "warn", "every address"),
        ({"host": "0.0.0.0", "tls_cert": "c.pem"}, "ok", "with TLS"),
        ({"tls_key": "k.pem"}, "fail", "without a certificate"),
    ],
)
def test_exposure(given: dict[str, Any], status: Status, words: str) -> None:
    found = judge_exposure(Http.model_validate(given))
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


@pytest.mark.parametrize(
    ("daemon", "status", "words"),
    [
        (None, "ok", "Hearth is not running"),
        (RUNS, "ok", "hearth link"),
        (replace(RUNS, console=False), "fail", "serves no page"),
        (Daemon("u", "ok", "it uses another data folder"), "warn", "another data folder"),
        (replace(RUNS, state=None, problem="it does not take this token"), "warn", "this token"),
        (Daemon("u", problem="no answer from u"), "fail", "no answer from u"),
    ],
)
def test_console(daemon: Daemon | None, status: Status, words: str) -> None:
    found = judge_console(daemon)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


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
        ({"brain": {"order": ["local"]}, "local": {"api_key_file": "/f"}}, {"house", "local"}),
    ],
)
def test_what_is_lacking(tmp_path: Path, sections: dict[str, Any], parts: set[str]) -> None:
    assert lacking(settings(tmp_path, **sections)) == parts


def test_every_check_of_a_part_belongs_to_it() -> None:
    for part, checks in (
        ("house", house.CHECKS),
        ("gemini", gemini.CHECKS),
        ("local", local.CHECKS),
        ("broker", house.BROKER_CHECKS),
    ):
        assert {service.part_of(one.name) for one in checks} == {part}


async def test_it_is_asked_for_that_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def theirs(settings: Settings, daemon: Daemon) -> list[Finding]:
        asked.append(daemon.url)
        return [*THEIRS, Finding("server search", "ok", "", "")]

    monkeypatch.setattr(service, "its_findings", theirs)
    without = settings(tmp_path)
    found = await by_the_daemon(scene(without, ASKS, RUNS))
    assert {part: [one.check for one in rows] for part, rows in found.items()} == {
        "house": ["token", "server search"]
    }
    assert len(asked) == 1
    # No further process is asked if it runs itself, if none runs, or if nothing is missing.
    assert await by_the_daemon(scene(without, May(), RUNS)) == {}
    assert await by_the_daemon(scene(without, ASKS)) == {}
    assert await by_the_daemon(scene(without, ASKS, Daemon("u", "ok"))) == {}
    whole = settings(tmp_path, home_assistant={"token": "t"})
    assert await by_the_daemon(scene(whole, ASKS, RUNS)) == {}
    assert len(asked) == 1
