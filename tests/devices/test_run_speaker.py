"""`hearth run` while its loudspeaker goes and returns: it is reported, and nothing old is said."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from tests.chaos.faults import fault
from tests.devices.daemon import daemon, settings, until_health
from tests.devices.pulse import pactl, play

pytestmark = pytest.mark.devices

TOKEN = "t" * 32
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
LOAD = ("load-module", "module-null-sink", "sink_name=passing", "norewinds=1")


@asynccontextmanager
async def _quiet_room(folder: Path) -> AsyncIterator[None]:
    """Make 90 s that are quiet but not digitally silent, which would mean a muted microphone."""
    noise = np.random.default_rng(7).normal(0, 8, 90 * SAMPLE_RATE).astype("<i2")
    write_wav(folder / "quiet.wav", noise.tobytes(), SAMPLE_RATE)
    room = asyncio.create_task(play(folder / "quiet.wav"))
    try:
        yield
    finally:
        room.cancel()
        with suppress(asyncio.CancelledError):
            await room


async def _until(states: AsyncGenerator[dict[str, Any], None], loudspeaker: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        async for state in states:
            if state["loudspeaker"] == loudspeaker and state["microphone"] == "listening":
                return state
    raise AssertionError("it ended")


async def _states(client: httpx.AsyncClient) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the states from the event stream."""
    kind = ""
    async with client.stream("GET", "/v1/events", headers=HEADERS) as told:
        async for line in told.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: ") and kind == "state":
                yield json.loads(line.removeprefix("data: "))


@fault(
    "the loudspeaker disappears while Hearth is silent, and returns",
    hears="no outdated announcements afterwards",
    retried="opening the loudspeaker, as soon as the server reports it",
    kept=("the microphone, which keeps listening; the state names the missing loudspeaker"),
)
async def test_a_loudspeaker_that_goes_and_comes_is_told(tmp_path: Path) -> None:
    module = await pactl(*LOAD)
    surroundings = settings(tmp_path, AUDIO__OUTPUT="passing", HTTP__TOKEN=TOKEN)
    base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
    async with (
        _quiet_room(tmp_path),
        daemon(surroundings) as hearth,
        httpx.AsyncClient(base_url=base, timeout=20) as client,
        aclosing(_states(client)) as states,
    ):
        await _until(states, "ready")
        assert (await client.get("/healthz")).text == "ok"
        await pactl("unload-module", module)
        state = await _until(states, "missing")
        assert [problem for problem in state["problems"] if '"passing"' in problem]
        await hearth.shows('The loudspeaker "passing" is not here')
        assert (await client.get("/healthz")).text == "degraded"
        now = (await client.get("/v1/state", headers=HEADERS)).json()
        assert now["health"] == "degraded"
        assert now["sound"]["microphone"]["last_frame_age_s"] < 2
        assert now["sound"]["loudspeaker"]["status"] == "missing"
        module = await pactl(*LOAD)
        assert (await _until(states, "ready"))["problems"] == []
        await until_health(surroundings["HEARTH_HTTP__PORT"], "ok")
    await pactl("unload-module", module)
