"""`hearth run` when the sound server dies: the process survives, reports it, and recovers."""

import asyncio
import os
import tempfile
from pathlib import Path
from unittest import mock

import pytest

from tests.chaos.faults import fault
from tests.devices.daemon import daemon, settings, until_health
from tests.devices.pulse import SoundServer, play

pytestmark = [pytest.mark.devices, pytest.mark.timeout(180)]

WITHIN_S = 3.0


@fault(
    ("the sound server is missing at the start, starts, is killed and restarts"),
    hears="nothing; commands work within 3 s after the sound server's return",
    retried=(
        "opening the microphone, immediately if the server reports its start, otherwise every 2 s "
        "or less"
    ),
    kept="the process; its state is `degraded` while it can't hear",
)
async def test_it_starts_without_a_sound_server_and_outlives_one(
    command: Path, tmp_path: Path
) -> None:
    with tempfile.TemporaryDirectory(prefix="hearth-heal-") as name:
        server = SoundServer(Path(name))
        with mock.patch.dict(os.environ, server.surroundings):
            surroundings = settings(tmp_path)
            port = surroundings["HEARTH_HTTP__PORT"]
            try:
                async with daemon(surroundings, "hearth: not listening") as hearth:
                    await until_health(port, "degraded")
                    await asyncio.to_thread(server.start)
                    took = [await until_health(port, "ok")]
                    await asyncio.to_thread(server.kill)
                    await until_health(port, "degraded")
                    await asyncio.to_thread(server.start)
                    took.append(await until_health(port, "ok"))
                    print(f"  listening after {', '.join(f'{s:.2f}' for s in took)} s")
                    assert max(took) <= WITHIN_S
                    await asyncio.sleep(2)  # the wake engine fills its window, even under load
                    await play(command)
                    await hearth.shows("light.dining_room on")
                    await hearth.says("dining room light")
            finally:
                await asyncio.to_thread(server.stop)
