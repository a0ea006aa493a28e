"""The hub against a server on loopback: listing, calling, and every kind of failure."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.mcp import session, transport, wire
from integrations.mcp.hub import McpHub
from integrations.mcp.sandbox import holds
from integrations.mcp.servers import CallLost, McpResult, ServerSpec, home_assistant_server
from tests.unit.integrations.mcp.loopback import LoopbackServer

STDIO_SERVER = """
from mcp.server import MCPServer
server = MCPServer("adder")
@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b
@server.tool()
def die() -> None:
    "Ends the process."
    import os
    os._exit(3)
server.run("stdio")
"""


async def test_lists_every_page_and_calls(server: LoopbackServer) -> None:
    server.pages = 3
    async with McpHub([server.spec()]) as hub:
        tools = await hub.tools()
        assert [tool.name for tool in tools] == ["tool_0", "tool_1", "tool_2"]
        assert tools[0].title == "A tool"
        assert tools[0].read_only
        assert tools[0].input_schema["properties"] == {"name": {"type": "string"}}
        result = await hub.call("home_assistant", "tool_0", {"name": "Lamp"})
        assert result == McpResult('{"name": "Lamp"}\n[image/png left out]', is_error=False)
        assert hub.states()[0].ok


async def test_a_tools_own_failure_is_a_result(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        result = await hub.call("home_assistant", "tool_0", {"fail": True})
    assert result.is_error
    assert result.text == "Error calling tool: No entities matched the name"


async def test_an_older_release_is_found_at_the_second_path(server: LoopbackServer) -> None:
    server.paths = {"/api/mcp"}
    async with McpHub([server.spec()]) as hub:
        assert await hub.tools()
        assert hub.states()[0].ok


async def test_who_was_waited_for_in_vain_is_not_waited_for_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "OPEN_S", 1.0)  # its turn comes after a while
    monkeypatch.setattr(transport, "PAUSE_S", (0.0, 0.0))
    came: list[object] = []

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with McpHub([home_assistant_server(url, "t")]) as hub:
            for _ in range(3):
                assert await hub.tools() == []
    assert len(came) == 1


async def test_prompt_and_meta(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        assert await hub.prompt("home_assistant") == "The house has a lamp."
        await hub.call("home_assistant", "tool_0", {}, meta={"io.home-assistant/device_id": "d1"})
    assert "io.home-assistant/device_id" in server.metas[-1]


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"token": "other"}, SignInAgain, "home_assistant.token"),
        ({"status": 403}, SignInAgain, "administrator"),
        ({"paths": set()}, Misconfigured, "Settings > Devices & services."),
        ({"status": 503}, Unavailable, "starting"),
        ({"status": 400}, Misconfigured, "check home_assistant.url."),
        ({"moved": "https://elsewhere.example"}, Unavailable, "check home_assistant.url."),
    ],
)
async def test_a_refusal_is_one_sentence(
    server: LoopbackServer, change: dict[str, Any], kind: type[Exception], words: str
) -> None:
    spec = server.spec()
    for name, value in change.items():
        setattr(server, name, value)
    async with McpHub([spec]) as hub:
        assert await hub.tools() == []
        state = hub.states()[0]
        assert not state.ok
        assert words in state.reason
        assert state.reason.count(". ") == 0
        assert "good" not in state.reason
        with pytest.raises(kind):
            await hub.call("home_assistant", "tool_0", {})
    assert server.calls == []


async def test_nobody_listens() -> None:
    spec = ServerSpec("far", "http", url="http://127.0.0.1:9/mcp")
    async with McpHub([spec]) as hub:
        with pytest.raises(Unavailable, match=r'url in mcp\.servers "far"') as caught:
            await hub.call("far", "x", {})
        assert not isinstance(caught.value, CallLost)


async def test_one_dead_server_does_not_hurt_the_others(server: LoopbackServer) -> None:
    dead = ServerSpec("dead", "stdio", command="/nowhere/server")
    bad = ServerSpec("bad", "http", url="not-a-url")
    async with McpHub([dead, server.spec(), bad]) as hub:
        assert [tool.server for tool in await hub.tools(wait_s=20)] == ["home_assistant"]
        states = {state.name: state for state in hub.states()}
        assert (
            "'/nowhere/server' was not found: check command in mcp.servers \"dead\""
            in states["dead"].reason
        )
        assert "url in mcp.servers \"bad\" = 'not-a-url'" in states["bad"].reason
        assert states["home_assistant"].ok


async def test_twenty_calls_at_once(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        results = await asyncio.gather(
            *(hub.call("home_assistant", "tool_0", {"name": str(n)}) for n in range(20))
        )
    assert [result.text.split("\n")[0] for result in results] == [
        f'{{"name": "{n}"}}' for n in range(20)
    ]


async def test_a_hanging_call_times_out_and_the_next_works(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        await hub.tools()
        server.hang = True
        with pytest.raises(TimeoutError):
            await hub.call("home_assistant", "tool_0", {}, timeout_s=0.1)
        server.hang = False
        assert not (await hub.call("home_assistant", "tool_0", {})).is_error


async def test_a_garbage_answer_may_have_run(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        server.garbage = True
        with pytest.raises(CallLost):
            await hub.call("home_assistant", "tool_0", {})
        server.garbage = False
        assert not (await hub.call("home_assistant", "tool_0", {})).is_error
    assert len(server.calls) == 2


async def test_a_restarted_server_is_used_again(server: LoopbackServer) -> None:
    async with McpHub([server.spec()]) as hub:
        await hub.call("home_assistant", "tool_0", {"name": "1"})
        server.status = 503
        with pytest.raises(CallLost):
            await hub.call("home_assistant", "tool_0", {"name": "2"})
        server.status = 200
        await hub.call("home_assistant", "tool_0", {"name": "3"})
    assert [arguments["name"] for _, arguments in server.calls] == ["1", "3"]


async def test_an_unknown_server_names_the_setting() -> None:
    async with McpHub([]) as hub:
        with pytest.raises(IntegrationError, match=r"mcp\.servers"):
            await hub.call("nope", "x", {})


async def test_stdio_server_lives_dies_and_lives_again(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(STDIO_SERVER)
    spec = ServerSpec("adder", "stdio", command=sys.executable, args=(str(script),), deny=("die",))
    async with McpHub([spec]) as hub:
        assert [tool.name for tool in await hub.tools(wait_s=20)] == ["add"]
        assert (await hub.call("adder", "add", {"a": 2, "b": 3})).text == "5"
        with pytest.raises(CallLost):
            await hub.call("adder", "die", {})
        assert (await hub.call("adder", "add", {"a": 4, "b": 3})).text == "7"


def test_two_servers_of_one_name_do_not_hide_each_other(server: LoopbackServer) -> None:
    with pytest.raises(ValueError, match="same name"):
        McpHub([server.spec(), ServerSpec("home_assistant", "stdio", command="x")])


async def test_a_token_that_cannot_be_sent() -> None:
    async with McpHub([home_assistant_server("http://127.0.0.1:9", "tökén")]) as hub:
        await hub.tools()
        assert "home_assistant.token is not a valid token" in hub.states()[0].reason


async def test_no_secret_is_shown_of_an_address() -> None:
    url = "http://user:secret@127.0.0.1:9/mcp?key=secret#secret"
    spec = ServerSpec("far", "http", url=url, headers={"X-Key": "secret"}, args=("secret",))
    async with McpHub([spec]) as hub:
        await hub.tools(wait_s=20)
        (state,) = hub.states()
    assert "http://127.0.0.1:9/mcp:" in state.reason
    assert "secret" not in f"{state} {spec}"


ENVIRONMENT_SERVER = """
import os
from mcp.server import MCPServer
server = MCPServer("teller")
@server.tool()
def tell() -> str:
    return " ".join(sorted(os.environ))
