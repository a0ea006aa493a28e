"""The home's own server: its endpoints, the caller, the number of requests, and errors."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED

from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.mcp import session
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import (
    HOME_ASSISTANT,
    CallLost,
    HomeAside,
    ServerSpec,
    home_assistant_server,
)
from tests.unit.integrations.mcp.loopback import MESSAGES, SSE, LoopbackServer

DEVICE = {"io.home-assistant/device_id": "d1"}
ASSIST, MERGED = "/api/mcp/assist", "/api/mcp"


class Aside:
    """A scripted HomeAside that counts its calls."""

    def __init__(self, reason: IntegrationError | None = None) -> None:
        self.meta: Mapping[str, Any] | None = None
        self.reason = reason
        self.asked = 0

    async def diagnose(self) -> IntegrationError | None:
        self.asked += 1
        return self.reason

    def hub(self, spec: ServerSpec) -> McpHub:
        return McpHub([spec], home=HomeAside(lambda: self.meta, self.diagnose))


class Clock:
    """The sessions' clock, which moves when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0  # seconds
        monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.parametrize(
    ("paths", "tried"),
    [
        ({ASSIST, MERGED, SSE}, {ASSIST}),
        ({MERGED, SSE}, {ASSIST, MERGED}),
        ({SSE}, {ASSIST, MERGED, SSE, MESSAGES}),
    ],
)
async def test_the_first_endpoint_that_is_there_is_used(
    server: LoopbackServer, paths: set[str], tried: set[str]
) -> None:
    server.paths = paths
    async with McpHub([server.spec()]) as hub:
        assert [tool.name for tool in await hub.tools()] == ["tool_0"]
        result = await hub.call(HOME_ASSISTANT, "tool_0", {"name": "Lamp"})
        assert result.text.startswith('{"name": "Lamp"}')
        assert hub.states()[0].ok
    assert set(server.tried) == tried
    assert len(server.calls) == 1
    assert ("server/discover" in server.methods) == (SSE not in tried)  # no probe there


@pytest.mark.parametrize("status", [403, 500])
async def test_an_endpoint_that_is_there_is_not_passed_over(
    server: LoopbackServer, status: int
) -> None:
    server.status = status
    async with McpHub([server.spec()]) as hub:
        assert await hub.tools() == []
    assert set(server.tried) == {ASSIST}


@pytest.mark.parametrize(("before", "after"), [(ASSIST, MERGED), (MERGED, ASSIST), (MERGED, SSE)])
async def test_another_release_under_the_running_hearth_is_found_at_the_next_listing(
    server: LoopbackServer, before: str, after: str
) -> None:
    server.paths = {before}
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.paths = {after}
        assert await hub.tools()
        assert await hub.prompt(HOME_ASSISTANT)
        server.paths = {before}
        assert await hub.prompt(HOME_ASSISTANT)


