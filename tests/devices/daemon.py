"""`hearth run` as a separate process, and its output."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.ports import free_port

_LINE_S = 30.0  # limit for an expected line


def settings(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment for a daemon with the embedded house; `more` is
    SECTION__KEY="value"."""
    given = {
        "ASSISTANT__DATA": str(folder / "data"),
        "HOME_ASSISTANT__URL": "demo",
        "BRAIN__ORDER": '["offline"]',
        "VOICE__ENGINE": "espeak",
        "HTTP__PORT": str(free_port()),
        **more,
    }
    return {**os.environ, **{f"HEARTH_{name}": value for name, value in given.items()}}


class Daemon:
    """A running daemon."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.out, self.err = process.stdout, process.stderr

    async def says(self, words: str, within_s: float = _LINE_S) -> str:
        """Return the next line on stdout with these words. Raises AssertionError without one."""
        return await _line_with(self.out, words, within_s)

    async def shows(self, words: str, within_s: float = _LINE_S) -> str:
        """Return the next such line on stderr."""
        return await _line_with(self.err, words, within_s)


@asynccontextmanager
async def daemon(
    surroundings: dict[str, str], says: str = "hearth: listening for okay_nabu"
) -> AsyncIterator[Daemon]:
    """Run a daemon that says this once it has started; at the end it must stop cleanly."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "run"),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        running = Daemon(process)
        await running.shows(says)
        yield running
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(10):
            code = await process.wait()
    assert code == 0


async def _line_with(stream: asyncio.StreamReader, words: str, within_s: float) -> str:
    seen: list[str] = []
    try:
        async with asyncio.timeout(within_s):
            while line := (await stream.readline()).decode():
                seen.append(line)
                if words in line:
                    return line
    except TimeoutError:
        raise AssertionError(f"{within_s:g} s without {words!r}: {seen}") from None
    raise AssertionError(f"it ended without {words!r}: {seen}")


async def until_health(port: str, word: str) -> float:
    """Poll until the health is `word`; returns the seconds that took."""
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        async with asyncio.timeout(20):
            while (answer := await client.get("/healthz")).text != word:
                assert answer.status_code == 200, "deaf is not dead"
                await asyncio.sleep(0.05)
    return time.monotonic() - began
