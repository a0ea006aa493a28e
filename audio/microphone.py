"""A microphone as a frame source. The source ends when the device is lost; `audio.steady` adds
recovery."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from audio.devices import chosen, find_device, list_devices
from audio.devices.portaudio import (
    DeviceInfo,
    load_portaudio,
    refresh,
    register_stream,
    wish_refused,
)
from audio.errors import DeviceLost, InputUnusable
from audio.frames import SAMPLE_RATE, Frame, Framer
from audio.gate import QuietRoom
from audio.resampling import Resampler
from audio.timing import LoopClock

BLOCK_MS = 80  # capturing alone costs 0.35 % of a core, or 1.3 % with 20 ms
QUEUE_MS = 2000  # a listener that is further behind than this loses audio
STOPPED_S = 1.0  # a running stream counts as stopped after this long without a block
FIRST_BLOCK_S = 4.0  # PulseAudio can take 2.0 s for the first block


@dataclass(frozen=True, slots=True)
class Block:
    """A block of audio as delivered by the device."""

    pcm: bytes  # int16 of all channels, interleaved, at the device's rate
    at: float  # arrival time by the clock, in seconds


class Blocks:
    """A bounded queue from PortAudio's thread to the event loop. If it is full, the oldest block is
    dropped."""

    def __init__(
        self, size: int, now: Callable[[], float], news: Callable[[], None] | None = None
    ) -> None:
        """`size` is the maximum number of blocks. `now` returns the time and is called from any
        thread. `news` is called on the running event loop after a block is added, and when the
        queue ends."""
        self.dropped = 0
        self._loop = asyncio.get_running_loop()
        self._now = now
        self._news = news
        self._lock = threading.Lock()
        self._queue: deque[Block] = deque(maxlen=size)
        self.ended = False  # True if no block will follow the waiting ones
        self._changed = asyncio.Event()

    def put(self, pcm: bytes, lost: bool, may_wait: bool = False) -> None:
        """Add a block. Can be called from any thread. `lost` is True if PortAudio dropped audio
        before this block. With `may_wait`, the listener isn't woken."""
        block = Block(pcm, self._now())
        with self._lock:
            self.dropped += lost + (len(self._queue) == self._queue.maxlen)
            self._queue.append(block)
        if not may_wait:
            self._tell()

    def end(self) -> None:
        self.ended = True
        self._tell()

    def take(self) -> Block | None:
        """Return the oldest waiting block, or None."""
        with self._lock:
            return self._queue.popleft() if self._queue else None

    async def get(self) -> Block | None:
        """Wait for the next block. Returns None after the last one."""
        while True:
            self._changed.clear()
            if (block := self.take()) is not None:
                return block
            if self.ended:
                return None
            await self._changed.wait()

    def _tell(self) -> None:
        # The event loop may end before a stream that could not be closed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._changed.set()
        if self._news is not None:
            self._news()


