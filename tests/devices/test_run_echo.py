"""`hearth run` and the echo: it listens first, measures in a quiet moment, and reports the
result."""

import asyncio
from pathlib import Path

import httpx
import pytest

from audio.frames import SAMPLE_RATE
from tests.devices.daemon import daemon, settings
from tests.devices.echo_path import echo_path
from tests.devices.monitor import monitor
from tests.devices.test_echo_measure import NOISE, auto, loud
from tests.devices.test_echo_watch import knows, other_loudspeaker

pytestmark = [pytest.mark.devices, pytest.mark.timeout(180)]

TOKEN = "t" * 32


async def until(client: httpx.AsyncClient, reason: str, *, half_duplex: bool) -> None:
    """Poll until the plan is this, for this reason."""
    async with asyncio.timeout(20):
        while True:
            answer = await client.get("/v1/state", headers={"Authorization": f"Bearer {TOKEN}"})
            echo = answer.json()["sound"]["echo"]
            if reason in echo["reason"]:
                assert echo["half_duplex"] is half_duplex
                return
            await asyncio.sleep(0.05)


async def test_the_plan_that_is_told_is_the_one_of_now(tmp_path: Path) -> None:
    surroundings = settings(tmp_path, HTTP__TOKEN=TOKEN)
    await knows(auto(tmp_path / "data"), "cancels")
    base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
    async with daemon(surroundings) as hearth, httpx.AsyncClient(base_url=base) as client:
        await until(client, "removes its own echo", half_duplex=False)
        async with other_loudspeaker() as pull:
            await until(client, "has not been measured", half_duplex=True)
            assert "hdmi" in await hearth.shows("The sound devices are now")
            await pull()
            await until(client, "removes its own echo", half_duplex=False)


async def test_a_daemon_measures_in_a_quiet_moment_and_begins_again(tmp_path: Path) -> None:
    pytest.importorskip("livekit")
    surroundings = settings(tmp_path, HTTP__TOKEN=TOKEN)
    base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
    client = httpx.AsyncClient(base_url=base)
    async with monitor() as sound, echo_path(noise=NOISE), client:
        begun = sound.length
        async with daemon(surroundings) as hearth:
            await until(client, "has not been measured", half_duplex=True)
            assert loud(sound, begun) == 0, "it measured before it listened"
            # A machine that is too busy for a measurement repeats it a minute later.
            await hearth.shows("listening for okay_nabu", within_s=170)
            await until(client, "An echo was measured", half_duplex=False)
            assert loud(sound, begun) > SAMPLE_RATE
        async with daemon(surroundings):
            await until(client, "An echo was measured", half_duplex=False)
