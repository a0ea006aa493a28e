"""Access to a house as Hearth's user: MCP, REST and websocket, and nothing hidden.

The contract tests use this instead of Hearth's own clients, so that they see what really came.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.home_assistant.line import LIMIT_S, Json, Line

ASSIST = "/api/mcp/assist"
DEVICE_KEY = "io.home-assistant/device_id"


@dataclass(frozen=True, slots=True)
class Told:
    """The answer of a tool."""

    is_error: bool
    text: str

    @property
    def answer(self) -> Json:
        """Return the JSON object in the text."""
        told = json.loads(self.text)
        assert isinstance(told, dict)
        return told

    @property
    def reached(self) -> list[str]:
        """Return ids of the entities that the house says it acted on."""
        return [row["id"] for row in self.answer["data"]["success"] if row["type"] == "entity"]

    @property
    def places(self) -> list[str]:
        """Return ids of the areas or floors that the house says it acted on."""
        return [row["id"] for row in self.answer["data"]["success"] if row["type"] != "entity"]

    @property
    def failed(self) -> list[str]:
        """Return ids of the entities that it could not act on."""
        return [row["id"] for row in self.answer["data"]["failed"]]


class Talk(Line):
    """One user's access to one house; use it as an async context manager."""

    # ---- MCP

    async def rpc(
        self, method: str, params: Mapping[str, Any] | None = None, **headers: str
    ) -> Json:
        """Return the JSON-RPC answer to one request; header names with `_` for `-`."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.http.post(
            ASSIST, json=message, headers={"Accept": "application/json", **given}
        )
        if answer.status_code == 404:
            pytest.skip(f"a release without {ASSIST}")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert isinstance(body, dict)
        return body

    async def result(self, method: str, **params: Any) -> Json:
        """Return the result of one request, which must have one."""
        body = await self.rpc(method, params)
        result = body["result"]
        assert isinstance(result, dict)
        return result

    async def tools(self, device: str = "") -> dict[str, Json]:
        """Return the menu, by the part of the names that is the same in every release."""
        meta = {"_meta": {DEVICE_KEY: device}} if device else {}
        menu = (await self.result("tools/list", **meta))["tools"]
        return {tool["name"].rpartition("__")[2]: tool for tool in menu}

    async def call(self, tool: str, device: str = "", /, **arguments: Any) -> Told:
        """Call a tool, by the part of its name that is the same in every release."""
        menu = await self.tools(device)
        name = menu[tool]["name"] if tool in menu else tool
        meta = {"_meta": {DEVICE_KEY: device}} if device else {}
        result = await self.result("tools/call", name=name, arguments=arguments, **meta)
        (content,) = result["content"]
        return Told(result["isError"], content["text"])

    async def prompt(self, device: str = "") -> str:
        """Return the text of the only prompt."""
        (prompt,) = (await self.result("prompts/list"))["prompts"]
        meta = {"_meta": {DEVICE_KEY: device}} if device else {}
        (message,) = (await self.result("prompts/get", name=prompt["name"], **meta))["messages"]
        text = message["content"]["text"]
        assert isinstance(text, str)
        return text

    # ---- websocket

    async def ask(self, kind: str, **fields: Any) -> Json:
        """Return the answer to a command: `success`, and `result` or `error`."""
        return await self.answer_to(kind, **fields)

    async def told(self, kind: str, **fields: Any) -> Any:
        """Return the result of a command that must succeed."""
        answer = await self.ask(kind, **fields)
        assert answer["success"], answer
        return answer["result"]

    async def refused(self, kind: str, **fields: Any) -> str:
        """Return the code with which a command is refused."""
        answer = await self.ask(kind, **fields)
        assert not answer["success"], answer
        return str(answer["error"]["code"])

    @property
    def last_id(self) -> int:
        """Return the id of the last command."""
        return self._last_id

    async def event(self, subscription: int) -> Json:
        """Return the next event of that subscription; others are dropped."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                message = self._events.pop(0) if self._events else await self.raw()
                if message.get("id") == subscription and message["type"] == "event":
                    event = message["event"]
                    assert isinstance(event, dict)
                    return event

    async def raw(self, text: str | None = None) -> Json:
        """Send a text unchanged, if one is given, and return the next message."""
        async with asyncio.timeout(LIMIT_S):
            socket = self._socket or await self._connect()
            if text is not None:
                await socket.send(text)
            message = json.loads(await socket.recv())
        assert isinstance(message, dict)
        return message
