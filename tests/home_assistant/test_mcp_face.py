"""Tests of Hearth's tools, used by the real Home Assistant's own MCP client."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import HttpTokens, TokenFile
from integrations.mcp_server.server import McpServer
from integrations.mcp_server.sign_in import CALLBACK
from integrations.serving import serving
from integrations.web.api import web_app
from integrations.web.guard import Guard
from integrations.web.requests import AnnounceRequest
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.line import Failed
from tests.unit.integrations.web.doubles import FakeBox

pytestmark = [real_only, pytest.mark.since(2026, 11)]


class Served:
    """Our tools on loopback, with a token for Home Assistant."""

    def __init__(self, url: str, token: str, box: FakeBox) -> None:
        self.url, self.token, self.box = url, token, box


@asynccontextmanager
async def serving_tools(folder: Path, house: Address) -> AsyncIterator[Served]:
    """Serve the tools.

    It is not a fixture, because its task groups must be left by the task that has entered them.
    """
    file = TokenFile(folder)
    token = file.make("home-assistant", ["speak"], SystemClock().now())
    guard = Guard(HttpTokens(secrets.token_urlsafe(), file))
    box = FakeBox()
    async with (
        McpServer(box, guard, callbacks=[f"{house.url}{CALLBACK}"]) as server,
        serving(web_app(server.routes()), "127.0.0.1", 0) as port,
    ):
        yield Served(f"http://127.0.0.1:{port}/mcp", token, box)


@asynccontextmanager
async def credentials(admin: Admin, secret: str) -> AsyncIterator[None]:
    """Add credentials at Settings > Devices & services > three dots > Application credentials."""
    made = await admin.ask(
        "application_credentials/create",
        domain="mcp",
        client_id="hearth",
        client_secret=secret,
        name="Hearth",
    )
    try:
        yield
    finally:
        kept = made["id"]
        await admin.ask("application_credentials/delete", application_credentials_id=kept)


async def add(house: Address, url: str) -> str:
    """Add the integration Model Context Protocol Client as a browser does; return the entry's
    id."""
    headers = {"Authorization": f"Bearer {house.admin_token}", "HA-Frontend-Base": house.url}
    flows = "/api/config/config_entries/flow"
    async with httpx.AsyncClient(base_url=house.url, headers=headers, timeout=30) as browser:
        flow = (await browser.post(flows, json={"handler": "mcp"})).json()
        step = f"{flows}/{flow['flow_id']}"
        flow = (await browser.post(step, json={"url": url})).json()
        if flow["type"] == "menu":
            choice = {"next_step_id": "pick_implementation"}
            flow = (await browser.post(step, json=choice)).json()
        if flow["type"] != "external":
            raise Failed(str(flow.get("reason") or flow.get("errors") or flow["type"]))
        async with httpx.AsyncClient(timeout=30) as plain:
            back = await plain.get(flow["url"])
            assert back.status_code == 302
            (await plain.get(back.headers["location"])).raise_for_status()
        flow = (await browser.get(step)).json()
    if flow["type"] != "create_entry":
        raise Failed(str(flow.get("reason") or flow))
    return str(flow["result"]["entry_id"])


async def test_home_assistants_client_uses_our_tools(
    house: Address, admin: Admin, tmp_path: Path
) -> None:
    async with serving_tools(tmp_path, house) as served, credentials(admin, served.token):
        entry = await add(house, served.url)
        try:
            told = await _through(house, entry, "tools/list")
            names = {tool["name"].rpartition("__")[2] for tool in told["tools"]}
            assert names == {"announce", "ask_question", "set_timer"}
            announce = next(t["name"] for t in told["tools"] if t["name"].endswith("announce"))
            arguments = {"text": "The washing is done."}
            result = await _through(house, entry, "tools/call", name=announce, arguments=arguments)
            assert not result.get("isError")
            assert served.box.asked == [AnnounceRequest(text="The washing is done.")]
        finally:
            await admin.delete(f"/api/config/config_entries/entry/{entry}")


async def test_another_secret_lets_it_not_in(house: Address, admin: Admin, tmp_path: Path) -> None:
    async with serving_tools(tmp_path, house) as served, credentials(admin, "wrong"):
        with pytest.raises(Failed, match="oauth_unauthorized"):
            await add(house, served.url)


async def _through(house: Address, entry: str, method: str, **params: object) -> dict[str, Any]:
    """Return Home Assistant's own MCP server's answer about the tools of its client."""
    headers = {"Authorization": f"Bearer {house.admin_token}", "Accept": "application/json"}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with httpx.AsyncClient(base_url=house.url, headers=headers, timeout=30) as http:
        answer = await http.post(f"/api/mcp/mcp-{entry}", json=message)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert "result" in body, body
    return dict(body["result"])
