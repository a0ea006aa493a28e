"""Who can reach the interface, and how one signs in."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.config.schema import Http
from assistant.doctor.daemon import Daemon
from assistant.doctor.finding import Status
from assistant.doctor.http import judge_console, judge_exposure
from tests.unit.assistant.doctor.scenes import RUNS


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ({}, "ok", "this machine alone"),
        ({"host": "0.0.0.0"}, "warn", "can read the tokens"),
        ({"host": ""}, "warn", "every address"),
        ({"host": "0.0.0.0", "tls_cert": "c.pem"}, "ok", "by TLS"),
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
        (None, "ok", "no Hearth runs"),
        (RUNS, "ok", "--console-link"),
        (replace(RUNS, console=False), "fail", "gives no page"),
        (Daemon("u", "ok", "it uses another data folder"), "warn", "another data folder"),
        (replace(RUNS, state=None, problem="it does not take this token"), "warn", "this token"),
        (Daemon("u", problem="nobody answers at u"), "fail", "nobody answers"),
    ],
)
def test_console(daemon: Daemon | None, status: Status, words: str) -> None:
    found = judge_console(daemon)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")
