"""Tests of `hearth setup --token`, `--tokens` and `--revoke`."""

import asyncio
import os
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.cli.unregister import remove_entities
from assistant.config.sections import Mqtt
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import HttpSessions
from assistant.interfaces.http_tokens import ADMIN, AdminToken, HttpTokens, TokenFile
from integrations.web.box import Caller
from tests.ports import closed_port
from tests.unit.integrations.mqtt.broker import DISCONNECT, PUBLISH, V5, accepted, fake_broker


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data folder of these tests; there is no configuration."""
    for name in list(os.environ):
        if name.startswith("HEARTH_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("HEARTH_CONFIG", str(tmp_path / "hearth.toml"))
    (tmp_path / "hearth.toml").write_text("[assistant]\nname = 'Hearth'\n")
    return tmp_path / "state"


async def setup(*arguments: str) -> int:
    return await asyncio.to_thread(main, ["setup", *arguments])


async def test_a_token_is_shown_once_and_taken(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup("--token", "panel", "--scopes", "read, speak") == 0
    shown = capsys.readouterr()
    token = shown.out.strip()
    assert len(token.split()) == 1
    assert token not in shown.err
    tokens = HttpTokens("admin's", TokenFile(state))
    assert tokens.caller(token) == Caller("http:panel", frozenset({"speak", "read"}))
    assert await setup("--tokens") == 0
    listed = capsys.readouterr()
    assert listed.out == ""
    assert "panel" in listed.err
    assert "speak, read" in listed.err
    assert token not in listed.err
    assert await setup("--revoke", "panel") == 0
    assert tokens.caller(token) is None


async def test_the_administrators_token_is_shown_once(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = HttpTokens(AdminToken(state), TokenFile(state))  # those of a `hearth run` that runs
    assert await setup("--token", "admin") == 0
    shown = capsys.readouterr()
    token = shown.out.strip()
    assert tokens.caller(token) == ADMIN
    assert token not in shown.err
    assert token not in (state / "http_token").read_text()
    assert await setup("--token", "admin") == 0
    assert tokens.caller(token) is None
    assert tokens.caller(capsys.readouterr().out.strip()) == ADMIN


async def test_a_configured_administrators_token_is_not_replaced(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_HTTP__TOKEN", "a token of the settings")
    assert await setup("--token", "admin") == 2
    assert "remove that setting" in capsys.readouterr().err
    assert not (state / "http_token").exists()


async def test_a_token_speaks_where_nothing_else_is_said(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup("--token", "washer") == 0
    token = capsys.readouterr().out.strip()
    found = HttpTokens("admin's", TokenFile(state)).caller(token)
    assert found == Caller("http:washer", frozenset({"speak"}))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--token", "panel", "--scopes", "all"),
            "--scopes must be any of speak, ask, read, see, admin",
        ),
        (("--token", "panel", "--scopes", ""), "--scopes must be any of"),
        (("--token", ""), "is not a valid token name"),
        (("--revoke", "panel"), "There is no token panel"),
        (("--console-link", "--minutes", "0"), "can be valid for 1 to 1440 minutes"),
    ],
)
async def test_what_cannot_be_is_told(
    state: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert await setup(*arguments) == 2
    shown = capsys.readouterr()
    assert told in " ".join(shown.err.split())
    assert shown.out == ""
    assert TokenFile(state).rows() == ()


async def test_a_link_to_the_console_signs_in_once(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup("--console-link", "--minutes", "3") == 0
    shown = capsys.readouterr()
    link = shown.out.strip()
    assert link.startswith("http://127.0.0.1:8765/#code=")
    assert "within 3 min" in shown.err
    code = link.partition("=")[2]
    assert code not in shown.err
    clock = SystemClock()
    sessions = HttpSessions(state, HttpTokens("admin's", TokenFile(state)), clock)
    signed = await sessions.redeem(code)
    assert signed is not None
    assert await sessions.redeem(code) is None
    assert await setup("--sign-out") == 0
    assert "Signed 1 browser out of the console." in capsys.readouterr().err
    assert sessions.caller(signed.id) is None


IDENTIFIER = "0123456789abcdef"


async def test_all_that_was_retained_is_taken_away() -> None:
    async with fake_broker(accepted(V5)) as broker:
        mqtt = Mqtt(host="127.0.0.1", port=broker.port, topic="hearth/kitchen")
        assert await remove_entities(mqtt, IDENTIFIER) == ""
        visit = await broker.until(1, DISCONNECT)
    assert visit.clean
    sent = [rest for kind, rest in visit.read if kind == PUBLISH]
    topics = [rest[2 : 2 + int.from_bytes(rest[:2], "big")].decode() for rest in sent]
    assert topics[0] == f"homeassistant/device/hearth_{IDENTIFIER}/config"
    assert {"hearth/kitchen/state", "hearth/kitchen/last_heard"} < set(topics)
    assert topics[-1] == "hearth/kitchen/availability"
    # Nothing after the topic, the packet's number and no properties.
    assert [rest[2 + len(topic) :][2:] for rest, topic in zip(sent, topics, strict=True)] == [
        b"\x00"
    ] * len(topics)


async def test_a_broker_that_is_away_is_told() -> None:
    with closed_port() as port:
        told = await remove_entities(Mqtt(host="127.0.0.1", port=port), IDENTIFIER)
    assert told.startswith(
        f"The broker at 127.0.0.1:{port} cannot be reached: check that it is running, "
        "mqtt.host and mqtt.port."
    )
    assert "run hearth unregister again" in told


async def test_without_a_broker_there_is_nothing_to_do() -> None:
    assert await remove_entities(Mqtt(), IDENTIFIER) == ""
