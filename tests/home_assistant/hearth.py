"""Hearth as a person runs it, against a house of the tests: a program for each command."""

import asyncio
import contextlib
import json
import os
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.simulators.gemini_live import GeminiSimulator

_LIMIT_S = 60.0  # for one command
_STEP_S = 0.05


class Hearth:
    """The program with a configuration of its own."""

    def __init__(self, folder: Path, url: str, token: str, **settings: str) -> None:
        """`settings`: further ones, by the environment's name without HEARTH_ ("BRAIN__ORDER")."""
        self._folder = folder
        (folder / "hearth.toml").write_text("")
        inherited = {key: value for key, value in os.environ.items() if "HEARTH_" not in key}
        given = {
            "CONFIG": str(folder / "hearth.toml"),
            "ASSISTANT__DATA": str(folder / "data"),
            "HOME_ASSISTANT__URL": url,
            "HOME_ASSISTANT__TOKEN": token,
            "VOICE__ENGINE": "espeak",
            "HTTP__PORT": str(_free_port()),
            "BRAIN__ORDER": '["offline"]',
            **settings,
        }
        self._environment = inherited | {f"HEARTH_{key}": value for key, value in given.items()}
        self.errors = ""  # what the last command wrote to stderr
        self.code = 0  # how it ended

    def to_gemini(self, gemini: GeminiSimulator) -> None:
        """From now on the simulated service answers, and nothing else does."""
        self.set(
            BRAIN__ORDER='["gemini-live"]',
            PRIVACY__ACCEPT_CLOUD="true",
            GEMINI__API_KEY=gemini.key,
            GEMINI__BASE_URL=gemini.url,
            GEMINI__CA_FILE=str(gemini.ca_file),
        )

    def set(self, **settings: str) -> None:
        """Change settings of the commands that follow."""
        self._environment |= {f"HEARTH_{key}": value for key, value in settings.items()}

    async def json(self, *words: str) -> Any:
        """The one JSON value that a command prints with `--json`."""
        return json.loads(await self.text(*words, "--json"))

    async def text(self, *words: str) -> str:
        """What a command prints. It ends by itself, with exit 0 or 1."""
        program = await self._start(*words)
        try:
            async with asyncio.timeout(_LIMIT_S):
                out, errors = await program.communicate()
        except BaseException:
            program.kill()
            raise
        self.errors, self.code = errors.decode(), program.returncode or 0
        assert program.returncode in (0, 1), self.errors
        return out.decode()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """`hearth run` without a microphone, until the block ends; it must then end well."""
        program = await self._start("run")
        health = f"http://127.0.0.1:{self._environment['HEARTH_HTTP__PORT']}/healthz"
        try:
            async with asyncio.timeout(_LIMIT_S), httpx.AsyncClient(trust_env=False) as client:
                while not await _answers(client, health):
                    assert program.returncode is None, "it ended by itself"
                    await asyncio.sleep(_STEP_S)
            yield
        finally:
            program.terminate()
            _, errors = await program.communicate()
            self.errors = errors.decode()
        assert program.returncode in (0, -15), self.errors

    async def registered(self) -> None:
        """Return when Home Assistant has it among its devices."""
        record = self._folder / "data" / "device.json"
        async with asyncio.timeout(_LIMIT_S):
            while not (record.exists() and json.loads(record.read_text()).get("device_id")):  # noqa: ASYNC110 - the file is another process's
                await asyncio.sleep(_STEP_S)

    async def announced(self) -> str:
        """What was said although nobody asked, once something was."""
        path = self._folder / "data" / "hearth.db"
        async with asyncio.timeout(_LIMIT_S):
            while True:
                with contextlib.closing(sqlite3.connect(path)) as journal:
                    rows = journal.execute(
                        "SELECT clauses FROM turns WHERE source = 'announcement'"
                    ).fetchall()
                if rows:
                    return " ".join(str(row[0]) for row in rows)
                await asyncio.sleep(_STEP_S)

    async def _start(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", *words),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).is_success
    except httpx.TransportError:
        return False


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