class DeviceCapture:
    """Records from a PortAudio device, at 16 kHz and on few channels if the device
    supports that."""

    def __init__(
        self,
        device: str,
        blocks: Blocks,
        block_ms: int = BLOCK_MS,
        channel: int | None = None,
        patient: bool = False,
    ) -> None:
        """`device` is a name from `list_devices`. `block_ms` is 20 to 80. `channel` is the channel
        to use, counted from 1, or None for the mean of all channels. With `patient`, blocks from a
        quiet room can be delivered several at a time (see `QuietRoom`)."""
        self.rate = SAMPLE_RATE  # Hz
        self._device = device
        self._blocks = blocks
        self._block_ms = block_ms
        self._channel = channel
        self._channels = 1
        self._patient = patient
        self._quiet: QuietRoom | None = None
        self._stream: Any = None
        self._release: Callable[[], None] = lambda: None  # unregisters the stream

    def open(self) -> None:
        """Start recording. Blocks. Raises InputUnusable."""
        self._release = register_stream()
        try:
            self._start(find_device(self._device, "input"))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop immediately and release the device. Blocks. Can be called more than once."""
        if self._stream is not None:
            self._stream.close(ignore_errors=True)
            self._stream = None
        self._release()

    def mono(self, pcm: bytes) -> bytes:
        """Return a block's chosen channel, or the mean of all channels, as mono int16."""
        if self._channels == 1:
            return pcm
        samples = np.frombuffer(pcm, "<i2").reshape(-1, self._channels)
        if self._channel is not None:
            return bytes(np.ascontiguousarray(samples[:, self._channel - 1]).tobytes())
        return bytes(np.rint(samples.mean(axis=1)).astype("<i2").tobytes())

    def _start(self, device: DeviceInfo) -> None:
        if self._channel is not None and self._channel > device.channels:
            raise InputUnusable(
                f'The microphone "{device.name}" has {device.channels} channels, but audio.channel '
                f"is {self._channel}: set it to one of them."
            )
        portaudio = load_portaudio()
        try:
            with chosen(device):
                self.rate, self._channels = _negotiate(portaudio, device, self._channel or 1)
                if self._patient and (self.rate, self._channels) == (SAMPLE_RATE, 1):
                    self._quiet = QuietRoom(self._block_ms)
                self._stream = portaudio.RawInputStream(
                    device=device.index,
                    samplerate=self.rate,
                    channels=self._channels,
                    dtype="int16",
                    blocksize=self.rate * self._block_ms // 1000,
                    callback=self._callback,
                    finished_callback=self._blocks.end,
                )
                self._stream.start()
        except portaudio.PortAudioError as error:
            raise InputUnusable(
                f'The microphone "{device.name}" cannot be opened ({_reason(error)}): close other '
                "programs that record from it, or set audio.input to another."
            ) from error

    def _callback(self, indata: Any, frames: int, time: Any, status: Any) -> None:
        pcm = bytes(indata)
        may_wait = self._quiet is not None and self._quiet.may_wait(pcm)
        self._blocks.put(pcm, bool(status.input_overflow), may_wait)


def _negotiate(portaudio: Any, device: DeviceInfo, least: int) -> tuple[int, int]:
    counts = [count for count in (1, 2, least) if least <= count <= device.channels]
    wishes = [(rate, count) for count in sorted(set(counts)) for rate in (SAMPLE_RATE, device.rate)]
    wishes += [(SAMPLE_RATE, device.channels), (device.rate, device.channels)]
    for rate, channels in wishes[:-1]:
        try:
            portaudio.check_input_settings(
                device=device.index, samplerate=rate, channels=channels, dtype="int16"
            )
        except portaudio.PortAudioError as error:
            if not wish_refused(error):
                raise
        else:
            return rate, channels
    return wishes[-1]  # if the device rejects its own format, opening it gives the reason


def _reason(error: Exception) -> str:
    return str(error.args[0] if error.args else error).split(": ", 1)[-1]


# Without a block for this long, the device is lost. A suspended device gives no other sign.
_SILENT_S = 1.0


class Microphone:
    """Records from one device, as 16 kHz mono. `dropped` counts blocks that were lost because they
    were not read in time."""

    pulled = False

    def __init__(
        self,
        device: str = "default",
        block_ms: int = BLOCK_MS,
        silent_s: float = _SILENT_S,
        channel: int | None = None,
    ) -> None:
        """`device` is a name from `list_devices`. After `silent_s` seconds without a block, the
        device is considered lost. `channel` is the channel to use, counted from 1, or None for the
        mean of all channels. Raises ValueError unless `block_ms` is 20 to 80."""
        if not 20 <= block_ms <= 80:
            raise ValueError(f"block_ms is {block_ms}, but must be 20 to 80")
        self._device = device
        self._block_ms = block_ms
        self._silent_s = silent_s
        self._channel = channel
        self.dropped = 0

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield frames until the caller stops or is cancelled, then close the device.

        Positions count only samples that arrived. Raises InputUnusable if the device can't be
        opened, and DeviceLost if it stops.
        """
        blocks = Blocks(QUEUE_MS // self._block_ms, LoopClock().monotonic)
        capture = DeviceCapture(self._device, blocks, self._block_ms, self._channel)
        # One thread opens and closes the device, in this order even if opening is cancelled.
        thread = ThreadPoolExecutor(1, thread_name_prefix="microphone")
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(thread, capture.open)
            resampler = Resampler(capture.rate, SAMPLE_RATE)
            framer = Framer()
            patience = max(FIRST_BLOCK_S, self._silent_s)
            while True:
                block = await self._next(blocks, patience)
                patience = self._silent_s
                self.dropped = blocks.dropped
                for frame in framer.push(resampler.push(capture.mono(block.pcm))):
                    yield frame
        finally:
            closing = loop.run_in_executor(thread, capture.close)
            thread.shutdown(wait=False)
            await asyncio.shield(closing)

    async def _next(self, blocks: Blocks, patience: float) -> Block:
        try:
            async with asyncio.timeout(patience):
                block = await blocks.get()
        except TimeoutError as error:
            raise DeviceLost(
                f'The microphone "{self._device}" has delivered no audio for {patience:g} s: check '
                "its cable."
            ) from error
        if block is None:
            raise DeviceLost(f'The microphone "{self._device}" has disappeared: plug it in again.')
        return block


class Cleaner(Protocol):
    """A processor of the microphone's frames, such as an echo canceller."""

    def clean(self, pcm: bytes) -> bytes:
        """Return the cleaned frame. Both frames have FRAME_BYTES of 16 kHz mono int16."""
        ...

    def restart(self) -> None:
        """Start over after the microphone has been reopened."""
        ...


