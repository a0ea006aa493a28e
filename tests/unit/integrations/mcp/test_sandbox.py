"""A tool server that is a program can open what it needs, but none of Hearth's files."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from integrations.mcp import confine, sandbox
from integrations.mcp.hub import McpHub
from integrations.mcp.sandbox import ProgramCommand, command, confined, grants, holds, landlock_abi
from integrations.mcp.servers import ServerSpec

needs_landlock = pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")

# Each tool reports the result of an attempt by the name of its error.
PRYING_SERVER = """
import os, signal, tempfile, urllib.request
from pathlib import Path
from mcp.server import MCPServer
server = MCPServer("prying")
def attempt(deed):
    try:
        return str(deed())
    except OSError as error:
        return type(error).__name__
@server.tool()
def read(path: str) -> str:
    return attempt(lambda: Path(path).read_text(errors="replace")[:20])
@server.tool()
def write(path: str) -> str:
    return attempt(lambda: Path(path).write_text("x"))
@server.tool()
def names(path: str) -> str:
    return attempt(lambda: sorted(os.listdir(path)))
@server.tool()
def end(pid: int) -> str:
    return attempt(lambda: os.kill(pid, 0))
@server.tool()
def scratch() -> str:
    with tempfile.NamedTemporaryFile("w") as file:
        return file.name
@server.tool()
def run(path: str) -> str:
    import subprocess
    return subprocess.run(["cat", path], capture_output=True, text=True).stderr
server.run("stdio")
"""


@pytest.fixture
def hearth(tmp_path: Path) -> Path:
    """Make Hearth's data folder, with a token in it."""
    data = tmp_path / "hearth"
    data.mkdir()
    (data / "http_token").write_text("secret-token")
    return data


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "server"
    folder.mkdir()
    script = folder / "server.py"
    script.write_text(PRYING_SERVER)
    return script


def spec(program: Path, hearth: Path, *arguments: str, **more: Any) -> ServerSpec:
    return ServerSpec(
        "prying",
        "stdio",
        command=sys.executable,
        args=(str(program), *arguments),
        closed=(str(hearth),),
        **more,
    )


async def ask(of: ServerSpec, tool: str, **arguments: Any) -> str:
    async with McpHub([of]) as hub:
        return (await hub.call("prying", tool, arguments)).text


@needs_landlock
@pytest.mark.parametrize("place", ["http_token", "link", "elsewhere"])
async def test_tokens_cannot_be_read(
    place: str, program: Path, hearth: Path, tmp_path: Path
) -> None:
    (program.parent / "link").symlink_to(hearth / "http_token")
    (tmp_path / "elsewhere").write_text("the owner's diary")
    path = {
        "http_token": hearth / "http_token",
        "link": program.parent / "link",
        "elsewhere": tmp_path / "elsewhere",
    }[place]
    assert await ask(spec(program, hearth), "read", path=str(path)) == "PermissionError"


@needs_landlock
async def test_a_program_that_it_starts_is_held_too(program: Path, hearth: Path) -> None:
    told = await ask(spec(program, hearth), "run", path=str(hearth / "http_token"))
    assert "Permission denied" in told


@needs_landlock
async def test_nothing_of_hearths_process_can_be_read(program: Path, hearth: Path) -> None:
    told = await ask(spec(program, hearth), "read", path=f"/proc/{os.getpid()}/environ")
    assert told == "PermissionError"


@pytest.mark.skipif(landlock_abi() < 6, reason="this kernel's Landlock knows no signals")
async def test_it_cannot_signal_hearth(program: Path, hearth: Path) -> None:
    assert await ask(spec(program, hearth), "end", pid=os.getpid()) == "PermissionError"


