"""Network servers that flood, hang or send garbage: each call ends, and the others work."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import pytest

from integrations.mcp import session, wire
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import CallLost, McpResult, ServerSpec
from tests.unit.integrations.mcp.rogues import memory

LIMIT_S = 20.0
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
FINE: dict[str, object] = {"content": [{"type": "text", "text": "fine"}]}
INITIALIZED: dict[str, object] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "rogue", "version": ""},
}
LISTED: dict[str, object] = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

Writing = asyncio.StreamWriter


class Rogue:
    """Hand-written HTTP. `goes_wrong` writes what a method gets instead of its answer."""

    def __init__(self, method: str, goes_wrong: str) -> None:
        self._method = method
        self._goes_wrong: Callable[[Writing, int], object] = getattr(self, goes_wrong)
        self.streams = 0
        self.over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: Writing) -> None:
        try:
            while not self.over.is_set():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
                message = json.loads(await reader.readexactly(size)) if size else {}
                await self._answer(writer, message.get("method", head.split()[0]), message)
                await writer.drain()
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def _answer(self, writer: Writing, method: str, message: dict[str, object]) -> None:
        number = message.get("id")
        if method == self._method:
            done = self._goes_wrong(writer, int(str(number or 0)))
            if asyncio.iscoroutine(done):
                await done
        elif method == "get":
            writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
        elif number is None:
            writer.write(b"HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n")
        elif method == "initialize":
            self._write(writer, number, {"result": INITIALIZED}, b"Mcp-Session-Id: s\r\n")
        elif method == "tools/list":
            self._write(writer, number, {"result": LISTED})
        elif method == "tools/call":
            self._write(writer, number, {"result": FINE})
        else:
            self._write(writer, number, {"error": {"code": -32601, "message": "no"}})

    @staticmethod
    def _write(
        writer: Writing, number: object, answer: dict[str, object], headers: bytes = b""
    ) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": number, **answer}).encode()
        writer.write(JSON + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def hangs(self, writer: Writing, number: int) -> None:
        await self.over.wait()

    async def endless_events(self, writer: Writing, number: int) -> None:
        writer.write(EVENTS)
        notice = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n' * 100
        await self._for_ever(writer, notice)

    async def endless_event(self, writer: Writing, number: int) -> None:
        writer.write(EVENTS + b"data: ")
        await self._for_ever(writer, b"x" * 100_000)

    async def endless_comments(self, writer: Writing, number: int) -> None:
        writer.write(EVENTS)
        await self._for_ever(writer, b": still there\n" * 1_000)

    async def endless_body(self, writer: Writing, number: int) -> None:
        writer.write(JSON + b"Content-Length: 100000000\r\n\r\n")
        await self._for_ever(writer, b" " * 100_000)

    async def _for_ever(self, writer: Writing, part: bytes) -> None:
        while not self.over.is_set():
            writer.write(part)
            await writer.drain()

    def short_streams(self, writer: Writing, number: int) -> None:
        """Serve event streams that end at once and are to be reopened at once."""
        self.streams += 1
        writer.write(EVENTS + b"retry: 0\nid: 1\ndata: \n\n")
        writer.close()

    def endpoint_elsewhere(self, writer: Writing, number: int) -> None:
        writer.write(EVENTS + b"event: endpoint\ndata: http://192.0.2.1/messages\n\n")

    def page(self, writer: Writing, number: int) -> None:
        text = b"<html>Welcome</html>"
        kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
        writer.write(kind + b"Content-Length: %d\r\n\r\n" % len(text) + text)

    def half_json(self, writer: Writing, number: int) -> None:
        writer.write(JSON + b'Content-Length: 9\r\n\r\n{"jsonrpc')

    def no_content(self, writer: Writing, number: int) -> None:
        self._write(writer, number, {"result": {}})

    def other_id(self, writer: Writing, number: int) -> None:
        self._write(writer, number + 1000, {"result": FINE})

    def deep(self, writer: Writing, number: int) -> None:
        body = b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (number, b"[" * 9999 + b"]" * 9999)
        writer.write(JSON + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def elsewhere(self, writer: Writing, number: int) -> None:
        place = b"Location: http://192.0.2.1/mcp\r\n"
        writer.write(b"HTTP/1.1 307 Go\r\n" + place + b"Content-Length: 0\r\n\r\n")

    @asynccontextmanager
    async def running(
        self, name: str, transport: Literal["http", "sse"] = "http", timeout_s: float = 2.0
    ) -> AsyncIterator[ServerSpec]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            url = f"http://127.0.0.1:{port}/mcp"
            yield ServerSpec(name, transport, url=url, timeout_s=timeout_s)
            self.over.set()


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OPEN_S", 2.0)
    monkeypatch.setattr(wire, "FAREWELL_S", 0.2)


@asynccontextmanager
async def beside_an_honest_one(
    rogue: Rogue, transport: Literal["http", "sse"] = "http"
) -> AsyncIterator[McpHub]:
    honest = Rogue("", "page")
    before = asyncio.all_tasks()
    async with asyncio.timeout(LIMIT_S):
        async with (
            rogue.running("rogue", transport) as bad,
            honest.running("honest", timeout_s=LIMIT_S) as good,
            McpHub([bad, good]) as hub,
        ):
            with pytest.MonkeyPatch.context() as patient:
                patient.setattr(session, "OPEN_S", LIMIT_S)
                await hub.call("honest", "t", {})  # it is connected, however long that took
            await hub.tools(wait_s=LIMIT_S)
            yield hub
            assert await hub.call("honest", "t", {}) == McpResult("fine", False)
    await asyncio.sleep(0)
    left = {task for task in asyncio.all_tasks() - before if "mcp" in task.get_name()}
    assert not left


FLOODS = ["endless_events", "endless_event", "endless_comments", "endless_body"]
GARBAGE = ["page", "half_json", "no_content", "deep", "elsewhere"]


@pytest.mark.parametrize("wrong", ["hangs", *FLOODS, *GARBAGE, "other_id"])
@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_does_not_get_so_far_has_no_tools(method: str, wrong: str) -> None:
    async with beside_an_honest_one(Rogue(method, wrong)) as hub:
        assert [tool.server for tool in await hub.tools(wait_s=LIMIT_S)] == ["honest"]
        bad, good = hub.states()
        assert (bad.ok, good.ok) == (False, True)
        assert bad.reason.count(". ") == 0


@pytest.mark.parametrize("wrong", ["hangs", *FLOODS, *GARBAGE, "other_id"])
async def test_a_call_ends_in_time_and_the_next_finds_the_server_again(wrong: str) -> None:
    async with beside_an_honest_one(Rogue("tools/call", wrong)) as hub:
        before = most = memory()
        for _ in range(2):
            call = asyncio.ensure_future(hub.call("rogue", "t", {}))
            assert await hub.call("honest", "t", {}) == McpResult("fine", False)
            while not call.done():
                await asyncio.wait([call], timeout=0.005)
                most = max(most, memory())
            if wrong == "elsewhere":  # the redirect was not followed, so nothing has run
                assert call.result().is_error
            else:
                assert isinstance(call.exception(), TimeoutError | CallLost)
        assert most - before < 40_000_000
        assert "rogue" in [tool.server for tool in await hub.tools(wait_s=LIMIT_S)]


@pytest.mark.parametrize("wrong", ["hangs", *FLOODS, "page", "elsewhere", "endpoint_elsewhere"])
async def test_a_bad_stream_of_the_older_kind_ends_too(wrong: str) -> None:
    async with beside_an_honest_one(Rogue("get", wrong), "sse") as hub:
        assert [tool.server for tool in await hub.tools(wait_s=LIMIT_S)] == ["honest"]
        assert [state.ok for state in hub.states()] == [False, True]


async def test_a_stream_is_not_opened_again_without_end() -> None:
    rogue = Rogue("get", "short_streams")
    async with beside_an_honest_one(rogue) as hub:
        for _ in range(40):
            assert await hub.call("rogue", "t", {}) == McpResult("fine", False)
            await asyncio.sleep(0.01)  # for the streams, which nothing waits for
    assert 1 <= rogue.streams <= 25
