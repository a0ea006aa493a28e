"""The microphone hands on PortAudio's blocks, and notices when they stop."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audio.errors import DeviceLost, InputUnusable
from audio.frames import Frame
from audio.microphone import Microphone

INVALID_RATE = -9997
INVALID_CHANNELS = -9998
UNAVAILABLE = -9985


class PortAudioError(Exception):
    """As sounddevice's: text, then code."""


class Stream:
    """A stream whose blocks the test delivers."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.started = False
        self.closed = False

    def start(self) -> None:
        self.started = True

    def close(self, ignore_errors: bool) -> None:
        self.closed = True
        self.arguments["finished_callback"]()  # as PortAudio does

    def give(self, block: bytes, overflow: bool = False) -> None:
        samples = len(block) // 2 // self.arguments["channels"]
        status = SimpleNamespace(input_overflow=overflow)
        self.arguments["callback"](memoryview(block), samples, None, status)

    def finish(self) -> None:
        self.arguments["finished_callback"]()


class PortAudio:
    """A sounddevice module with one microphone that takes only some rates and channel counts."""

    def __init__(self, accepts: Callable[[int, int], int]) -> None:
        self.PortAudioError = PortAudioError
        self.default = SimpleNamespace(device=[0, -1])
        self.channels = 2
        self.streams: list[Stream] = []
        self.opened = asyncio.Event()
        self._accepts = accepts  # 0 or PortAudio's error code
        self._loop = asyncio.get_running_loop()

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "index": 0,
                "name": "Test microphone",
                "max_input_channels": self.channels,
                "max_output_channels": 0,
                "default_samplerate": 48_000.0,
            }
        ]

    def check_input_settings(
        self, *, device: int, samplerate: int, channels: int, dtype: str
    ) -> None:
        assert (device, dtype) == (0, "int16")
        if code := self._accepts(samplerate, channels):
            raise PortAudioError("Error checking input settings: refused", code)

    def RawInputStream(self, **arguments: Any) -> Stream:  # noqa: N802  (sounddevice's name)
        if code := self._accepts(arguments["samplerate"], arguments["channels"]):
            raise PortAudioError("Error opening RawInputStream: Device unavailable", code)
        stream = Stream(**arguments)
        self.streams.append(stream)
        self._loop.call_soon_threadsafe(self.opened.set)
        return stream


Install = Callable[..., PortAudio]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def install(accepts: Callable[[int, int], int] = lambda rate, channels: 0) -> PortAudio:
        fake = PortAudio(accepts)
        monkeypatch.setitem(sys.modules, "sounddevice", fake)
        return fake

    return install


async def take(frames: AsyncIterator[Frame], count: int) -> list[Frame]:
    return [await anext(frames) for _ in range(count)]


async def begun(microphone: Microphone, portaudio: PortAudio) -> tuple[Any, Stream, Any]:
    """Return the frames, the open stream, and the pending first frame."""
    frames = microphone.frames()
    first = asyncio.ensure_future(anext(frames))
    await portaudio.opened.wait()
    return frames, portaudio.streams[0], first


async def test_blocks_become_frames(install: Install) -> None:
    portaudio = install()
    block = np.arange(1280, dtype="<i2").tobytes()
    async with aclosing(Microphone(block_ms=80).frames()) as frames:
        first = asyncio.ensure_future(anext(frames))
        await portaudio.opened.wait()
        stream = portaudio.streams[0]
        stream.give(block)
        heard = [await first, *await take(frames, 3)]

    assert b"".join(frame.pcm for frame in heard) == block
    assert [frame.start for frame in heard] == [0, 320, 640, 960]
    wish = {key: stream.arguments[key] for key in ("samplerate", "channels", "blocksize", "dtype")}
    assert wish == {"samplerate": 16_000, "channels": 1, "blocksize": 1280, "dtype": "int16"}
    assert stream.started
    assert stream.closed


@pytest.mark.parametrize(
    ("accepts", "rate", "channels"),
    [
        (lambda rate, channels: 0 if rate == 48_000 else INVALID_RATE, 48_000, 1),
        (lambda rate, channels: 0 if channels == 2 else INVALID_CHANNELS, 16_000, 2),
        (
            lambda rate, channels: 0 if (rate, channels) == (48_000, 2) else INVALID_CHANNELS,
            48_000,
            2,
        ),
    ],
)
async def test_what_the_device_has_instead_is_converted(
    install: Install, accepts: Callable[[int, int], int], rate: int, channels: int
) -> None:
    portaudio = install(accepts)
    frames, stream, first = await begun(Microphone(), portaudio)
    assert (stream.arguments["samplerate"], stream.arguments["channels"]) == (rate, channels)
    assert stream.arguments["blocksize"] == rate * 80 // 1000

    times = np.arange(rate) / rate
    tone = (10_000 * np.sin(2 * np.pi * 440 * times)).astype("<i2")
    stream.give(np.repeat(tone, channels).tobytes())
    heard = [await first, *await take(frames, 44)]
    await frames.aclose()

    pcm = np.frombuffer(b"".join(frame.pcm for frame in heard), "<i2").astype(float)
    wanted = 10_000 * np.sin(2 * np.pi * 440 * np.arange(len(pcm)) / 16_000)
    assert np.abs(pcm - wanted)[500:].max() < 50


async def test_a_slow_listener_loses_the_oldest_and_knows_how_much(install: Install) -> None:
    portaudio = install()
    microphone = Microphone(block_ms=40)
    frames, stream, first = await begun(microphone, portaudio)
    for number in range(60):  # 2.4 s without being read; 2 s are kept
        stream.give(np.full(640, number, "<i2").tobytes())
    heard = [await first, *await take(frames, 99)]

    assert microphone.dropped == 10
    assert [int.from_bytes(frame.pcm[:2], "little") for frame in heard[::2]] == list(range(10, 60))
    assert [frame.start for frame in heard] == [320 * number for number in range(100)]
    stream.give(bytes(1280), overflow=True)
    await take(frames, 1)
    assert microphone.dropped == 11
    await frames.aclose()


async def test_a_stream_that_ends_by_itself_gives_its_rest_and_is_lost(install: Install) -> None:
    portaudio = install()
    frames, stream, first = await begun(Microphone(), portaudio)
    stream.give(bytes(1280))
    stream.finish()
    await first
    await take(frames, 1)
    with pytest.raises(DeviceLost, match="has disappeared"):
        await anext(frames)
    assert stream.closed


async def test_a_stream_that_falls_silent_is_lost(install: Install) -> None:
    portaudio = install()
    frames, stream, first = await begun(Microphone(silent_s=0.05), portaudio)
    stream.give(bytes(1280))
    await first
    await take(frames, 1)
    with pytest.raises(DeviceLost, match=r"no audio for 0\.05 s"):
        await anext(frames)
    assert stream.closed


async def test_cancelling_the_listener_closes_the_device(install: Install) -> None:
    portaudio = install()

    async def listen() -> None:
        async with aclosing(Microphone().frames()) as frames:
            async for _ in frames:
                pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(listen())
        await portaudio.opened.wait()
        task.cancel()
    assert portaudio.streams[0].closed


async def test_a_device_that_will_not_open(install: Install) -> None:
    install(lambda rate, channels: UNAVAILABLE)
    with pytest.raises(InputUnusable) as caught:
        await anext(Microphone().frames())
    message = str(caught.value)
    assert '"Test microphone"' in message
    assert "(Device unavailable)" in message or "(refused)" in message
    assert "audio.input" in message


async def test_a_device_that_is_not_there(install: Install) -> None:
    install()
    with pytest.raises(InputUnusable, match='"Røde" is not here'):
        await anext(Microphone("Røde").frames())


def test_block_lengths_that_are_not_allowed() -> None:
    for block_ms in (19, 81):
        with pytest.raises(ValueError, match="20 to 80"):
            Microphone(block_ms=block_ms)


@pytest.mark.parametrize(
    ("channel", "wanted", "opened"), [(1, 100, 1), (2, 200, 2), (4, 400, 4), (None, 250, 4)]
)
async def test_a_chosen_channel_or_the_mean(
    install: Install, channel: int | None, wanted: int, opened: int
) -> None:
    """An array of four channels; it accepts any count, or without a choice only its own."""
    least = 4 if channel is None else channel
    portaudio = install(lambda rate, channels: 0 if channels >= least else INVALID_CHANNELS)
    portaudio.channels = 4
    frames, stream, first = await begun(Microphone(channel=channel), portaudio)
    assert stream.arguments["channels"] == opened
    block = np.tile(np.array([100, 200, 300, 400][:opened], "<i2"), 1280)
    stream.give(block.tobytes())
    frame = await first
    assert set(np.frombuffer(frame.pcm, "<i2").tolist()) == {wanted}
    await frames.aclose()


async def test_a_channel_that_the_device_has_not(install: Install) -> None:
    install()
    with pytest.raises(InputUnusable, match=r"has 2 channels, but audio\.channel is 3"):
        await anext(Microphone(channel=3).frames())


async def test_a_stream_that_does_not_start_is_given_back(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(stream: Stream) -> None:
        raise PortAudioError("Error starting stream: Device unavailable", UNAVAILABLE)

    portaudio = install()
    monkeypatch.setattr(Stream, "start", fails)
    with pytest.raises(InputUnusable, match="Device unavailable"):
        await anext(Microphone().frames())
    assert portaudio.streams[0].closed
