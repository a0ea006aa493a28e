"""The microphone, the loudspeaker and the list of devices, through PortAudio and a sound server."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from audio.devices import list_devices
from audio.microphone import Microphone
from audio.speaker import DevicePlayer
from audio.wav import read_wav
from tests.devices.pulse import RATE, play, recording
from tests.devices.similarity import similarity

pytestmark = pytest.mark.devices


def test_both_directions_are_listed_with_a_default() -> None:
    devices = list_devices()
    for kind in ("input", "output"):
        assert [device.name for device in devices if device.kind == kind and device.default]


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
    assert starts == list(range(0, 320 * len(starts), 320))  # nothing lost, nothing twice


async def test_the_loudspeaker_plays_what_it_is_given(clip: Path) -> None:
    said = read_wav(clip)
    player = DevicePlayer("default")
    async with recording() as recorder:
        await player.play(said, RATE)
        await player.drain()
        assert player.played_ms == pytest.approx(len(said) / 2 / RATE * 1000, abs=1)
        heard = await recorder.read(len(said) / 2 / RATE + 0.5)
    await player.close()
    assert similarity(heard, said) > 0.9


async def test_stop_is_silence_within_a_tenth_of_a_second() -> None:
    tone = np.sin(np.arange(2 * RATE) * 0.2) * 8000
    player = DevicePlayer("default")
    async with recording() as recorder:
        await player.play(tone.astype(np.int16).tobytes(), RATE)
        await recorder.read(0.5)
        player.stop()
        stopped = recorder.now
        await recorder.read(stopped + 0.15 - 0.5)  # a tenth, and what `now` may be short of
        after = await recorder.read(1.0)
    await player.close()
    assert player.played_ms < 1000  # of two seconds
    assert not any(after)
