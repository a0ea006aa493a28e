"""When the daemon begins a command of a terminal, and when it lets go of it."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.app.build import App
from assistant.cli import control
from assistant.cli.control import Control, open_control
from assistant.cli.remote import NAME
from assistant.cli.terminal import CliCommand, say
from assistant.conversation.rules.events import Prompter
from assistant.domain.version import own_version

WITHIN_S = 20.0


class House:
    """An app whose only command notes that it ran, and may ask a question."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.answers: list[str | None] = []
        self.waits = 0.0  # seconds before a question
        self.began, self.interrupted = asyncio.Event(), asyncio.Event()
        settings = SimpleNamespace(source=None)
        self.app = cast(
            App, SimpleNamespace(settings=settings, runner=SimpleNamespace(ending=False))
        )

    async def beside(
        self, arguments: argparse.Namespace, app: App, prompter: Prompter | None
    ) -> int:
        self.ran.append(arguments.text)
        self.began.set()
        try:
            if arguments.text == "wait":
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(self.waits)
            if arguments.text == "ask" and prompter is not None:
                self.answers.append(await prompter.ask("Open it?", hidden=False))
        except asyncio.CancelledError:
            self.interrupted.set()
            raise
        say("done")
        return 4

    def parser(self, words: list[str]) -> argparse.ArgumentParser:
        async def run(arguments: argparse.Namespace, settings: Any) -> int:
            raise AssertionError("only `beside` runs in the daemon")

        command = CliCommand("ask", (), lambda parser: None, run, beside=self.beside)
        parser = argparse.ArgumentParser()
        parser.add_argument("name")
        parser.add_argument("text")
        parser.set_defaults(command=command)
        return parser


def request(text: str, **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "version": own_version(),
        "words": ["ask", text],
        "config": None,
        "variables": {},
        "columns": 80,
        "terminals": [True, True, True],
        "environ": {},
    }
    return {**plain, **more}


class Terminal:
    """A client that speaks the protocol line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, message: Any) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def take(self) -> Any:
        """Return the next message, None if the daemon has closed the connection."""
        async with asyncio.timeout(WITHIN_S):
            line = await self._reader.readline()
        return json.loads(line) if line else None

    async def rest(self) -> list[Any]:
        found = []
        while (message := await self.take()) is not None:
            found.append(message)
        return found

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


@asynccontextmanager
async def terminal(folder: Path) -> AsyncIterator[Terminal]:
    client = Terminal(*await asyncio.open_unix_connection(folder / NAME))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def serving(folder: Path, house: House | None) -> AsyncIterator[Control]:
    async with open_control(folder, House().parser if house is None else house.parser) as opened:
        if house is not None:
            opened.use(house.app)
        yield opened


async def test_a_command_runs_after_the_terminals_word(tmp_path: Path) -> None:
    house = House()
    async with serving(tmp_path, house), terminal(tmp_path) as client:
        client.send(request("hello"))
        assert await client.take() == {"accepted": True}
        assert house.ran == []
        client.send({"go": True})
        assert await client.rest() == [{"out": "done"}, {"out": "\n"}, {"exit": 4}]
    assert house.ran == ["hello"]
    assert not (tmp_path / NAME).exists()


async def test_a_terminal_that_gave_up_has_nothing_run(tmp_path: Path) -> None:
    house = House()
    async with serving(tmp_path, house):
        async with terminal(tmp_path) as client:
            client.send(request("hello"))
        async with terminal(tmp_path) as client:  # after it in line
            client.send(request("again"))
            assert await client.take() == {"accepted": True}
            client.send({"go": True})
            assert (await client.rest())[-1] == {"exit": 4}
    assert house.ran == ["again"]


async def test_a_stopped_terminal_does_not_hold_the_house_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "_ANSWER_S", 0.1)
    monkeypatch.setattr(control, "_SPARE_S", 0.1)
    house = House()
    async with serving(tmp_path, house), terminal(tmp_path) as client:
        client.send(request("ask"))
        client.send({"go": True})
        assert (await client.rest())[-1] == {"exit": 4}
    assert house.answers == [None]


async def test_a_line_from_before_the_question_answers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "_ANSWER_S", 0.1)
    monkeypatch.setattr(control, "_SPARE_S", 0.1)
    house = House()
    house.waits = 0.2  # before it asks, so that the line is there
    async with serving(tmp_path, house), terminal(tmp_path) as client:
        client.send(request("ask"))
        client.send({"go": True})
        client.send({"line": "yes\n"})
        assert (await client.rest())[-1] == {"exit": 4}
    assert house.answers == [None]


async def test_nobody_is_asked_without_a_terminal(tmp_path: Path) -> None:
    house = House()
    async with serving(tmp_path, house), terminal(tmp_path) as client:
        client.send(request("ask", terminals=[False, True, True]))
        client.send({"go": True})
        assert (await client.rest())[-1] == {"exit": 4}
    assert house.answers == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_user_is_not_served_even_if_the_socket_lets_them_in(tmp_path: Path) -> None:
    house, folder = House(), tmp_path
    async with serving(folder, house):
        assert (folder / NAME).stat().st_mode & 0o777 == 0o600
        (folder / NAME).chmod(0o666)
        folder.chmod(0o755)
        code = (
            "import os, socket, sys\n"
            "os.setgroups([])\n"
            "os.setuid(65534)\n"
            "client = socket.socket(socket.AF_UNIX)\n"
            "client.connect(sys.argv[1])\n"
            "answer = b''\n"
            "try:\n"
            "    client.sendall(sys.argv[2].encode() + b'\\n')\n"
            "    answer = client.recv(100)\n"
            "except ConnectionError:\n"
            "    pass\n"
            "print(answer)\n"
        )
        # In the folder already, because pytest's folders above it are closed to others.
        words = ("-c", code, NAME, json.dumps(request("hello")))
        other = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=folder, stdout=subprocess.PIPE
        )
        answer, _ = await other.communicate()
        assert (other.returncode, answer) == (0, b"b''\n")
    assert house.ran == []


async def test_a_folder_that_holds_no_socket_leaves_the_daemon_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*args: Any, **options: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(asyncio, "start_unix_server", refused)
    async with serving(tmp_path, House()):
        assert (
            "Commands in other terminals cannot use this process and run on their own"
            in caplog.text
        )
    assert not (tmp_path / NAME).exists()
