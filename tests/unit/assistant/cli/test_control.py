"""Commands that reach the daemon over its socket: who may, and what runs alone instead."""

import argparse
import asyncio
import json
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.app.build import App
from assistant.cli import control as module
from assistant.cli.control import Control, open_control
from assistant.cli.remote import NAME, config_file, data_folder, fingerprint, run_in_daemon
from assistant.cli.terminal import CliCommand, Failed, Parser, say
from assistant.conversation.rules.events import Prompter
from assistant.domain.version import own_version
from integrations.web.box import Busy

REQUEST: dict[str, Any] = {
    "version": own_version(),
    "words": ["ask", "hello"],
    "config": None,
    "variables": {},
    "columns": 80,
    "terminals": [False, False, False],
    "environ": {},
}
GO = {"go": True}  # the terminal is still waiting


class Command:
    """Stands for `ask`; a test decides how it ends."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.begun, self.lasts = asyncio.Event(), asyncio.Event()
        self.lasts.set()
        self.cancelled = asyncio.Event()

    async def run(self, arguments: argparse.Namespace, app: App, prompter: Prompter | None) -> int:
        self.begun.set()
        try:
            await self.lasts.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.error is not None:
            raise self.error
        if prompter is not None:
            say(f"typed {await prompter.ask('Really?', hidden=False)}")
        say(" ".join(arguments.text))
        say("a note", error=True)
        return 3

    def parser(self, words: list[str]) -> Parser:
        parser = Parser(prog="hearth")
        parser.add_argument("name")
        parser.add_argument("text", nargs="*")
        command = CliCommand("ask", (), lambda own: None, _never, beside=self.run)
        parser.set_defaults(command=command)
        return parser


async def _never(arguments: argparse.Namespace, settings: Any) -> int:
    raise AssertionError("it runs in the daemon")


def app(ending: bool = False, source: Path | None = None) -> App:
    settings = SimpleNamespace(source=source)
    return cast(App, SimpleNamespace(settings=settings, runner=SimpleNamespace(ending=ending)))


@asynccontextmanager
async def serving(folder: Path, command: Command, served: App | None) -> AsyncIterator[Control]:
    async with open_control(folder, command.parser) as control:
        if served is not None:
            control.use(served)
        yield control


async def exchange(folder: Path, request: Any, *answers: Any) -> list[dict[str, Any]]:
    """Send a request and the word to begin, answer each question, and return every message."""
    reader, writer = await asyncio.open_unix_connection(folder / NAME)
    for line in (request, GO):
        writer.write(json.dumps(line).encode() + b"\n")
    found, left = list[dict[str, Any]](), list(answers)
    async for message in reader:
        found.append(json.loads(message))
        if "read" in found[-1] and left:
            writer.write(json.dumps(left.pop(0)).encode() + b"\n")
    writer.close()
    return found


async def test_what_is_printed_and_the_exit_code_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path, Command(), app()):
        messages = await exchange(tmp_path, REQUEST)
    assert messages[0] == {"accepted": True}
    assert "".join(one.get("out", "") for one in messages) == "hello\n"
    assert "".join(one.get("error", "") for one in messages) == "a note\n"
    assert messages[-1] == {"exit": 3}


async def test_a_question_is_answered_by_the_clients_line(tmp_path: Path) -> None:
    request = {**REQUEST, "terminals": [True, True, True]}
    async with serving(tmp_path, Command(), app()):
        messages = await exchange(tmp_path, request, {"line": "yes\n"})
    assert {"read": {"hidden": False, "wait_s": 60.0}} in messages
    assert "typed yes" in "".join(one.get("out", "") for one in messages)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "0.0.1"},
        {"config": "/etc/other.toml"},
        {"variables": {"HEARTH_VOICE__ENGINE": fingerprint("piper")}},
        {"words": ["run"]},
    ],
)
async def test_what_would_differ_runs_alone(tmp_path: Path, change: dict[str, Any]) -> None:
    async with serving(tmp_path, Command(), app()):
        assert await exchange(tmp_path, {**REQUEST, **change}) == [{"alone": True}]


async def test_the_same_settings_run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_VOICE__ENGINE", "espeak")
    file = tmp_path / "hearth.toml"
    file.touch()
    same = {"config": str(file), "variables": {"HEARTH_VOICE__ENGINE": fingerprint("espeak")}}
    async with serving(tmp_path, Command(), app(source=file)):
        assert (await exchange(tmp_path, {**REQUEST, **same}))[0] == {"accepted": True}


@pytest.mark.parametrize("served", [None, app(ending=True)])
async def test_a_daemon_that_is_not_ready_says_so(tmp_path: Path, served: App | None) -> None:
    async with serving(tmp_path, Command(), served):
        (message,) = await exchange(tmp_path, REQUEST)
    assert "--alone" in message["busy"]


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (Busy("Somebody is talking."), 1, "Somebody is talking. Try again"),
        (Failed("It is gone", 2), 2, "It is gone"),
        (Failed("It broke"), 1, "It broke"),
    ],
)
async def test_errors_are_a_sentence_and_a_code(
    tmp_path: Path, error: Exception, code: int, told: str
) -> None:
    command = Command()
    command.error = error
    async with serving(tmp_path, command, app()):
        messages = await exchange(tmp_path, REQUEST)
    assert messages[-1] == {"exit": code}
    assert told in "".join(one.get("error", "") for one in messages)


async def test_a_long_command_gives_signs_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALIVE_S", 0.05)
    command = Command()
    command.lasts.clear()
    asyncio.get_running_loop().call_later(0.3, command.lasts.set)
    async with serving(tmp_path, command, app()):
        messages = await exchange(tmp_path, REQUEST)
    assert messages.count({"alive": True}) >= 2
    assert messages[-1] == {"exit": 3}


async def test_a_client_that_goes_ends_its_command(tmp_path: Path) -> None:
    command = Command()
    command.lasts.clear()
    async with serving(tmp_path, command, app()), asyncio.timeout(5):
        _, writer = await asyncio.open_unix_connection(tmp_path / NAME)
        writer.write(f"{json.dumps(REQUEST)}\n{json.dumps(GO)}\n".encode())
        await command.begun.wait()
        writer.close()
        await command.cancelled.wait()


async def test_the_end_of_the_daemon_ends_commands_and_the_socket(tmp_path: Path) -> None:
    command = Command()
    command.lasts.clear()
    async with serving(tmp_path, command, app()):
        _, writer = await asyncio.open_unix_connection(tmp_path / NAME)
        writer.write(f"{json.dumps(REQUEST)}\n{json.dumps(GO)}\n".encode())
        await command.begun.wait()
    assert command.cancelled.is_set()
    assert not (tmp_path / NAME).exists()
    writer.close()


@pytest.mark.parametrize(("uid", "served"), [(1000, True), (0, True), (1001, False)])
def test_only_the_owner_and_root_are_served(
    monkeypatch: pytest.MonkeyPatch, uid: int, served: bool
) -> None:
    class Peer:
        def getsockopt(self, *asked: int) -> bytes:
            assert asked == (socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return struct.pack("3i", 4711, uid, 100)

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert module._is_owner(cast(socket.socket, Peer())) is served


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["ask", "hello", "--alone"],
        ["ask", "--help"],
        ["ask", "hello", "--debug"],
        ["say", "hello", "--out", "x.wav"],
        ["say", "hello", "--out=x.wav"],
        ["tools", "--explain", "-"],
        ["tools", "rate"],
        ["tools", "approve", "--json"],
    ],
)
def test_commands_that_stay_in_their_process(words: list[str]) -> None:
    """No socket is looked for: the folder does not even exist."""
    assert run_in_daemon(words, {"HEARTH_ASSISTANT__DATA": "/dev/null/nowhere"}) is None


def test_the_terminal_finds_the_folder_that_the_settings_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.config.load import find_file, load_settings

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "a.toml"
    for text, environ in (
        ("", {}),
        ('[assistant]\ndata = "relative"\n', {}),
        ('[assistant]\ndata = "~/own"\n', {}),
        (f'[assistant]\ndata = "{tmp_path}/absolute"\n', {}),
        ('[assistant]\ndata = "x"\n', {"HEARTH_ASSISTANT__DATA": str(tmp_path / "y")}),
        ("", {"STATE_DIRECTORY": f"{tmp_path}/one:{tmp_path}/two"}),
    ):
        file.write_text(text)
        for words in (["ask", "x", "--config", str(file)], ["ask", f"--config={file}"]):
            assert config_file(words, environ) == find_file(file, environ)
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            assert data_folder(file, environ) == load_settings(file, environ).data_folder
            for name in environ:
                monkeypatch.delenv(name)
    assert config_file(["ask"], {"HEARTH_CONFIG": str(file)}) == file
    assert config_file(["ask"], {}) == find_file(None, {})
