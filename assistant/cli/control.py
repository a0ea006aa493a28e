"""Runs commands from terminals in the daemon, over a socket that only Hearth's user and root can
use. `remote` is the terminal's side and describes the protocol."""

import argparse
import asyncio
import contextlib
import io
import json
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from assistant.cli.remote import ALIVE_S, COMMANDS, NAME, fingerprint, short_path
from assistant.cli.terminal import CliCommand, Failed, RemoteTerminal, remote_terminal, say
from assistant.config.errors import ConfigError
from assistant.domain.records import StoreError
from assistant.domain.version import own_version
from audio.errors import AudioError
from integrations.errors import IntegrationError
from integrations.web.box import Busy

if TYPE_CHECKING:
    from assistant.app.build import App

MODE = 0o600  # file mode of the socket
_REQUEST_S = 5.0  # seconds for a client to send its command
_LONGEST = 1 << 20  # maximum size of a message in bytes
_ANSWER_S = 60.0  # seconds for the user to answer a question
_SPARE_S = 2.0  # extra seconds for the terminal to report that there was no answer
_EXPECTED = (ConfigError, AudioError, IntegrationError, StoreError, Failed)
_STARTING = "Hearth is still starting; try again in a moment, or run the command with --alone"
_log = logging.getLogger(__name__)

ParserFor = Callable[[list[str]], argparse.ArgumentParser]


class Control:
    """Runs commands from other terminals in the daemon's current app."""

    def __init__(self, parser_for: ParserFor, environ: Mapping[str, str]) -> None:
        """`parser_for` returns the parser for a command line. It runs in a thread, because imports
        can block."""
        self._parser_for = parser_for
        self._environ = environ
        self._app: App | None = None
        self._serving: set[asyncio.Task[None]] = set()

    def use(self, app: "App") -> None:
        """Run commands in this app, until the app ends or another one is set."""
        self._app = app

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Run the command of one connection. Errors are logged and don't stop the daemon."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            if _is_owner(writer.get_extra_info("socket")):
                await self._serve(reader, writer)
        except (OSError, ValueError, TimeoutError) as error:
            _log.debug("a terminal disconnected: %s", error)
        except Exception:
            _log.exception("a command from a terminal failed")
        finally:
            self._serving.discard(task)
            with contextlib.suppress(OSError):
                writer.close()

    async def close(self) -> None:
        for task in tuple(self._serving):
            task.cancel()
        if self._serving:
            await asyncio.wait(tuple(self._serving))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_REQUEST_S):
            request = json.loads(await reader.readline())
        words = request["words"]
        if not self._fits(request) or words[0] not in COMMANDS:
            _send(writer, {"alone": True})
            return
        app = self._app
        if app is None or app.runner.ending:
            _send(writer, {"busy": _STARTING})
            return
        _send(writer, {"accepted": True})
        async with asyncio.timeout(_REQUEST_S):
            if not (await reader.readline()).endswith(b"\n"):
                return  # the terminal has given up, so don't start the command
        client = _Client(reader, writer)
        doing = asyncio.create_task(self._run(words, app, client, request), name=words[0])
        try:
            await _until_one_ends(doing, client.gone, writer)
            if doing.done():
                _send(writer, {"exit": doing.result()})
                await writer.drain()
        finally:
            doing.cancel()
            await asyncio.wait({doing})
            client.close()

    def _fits(self, request: Mapping[str, Any]) -> bool:
        source = None if self._app is None else self._app.settings.source
        config = request["config"]
        same_file = self._app is None or _same_file(config, source)
        overrides = request["variables"].items()
        same = all(fingerprint(self._environ.get(name, "")) == sign for name, sign in overrides)
        return bool(request["version"] == own_version() and same_file and same)

    async def _run(
        self, words: list[str], app: "App", client: "_Client", request: Mapping[str, Any]
    ) -> int:
        stdin, stdout, stderr = map(bool, request["terminals"])
        remote_terminal.set(
            RemoteTerminal(
                client.stream("out"),
                client.stream("error"),
                max(20, int(request["columns"])),
                stdout,
                stderr,
                {str(name): str(value) for name, value in request["environ"].items()},
            )
        )
        prompter = client if stdin and stderr else None
        try:
            parser = await asyncio.to_thread(self._parser_for, words)
            arguments = parser.parse_args(words)
            command: CliCommand = arguments.command
            assert command.beside is not None
            return await command.beside(arguments, app, prompter)
        except SystemExit as ended:  # wrong usage, which argparse has reported
            return ended.code if isinstance(ended.code, int) else 2
        except Busy as busy:
            say(f"hearth: {busy} Try again, or run the command with --alone.", error=True)
            return 1
        except _EXPECTED as error:
            say(f"hearth: {error}", error=True)
            return error.exit_code if isinstance(error, Failed) else 2