class DeviceInput:
    """A PortAudio microphone that can be opened repeatedly."""

    def __init__(
        self,
        device: str = "default",
        channel: int | None = None,
        block_ms: int = BLOCK_MS,
        patient: bool = False,
    ) -> None:
        """`device` is a name from `list_devices`. `channel` is the channel to use, counted from 1,
        or None for the mean of all channels. `patient` is as in DeviceCapture. Raises ValueError
        unless `block_ms` is 20 to 80."""
        if not 20 <= block_ms <= 80:
            raise ValueError(f"block_ms is {block_ms}, but must be 20 to 80")
        self.name = device
        self.queue_blocks = QUEUE_MS // block_ms
        self._channel = channel
        self._block_ms = block_ms
        self._patient = patient

    def capture(self, blocks: Blocks) -> DeviceCapture:
        return DeviceCapture(self.name, blocks, self._block_ms, self._channel, self._patient)

    def is_there(self) -> bool:
        if self.name == "default":
            return any(device.kind == "input" for device in list_devices())
        try:
            find_device(self.name, "input")
        except InputUnusable:
            return False
        return True

    def refresh(self) -> bool:
        return refresh()


class Opening:
    """One recording, from opening the device to losing or closing it."""

    def __init__(
        self, capture: DeviceCapture, blocks: Blocks, now: float, patience_s: float
    ) -> None:
        self.capture = capture
        self.blocks = blocks
        self.since = now
        self.first_at: float | None = None  # arrival of the first block
        # The stream counts as stopped if no block arrives by this time.
        self.deadline = now + patience_s
        self.late = False  # no block for STOPPED_S, after the first one
        self._dropped = 0
        self._resampler = Resampler(capture.rate, SAMPLE_RATE)

    def take(self, block: Block) -> tuple[bytes, bytes, float]:
        """Record that a block has arrived. Returns it as mono int16 at the device's rate and at 16
        kHz, and its length in seconds."""
        self.note(block)
        mono = self.capture.mono(block.pcm)
        return mono, self._resampler.push(mono), len(mono) / 2 / self.capture.rate

    def note(self, block: Block) -> None:
        """Record that a block has arrived, which restarts the time limit."""
        if self.first_at is None:
            self.first_at = block.at
        self.deadline = block.at + STOPPED_S
        self.late = False

    def expect_by(self, at: float) -> None:
        """Require the next block to arrive by the time `at`, unless it is already
        required earlier."""
        self.deadline = min(self.deadline, at)

    def be_late(self, now: float) -> None:
        """Give the stream another STOPPED_S (1 s) to resume."""
        self.late = True
        self.deadline = now + STOPPED_S

    def newly_dropped(self) -> int:
        """Return how many blocks were lost since the last call."""
        before, self._dropped = self._dropped, self.blocks.dropped
        return self._dropped - before
