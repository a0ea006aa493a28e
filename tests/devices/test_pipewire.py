"""The same tests with PipeWire instead of the server, if it is installed."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from audio.devices import find_device, list_devices
from audio.devices.watch import DeviceWatch
from audio.microphone import Microphone
from audio.sound_files import read_wav
from audio.speaker import Speaker
from tests.devices.pipewire import installed, pipewire_server
from tests.devices.pulse import RATE, play, recording
from tests.devices.similarity import similarity

pytestmark = [
    pytest.mark.devices,
    pytest.mark.skipif(not installed(), reason="PipeWire is not installed"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pipewire_server(tmp_path_factory.mktemp("pipewire")) as server:
        yield server


@pytest.fixture(autouse=True)
def _there(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SERVER", server)


def test_its_devices_are_listed() -> None:
    devices = list_devices()
    assert {device.name for device in devices} == {
        *("mic", "other_mic", "speaker", "micsink", "other_sink")
    }
    assert {device.backend for device in devices} == {"server"}
    assert [device.name for device in devices if device.default] == ["mic", "speaker"]
    assert find_device("speaker.monitor", "input").monitor


async def test_the_chosen_microphone_is_the_one_that_hears(clip: Path) -> None:
    said = read_wav(clip)
    heard = bytearray()
    async with DeviceWatch() as watch, asyncio.TaskGroup() as group:
        playing: asyncio.Task[None] | None = None
        async for frame in Microphone("other_mic").frames():
            playing = playing or group.create_task(play(clip, "other_sink"))
            heard += frame.pcm
            if playing.done() and len(heard) >= len(said) + RATE:
                place = await watch.place()
                break
    assert similarity(bytes(heard), said) > 0.9
    assert place is not None
    assert (place.name, place.monitor, place.muted) == ("other_mic", False, False)


async def test_the_chosen_loudspeaker_is_the_one_that_plays(clip: Path) -> None:
    said = read_wav(clip)
    speaker = Speaker("other_sink")
    player = speaker.stream("voice")
    async with recording("other_sink.monitor") as chosen, recording("speaker.monitor") as usual:
        await player.play(said, RATE)
        await player.drain()
        assert any(await chosen.read(len(said) / 2 / RATE + 1.0))
        assert not any(await usual.read(len(said) / 2 / RATE))
    await speaker.close()


async def test_a_microphone_that_comes_is_told() -> None:
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, 10)  # the server was found
        seen = watch.changes
        loading = await asyncio.create_subprocess_exec(
            *("pactl", "load-module", "module-null-sink", "sink_name=passing"),
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await loading.wait() == 0
        assert await watch.wait_change(seen, 10)
