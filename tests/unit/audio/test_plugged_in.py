"""Plain ALSA: a loudspeaker that is plugged in while the microphone is open is found."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audio.device_status import AGAIN_S, SETTLE_S, MicrophoneChange, MicrophoneStatus, SpeakerStatus
from audio.devices import server
from audio.frames import SAMPLE_RATE, Frame
from audio.microphone import DeviceInput
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from tests.fakes.sound import FakeWatch, InlineCalls
from tests.unit.audio.steady_stage import BLOCK_S, QuickClock

MISSING, READY = SpeakerStatus.MISSING, SpeakerStatus.READY
SETTLED_S = 5.0  # of sound, before the microphone closes


class PortAudioError(Exception):
    """As sounddevice's."""


class Stream:
    latency = 0.01
    active = True

    def __init__(self, portaudio: "PortAudio", settings: dict[str, Any]) -> None:
        self.settings = settings
        self._portaudio = portaudio

    def start(self) -> None:
        self._portaudio.open.append(self)

    def abort(self, ignore_errors: bool) -> None: ...

    def close(self, ignore_errors: bool) -> None:
        self._portaudio.open.remove(self)


class PortAudio:
    """A sounddevice module that lists at its start what is plugged in."""

    PortAudioError = PortAudioError

    def __init__(self) -> None:
        self.plugged = [("Microphone", 1, 0)]  # name, channels in and out
        self.open: list[Stream] = []
        self.default = SimpleNamespace(device=[0, -1])
        self.starts = -1  # beyond the first
        self._initialized = 0
        self._initialize()

    def _initialize(self) -> None:
        self._initialized += 1
        self.starts += 1
        self._listed = list(self.plugged)

    def _terminate(self) -> None:
        assert not self.open, "it would take every open stream away"
        self._initialized -= 1

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "index": index,
                "name": name,
                "max_input_channels": inputs,
                "max_output_channels": outputs,
                "default_samplerate": 48_000.0,
            }
            for index, (name, inputs, outputs) in enumerate(self._listed)
        ]

    def check_input_settings(self, **settings: Any) -> None: ...

    def check_output_settings(self, **settings: Any) -> None: ...

    def RawInputStream(self, **settings: Any) -> Stream:  # noqa: N802  (sounddevice's name)
        return Stream(self, settings)

    RawOutputStream = RawInputStream


class Room:
    """A listening microphone, a loudspeaker, and a clock."""

    def __init__(self, portaudio: PortAudio) -> None:
        self.portaudio = portaudio
        self.clock = QuickClock()
        self.watch = FakeWatch()
        self.calls = InlineCalls()
        self.told: list[MicrophoneStatus] = []
        self.frames: list[Frame] = []
        self.speaker = Speaker("Loudspeaker", clock=self.clock, calls=self.calls)
        self.speaker.presence.follow(self.watch)
        self.microphone = SteadyMicrophone(
            DeviceInput("Microphone"),
            clock=self.clock,
            watch=self.watch,
            before_refresh=self.speaker.release,
            calls=self.calls,
        )
        self.microphone.on_change = self._note

    def _note(self, change: MicrophoneChange) -> None:
        self.told.append(change.status)

    @property
    def status(self) -> SpeakerStatus:
        return self.speaker.presence.status

    async def listen(self) -> None:
        async for frame in self.microphone.frames():
            self.frames.append(frame)

    async def passes(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        block = np.arange(round(BLOCK_S * SAMPLE_RATE), dtype="<i2").tobytes()
        status = SimpleNamespace(input_overflow=False)
        for _ in range(round(seconds / BLOCK_S)):
            await self.clock.run(BLOCK_S)
            for stream in self.portaudio.open:
                stream.settings["callback"](memoryview(block), 0, None, status)
            await self.clock.settle()
            if until():
                return


@asynccontextmanager
async def room_of(portaudio: PortAudio, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    monkeypatch.setitem(sys.modules, "sounddevice", portaudio)
    monkeypatch.setattr(server, "load_pulsectl", lambda: None)
    room = Room(portaudio)
    listening = asyncio.create_task(room.listen())
    try:
        yield room
    finally:
        listening.cancel()
        await asyncio.wait([listening])
        await room.speaker.close()
    assert not portaudio.open


async def test_it_is_found_within_seconds_and_the_microphone_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with room_of(PortAudio(), monkeypatch) as room:
        room.speaker.presence.follow(room.watch, room.microphone.make_way)
        await room.passes(20.0)
        assert room.status is MISSING
        starts = room.portaudio.starts
        room.portaudio.plugged.append(("Loudspeaker", 0, 2))
        room.watch.tell()
        before = room.clock.monotonic()
        await room.passes(10.0, lambda: room.status is READY)
        assert room.status is READY
        assert room.clock.monotonic() - before < SETTLE_S + AGAIN_S + 0.5
        assert room.portaudio.starts == starts + 1
        await room.passes(60.0)
        assert room.portaudio.starts == starts + 1, "it lets go no more"
        assert room.told == [MicrophoneStatus.LISTENING]
    heard = [frame.start for frame in room.frames]
    assert heard == sorted(heard)
    assert heard[-1] / SAMPLE_RATE == pytest.approx(room.clock.monotonic(), abs=0.5)


async def test_while_somebody_speaks_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async with room_of(PortAudio(), monkeypatch) as room:
        room.speaker.presence.follow(room.watch, room.microphone.make_way)
        await room.passes(20.0)
        room.portaudio.plugged.append(("Loudspeaker", 0, 2))
        starts, rests = room.portaudio.starts, False
        room.microphone.at_rest = lambda: rests
        room.watch.tell()
        await room.passes(30.0)
        assert (room.status, room.portaudio.starts) == (MISSING, starts)
        rests = True
        await room.passes(2 * AGAIN_S + 0.5)
        assert room.status is READY


async def test_with_a_sound_server_the_microphone_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with room_of(PortAudio(), monkeypatch) as room:
        monkeypatch.setattr("audio.playback.has_server", lambda: True)
        room.speaker.presence.follow(room.watch, room.microphone.make_way)
        await room.passes(SETTLED_S * 4)
        room.watch.tell()
        await room.passes(90.0)
        assert (room.status, room.portaudio.starts) == (MISSING, 0)
