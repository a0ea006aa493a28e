"""A loudspeaker on a device that the test drives by hand, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import numpy as np

from assistant.domain.clock import VirtualClock
from audio.device_status import SpeakerChange
from audio.errors import AudioError
from audio.mixer import RATE, Mixer
from audio.playback import DevicePlayback
from audio.player import Player
from audio.speaker import Speaker
from tests.fakes.sound import FakeWatch, InlineCalls

Result = TypeVar("Result")
BLOCK = RATE // 50
SOUND = (np.sin(np.arange(RATE) * 0.05) * 8000).astype(np.int16)
SECOND = SOUND.tobytes()


class Device(DevicePlayback):
    """A device that takes sound when the test pulls it."""

    alive = False

    def __init__(self, rig: "Rig", mixer: Mixer) -> None:
        super().__init__("box", mixer, rig.clock)
        self._rig = rig
        self.closed = False
        self.left = False

    def look(self) -> None:
        self._rig.devices.remove(self)  # it will not be opened
        self._rig.looks.append(self._rig.clock.monotonic())
        if self._rig.trouble is not None:
            raise self._rig.trouble

    def open(self) -> None:
        if self._rig.trouble is not None:
            raise self._rig.trouble
        self.alive = True
        self.asked_at = self._rig.clock.monotonic()

    def close(self) -> None:
        self.alive = False
        self.closed = True

    def leave(self) -> None:
        self.left = True

    def pull(self) -> bytes:
        self.asked_at = self._rig.clock.monotonic()
        return self._mixer.mix(BLOCK, self.asked_at + self._rig.buffer_s)


class Rig:
    """A speaker, its devices in the order of their opening, and a clock."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.calls = InlineCalls()
        self.devices: list[Device] = []  # devices that were opened, or should have been
        self.looks: list[float] = []  # times of looks without opening
        self.told: list[SpeakerChange] = []
        self.news = FakeWatch()
        self.trouble: AudioError | None = None
        self.suspended = False  # a device opens and takes no sound
        self.buffer_s = 0.0
        self.heard = bytearray()
        self.speaker = Speaker("box", clock=self.clock, calls=self.calls, make=self._make)
        self.speaker.presence.follow(self.news)
        self.speaker.presence.on_change = self.told.append

    @property
    def voice(self) -> Player:
        return self.speaker.stream("voice")

    @property
    def device(self) -> Device:
        return self.devices[-1]

    def _make(self, mixer: Mixer) -> Device:
        self.devices.append(Device(self, mixer))
        return self.device

    async def during(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` while time passes."""
        task = asyncio.create_task(work)
        await self.pass_time(60.0, lambda: not task.done())
        return await task

    async def pass_time(self, seconds: float, go_on: Callable[[], bool] = lambda: True) -> None:
        """Let time pass; the device asks for sound every 20 ms while it is alive."""
        for _ in range(round(seconds / 0.02)):
            await settle()
            if not go_on():
                return
            takes = self.devices and self.device.alive and not self.device.left
            if takes and not self.suspended:
                self.heard += self.device.pull()
            self.clock.advance(0.02)
        await settle()

    def sound(self) -> np.ndarray[Any, np.dtype[np.int16]]:
        """Return everything heard, from its first loud sample to its last."""
        samples = np.frombuffer(bytes(self.heard), np.int16)
        loud = np.flatnonzero(samples)
        return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


async def settle() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


@asynccontextmanager
async def rigged() -> AsyncIterator[Rig]:
    rig = Rig()
    try:
        yield rig
    finally:
        await rig.speaker.close()


async def say(rig: Rig, pcm: bytes = SECOND, rate: int = RATE) -> None:
    await rig.voice.play(pcm, rate)
    await rig.voice.drain()
