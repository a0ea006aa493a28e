"""Hearth as a person runs it, in a house of the tests: a program for each command."""

import asyncio
import contextlib
import json
import multiprocessing
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.ports import free_port
from tests.simulators.gemini_live import GeminiSimulator

_LIMIT_S = 60.0  # for one command
_STEP_S = 0.05
_LOOK_S = 0.01  # whether a command is over

# Each command is a separate process, forked after all imports:
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["assistant.app.build", "assistant.cli.main", "google.genai.live"])


def _command(
    words: Sequence[str], environment: Mapping[str, str], folder: Path, hold_s: float | None
) -> None:
    """Run one whole `hearth` command, with its output in `folder`/out and /err."""
    os.environ.clear()
    os.environ.update(environment)
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    from assistant.cli.main import main  # not in the process of the tests

    if hold_s is not None:
        from assistant.brains import prefer_local

        prefer_local.HOLD_S = hold_s
    sys.exit(main(words))


class Hearth:
    """The program with its own configuration."""

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
            "HTTP__PORT": str(free_port()),
            "BRAIN__ORDER": '["offline"]',
            **settings,
        }
        self._environment = inherited | {f"HEARTH_{key}": value for key, value in given.items()}
        self.errors = ""  # what the last command wrote to stderr
        self.code = 0  # how it ended
        # Seconds that a model's reply waits for Home Assistant, on a busy machine too.
        self.hold_s: float | None = None

    def to_gemini(self, gemini: GeminiSimulator, *, once: bool = False) -> None:
        """Let only the simulated service answer from now on.

        `once`: its other model can be asked too.
        """
        self.set(
            BRAIN__ORDER='["gemini-live","gemini-once"]' if once else '["gemini-live"]',
            PRIVACY__ACCEPT_CLOUD="true",
            GEMINI__API_KEY=gemini.key,
            GEMINI__BASE_URL=gemini.url,
            GEMINI__CA_FILE=str(gemini.ca_file),
        )

    def set(self, **settings: str) -> None:
        """Change settings of the commands that follow."""
        self._environment |= {f"HEARTH_{key}": value for key, value in settings.items()}

    def free(self, tool: str) -> None:
        """Add an owner's rule: that tool runs without a question."""
        rule = f'[[policy.rules]]\ntool = "{tool}"\ndecide = "allow"\n'
        (self._folder / "hearth.toml").write_text(rule)

    async def json(self, *words: str) -> Any:
        """Return the one JSON value that a command prints with `--json`."""
        return json.loads(await self.text(*words, "--json"))

    async def text(self, *words: str) -> str:
        """Return the output of a command, which has to end by itself with exit code 0 or 1."""
        given = (words, self._environment, self._folder, self.hold_s)
        program = _FORKS.Process(target=_command, args=given)
        program.start()
        try:
            async with asyncio.timeout(_LIMIT_S):
                while program.is_alive():  # noqa: ASYNC110 - a thread could not be cancelled
                    await asyncio.sleep(_LOOK_S)
        except BaseException:
            program.kill()
            raise
        program.join()
        self.code = program.exitcode or 0
        self.errors = await asyncio.to_thread((self._folder / "err").read_text)
        assert self.code in (0, 1), self.errors
        return await asyncio.to_thread((self._folder / "out").read_text)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run `hearth run` without a microphone until the block ends; it must then end well."""
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", "run"),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        health = f"http://127.0.0.1:{self._environment['HEARTH_HTTP__PORT']}/healthz"
        try:
            async with asyncio.timeout(_LIMIT_S), httpx.AsyncClient(trust_env=False) as client:
                while not await _answers(client, health):
                    assert program.returncode is None, "it ended by itself"
                    await asyncio.sleep(_STEP_S)
            yield
        finally:
            program.terminate()
            try:
                async with asyncio.timeout(_LIMIT_S):
                    _, errors = await program.communicate()
            except TimeoutError:
                program.kill()
                raise
            self.errors = errors.decode()
        assert program.returncode in (0, -15), self.errors

    async def registered(self) -> None:
        """Return when Home Assistant has it among its devices."""
        record = self._folder / "data" / "device.json"
        async with asyncio.timeout(_LIMIT_S):
            while not (record.exists() and json.loads(record.read_text()).get("device_id")):  # noqa: ASYNC110 - the file is another process's
                await asyncio.sleep(_STEP_S)

    async def announced(self) -> str:
        """Return the announcements, once there is one."""
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


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).is_success
    except httpx.TransportError:
        return False
