"""The microphone, the loudspeaker and the device list, through PortAudio and a sound server."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from audio.devices import SILENCE_DBFS, find_device, list_devices, measure_level
from audio.devices.portaudio import refresh, register_stream
from audio.microphone import Microphone
from audio.sound_files import read_wav, write_wav
from audio.speaker import Speaker
from tests.devices.pulse import RATE, play, recording
from tests.devices.similarity import similarity

pytestmark = pytest.mark.devices


@pytest.fixture(scope="module")
def second() -> Iterator[str]:
    """Add a second microphone, "other_mic", which hears what is played into the sink of this name.

    The sink is also a second loudspeaker.
    """
    sink = "other_sink"
    loaded = [
        _pactl("load-module", "module-null-sink", f"sink_name={sink}", "rate=44100", "norewinds=1"),
        _pactl(
            *("load-module", "module-remap-source", "source_name=other_mic"),
            *(f"master={sink}.monitor", "source_properties=device.description=Other"),
        ),
    ]
    yield sink
    for module in reversed(loaded):
        _pactl("unload-module", module)


def _pactl(*command: str) -> str:
    asked = subprocess.run(["pactl", *command], check=True, capture_output=True, text=True)
    return asked.stdout.strip()


def test_the_servers_devices_are_listed(second: str) -> None:
    devices = list_devices()
    assert [(device.kind, device.name) for device in devices if device.default] == [
        ("input", "mic"),
        ("output", "speaker"),
    ]
    assert {device.name for device in devices} >= {"other_mic", second}
    assert not [device.name for device in devices if device.name.endswith("monitor")]
    other = find_device("Other", "input")
    assert (other.name, other.rate, other.channels) == ("other_mic", 44_100, 2)
    assert find_device(f"{second}.monitor", "input").monitor


@pytest.mark.parametrize("name", ["other_mic", "mic", "default"])
async def test_the_chosen_microphone_is_the_one_that_hears(
    second: str, clip: Path, tmp_path: Path, name: str
) -> None:
    said, backwards = read_wav(clip), tmp_path / "backwards.wav"
    noise = bytes(np.frombuffer(said, np.int16)[::-1].tobytes())  # as loud, but quite different
    write_wav(backwards, noise, RATE)
    heard = bytearray()
    async with asyncio.TaskGroup() as group:
        playing: list[asyncio.Task[None]] = []
        async for frame in Microphone(name).frames():
            if not playing:
                playing.append(group.create_task(play(clip, second)))
                playing.append(group.create_task(play(backwards)))
            heard += frame.pcm
            if all(task.done() for task in playing) and len(heard) >= len(said) + RATE:
                break
    there, elsewhere = (said, noise) if name == "other_mic" else (noise, said)
    assert similarity(bytes(heard), there) > 0.9
    assert similarity(bytes(heard), elsewhere) < 0.5


@pytest.mark.parametrize("name", ["other_sink", "speaker", "default"])
async def test_the_chosen_loudspeaker_is_the_one_that_plays(
    second: str, clip: Path, name: str
) -> None:
    said = read_wav(clip)
    speaker = Speaker(name)
    player = speaker.stream("voice")
    async with recording() as usual, recording(f"{second}.monitor") as other:
        await player.play(said, RATE)
        await player.drain()
        seconds = len(said) / 2 / RATE + 0.5
        heard = [await usual.read(seconds), await other.read(seconds)]
    await speaker.close()
    if name == second:
        heard.reverse()
    assert similarity(heard[0], said) > 0.9
    assert not any(heard[1])


async def test_the_level_at_a_microphone(second: str, clip: Path) -> None:
    playing = asyncio.create_task(play(clip, second))
    loud = await asyncio.to_thread(measure_level, find_device("other_mic", "input"))
    quiet = await asyncio.to_thread(measure_level, find_device("mic", "input"))
    await playing
    assert loud is not None
    assert -60 < loud < 0
    assert quiet == SILENCE_DBFS


def test_portaudio_starts_anew_between_streams() -> None:
    release = register_stream()
    assert not refresh()
    release()
    assert refresh()
    assert list_devices()


async def test_the_microphone_hears_what_is_played(clip: Path) -> None:
    said = read_wav(clip)
    heard = bytearray()
    starts: list[int] = []
    async with asyncio.TaskGroup() as group:
        playing: asyncio.Task[None] | None = None
        async for frame in Microphone("default").frames():
            playing = playing or group.create_task(play(clip))
            heard += frame.pcm
            starts.append(frame.start)
            if playing.done() and len(heard) >= len(said) + RATE:
                break
    assert similarity(bytes(heard), said) > 0.9
    assert starts == list(range(0, 320 * len(starts), 320))  # nothing lost, nothing repeated


async def test_the_loudspeaker_plays_what_it_is_given(clip: Path) -> None:
    said = read_wav(clip)
    speaker = Speaker("default")
    player = speaker.stream("voice")
    async with recording() as recorder:
        await player.play(said, RATE)
        await player.drain()
        assert player.played_ms == pytest.approx(len(said) / 2 / RATE * 1000, abs=1)
        heard = await recorder.read(len(said) / 2 / RATE + 0.5)
    await speaker.close()
    assert similarity(heard, said) > 0.9


async def test_stop_is_silence_within_a_tenth_of_a_second() -> None:
    tone = np.sin(np.arange(2 * RATE) * 0.2) * 8000
    speaker = Speaker("default")
    player = speaker.stream("voice")
    async with recording() as recorder:
        await player.play(tone.astype(np.int16).tobytes(), RATE)
        await recorder.read(0.5)
        player.stop()
        stopped = recorder.now
        # a tenth, and the amount by which `now` may be too low
        await recorder.read(stopped + 0.15 - 0.5)
        after = await recorder.read(1.0)
    await speaker.close()
    assert player.played_ms < 1000  # of two seconds
    assert not any(after)
