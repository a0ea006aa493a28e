"""The loudspeaker, with a PortAudio that the test turns by hand."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audio import speaker
from audio.devices import DeviceInfo, Kind
from audio.errors import DeviceLost, InputUnusable
from audio.speaker import DevicePlayer

RATE = 22_050
SECOND = (np.arange(RATE) % 1000 + 1).astype(np.int16).tobytes()


class FakeStream:
    """What sounddevice.RawOutputStream is to us."""

    latency = 0.0

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.active = False
        self.closed = False
        self._callback: Callable[..., None] = settings["callback"]

    def start(self) -> None:
        self.active = True

    def abort(self, ignore_errors: bool = True) -> None:
        self.active = False

    def close(self, ignore_errors: bool = True) -> None:
        self.closed = True

    def pull(self, samples: int) -> bytes:
        out = bytearray(samples * 2 * self.settings["channels"])
        self._callback(out, samples, None, None)
        return bytes(out)


class FakePortAudio:
    """Accepts what the test says."""

    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        self.rates = {RATE}
        self.channels = 1
        self.streams: list[FakeStream] = []

    def check_output_settings(self, **settings: Any) -> None:
        if settings["samplerate"] not in self.rates or settings["channels"] != self.channels:
            raise self.PortAudioError

    def RawOutputStream(self, **settings: Any) -> FakeStream:  # noqa: N802 (PortAudio's name)
        self.streams.append(FakeStream(**settings))
        return self.streams[-1]


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    fake = FakePortAudio()
    device = DeviceInfo("box", "output", 2, 48_000, default=True, index=3)
    monkeypatch.setattr(speaker, "load_portaudio", lambda: fake)
    monkeypatch.setattr(speaker, "find_device", lambda name, kind: device)
    return fake


async def test_it_opens_at_the_first_sound_and_hands_over_every_sample(
    portaudio: FakePortAudio,
) -> None:
    player = DevicePlayer()
    assert portaudio.streams == []
    await player.play(SECOND[:2000], RATE)
    await player.play(SECOND[2000:], RATE)
    [stream] = portaudio.streams
    assert (stream.settings["device"], stream.settings["samplerate"]) == (3, RATE)
    assert stream.pull(441) == SECOND[:882]
    assert player.played_ms == pytest.approx(20)
    assert stream.pull(RATE) == SECOND[882:] + bytes(882)  # silence where no sound is left
    assert player.played_ms == pytest.approx(1000)
    await player.drain()
    await player.close()
    assert stream.closed
    assert player.played_ms == pytest.approx(1000)


async def test_stop_silences_the_next_block_and_keeps_the_stream(portaudio: FakePortAudio) -> None:
    player = DevicePlayer()
    await player.play(SECOND, RATE)
    [stream] = portaudio.streams
    stream.pull(441)
    player.stop()
    assert not any(stream.pull(441))
    assert player.played_ms == pytest.approx(20)
    await player.drain()
    await player.play(SECOND, RATE)
    assert stream.pull(441) == SECOND[:882]
    assert len(portaudio.streams) == 1
    await player.close()


async def test_play_waits_for_room_and_stop_drops_what_waits(portaudio: FakePortAudio) -> None:
    player = DevicePlayer()
    for _ in range(3):
        await player.play(SECOND, RATE)
    [stream] = portaudio.streams
    waiting = asyncio.create_task(player.play(SECOND, RATE))
    await asyncio.sleep(3 * speaker.POLL_SECONDS)
    assert not waiting.done()
    player.stop()
    await waiting
    assert not any(stream.pull(441))
    await player.close()


@pytest.mark.parametrize(("rates", "channels"), [({48_000}, 1), ({48_000, RATE}, 2)])
async def test_it_takes_what_the_device_offers(
    portaudio: FakePortAudio, rates: set[int], channels: int
) -> None:
    portaudio.rates, portaudio.channels = rates, channels
    player = DevicePlayer()
    await player.play(SECOND, RATE)
    drained = asyncio.create_task(player.drain())
    await asyncio.sleep(0)
    [stream] = portaudio.streams
    assert stream.settings["samplerate"] == (RATE if channels == 2 else 48_000)
    sound = np.frombuffer(stream.pull(2 * 48_000), np.int16)
    await drained
    assert player.played_ms == pytest.approx(1000, abs=1)
    if channels == 2:
        assert np.array_equal(sound[::2], sound[1::2])
        assert sound[::2].tobytes().startswith(SECOND)
    await player.close()


async def test_a_stream_that_died_is_told_and_opened_again(portaudio: FakePortAudio) -> None:
    player = DevicePlayer()
    await player.play(SECOND, RATE)
    portaudio.streams[0].active = False
    with pytest.raises(DeviceLost, match="has stopped taking sound"):
        await player.drain()
    assert portaudio.streams[0].closed
    await player.play(SECOND, RATE)
    assert portaudio.streams[1].pull(441) == SECOND[:882]
    await player.close()


async def test_a_device_that_asks_for_nothing_is_lost(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaker, "SILENT_SECONDS", 0.05)
    player = DevicePlayer()
    await player.play(SECOND, RATE)
    with pytest.raises(DeviceLost):
        await player.drain()


async def test_a_device_that_takes_no_format_is_lost(portaudio: FakePortAudio) -> None:
    portaudio.rates = set()
    with pytest.raises(DeviceLost, match=r"audio\.output"):
        await DevicePlayer().play(SECOND, RATE)


async def test_no_device_is_one_sentence(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str, kind: str) -> DeviceInfo:
        raise InputUnusable("There is no loudspeaker.")

    monkeypatch.setattr(speaker, "find_device", nothing)
    with pytest.raises(InputUnusable):
        await DevicePlayer().play(SECOND, RATE)


async def test_a_stream_that_opens_after_nobody_waits_for_it_is_closed(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, may_open, closed = threading.Event(), threading.Event(), threading.Event()
    find = vars(speaker)["find_device"]  # the fixture's

    def slowly(name: str, kind: Kind) -> DeviceInfo:
        asked.set()
        assert may_open.wait(10)
        found: DeviceInfo = find(name, kind)
        return found

    monkeypatch.setattr(speaker, "find_device", slowly)
    monkeypatch.setattr(FakeStream, "close", lambda stream, ignore_errors: closed.set())
    player = DevicePlayer()
    playing = asyncio.create_task(player.play(SECOND, RATE))
    await asyncio.to_thread(asked.wait, 10)
    playing.cancel()
    await asyncio.wait([playing])
    may_open.set()
    assert await asyncio.to_thread(closed.wait, 10)


async def test_a_stream_that_does_not_start_is_closed(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(stream: FakeStream) -> None:
        raise FakePortAudio.PortAudioError

    monkeypatch.setattr(FakeStream, "start", refuses)
    with pytest.raises(DeviceLost):
        await DevicePlayer().play(SECOND, RATE)
    assert [stream.closed for stream in portaudio.streams] == [True]
