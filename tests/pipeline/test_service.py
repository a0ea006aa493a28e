"""Tests of `hearth run` as a service manager sees it: messages, signals, reloads."""

import asyncio
import json
import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port

TOKEN = "a-token-for-this-test"
_WITHIN_S = 80.0  # a start alone takes 4 s, beside seven others on two cores 28 s


class Box:
    """A folder with settings, and the process that serves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.file = folder / "hearth.toml"
        self.configure()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.socket.setblocking(False)
        (folder / "run").mkdir()
        self.process: asyncio.subprocess.Process

    def configure(self, more: str = "", port: int | None = None) -> None:
        self.file.write_text(
            f'[audio]\ninput = "null"\noutput = "null"\n'
            f'[home_assistant]\nurl = "demo"\n[brain]\norder = ["offline"]\n'
            f'[voice]\nengine = "espeak"\n[http]\nport = {port or self.port}\n{more}'
        )

    async def start(self) -> None:
        environ = {
            **os.environ,
            "NOTIFY_SOCKET": str(self.folder / "notify"),
            "WATCHDOG_USEC": "8000000",
            "PYTHONFAULTHANDLER": "1",
            "RUNTIME_DIRECTORY": str(self.folder / "run"),
            "STATE_DIRECTORY": str(self.folder / "state"),
            "HEARTH_HTTP__TOKEN": TOKEN,
        }
        command = [sys.executable, "-m", "assistant", "run", "--quiet", "--config", str(self.file)]
        self.process = await asyncio.create_subprocess_exec(
            *command, env=environ, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )

    async def told(self, words: str) -> list[str]:
        """Return the next message to the manager that contains these words."""
        loop = asyncio.get_running_loop()
        seen: list[str] = []
        try:
            async with asyncio.timeout(_WITHIN_S):
                while True:
                    lines = (await loop.sock_recv(self.socket, 4096)).decode().splitlines()
                    if any(words in line for line in lines):
                        return lines
                    seen += lines
        except TimeoutError:
            pass
        raise AssertionError(f"without {words!r}: {seen}; {await self._left()}")

    async def says(self, words: str) -> str:
        """Return the next line of its log that contains these words."""
        assert self.process.stderr is not None
        async with asyncio.timeout(_WITHIN_S):
            while line := (await self.process.stderr.readline()).decode():
                if words in line:
                    return line
        raise AssertionError(f"it ended without {words!r}")

    async def state(self, port: int | None = None) -> Any:
        """Return /v1/state of its HTTP interface."""
        request = urllib.request.Request(f"http://127.0.0.1:{port or self.port}/v1/state")
        request.add_header("Authorization", f"Bearer {TOKEN}")

        def ask() -> Any:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())

        return await asyncio.to_thread(ask)

    async def _left(self) -> str:
        """Return how it ended and its last output; end it if it still runs."""
        if running := self.process.returncode is None:
            self.process.send_signal(signal.SIGABRT)  # which makes it print its stacks
        _, log = await self.process.communicate()
        return f"{'it still ran' if running else 'it had ended'}: {log.decode()}"

    async def end(self) -> int:
        """Return its exit code."""
        async with asyncio.timeout(_WITHIN_S):
            await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Box]:
    """Run it; at the end it is terminated, and has to exit cleanly."""
    box = Box(folder)
    with closing(box.socket):
        await box.start()
        try:
            yield box
        finally:
            if box.process.returncode is None:
                box.process.terminate()
                assert await box.end() == 0


async def test_it_tells_that_it_is_ready_that_it_lives_and_that_it_ends(tmp_path: Path) -> None:
    async with serving(tmp_path) as box:
        assert "STATUS=Listening; still starting up" in await box.told("READY=1")
        await box.told("STATUS=No microphone; answering programs only.")
        await box.told("WATCHDOG=1")
        box.process.terminate()
        await box.told("STOPPING=1")
        assert await box.end() == 0
    assert not (tmp_path / "run/starts").exists()


async def test_a_reload_takes_up_what_is_good_and_refuses_what_is_not(tmp_path: Path) -> None:
    async with serving(tmp_path) as box:
        await box.told("STATUS=No microphone")
        other = free_port()
        box.configure(port=other)
        box.process.send_signal(signal.SIGHUP)
        await box.says("The new settings apply as soon as the conversation is over.")
        await box.told("RELOADING=1")
        await box.told("READY=1")
        await box.says("The new settings are in use.")
        assert (await box.state(other))["troubles"] == {}
        box.configure("[nonsense]\nx = 1\n", port=other)
        box.process.send_signal(signal.SIGHUP)
        assert "nonsense" in await box.says("The new settings were rejected")
        await box.told("so the previous ones stay in use")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            box.configure(port=taken.getsockname()[1])
            box.process.send_signal(signal.SIGHUP)
            await box.says(
                "The new settings could not be applied, so the previous ones stay in use"
            )
            await box.told("STATUS=No microphone")
        assert (await box.state(other))["health"] == "ok"
        box.configure(port=other)
        box.process.send_signal(signal.SIGHUP)
        await box.says("The settings have not changed.")


@pytest.mark.parametrize("after_s", [0.2, 1.0, 1.8, 2.6])
async def test_it_ends_well_at_any_moment_of_its_start(tmp_path: Path, after_s: float) -> None:
    async with serving(tmp_path) as box:
        # How far it is by then differs from machine to machine; each must do.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(box.says("nothing that it says"), after_s)
        box.process.terminate()
        assert await box.end() in (0, -signal.SIGTERM)  # before it can follow any signal


async def test_a_start_after_failed_ones_waits_and_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    box = Box(tmp_path)
    with closing(box.socket):
        (run / "starts").write_text(json.dumps([5, time.monotonic()]))
        await box.start()
        assert "EXTEND_TIMEOUT_USEC=76000000" in await box.told("EXTEND_TIMEOUT")
        await box.told("The last 5 starts failed; trying again in 16 s")
        box.process.terminate()
        assert await box.end() == 0
    assert not (run / "starts").exists()
