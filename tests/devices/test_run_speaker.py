"""`hearth run` while its loudspeaker goes and comes: it is told, and nothing old is said."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.faults import fault
from tests.devices.daemon import daemon, settings, until_health

pytestmark = pytest.mark.devices

TOKEN = "t" * 32
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
LOAD = ("load-module", "module-null-sink", "sink_name=passing", "norewinds=1")


async def _pactl(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "pactl", *command, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    return told.decode().strip()


async def _until(states: AsyncGenerator[dict[str, Any], None], loudspeaker: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        async for state in states:
            if state["loudspeaker"] == loudspeaker and state["microphone"] == "listening":
                return state
    raise AssertionError("it ended")


async def _states(client: httpx.AsyncClient) -> AsyncGenerator[dict[str, Any], None]:
    async with client.stream("GET", "/v1/events", headers=HEADERS) as told:
        async for line in told.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


@fault(
    "the loudspeaker goes while nothing is said, and comes back",
    hears="nothing old afterwards",
    retried="the loudspeaker, as soon as the server tells of it",
    kept="the microphone listens on; a sentence with its name stands in the state meanwhile",
)
async def test_a_loudspeaker_that_goes_and_comes_is_told(tmp_path: Path) -> None:
    module = await _pactl(*LOAD)
    surroundings = settings(tmp_path, AUDIO__OUTPUT="passing", HTTP__TOKEN=TOKEN)
    base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
    async with (
        daemon(surroundings) as hearth,
        httpx.AsyncClient(base_url=base) as client,
        aclosing(_states(client)) as states,
    ):
        await _until(states, "ready")
        assert (await client.get("/healthz")).text == "ok"
        await _pactl("unload-module", module)
        state = await _until(states, "missing")
        assert [problem for problem in state["problems"] if '"passing"' in problem]
        await hearth.shows('The loudspeaker "passing" is not here')
        assert (await client.get("/healthz")).text == "degraded"
        now = (await client.get("/v1/state", headers=HEADERS)).json()
        assert now["health"] == "degraded"
        assert now["sound"]["microphone"]["last_frame_age_s"] < 2
        assert now["sound"]["loudspeaker"]["status"] == "missing"
        module = await _pactl(*LOAD)
        assert (await _until(states, "ready"))["problems"] == []
        await until_health(surroundings["HEARTH_HTTP__PORT"], "ok")
    await _pactl("unload-module", module)
