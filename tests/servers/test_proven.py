"""Tests of real servers over stdio: listed, declared, called, read, and ended without remains.

They are installed by `make test-servers`; without them these tests are skipped.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import CallContext, Decision, Settlement, Status, Tier, ToolCall
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import build_menu
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.rules import Rulings
from assistant.tools.undo.backups import Backups
from assistant.tools.undo.step import UndoneReport
from integrations.mcp.hub import McpHub
from integrations.mcp.sandbox import landlock_abi
from integrations.mcp.servers import ServerSpec
from integrations.serving import serving
from tests.fakes.home import StillHome
from tests.fakes.journal import FakeJournal

FOLDER = os.environ.get("HEARTH_MCP_SERVERS", "")  # where mcp-servers.sh has installed them
LIMIT_S = 60.0
MARK = "HEARTH_TEST_PROGRAM"  # in the environment of each program, to find it by

pytestmark = pytest.mark.skipif(not FOLDER, reason="HEARTH_MCP_SERVERS names no folder of servers")


def specs(folder: Path, *names: str) -> list[ServerSpec]:
    """Return those servers, or all; `folder` is theirs alone."""
    node, python = Path(FOLDER, "node_modules", ".bin"), Path(FOLDER, "python", "bin")
    commands: dict[str, tuple[Path, tuple[str, ...]]] = {
        "think": (node / "mcp-server-sequential-thinking", ()),
        "files": (node / "mcp-server-filesystem", (str(folder),)),
        "memory": (node / "mcp-server-memory", ()),
        "time": (python / "mcp-server-time", ("--local-timezone", "Europe/Madrid")),
        "fetch": (python / "mcp-server-fetch", ("--allow-private-ips",)),
    }
    env = {MARK: str(folder), "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    return [
        ServerSpec(name, "stdio", command=str(program), args=args, env=env, timeout_s=30.0)
        for name, (program, args) in commands.items()
        if name in names or not names
    ]


def running(folder: Path) -> list[int]:
    """Return the process ids of programs with the mark, including those that they started."""
    found = []
    for one in Path("/proc").iterdir():
        try:
            marked = one.name.isdigit() and f"{MARK}={folder}".encode() in (
                one / "environ"
            ).read_bytes().split(b"\0")
        except OSError:  # it has just ended, or is not ours
            continue
        if marked:
            found.append(int(one.name))
    return found


@asynccontextmanager
async def started(folder: Path, *names: str) -> AsyncIterator[McpHub]:
    wanted = specs(folder, *names)
    async with asyncio.timeout(LIMIT_S), McpHub(wanted) as hub:
        await hub.tools(wait_s=LIMIT_S)
        assert {state.name: state.reason for state in hub.states() if not state.ok} == {}
        assert len(running(folder)) >= len(wanted)
        yield hub
    assert running(folder) == []


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[McpHub]:
    async with started(tmp_path) as hub:
        yield hub


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[McpHub]:
    async with started(tmp_path, "files") as hub:
        yield hub


async def text(hub: McpHub, server: str, name: str, /, **arguments: Any) -> str:
    result = await hub.call(server, name, arguments)
    assert not result.is_error, result.text
    return result.text


async def test_all_are_listed_and_declared(hub: McpHub) -> None:
    tools = await hub.tools(wait_s=LIMIT_S)
    count = {name: sum(tool.server == name for tool in tools) for name in hub.servers}
    assert count == {"think": 1, "files": 14, "memory": 9, "time": 2, "fetch": 1}
    menu = build_menu(tools, hub.servers)
    assert [entry.declaration.name for entry in menu.entries if entry.hidden] == []
    assert all(entry.declaration.parameters for entry in menu.entries if _takes_any(entry.tool))
    # They are untrusted: their own annotations let nothing run without confirmation.
    assert {entry.tier for entry in menu.entries} == {Tier.COSTLY}


def _takes_any(tool: Any) -> bool:
    return bool(tool.input_schema.get("properties"))


async def test_thinking(hub: McpHub) -> None:
    thought = {"thought": "One.", "thoughtNumber": 1, "totalThoughts": 1}
    told = await text(hub, "think", "sequentialthinking", nextThoughtNeeded=False, **thought)
    assert json.loads(told)["thoughtHistoryLength"] == 1


async def test_memory(hub: McpHub) -> None:
    tea = {"name": "Ana", "entityType": "person", "observations": ["likes tea"]}
    await text(hub, "memory", "create_entities", entities=[tea])
    assert "likes tea" in await text(hub, "memory", "search_nodes", query="Ana")


async def test_time(hub: McpHub) -> None:
    now = await text(hub, "time", "get_current_time", timezone="Europe/Madrid")
    assert "T" in json.loads(now)["datetime"]
    assert (await hub.call("time", "get_current_time", {"timezone": "Nowhere"})).is_error


async def test_fetch(hub: McpHub) -> None:
    async def page(request: Request) -> Response:
        if request.url.path == "/robots.txt":
            return PlainTextResponse("", 404)
        return PlainTextResponse("The kettle is on.")

    app = Starlette(routes=[Route("/{path:path}", page)])
    async with serving(app, "127.0.0.1", 0) as port:
        told = await text(hub, "fetch", "fetch", url=f"http://127.0.0.1:{port}/page")
    assert "The kettle is on." in told


async def test_no_file_changes_before_a_yes(files: McpHub, tmp_path: Path) -> None:
    asking = Rulings("confirm", "confirm")
    box = Toolbox(files, StillHome(), FakeJournal(), Catalogue(), SystemClock(), rulings=asking)
    call = ToolCall("1", "write_file", {"path": "list.txt", "content": "bread"})
    heard, here = "write bread on the list", CallContext(can_ask=True)
    outcome = await box.call(call, "turn", heard, situation=here)
    assert (outcome.decision, outcome.tier) == (Decision.NEEDS_CONFIRMATION, Tier.COSTLY)
    assert contents(tmp_path) == {}
    question = box.question("turn", "1")
    assert question is not None
    done = await box.settle(question, Settlement("yes", by="typed"))
    assert done is not None
    assert (done.decision, done.status) == (Decision.CONFIRMED, Status.DONE)
    assert contents(tmp_path) == {"list.txt": "bread"}


async def test_files_are_read_and_nothing_beside_their_folder(
    files: McpHub, tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text("bread")
    assert await text(files, "files", "read_text_file", path="list.txt") == "bread"
    assert (await files.call("files", "read_text_file", {"path": "/etc/hostname"})).is_error


@pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")
async def test_no_server_reads_hearths_token(tmp_path: Path) -> None:
    data = tmp_path / "hearth"
    data.mkdir()
    (data / "http_token").write_text("secret-token")
    (spec,) = specs(tmp_path, "files")  # its folder is a wider one
    async with McpHub([replace(spec, closed=(str(data),))]) as hub:
        await hub.tools(wait_s=LIMIT_S)
        path = str(data / "http_token")
        result = await hub.call("files", "read_text_file", {"path": path})
    assert result.is_error
    assert "permission denied" in result.text


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"path": "{}/list.txt", "content": "rubbish"}),
    ("write_file", {"path": "list.txt", "content": "rubbish"}),
    ("write_file", {"path": "{}/new.txt", "content": "rubbish"}),
    ("write_file", {"path": "link/inner.txt", "content": "rubbish"}),
    ("edit_file", {"path": "list.txt", "edits": [{"oldText": "bread", "newText": "milk"}]}),
    ("move_file", {"source": "list.txt", "destination": "{}/moved.txt"}),
    ("move_file", {"source": "{}/sub", "destination": "{}/other"}),
    ("create_directory", {"path": "a/b/c"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CHANGES)
async def test_what_it_changes_comes_back(
    files: McpHub, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "list.txt").write_text("bread")
    (tmp_path / "sub" / "inner.txt").write_text("salt")
    (tmp_path / "link").symlink_to(tmp_path / "sub")
    before = contents(tmp_path)
    given = json.loads(json.dumps(arguments).replace("{}", str(tmp_path)))
    backups = Backups(tmp_path.with_name(f"{tmp_path.name}-copies"), SystemClock())
    backup = await backups.before(files.servers["files"], tool, given)
    assert backup is not None
    await text(files, "files", tool, **given)
    await backup.after()
    assert contents(tmp_path) != before
    report = await backup.run()
    assert report == UndoneReport(put_back=report.put_back)
    assert len(report.put_back) == 1
    assert contents(tmp_path) == before
    await backup.forget()


def contents(folder: Path) -> dict[str, str]:
    """Return all files and folders below, with their contents."""
    return {
        str(one.relative_to(folder)): one.read_text() if one.is_file() else "a folder"
        for one in folder.rglob("*")
    }


async def test_an_edit_that_only_shows_what_it_would_do(files: McpHub, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("bread")
    edits = [{"oldText": "bread", "newText": "milk"}]
    given: dict[str, Any] = {"path": "list.txt", "edits": edits, "dryRun": True}
    backups = Backups(tmp_path.with_name(f"{tmp_path.name}-copies"), SystemClock())
    backup = await backups.before(files.servers["files"], "edit_file", given)
    assert backup is not None
    await text(files, "files", "edit_file", **given)
    await backup.after()
    assert await backup.run() == UndoneReport(unchanged=("list.txt",))
