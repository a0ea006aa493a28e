"""`hearth run` when its microphone goes amid a sentence: it says so, and hears again."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.faults import fault
from tests.devices.daemon import daemon, settings, until_health
from tests.devices.pulse import play

pytestmark = [pytest.mark.devices, pytest.mark.timeout(120)]

TOKEN = "t" * 32
WITHIN_S = 20.0
LONG = "okay naboo, please tell me all that you know about the history of the city of rome and of"


@pytest.fixture
def long_sentence(tmp_path: Path) -> Path:
    """The wake word, and some five seconds of a sentence that does not end."""
    path = tmp_path / "long.wav"
    subprocess.run(["flite", "-voice", "rms", "-t", LONG, "-o", str(path)], check=True)
    return path


async def _pactl(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "pactl", *command, stdout=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0


@asynccontextmanager
async def unplugged() -> AsyncIterator[None]:
    """The microphone is away while the block runs."""
    await _pactl("unload-module", "module-remap-source")
    try:
        yield
    finally:
        master = "master=micsink.monitor"
        await _pactl("load-module", "module-remap-source", "source_name=mic", master)
        await _pactl("set-default-source", "mic")


@fault(
    "the microphone is unplugged in the middle of a sentence",
    hears="“I lost the microphone while you were speaking, so I did not hear the end of that.”; a "
    "rising tone when it is back",
    retried="the microphone, at once when the server tells of it, else up to every 2 s",
    kept="half a sentence is not acted on; the next one is heard",
)
async def test_it_goes_amid_a_sentence(long_sentence: Path, command: Path, tmp_path: Path) -> None:
    surroundings = settings(tmp_path, HTTP__TOKEN=TOKEN)
    port = surroundings["HEARTH_HTTP__PORT"]
    async with daemon(surroundings) as hearth:
        await asyncio.sleep(2.0)  # the wake engine fills its window
        speaking = asyncio.ensure_future(play(long_sentence))
        await _until(port, "/v1/state", lambda state: state["state"] == "listening")
        async with unplugged():
            await speaking
            await hearth.says("I lost the microphone while you were speaking")
            await until_health(port, "degraded")
        await until_health(port, "ok")
        await asyncio.sleep(1.0)
        await play(command)
        await _until(port, "/v1/turns?limit=1", lambda turns: bool(turns[0]["heard"]))


async def _until(port: str, path: str, holds: Callable[[Any], bool]) -> None:
    """That holds of what is told there."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        asyncio.timeout(WITHIN_S),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client,
    ):
        while not holds((await client.get(path)).json()):  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.1)
