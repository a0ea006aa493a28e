"""Tests of `systemctl reload`: valid settings take effect, invalid ones are reported by the
unit."""

from datetime import datetime, timedelta

import pytest

from tests.service.installed import UNIT, Installed

pytestmark = [pytest.mark.service, pytest.mark.timeout(180, func_only=True)]

_OTHER_WORD = '[[wake.words]]\nmodel = "hey_jarvis"\n'


def _reload(hearth: Installed) -> int:
    return hearth.machine.run(["systemctl", "reload", UNIT], check=False).returncode


def test_good_settings_are_taken_up_by_the_same_process(hearth: Installed) -> None:
    pid = hearth.pid
    soon = (datetime.now().astimezone() + timedelta(minutes=9)).isoformat()
    timer = hearth.post("/v1/timers", {"kind": "alarm", "at": soon, "name": "tea"})
    hearth.configure(_OTHER_WORD, microphone="default")
    assert _reload(hearth) == 0
    hearth.machine.until(lambda: "The new settings are in use." in _log(hearth), "new settings", 30)
    assert hearth.get("/v1/settings")["wake_word"]["value"] == "hey_jarvis"
    assert hearth.answers()
    assert hearth.pid == pid
    assert hearth.machine.show(UNIT, "ActiveState") == "active"
    assert timer["id"] in [kept["id"] for kept in hearth.get("/v1/timers")]


def test_a_mistake_changes_nothing_and_is_told(hearth: Installed) -> None:
    pid = hearth.pid
    hearth.configure("[speech]\nvolme = 1\n", microphone="default")
    assert _reload(hearth) == 1
    assert hearth.pid == pid
    assert hearth.answers()
    told = "The new settings were rejected, so the previous ones stay in use"
    hearth.machine.until(lambda: told in _log(hearth), "the log")
    hearth.machine.until(lambda: "were rejected" in hearth.status, "the status")
    hearth.machine.until(lambda: _trouble(hearth), "the trouble", every_s=0.2)
    hearth.configure(microphone="default")
    assert _reload(hearth) == 0  # the mistake is corrected
    hearth.machine.until(lambda: not _trouble(hearth), "the end of the trouble", every_s=0.2)
    hearth.machine.until(lambda: "were rejected" not in hearth.status, "the status without it")


def test_what_cannot_be_opened_gives_way_to_what_was_there(hearth: Installed) -> None:
    pid, port = hearth.pid, hearth.port
    text = (hearth.machine.root / "etc/hearth/hearth.toml").read_text()
    hearth.write_settings(text.replace(f"port = {port}", "port = 1"))  # others' alone
    assert _reload(hearth) == 1
    hearth.machine.until(hearth.answers, "a turn", 30)
    assert hearth.pid == pid
    told = "The new settings could not be applied, so the previous ones stay in use"
    hearth.machine.until(lambda: told in _log(hearth), "the log")
    hearth.machine.until(lambda: "could not be applied" in hearth.status, "the status")


def _log(hearth: Installed) -> str:
    return hearth.machine.journal(UNIT)


def _trouble(hearth: Installed) -> bool:
    return "settings" in hearth.get("/v1/state")["troubles"]
