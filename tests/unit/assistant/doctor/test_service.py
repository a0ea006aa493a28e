"""How the service's unit is judged, and how systemd's words are read."""

from pathlib import Path

import pytest

from assistant.doctor import service
from assistant.doctor.finding import Status, examine
from tests.unit.assistant.doctor.scenes import scene, settings

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
        ({"NeedDaemonReload": "yes"}, "warn", "its file has changed"),
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
        ({}, "ok", "within 20s"),
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
    found = await examine(service.CHECKS, scene(settings(tmp_path)))
    assert {(finding.status, finding.detail) for finding in found} == {
        ("ok", "systemd does not run here")
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
    found = await examine(service.CHECKS, scene(settings(tmp_path)))
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
    found = await examine(service.CHECKS, scene(settings(tmp_path)))
    assert [finding.status for finding in found] == ["ok", "ok", "warn"]
    assert "systemd-analyze security" in found[2].mend
