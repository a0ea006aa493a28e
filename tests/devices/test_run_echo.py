"""`hearth run` tells the truth of its echo plan when the default loudspeaker is another one."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.devices.daemon import daemon, settings
from tests.devices.test_echo_measure import auto
from tests.devices.test_echo_watch import knows, other_loudspeaker

pytestmark = [pytest.mark.devices, pytest.mark.timeout(180)]

TOKEN = "t" * 32


async def until(client: httpx.AsyncClient, reason: str, *, half_duplex: bool) -> None:
    """Ask until it is so for this reason."""
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
