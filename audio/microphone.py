"""A microphone as a frame source, through PortAudio."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from audio.devices import DeviceInfo, find_device, load_portaudio
from audio.errors import DeviceLost, InputUnusable
from audio.frames import SAMPLE_RATE, Frame, Framer
from audio.resample import Resampler

BLOCK_MS = 40
_QUEUE_MS = 2000  # a listener that is further behind than this loses sound
_SILENT_S = 1.0  # without a block for so long, the device is gone: a suspended one says nothing
_FIRST_BLOCK_S = 4.0  # PulseAudio was seen to take 2.0 s for the first one
# PortAudio's paInvalidChannelCount and paInvalidSampleRate: the device is fine, the wish was not.
_REFUSALS = (-9998, -9997)


class Microphone:
    """Records from one device. Asks it for 16 kHz mono; takes what it has instead, and converts.

    `dropped` counts blocks that were lost because nobody took them in time, by us or before us.
    """

    pulled = False

    def __init__(
        self, device: str = "default", block_ms: int = BLOCK_MS, silent_s: float = _SILENT_S
    ) -> None:
        """`device`: a name as `list_devices` gives it. `block_ms`: 20 to 80, what PortAudio hands
        over at a time. `silent_s`: after so long without a block the device counts as lost."""
        if not 20 <= block_ms <= 80:
            raise ValueError(f"block_ms is {block_ms}, must be 20 to 80")
        self._device = device
        self._block_ms = block_ms
        self._silent_s = silent_s
        self.dropped = 0

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Frames until the caller stops; the device is closed then, also on cancellation.

        Positions count the samples taken: what was dropped is not in them.
        Raises InputUnusable when the device cannot be opened, DeviceLost when it stops.
        """
        blocks = _Blocks(asyncio.get_running_loop(), _QUEUE_MS // self._block_ms)
        capture = _Capture(self._device, self._block_ms, blocks)
        # One thread opens and closes, in this order even when the opening is cancelled half-way.
        thread = ThreadPoolExecutor(1, thread_name_prefix="microphone")
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(thread, capture.open)
            resampler = Resampler(capture.rate, SAMPLE_RATE)
            framer = Framer()
            patience = max(_FIRST_BLOCK_S, self._silent_s)
            while True:
                block = await self._next(blocks, patience)
                patience = self._silent_s
                self.dropped = blocks.dropped
                for frame in framer.push(resampler.push(capture.mono(block))):
                    yield frame
        finally:
            closing = loop.run_in_executor(thread, capture.close)
            thread.shutdown(wait=False)
            await asyncio.shield(closing)

    async def _next(self, blocks: "_Blocks", patience: float) -> bytes:
        try:
            async with asyncio.timeout(patience):
                block = await blocks.get()
        except TimeoutError as error:
            raise DeviceLost(
                f'The microphone "{self._device}" has given no sound for {patience:g} s: '
                "check its plug."
            ) from error
        if block is None:
            raise DeviceLost(f'The microphone "{self._device}" has gone: plug it in again.')
        return block


class _Blocks:
    """A bounded queue from PortAudio's thread to the loop. Full, it drops the oldest block."""

    def __init__(self, loop: asyncio.AbstractEventLoop, size: int) -> None:
        self.dropped = 0
        self._loop = loop
        self._lock = threading.Lock()
        self._queue: deque[bytes] = deque(maxlen=size)
        self._ended = False
        self._news = asyncio.Event()

    def put(self, block: bytes, lost: bool) -> None:
        """Add a block; `lost`: PortAudio had to throw one away before it. Any thread."""
        with self._lock:
            self.dropped += lost + (len(self._queue) == self._queue.maxlen)
            self._queue.append(block)
        self._loop.call_soon_threadsafe(self._news.set)

    def end(self) -> None:
        """No block will follow. Any thread."""
        self._ended = True
        self._loop.call_soon_threadsafe(self._news.set)

    async def get(self) -> bytes | None:
        """The next block, None after the last."""
        while True:
            self._news.clear()
            with self._lock:
                if self._queue:
                    return self._queue.popleft()
            if self._ended:
                return None
            await self._news.wait()


class _Capture:
    """PortAudio's stream. `open` and `close` block and belong to one thread."""

    def __init__(self, device: str, block_ms: int, blocks: _Blocks) -> None:
        self.rate = SAMPLE_RATE  # Hz; of the blocks, known after `open`
        self._device = device
        self._block_ms = block_ms
        self._blocks = blocks
        self._channels = 1
        self._stream: Any = None

    def open(self) -> None:
        """Start recording. Raises InputUnusable."""
        portaudio = load_portaudio()
        device = find_device(self._device, "input")
        try:
            self.rate, self._channels = _negotiate(portaudio, device)
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

    def close(self) -> None:
        """Stop at once and give the device back."""
        if self._stream is not None:
            self._stream.close(ignore_errors=True)

    def mono(self, block: bytes) -> bytes:
        """A block with its channels averaged."""
        if self._channels == 1:
            return block
        samples = np.frombuffer(block, "<i2").reshape(-1, self._channels)
        return bytes(np.rint(samples.mean(axis=1)).astype("<i2").tobytes())

    def _callback(self, indata: Any, frames: int, time: Any, status: Any) -> None:
        self._blocks.put(bytes(indata), bool(status.input_overflow))


def _negotiate(portaudio: Any, device: DeviceInfo) -> tuple[int, int]:
    """The rate and channels that the device takes, ours if it does."""
    wishes = [(SAMPLE_RATE, 1), (device.rate, 1), (SAMPLE_RATE, 2), (device.rate, 2)]
    wishes.append((device.rate, device.channels))
    possible = [wish for wish in wishes if wish[1] <= device.channels]
    for rate, channels in possible[:-1]:
        try:
            portaudio.check_input_settings(
                device=device.index, samplerate=rate, channels=channels, dtype="int16"
            )
        except portaudio.PortAudioError as error:
            if _code(error) not in _REFUSALS:
                raise
        else:
            return rate, channels
    return possible[-1]  # if it will not take its own, opening says why


def _code(error: Exception) -> int | None:
    """PortAudio's error code: the second argument, where sounddevice has one."""
    return error.args[1] if len(error.args) > 1 else None


def _reason(error: Exception) -> str:
    """PortAudio's own words: sounddevice puts what it was doing and a colon before them."""
    return str(error.args[0] if error.args else error).split(": ", 1)[-1]
