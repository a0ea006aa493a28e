"""Tests of the add-on: the supervisor's options, and a turn by the supervisor's token.

The supervisor is ours, and as strict as the real one where it matters: it passes on GET and POST
below /core/api and the websocket, by its own token that Home Assistant does not know.
"""

import asyncio
import importlib.util
import json
import os
import re
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import web

from assistant.config.load import load_settings
from integrations.demo_home.rest import DemoHome

_ROOT = Path(__file__).parents[2]
_ADDON = _ROOT / "deploy/addon"
_TOKEN = "a-token-of-the-supervisor"
# What it passes on of a request (`supervisor/api/proxy.py`, 2026).
_PASSED = ("Accept", "Last-Event-ID", "Mcp-Session-Id", "MCP-Protocol-Version")
_BROKER = {
    "host": "core-mosquitto",
    "port": 1883,
    "username": "addons",
    "password": "p",
    "ssl": False,
}


def _start() -> ModuleType:
    spec = importlib.util.spec_from_file_location("addon_start", _ADDON / "start.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _config() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((_ADDON / "config.yaml").read_text(encoding="utf-8"))
    return loaded


class _Supervisor:
    """The supervisor's proxy in front of a house."""

    def __init__(self, home: DemoHome, broker: dict[str, Any] | None) -> None:
        self._home = home
        self._broker = broker
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["_Supervisor"]:
        app = web.Application()
        app.router.add_get("/core/api/websocket", self._websocket)
        app.router.add_get("/core/api/{path:.+}", self._api)
        app.router.add_post("/core/api/{path:.+}", self._api)
        app.router.add_get("/services/mqtt", self._mqtt)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _mqtt(self, request: web.Request) -> web.Response:
        self._check(request)
        if self._broker is None:
            return web.json_response({"result": "error"}, status=400)
        return web.json_response({"result": "ok", "data": self._broker})

    async def _api(self, request: web.Request) -> web.Response:
        self._check(request)
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        headers |= {
            "Authorization": f"Bearer {self._home.token}",
            "Content-Type": request.content_type,
        }
        url = f"{self._home.url}/api/{request.match_info['path']}"
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, url, headers=headers, data=await request.read()
            ) as answer,
        ):
            kept = {name: answer.headers[name] for name in _PASSED if name in answer.headers}
            return web.Response(
                body=await answer.read(),
                status=answer.status,
                content_type=answer.content_type,
                headers=kept,
            )

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        ours = web.WebSocketResponse()
        await ours.prepare(request)
        await ours.send_json({"type": "auth_required", "ha_version": "2026.11.0"})
        if (await ours.receive_json()).get("access_token") != _TOKEN:
            await ours.send_json({"type": "auth_invalid", "message": "Invalid access"})
            return ours
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{self._home.url}/api/websocket") as theirs,
        ):
            await theirs.receive_json()
            await theirs.send_json({"type": "auth", "access_token": self._home.token})
            await ours.send_json(await theirs.receive_json())
            async with asyncio.TaskGroup() as group:
                group.create_task(_pass_on(ours, theirs))
                group.create_task(_pass_on(theirs, ours))
        return ours

    def _check(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {_TOKEN}":
            raise web.HTTPUnauthorized


_Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


async def _pass_on(source: _Socket, target: _Socket) -> None:
    async for message in source:
        await target.send_str(message.data)
    await target.close()


async def test_a_turn_by_the_supervisors_token(tmp_path: Path) -> None:
    start = _start()
    async with DemoHome() as home, _Supervisor(home, _BROKER).serving() as supervisor:
        broker = await asyncio.to_thread(start.ask_broker, _TOKEN, supervisor.url)
        given = start.settings(_config()["options"], _TOKEN, broker, supervisor.url)
        assert given["HEARTH_MQTT__HOST"] == "core-mosquitto"
        configuration = tmp_path / "hearth.toml"
        configuration.write_text('[brain]\norder = ["offline"]\n[voice]\nengine = "espeak"\n')
        given |= {"HEARTH_ASSISTANT__DATA": str(tmp_path / "data")}
        asked = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", "ask", "--json", "--config", str(configuration)),
            "turn on the kitchen light",
            cwd=_ROOT,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", **given},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, errors = await asked.communicate()
        assert asked.returncode == 0, errors.decode()
        turn = json.loads(out)
        assert [call["status"] for call in turn["tool_calls"]] == ["done"]
        assert turn["tool_calls"][0]["observed"]  # the websocket showed it
        assert _TOKEN not in errors.decode()


async def test_without_a_broker_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    start = _start()
    async with DemoHome() as home, _Supervisor(home, None).serving() as supervisor:
        assert await asyncio.to_thread(start.ask_broker, _TOKEN, supervisor.url) is None
        assert capsys.readouterr().err == ""
        assert await asyncio.to_thread(start.ask_broker, "wrong", supervisor.url) is None
        assert "reports no broker (401)" in capsys.readouterr().err


def test_what_the_options_become_are_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = _start().settings(
        {
            "languages": ["es", "en"],
            "area": "Cocina",
            "accept_cloud": True,
            "gemini_api_key": "AIza-x",
            "console_sign_in": "home-assistant",
            "console_token": "a long one of the house",
        },
        _TOKEN,
        _BROKER,
    )
    empty = tmp_path / "hearth.toml"
    empty.write_text("")
    settings = load_settings(empty, given)
    assert settings.home_assistant.url == "http://supervisor/core"
    assert settings.home_assistant.token.get_secret_value() == _TOKEN
    assert settings.assistant.languages == ("es", "en")
    assert settings.assistant.area == "Cocina"
    assert settings.privacy.accept_cloud
    assert settings.gemini.api_key.get_secret_value() == "AIza-x"
    assert settings.http.ingress == "home-assistant"
    assert settings.http.token.get_secret_value() == "a long one of the house"
    assert settings.mqtt.host == "core-mosquitto"
    assert not settings.mqtt.tls


def test_without_a_yes_nothing_is_said_of_the_cloud_and_nobody_is_let_in_unasked() -> None:
    given = _start().settings(_config()["options"], _TOKEN, None)
    assert given["HEARTH_HTTP__INGRESS"] == "token"
    assert "HEARTH_HTTP__TOKEN" not in given  # Hearth makes one
    assert "HEARTH_PRIVACY__ACCEPT_CLOUD" not in given
    assert "HEARTH_GEMINI__API_KEY" not in given
    assert not [name for name in given if name.startswith("HEARTH_MQTT")]


def test_the_addon_is_of_this_version() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert _config()["version"] == project["project"]["version"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_option_has_words(language: str) -> None:
    file = _ADDON / "translations" / f"{language}.yaml"
    words = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert set(words["configuration"]) == set(_config()["schema"])
    assert set(words["network"]) == set(_config()["ports"])
    assert all(row["name"] and row["description"] for row in words["configuration"].values())


def test_the_options_are_as_their_schema_wants_them() -> None:
    config = _config()
    languages = re.fullmatch(r"match\((.*)\)", config["schema"]["languages"][0])
    assert languages is not None
    assert all(re.fullmatch(languages[1], one) for one in config["options"]["languages"])
    choices = re.fullmatch(r"list\((.*)\)", config["schema"]["console_sign_in"])
    assert choices is not None
    assert config["options"]["console_sign_in"] in choices[1].split("|")
    wanted = {name for name, kind in config["schema"].items() if not str(kind).endswith("?")}
    assert set(config["options"]) == wanted