@needs_landlock
async def test_a_wider_folder_does_not_open_hearths(
    program: Path, hearth: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    wide = spec(program, hearth, str(tmp_path))
    assert await ask(wide, "write", path=str(tmp_path / "notes" / "one")) == "1"
    assert await ask(wide, "read", path=str(hearth / "http_token")) == "PermissionError"
    assert await ask(wide, "names", path=str(hearth)) == "PermissionError"


@needs_landlock
@pytest.mark.parametrize("way", ["argument", "option", "folders", "env", "cwd"])
async def test_named_folders_are_open(
    way: str, program: Path, hearth: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    named = {
        "argument": spec(program, hearth, str(notes)),
        "option": spec(program, hearth, f"--root={notes}"),
        "folders": spec(program, hearth, folders=(str(notes),)),
        "env": spec(program, hearth, env={"MEMORY_FILE_PATH": str(notes / "memory.jsonl")}),
        "cwd": spec(program, hearth, cwd=str(notes)),
    }[way]
    assert await ask(named, "write", path=str(notes / "one")) == "1"
    assert (notes / "one").read_text() == "x"


@needs_landlock
async def test_a_temporary_folder_of_its_own(program: Path, hearth: Path) -> None:
    first, second = [Path(await ask(spec(program, hearth), "scratch")) for _ in range(2)]
    assert first.parent == second.parent  # so that a description that names it stays the same
    assert first.parent.name == "prying"
    assert stat.S_IMODE(first.parent.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("what", ["open", "link"])
def test_a_temporary_folder_of_somebody_elses_is_not_used(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / f"hearth-servers-{os.getuid()}"
    (tmp_path / "theirs").mkdir()
    if what == "link":
        base.symlink_to(tmp_path / "theirs")
    else:
        base.mkdir()
        base.chmod(0o777)
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: 5)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    of = ServerSpec("notes", "stdio", command=sys.executable)
    made = confined(of, command(of))
    assert Path(made.env["TMPDIR"]).name.startswith("hearth-server-")
    assert list((tmp_path / "theirs").iterdir()) == []


async def test_the_owner_may_switch_it_off(program: Path, hearth: Path) -> None:
    free = spec(program, hearth, sandbox=False)
    assert await ask(free, "read", path=str(hearth / "http_token")) == "secret-token"
    assert not holds(free)


async def test_a_kernel_without_landlock(
    program: Path, hearth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: 0)
    plain = spec(program, hearth)
    assert not holds(plain)
    assert confined(plain, command(plain)) == command(plain)
    assert await ask(plain, "names", path=str(program.parent)) == "['server.py']"


def test_a_server_on_the_network_has_no_sandbox() -> None:
    assert not holds(ServerSpec("search", "http", url="http://127.0.0.1:9"))


def made(*words: str, home: Path, path: str = "/usr/bin") -> ProgramCommand:
    return ProgramCommand(words, {"HOME": str(home), "PATH": path}, None)


def test_packages_of_node_are_readable_as_a_whole(tmp_path: Path) -> None:
    package = tmp_path / "app" / "node_modules" / "@scope" / "notes" / "dist"
    package.mkdir(parents=True)
    (package / "index.js").write_text("")
    (tmp_path / "app" / "node_modules" / ".bin").mkdir()
    start = tmp_path / "app" / "node_modules" / ".bin" / "notes"
    start.symlink_to(package / "index.js")
    found = grants(made(str(start), home=tmp_path), ServerSpec("notes", "stdio"))
    assert str(tmp_path / "app" / "node_modules") in found.read
    assert not [one for one in found.write if one.startswith(str(tmp_path))]


def test_a_runner_gets_its_cache_and_nothing_else_of_the_home(tmp_path: Path) -> None:
    found = grants(made("/usr/bin/uvx", "mcp-notes", home=tmp_path), ServerSpec("notes", "stdio"))
    of_home = sorted(one for one in found.write if one.startswith(str(tmp_path)))
    assert of_home == [str(tmp_path / ".cache" / "uv"), str(tmp_path / ".local" / "share" / "uv")]


def test_a_script_in_the_home_opens_itself_alone(tmp_path: Path) -> None:
    script = tmp_path / "notes.py"
    script.write_text("")
    (tmp_path / "diary.txt").write_text("")
    found = grants(
        made("/usr/bin/python3", str(script), home=tmp_path), ServerSpec("notes", "stdio")
    )
    opened = [one for one in (*found.read, *found.write) if one.startswith(str(tmp_path))]
    assert opened == [str(script)]


def test_a_folder_inside_hearths_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "hearth" / "servers" / "notes").mkdir(parents=True)
    inside = str(tmp_path / "hearth" / "servers" / "notes")
    closed = (str(tmp_path / "hearth"), str(tmp_path / "hearth" / "hearth.db"))
    of = ServerSpec("notes", "stdio", folders=(inside,), closed=closed)
    found = grants(made("/usr/bin/notes", home=tmp_path), of)
    assert inside in found.write
    assert str(tmp_path / "hearth") not in found.write


@pytest.mark.parametrize("text", ["/nowhere/at/all", "x" * 5000, "a\0b", "--flag", "/"])
def test_strange_arguments_open_nothing_of_hearths(text: str, tmp_path: Path) -> None:
    closed = tmp_path / "hearth"
    closed.mkdir()
    of = ServerSpec("notes", "stdio", closed=(str(closed),))
    found = grants(made("/usr/bin/notes", text, home=tmp_path), of)
    assert not any(closed.is_relative_to(one) for one in (*found.read, *found.write))


def test_the_launcher_says_what_it_cannot_start(tmp_path: Path) -> None:
    rules = json.dumps({"abi": landlock_abi(), "read": [], "write": []})
    words = [sys.executable, "-I", "-S", str(confine.__file__), rules, "/nowhere/notes"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 126
    assert "/nowhere/notes cannot be started in its sandbox" in ended.stderr