async def test_a_call_into_another_release_is_not_repeated(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.paths = {MERGED}
        with pytest.raises(Unavailable, match="try again") as caught:
            await hub.call(HOME_ASSISTANT, "tool_0", {})
        assert not isinstance(caught.value, CallLost)
        assert server.calls == []
        await hub.call(HOME_ASSISTANT, "tool_0", {})
    assert len(server.calls) == 1


async def test_a_better_endpoint_is_looked_for_from_time_to_time(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "REDISCOVER_S", 0.0)
    server.paths = {MERGED}
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.paths = {ASSIST, MERGED}  # it was starting
        await hub.tools()
        server.tried.clear()
        await hub.tools()
    assert server.tried == [ASSIST]


async def test_looking_for_a_better_endpoint_cuts_no_call(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "REDISCOVER_S", 0.0)
    server.paths, server.hang = {MERGED}, True
    async with McpHub([server.spec()]) as hub, asyncio.TaskGroup() as group:
        await hub.tools()
        call = group.create_task(hub.call(HOME_ASSISTANT, "tool_0", {}))
        async with asyncio.timeout(20):
            while not server.calls:  # noqa: ASYNC110 (the server has no event for it)
                await asyncio.sleep(0.01)
        await hub.tools()
        server.over.set()
        assert not (await call).is_error


async def test_menu_and_prompt_cost_one_request_each(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        await hub.prompt(HOME_ASSISTANT)
        server.methods.clear()
        for _ in range(3):
            await hub.tools()
            await hub.prompt(HOME_ASSISTANT)
        await hub.call(HOME_ASSISTANT, "tool_0", {})
    assert Counter(server.methods) == {"tools/list": 3, "prompts/get": 3, "tools/call": 1}


async def test_the_prompt_of_a_large_house_comes_whole(server: LoopbackServer) -> None:
    row = "- names: Lamp\n  domain: light\n"
    server.told = 15_000 * row + "The end."  # a tool's answer may have a third of it
    async with McpHub([server.spec()]) as hub:
        assert await hub.prompt(HOME_ASSISTANT) == server.told


async def test_a_prompt_of_another_name_is_found(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        assert await hub.prompt(HOME_ASSISTANT)
        server.prompt = "Assist"
        assert await hub.prompt(HOME_ASSISTANT) == "The house has a lamp."
        server.methods.clear()
        assert await hub.prompt(HOME_ASSISTANT)
    assert server.methods == ["prompts/get"]


async def test_the_device_is_named_in_every_request_as_long_as_there_is_one(
    server: LoopbackServer,
) -> None:
    aside = Aside()
    async with aside.hub(server.spec()) as hub:
        for device in (None, DEVICE, None):
            aside.meta = device
            await hub.tools()
            await hub.call(HOME_ASSISTANT, "tool_0", {})
            await hub.prompt(HOME_ASSISTANT)
            await hub.read(HOME_ASSISTANT, "home://now")
            for method in ("tools/list", "tools/call", "prompts/get", "resources/read"):
                meta = server.meta_of[method]
                assert ("io.home-assistant/device_id" in meta) == (device is not None), method


async def test_the_device_is_told_to_no_other_server(server: LoopbackServer) -> None:
    aside = Aside()
    aside.meta = DEVICE
    other = ServerSpec(
        "other", "http", url=f"{server.url}{ASSIST}", headers={"Authorization": "Bearer good"}
    )
    async with aside.hub(other) as hub:
        await hub.tools(wait_s=20)
        assert server.meta_of["tools/list"].keys().isdisjoint(DEVICE)
    server.paths = set()
    async with aside.hub(other) as hub:
        assert await hub.tools() == []
    assert aside.asked == 0


async def test_a_resource_is_read_anew_and_an_unknown_one_refused(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        assert await hub.read(HOME_ASSISTANT, "home://now") == "The lamp is on."
        with pytest.raises(Refused):
            await hub.read(HOME_ASSISTANT, "home://nowhere")
        assert hub.states()[0].ok
        await hub.read(HOME_ASSISTANT, "home://now")
    assert server.methods.count("resources/read") == 3


async def test_a_refused_token_is_sent_once_a_minute(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    aside = Aside(Unavailable("never asked"))
    async with aside.hub(home_assistant_server(server.url, "wrong")) as hub:
        for clock.now in (0.0, 30.0, 59.0):
            assert await hub.tools() == []
            with pytest.raises(SignInAgain):
                await hub.prompt(HOME_ASSISTANT)
        assert "home_assistant.token" in hub.states()[0].reason
        assert server.refused == 1
        clock.now = 60.0
        assert await hub.tools() == []
    assert (server.refused, aside.asked) == (2, 0)


async def test_a_token_revoked_while_running_is_said_once(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.token = "another"
        with pytest.raises(SignInAgain, match=r"home_assistant\.token"):
            await hub.call(HOME_ASSISTANT, "tool_0", {})
        for _ in range(3):
            assert await hub.tools() == []
        assert "home_assistant.token" in hub.states()[0].reason
    assert server.refused == 1
    assert server.calls == []


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"paths": set()}, True),
        ({"status": 403}, True),
        ({"status": 503}, True),
        ({"moved": "https://elsewhere.example"}, True),
        ({"token": "another"}, False),
        ({"url": "http://127.0.0.1:9"}, False),
    ],
)
async def test_who_else_is_asked_for_the_reason(
    server: LoopbackServer, change: dict[str, Any], asked: bool
) -> None:
    token = server.token
    for name, value in change.items():
        setattr(server, name, value)
    aside = Aside(Unavailable("It is still starting."))
    async with aside.hub(home_assistant_server(server.url, token)) as hub:
        await hub.tools()
        reason = hub.states()[0].reason
    assert aside.asked == int(asked)
    assert (reason == "It is still starting.") == asked


async def test_a_reason_that_nobody_finds_is_that_of_the_request(server: LoopbackServer) -> None:
    server.paths = set()
    aside = Aside(None)
    async with aside.hub(server.spec()) as hub:
        await hub.tools()
        assert "Settings > Devices & services" in hub.states()[0].reason
    assert aside.asked == 1


async def test_the_pause_between_openings_stays_short(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    server.paths = set()
    async with McpHub([server.spec()]) as hub:
        for _ in range(8):  # it is away for a long time
            await hub.tools()
            clock.now += 2.0
        server.paths = {ASSIST}
        assert await hub.tools()


async def test_a_stream_that_ended_between_calls_is_opened_anew(server: LoopbackServer) -> None:
    server.paths = {SSE}
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.hang_up()
        assert await hub.tools()
        assert hub.states()[0].ok


async def test_a_message_that_cannot_be_delivered_is_not_waited_for(server: LoopbackServer) -> None:
    server.paths = {SSE}
    patient = replace(server.spec(), timeout_s=60.0)
    async with asyncio.timeout(20), McpHub([patient]) as hub:
        await hub.tools()
        server.paths = set()
        with pytest.raises(IntegrationError) as caught:
            await hub.call(HOME_ASSISTANT, "tool_0", {})
        assert not isinstance(caught.value, CallLost)
        assert server.calls == []
        server.paths = {SSE}
        assert await hub.tools()


async def test_a_stream_that_ends_during_a_call_leaves_it_open_what_happened(
    server: LoopbackServer,
) -> None:
    server.paths = {SSE}
    async with McpHub([server.spec()]) as hub, asyncio.TaskGroup() as group:
        await hub.tools()
        server.hang = True
        call = group.create_task(_lost(hub))
        async with asyncio.timeout(20):
            while not server.calls:  # noqa: ASYNC110 (the server has no event for it)
                await asyncio.sleep(0.01)
            server.hang_up()
            await call
        server.over.set()
    assert len(server.calls) == 1


async def _lost(hub: McpHub) -> None:
    with pytest.raises(CallLost):
        await hub.call(HOME_ASSISTANT, "tool_0", {})


class Closed:
    """A client whose connection ended earlier."""

    @property
    def session(self) -> "Closed":
        return self

    async def send_request(self, *_: object) -> None:
        raise MCPError(CONNECTION_CLOSED, "Connection closed")


@pytest.mark.parametrize(("transport", "lost"), [("sse", False), ("http", False), ("stdio", True)])
async def test_what_was_never_sent_is_not_said_to_be_lost(
    transport: Literal["http", "sse", "stdio"], lost: bool
) -> None:
    spec = ServerSpec("other", transport, url="http://127.0.0.1:9", command="x")
    closed = session.McpSession(spec)
    closed._client = Closed()  # type: ignore[assignment]
    with pytest.raises(Unavailable) as caught:
        await closed.call("t", {}, 1.0, None)
    assert isinstance(caught.value, CallLost) == lost
