"""A house and a `hearth run` beside this process: the time of a turn, and their costs."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from assistant.interfaces.http_tokens import AdminToken
from tests.benchmarks.processes import cpu_s, family, pss_mb
from tests.devices.daemon import settings

UP_S = 90.0  # until everything is open; with many boxes on two cores that takes long
_STEP_S = 0.05
_TURN_S = 60.0


@dataclass(frozen=True, slots=True)
class House:
    """The simulated house."""

    url: str
    token: str = field(repr=False)
    process: asyncio.subprocess.Process

    async def change(self, count: int, per_s: float) -> None:
        """Let `count` sensors change; return when they have."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"change {count} {per_s}\n".encode())
        await self.process.stdin.drain()
        await self.process.stdout.readline()


@asynccontextmanager
async def simulated_house(size: int) -> AsyncIterator[House]:
    """Yield a house of that size in a separate process."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.benchmarks.scale.serve", str(size)), stdin=pipe, stdout=pipe
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        yield House(told["url"], told["token"], process)
    finally:
        process.stdin.close()
        await process.wait()


@dataclass(frozen=True, slots=True)
class Turn:
    """One typed turn."""

    wall_ms: float  # from the request to its answer
    cpu_ms: float  # of Hearth
    told: Mapping[str, Any] = field(repr=False)  # as `hearth ask --json`

    def done(self) -> bool:
        """Return whether one call was made, and the house was observed to do it."""
        calls = [call["status"] for call in self.told["tool_calls"]]
        return calls == ["done"] and self.told["error"] is None


@dataclass(frozen=True, slots=True)
class Box:
    """A running Hearth without a microphone."""

    pid: int
    folder: Path
    client: httpx.AsyncClient = field(repr=False)
    started_s: float  # from the start of its process until everything stood

    def cpu_s(self) -> float:
        """Return the CPU time used so far, with the child processes."""
        return cpu_s(family(self.pid))

    def pss_mb(self) -> float:
        """Return the memory held now."""
        return pss_mb(family(self.pid))

    async def ask(self, text: str) -> Turn:
        """Run a typed turn. Raises httpx.HTTPError."""
        cpu, began = self.cpu_s(), time.perf_counter()
        answer = await self.client.post("/v1/ask", json={"text": text}, timeout=_TURN_S)
        wall_ms = (time.perf_counter() - began) * 1000
        return Turn(wall_ms, (self.cpu_s() - cpu) * 1000, answer.raise_for_status().json())

    async def scrape(self) -> str:
        """Return the page for Prometheus. Raises httpx.HTTPError."""
        return (await self.client.get("/metrics")).raise_for_status().text


@asynccontextmanager
async def hearth(folder: Path, url: str, token: str, **more: str) -> AsyncIterator[Box]:
    """Run `hearth run` in that house until the block ends.

    `folder`: an empty one, in which its log is written.
    """
    given = settings(
        folder,
        HOME_ASSISTANT__URL=url,
        HOME_ASSISTANT__TOKEN=token,
        AUDIO__INPUT="null",
        AUDIO__OUTPUT="null",
        LIMITS__COMFORT_PER_MINUTE="10000",  # no real wait between two sentences
        **more,
    )
    log = folder / "hearth.log"
    began = time.monotonic()
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", "run"), env=given, stdout=out, stderr=out
        )
    base = f"http://127.0.0.1:{given['HEARTH_HTTP__PORT']}"
    async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
        try:
            await _up(client, process, log)
            secret = await asyncio.to_thread(AdminToken(folder / "data").replace)
            client.headers["Authorization"] = f"Bearer {secret}"
            yield Box(process.pid, folder, client, time.monotonic() - began)
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(30):
                await process.wait()


async def _up(client: httpx.AsyncClient, process: asyncio.subprocess.Process, log: Path) -> None:
    """Wait until it answers programs, which is the end of its start."""
    async with asyncio.timeout(UP_S):
        while True:
            try:
                await client.get("/healthz")
            except httpx.TransportError:
                if process.returncode is not None:
                    told = await asyncio.to_thread(log.read_text)
                    raise RuntimeError(f"Hearth ended: {told[-400:]}") from None
                await asyncio.sleep(_STEP_S)
            else:
                return
