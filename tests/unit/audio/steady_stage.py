"""A microphone with scripted failures, on a clock that the test advances."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import numpy as np

from assistant.domain.clock import VirtualClock
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE, Frame
from audio.microphone import Blocks, DeviceCapture, DeviceInput
from audio.steady import SteadyMicrophone
from audio.timing import CallStuck
from tests.fakes.sound import FakeWatch, InlineCalls

BLOCK_S = 0.08


class QuickClock(VirtualClock):
    """A clock for long times that needs only a few rounds of the event loop."""

    async def settle(self) -> None:
        for _ in range(12):
            await asyncio.sleep(0)


class Capture(DeviceCapture):
    """A recording with numbered samples, so that no loss goes unnoticed."""

    def __init__(self, device: "Device", blocks: Blocks) -> None:
        super().__init__(device.name, blocks)
        self.rate = device.rate
        self.blocks = blocks
        self.closed = False
        self._owner = device

    def open(self) -> None:
        self._owner.attempts.append(self._owner.clock.monotonic())
        if self._owner.stuck:
            raise CallStuck
        if self._owner.breaks is not None:
            raise self._owner.breaks
        if not self._owner.there:
            raise InputUnusable("There is no microphone: plug one in.")
        self._owner.open.append(self)

    def close(self) -> None:
        self.closed = True
        if self._owner.breaks is not None:
            raise self._owner.breaks
        if self in self._owner.open:
            self._owner.open.remove(self)

    def mono(self, pcm: bytes) -> bytes:
        return pcm


class Device(DeviceInput):
    """A microphone, its room and its sound server."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__("Test microphone")
        self.clock = clock
        self.rate = SAMPLE_RATE
        self.there = True
        self.stuck = False
        self.breaks: Exception | None = None
        self.suspended = False  # open but silent
        self.silent = False
        self.open: list[Capture] = []
        self.attempts: list[float] = []
        self.refreshes: list[float] = []
        self.blind = False  # what is plugged in is seen only after a refresh
        self.held = False  # another stream of the process is open
        self.refusal: InputUnusable | None = None  # of a refresh
        self.while_refreshing: Callable[[], None] = lambda: None
        self._given = 0  # samples of the room's own time

    def capture(self, blocks: Blocks) -> Capture:
        return Capture(self, blocks)

    def is_there(self) -> bool:
        return self.there

    def refresh(self) -> bool:
        assert not self.open, "a refresh takes every open stream away"
        self.refreshes.append(self.clock.monotonic())
        self.while_refreshing()
        if self.refusal is not None:
            raise self.refusal
        if self.held:
            return False
        if self.blind:
            self.there, self.blind = True, False
        return True

    def unplug(self) -> None:
        """Remove the device; the stream reports it."""
        self.there = False
        for capture in self.open:
            capture.blocks.end()
        self.open.clear()

    def give(self) -> None:
        """Deliver the next block of the room, even if nobody listens."""
        count = round(BLOCK_S * self.rate)
        samples = np.arange(self._given, self._given + count, dtype=np.int64) % 30_000
        self._given += count
        pcm = bytes(2 * count) if self.silent else samples.astype("<i2").tobytes()
        for capture in self.open:
            if not self.suspended:
                capture.blocks.put(pcm, False)


class Stage:
    """The microphone, its surroundings and its output."""

    def __init__(
        self,
        watched: bool = True,
        before_refresh: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.clock = QuickClock()
        self.device = Device(self.clock)
        self.watch = FakeWatch()
        self.calls = InlineCalls()
        self.microphone = SteadyMicrophone(
            self.device,
            clock=self.clock,
            watch=self.watch if watched else None,
            before_refresh=before_refresh,
            calls=self.calls,
        )
        self.microphone.on_change = self.changes_append
        self.changes: list[MicrophoneChange] = []
        self.frames: list[Frame] = []

    def changes_append(self, change: MicrophoneChange) -> None:
        self.changes.append(change)

    @property
    def told(self) -> list[MicrophoneStatus]:
        """Return the states in order and forget them."""
        told = [change.status for change in self.changes]
        self.changes.clear()
        return told

    async def room(self, seconds: float) -> None:
        """Let time pass with the room's sound in it."""
        for _ in range(round(seconds / BLOCK_S)):
            await self.clock.run(BLOCK_S)
            self.device.give()
            await self.clock.settle()

    async def _listen(self) -> None:
        async for frame in self.microphone.frames():
            self.frames.append(frame)


@asynccontextmanager
async def listening(stage: Stage) -> AsyncIterator[None]:
    """Keep every frame that arrives while the block runs."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage._listen())
        await stage.clock.settle()
        yield
        assert not task.done(), "it must never end"
        task.cancel()
    assert not stage.device.open, "the device is given back"
    assert not stage.watch.calls