server.run("stdio")
"""


async def test_a_program_sees_only_its_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "SHELL", "TERM", "HEARTH_GEMINI__API_KEY", "LC_CTYPE"):
        monkeypatch.setenv(name, "x")
    script = tmp_path / "server.py"
    script.write_text(ENVIRONMENT_SERVER)
    own = {"TERM": "dumb", "A_KEY": "k", "PYTHONCOERCECLOCALE": "0", "LANG": "C.UTF-8"}
    spec = ServerSpec("teller", "stdio", command=sys.executable, args=(str(script),), env=own)
    async with McpHub([spec]) as hub:
        seen = (await hub.call("teller", "tell", {})).text.split()
    sandboxed = {"TMPDIR"} if holds(spec) else set()
    assert set(seen) == {"PATH", "HOME", *own, *sandboxed}


async def test_a_program_of_its_own_folder(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text(f"#!{sys.executable}\n{STDIO_SERVER}")
    program.chmod(0o700)
    spec = ServerSpec("adder", "stdio", command="./server", cwd=str(tmp_path))
    async with McpHub([spec]) as hub:
        assert (await hub.call("adder", "add", {"a": 2, "b": 3})).text == "5"


@pytest.mark.parametrize("status", [None, 404])
async def test_a_cancellation_that_the_sdk_loses_ends_the_session_all_the_same(
    monkeypatch: pytest.MonkeyPatch, status: int | None
) -> None:
    """Its task groups raise the error of a task that fails while they are being cancelled."""
    began = asyncio.Event()
    traces: list[wire.Trace] = []
    attempts = 0

    async def lost(*_: object) -> None:
        nonlocal attempts
        attempts += 1
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            traces[0].status = status
            raise ExceptionGroup("of the SDK", [OSError("refused")]) from None

    async def traced(stack: Any, spec: Any, trace: wire.Trace, on_end: Any) -> Any:
        traces.append(trace)
        return await transport.open_client(stack, spec, trace, on_end)

    monkeypatch.setattr(transport, "_open", lost)
    monkeypatch.setattr(session, "open_client", traced)
    async with asyncio.timeout(20):
        async with McpHub([home_assistant_server("http://127.0.0.1:9", "t")]) as hub:
            waiting = asyncio.create_task(hub.tools())
            await began.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
    assert attempts == 1