class _Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self.gone = asyncio.create_task(self._read(reader), name="a terminal's lines")

    def stream(self, name: str) -> TextIO:
        return cast(TextIO, _Stream(self._writer, name))

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        from assistant.cli.console import Terminal

        console, what = Terminal(stderr=True), "PIN" if hidden else "yes or no"
        told = "[bold yellow]{question}[/] [dim]({what})[/] "
        console.tell(told, question=question, what=what, end="")
        while not self._lines.empty():
            self._lines.get_nowait()  # a late answer to an earlier question
        _send(self._writer, {"read": {"hidden": hidden, "wait_s": _ANSWER_S}})
        line = ""
        with contextlib.suppress(TimeoutError):  # the terminal may be suspended (Ctrl-Z)
            async with asyncio.timeout(_ANSWER_S + _SPARE_S):
                line = await self._lines.get()
        if hidden or not line:
            console.print()
        return line.strip() or None

    def close(self) -> None:
        self.gone.cancel()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := await reader.readline():
                self._lines.put_nowait(str(json.loads(line)["line"]))


class _Stream(io.TextIOBase):
    """A text stream that sends its output to the client. It never blocks."""

    encoding = "utf-8"

    def __init__(self, writer: asyncio.StreamWriter, name: str) -> None:
        self._writer = writer
        self._name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            _send(self._writer, {self._name: text})
        return len(text)


def _send(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(message).encode() + b"\n")


async def _until_one_ends(
    doing: asyncio.Task[int], gone: asyncio.Task[None], writer: asyncio.StreamWriter
) -> None:
    while not doing.done() and not gone.done():
        first = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait({doing, gone}, timeout=ALIVE_S, return_when=first)
        if not done:
            _send(writer, {"alive": True})


def _is_owner(connection: socket.socket) -> bool:
    size = struct.calcsize("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    _, uid, _ = struct.unpack("3i", credentials)
    return uid in (os.geteuid(), 0)


def _same_file(one: str | None, other: Path | None) -> bool:
    if one is None or other is None:
        return one is None and other is None
    return os.path.realpath(one) == os.path.realpath(other)


@asynccontextmanager
async def open_control(folder: Path, parser_for: ParserFor) -> AsyncIterator[Control]:
    """Accept commands on a socket in the data folder. The caller must hold the folder's lock. If
    the socket can't be created, a warning is logged and the daemon runs without it."""
    control, path = Control(parser_for, dict(os.environ)), folder / NAME
    server = None
    try:
        path.unlink(missing_ok=True)  # left by a process that crashed
        before = os.umask(0o777 & ~MODE)
        try:
            with short_path(path) as address:
                server = await asyncio.start_unix_server(control.serve, address, limit=_LONGEST)
        finally:
            os.umask(before)
    except OSError as error:
        _log.warning(
            "Commands in other terminals cannot use this process and run on their own: %s (%s)",
            path,
            error,
        )
    try:
        yield control
    finally:
        if server is not None:
            server.close()
        await control.close()
        with contextlib.suppress(OSError):
            if server is not None:
                path.unlink(missing_ok=True)
