"""Servers that break off, never end or never answer: the call ends, and the next one works."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from integrations.errors import IntegrationError
from integrations.mcp import hub as hub_module
from integrations.mcp import wire
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import CallLost, HomeAside, ServerSpec

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EMPTY = b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n"


class RawServer:
    """Hand-written HTTP; `mode` is how tools/call fails, `silent` the methods without an answer."""

    def __init__(self) -> None:
        self.mode = ""
        self.silent: set[str] = set()
        self.failing: dict[str, bytes] = {}  # method -> status line
        self.calls = 0
        self.over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not self.over.is_set():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
                message = json.loads(await reader.readexactly(size)) if size else {}
                method = message.get("method", head.split()[0])
                if method in self.silent:
                    await self.over.wait()
                    break
                if not self._answer(writer, method, message.get("id")):
                    break
                await writer.drain()
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            return  # asyncio reports a cancelled handler as an error
        finally:
            writer.close()

    def _answer(self, writer: asyncio.StreamWriter, method: str, number: int | None) -> bool:
        """Write the answer for this method; False to close the connection."""
        if method == "get":
            writer.write(EMPTY % b"405 No")
        elif number is None:
            writer.write(EMPTY % b"202 OK")
        elif method in self.failing:
            writer.write(EMPTY % self.failing[method])
        elif method == "tools/call":
            self.calls += 1
            return self._call(writer, number)
        else:
            session = b"Mcp-Session-Id: s\r\n" if method == "initialize" else b""
            writer.write(_json(number, _RESULTS.get(method), session))
        return True

    def _call(self, writer: asyncio.StreamWriter, number: int) -> bool:
        if self.mode == "close":
            return False
        if self.mode == "break off":
            writer.write(HEAD + b'Content-Length: 1000\r\n\r\n{"json')
            return False
        size = wire.MAX_ANSWER_BYTES if self.mode == "big" else 1
        content = [{"type": "text", "text": "x" * size}]
        writer.write(_json(number, {"content": content}))
        return True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ServerSpec]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            yield ServerSpec("raw", "http", url=f"http://127.0.0.1:{port}/mcp", timeout_s=1)
            self.over.set()


_RESULTS: dict[str, object] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "raw", "version": ""},
    },
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
}


def _json(number: int, result: object, headers: bytes = b"") -> bytes:
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    body = json.dumps({"jsonrpc": "2.0", "id": number, **answer}).encode()
    return HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "FAREWELL_S", 0.1)
    monkeypatch.setattr(wire, "MAX_ANSWER_BYTES", 100_000)


@pytest.mark.parametrize("mode", ["close", "break off", "big"])
async def test_a_broken_answer_may_have_run_and_the_next_works(mode: str) -> None:
    raw = RawServer()
    async with raw.running() as spec, McpHub([spec]) as hub:
        raw.mode = mode
        for _ in range(2):
            with pytest.raises(CallLost, match="does not answer"):
                await hub.call("raw", "t", {})
        raw.mode = ""
        assert (await hub.call("raw", "t", {})).text == "x"
    assert raw.calls == 3


async def test_a_broken_answer_leaves_the_calls_beside_it_alone() -> None:
    raw = RawServer()
    async with raw.running() as spec, McpHub([spec]) as hub:
        await hub.call("raw", "t", {})
        raw.mode, raw.silent = "break off", {"tools/list"}
        listing = asyncio.ensure_future(hub.tools())
        with pytest.raises(CallLost):
            await hub.call("raw", "t", {})
        async with asyncio.timeout(20):
            assert await listing == []


async def test_a_home_that_is_known_to_be_away_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub_module, "AWAY_S", 0.05)
    raw, here = RawServer(), True

    async def no_reason() -> IntegrationError | None:
        return None

    aside = HomeAside(lambda: None, no_reason, lambda: here)
    async with raw.running() as spec:
        home = replace(spec, home_assistant=True, timeout_s=60.0)
        async with McpHub([home], home=aside) as hub:
            assert [tool.name for tool in await hub.tools(0.05)] == ["t"]
            here, raw.silent = False, {"tools/list"}
            async with asyncio.timeout(20):
                assert await hub.tools(0.05) == [], "its old tools are of no use"
            assert (await hub.call("raw", "t", {})).text == "x", "what it still answers works"


async def test_a_home_that_has_just_failed_is_not_asked_again_before_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw, here = RawServer(), False

    async def no_reason() -> IntegrationError | None:
        return None

    aside = HomeAside(lambda: None, no_reason, lambda: here)
    async with raw.running() as spec:
        home = replace(spec, home_assistant=True)
        async with asyncio.timeout(20), McpHub([home], home=aside) as hub:
            assert not hub.answered("raw")
            raw.failing = {"tools/list": b"503 No"}
            assert await hub.tools() == []
            assert not hub.answered("raw")
            raw.failing = {}
            assert await hub.tools() == [], "it counts as failed for a while"
            here = True
            assert [tool.name for tool in await hub.tools()] == ["t"]
            assert hub.answered("raw")
            raw.failing = {"tools/list": b"404 No"}
            assert await hub.tools() == []
            assert hub.answered("raw"), "that there is no such thing is an answer"
            here, raw.failing = False, {"tools/list": b"503 No"}
            assert await hub.tools() == []
            raw.failing = {}
            monkeypatch.setattr(hub_module, "AGAIN_S", 0.0)
            assert [tool.name for tool in await hub.tools()] == ["t"], "the while is over"


@pytest.mark.parametrize("status", [b"404 No", b"401 No", b"503 No"])
async def test_a_call_that_was_answered_is_not_said_to_have_failed(status: bytes) -> None:
    raw = RawServer()
    raw.failing = {"tools/list": status}
    async with raw.running() as spec, McpHub([spec]) as hub:
        assert (await hub.call("raw", "t", {})).text == "x"
    assert raw.calls == 1


async def test_a_server_that_lets_nobody_go_is_left_all_the_same() -> None:
    raw = RawServer()
    raw.silent = {"delete"}
    async with asyncio.timeout(20), raw.running() as spec, McpHub([spec]) as hub:
        raw.mode = "close"
        with pytest.raises(CallLost):
            await hub.call("raw", "t", {})
        raw.mode = ""
        assert (await hub.call("raw", "t", {})).text == "x"


async def test_what_wants_no_answer_is_not_waited_for() -> None:
    raw = RawServer()
    async with asyncio.timeout(20), raw.running() as spec, McpHub([spec]) as hub:
        await hub.call("raw", "t", {})
        raw.silent = {"tools/call", "notifications/cancelled"}
        with pytest.raises(TimeoutError):
            await hub.call("raw", "t", {}, timeout_s=0.05)
        raw.silent = set()
        assert (await hub.call("raw", "t", {})).text == "x"
