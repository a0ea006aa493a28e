"""`hearth run` when its microphone goes during a sentence: it reports that and recovers."""

import asyncio
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from audio.earcons import earcon
from audio.resampling import resample
from tests.chaos.faults import fault
from tests.devices.daemon import daemon, settings, until_health
from tests.devices.pulse import RATE, Recorder, pactl, play, recording
from tests.devices.similarity import similarity

pytestmark = [pytest.mark.devices, pytest.mark.timeout(120)]

TOKEN = "t" * 32
WITHIN_S = 20.0
ALIKE = 0.9  # correlation of a tone with its recording
WINDOW_S = 1.0  # of sound, until the wake engine can judge
LONG = "okay naboo, please tell me all that you know about the history of the city of rome and of"
LOST = (
    "I lost the microphone while you were speaking, so I didn't hear the end of that. "
    "Please say it again."
)


@pytest.fixture
def long_sentence(tmp_path: Path) -> Path:
    """Make the wake word and some five seconds of a sentence that does not end."""
    path = tmp_path / "long.wav"
    subprocess.run(["flite", "-voice", "rms", "-t", LONG, "-o", str(path)], check=True)
    return path


async def _newest_recorder() -> str:
    """Return the number of the newest recording stream."""
    rows = (await pactl("list", "short", "source-outputs")).splitlines()
    return max((row.split()[0] for row in rows), key=int)


@asynccontextmanager
async def unplugged() -> AsyncIterator[None]:
    """Remove the microphone while the block runs."""
    await pactl("unload-module", "module-remap-source")
    try:
        yield
    finally:
        master = "master=micsink.monitor"
        await pactl("load-module", "module-remap-source", "source_name=mic", master)
        await pactl("set-default-source", "mic")


@fault(
    "the microphone is unplugged in the middle of a sentence",
    hears=f"“{LOST}”; a rising tone when it is back",
    retried=(
        "opening the microphone, immediately if the server reports it, otherwise every 2 s or less"
    ),
    kept="everything; Hearth ignores the half sentence and hears the next one",
)
async def test_it_goes_amid_a_sentence(long_sentence: Path, command: Path, tmp_path: Path) -> None:
    surroundings = settings(tmp_path, HTTP__TOKEN=TOKEN)
    port = surroundings["HEARTH_HTTP__PORT"]
    async with daemon(surroundings) as hearth:
        await asyncio.sleep(WINDOW_S)
        speaking = asyncio.ensure_future(play(long_sentence))
        await _until(port, "/v1/state", lambda state: state["state"] == "listening")
        async with AsyncExitStack() as away:
            await away.enter_async_context(unplugged())
            await speaking
            await hearth.says(LOST)
            await until_health(port, "degraded")
            await _until(port, "/v1/state", lambda state: state["state"] == "fault")
            async with recording() as loudspeaker:
                recorder = await _newest_recorder()
                await away.aclose()  # it is plugged in again
                # The server has moved every recording stream to it, including ours.
                await pactl("move-source-output", recorder, "speaker.monitor")
                await until_health(port, "ok")
                await _gives_off("unmute", loudspeaker)
        await asyncio.sleep(WINDOW_S)
        await play(command)
        await hearth.shows("light.dining_room on")
        turns = await _until(port, "/v1/turns", lambda turns: len(turns) == 3)
    done, announced, cut = turns
    assert [turn["source"] for turn in turns] == ["voice", "announcement", "voice"]
    assert (cut["error"]["kind"], announced["answer"]) == ("microphone_lost", LOST)
    assert (done["error"], done["heard"]) == (None, "turn off the dining room light")
    called = _turns_of_calls(Path(surroundings["HEARTH_ASSISTANT__DATA"]))
    assert called == [done["turn_id"]], "half a sentence is not acted on"


def _turns_of_calls(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "hearth.db", timeout=5.0)) as journal:
        return [turn for (turn,) in journal.execute("SELECT turn_id FROM calls")]


async def _gives_off(tone: str, loudspeaker: Recorder) -> None:
    """Wait until that tone is played."""
    sound, heard = resample(*earcon(tone), RATE), b""
    piece = len(sound) // 2 / RATE  # its length in seconds
    async with asyncio.timeout(WITHIN_S):
        while similarity(heard, sound) < ALIKE:
            heard = heard[-len(sound) :] + await loudspeaker.read(piece)


async def _until(port: str, path: str, holds: Callable[[Any], bool]) -> Any:
    """Poll the path until `holds` is true of its answer, and return that."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        asyncio.timeout(WITHIN_S),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client,
    ):
        while not holds(told := (await client.get(path)).json()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return told
