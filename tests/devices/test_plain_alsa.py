"""Plain ALSA without a sound server: devices are listed, heard and played."""

import asyncio
import json
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest

from assistant.interfaces.status import HEALTH_S
from audio.sound_files import read_wav
from tests.devices.daemon import daemon, settings, until_health
from tests.devices.plain_alsa import NAME, PLAYED_RATE, PLUGGED, PlainAlsa, plain_alsa

pytestmark = pytest.mark.devices

TONE_DBFS = -20.0
TOKEN = "t" * 32
SETTLED_S = 8.0  # after which the microphone may close for a moment


async def _hearth(surroundings: dict[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", *arguments),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        told, _ = await process.communicate()
    assert process.returncode == 0
    return told.decode()


async def _stands(client: httpx.AsyncClient, *words: str, within_s: float = 20.0) -> list[str]:
    """Wait for this state; returns everything reported until then."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    seen = []
    async with (
        asyncio.timeout(within_s),
        client.stream("GET", "/v1/events", headers=headers, timeout=None) as told,
    ):
        async for line in told.aiter_lines():
            seen.append(line)
            if all(word in line for word in words):
                return seen
    raise AssertionError("it ended")


async def _listens(client: httpx.AsyncClient) -> None:
    """Wait until the microphone gives sound."""
    await _stands(client, '"microphone": "listening"')


async def test_the_devices_are_listed_with_their_levels(tmp_path: Path) -> None:
    # As fast as it is read, and with as many channels as ALSA's null device has.
    peak = 32768 * 10 ** ((TONE_DBFS + 3) / 20)
    tone = (np.sin(np.arange(16_000_000) * 0.05) * peak).astype("<i2")
    (tmp_path / "tone").write_bytes(tone.tobytes())
    alsa = PlainAlsa(tmp_path, tmp_path / "tone")
    given = {**alsa.surroundings, "HEARTH_ASSISTANT__DATA": str(tmp_path / "data")}
    devices = json.loads(await _hearth(given, "devices", "--json"))
    named = {(device["kind"], device["name"]): device for device in devices}
    assert {backend["backend"] for backend in devices} == {"alsa"}
    assert {("input", NAME), ("output", NAME)} <= set(named)
    assert named["input", NAME]["level_dbfs"] == pytest.approx(TONE_DBFS, abs=0.5)
    assert named["input", "nothing"]["level_dbfs"] == -100.0
    assert [name for (kind, name), one in named.items() if kind == "input" and one["default"]]


async def test_a_spoken_command_is_answered_aloud(command: Path, tmp_path: Path) -> None:
    with plain_alsa(tmp_path) as (alsa, room):
        surroundings = {
            **settings(tmp_path, AUDIO__INPUT=NAME, AUDIO__OUTPUT=NAME, HTTP__TOKEN=TOKEN),
            **alsa.surroundings,
        }
        base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
        async with daemon(surroundings) as hearth, httpx.AsyncClient(base_url=base) as client:
            await _listens(client)
            assert (await client.get("/healthz")).text == "ok"
            room.say(read_wav(command))  # at its 16 kHz
            await hearth.shows("light.dining_room on")
            assert (await hearth.says("dining room light")).strip()
            sound = np.frombuffer(room.given, "<i2")
            assert (await client.get("/healthz")).text == "ok"
    loud = np.abs(sound.astype(int)) > 1000
    assert loud.sum() > 0.2 * PLAYED_RATE, "the loudspeaker gave no answer"


@pytest.mark.timeout(240)  # if udev's event may not be sent, it takes a minute
async def test_a_loudspeaker_that_is_plugged_in_is_found_while_the_microphone_is_open(
    tmp_path: Path,
) -> None:
    listening, missing, ready = (
        '"microphone": "listening"',
        '"loudspeaker": "missing"',
        '"loudspeaker": "ready"',
    )
    with plain_alsa(tmp_path) as (alsa, _):
        surroundings = {
            **settings(tmp_path, AUDIO__INPUT=NAME, AUDIO__OUTPUT=PLUGGED, HTTP__TOKEN=TOKEN),
            **alsa.surroundings,
        }
        base = f"http://127.0.0.1:{surroundings['HEARTH_HTTP__PORT']}"
        async with daemon(surroundings), httpx.AsyncClient(base_url=base) as client:
            await _stands(client, listening, missing)
            await asyncio.sleep(SETTLED_S)
            alsa.plug_in()
            # At once if udev reports it; otherwise the microphone closes briefly once a minute.
            told = await _stands(client, listening, ready, within_s=90)
            assert not [line for line in told if '"microphone": "missing"' in line]
            assert await until_health(surroundings["HEARTH_HTTP__PORT"], "ok") < HEALTH_S + 1
