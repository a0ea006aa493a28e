"""A microphone as a frame source: one opening of it, which ends when the device goes.

`audio.steady` is the one that heals.
"""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

from audio.capture import BLOCK_MS, QUEUE_MS, Block, Blocks, DeviceCapture
from audio.clock import LoopClock
from audio.errors import DeviceLost
from audio.frames import SAMPLE_RATE, Frame, Framer
from audio.resample import Resampler

_SILENT_S = 1.0  # without a block for so long, the device is gone: a suspended one says nothing
_FIRST_BLOCK_S = 4.0  # PulseAudio was seen to take 2.0 s for the first one


class Microphone:
    """Records from one device. Asks it for 16 kHz mono; takes what it has instead, and converts.

    `dropped` counts blocks that were lost because nobody took them in time, by us or before us.
    """

    pulled = False

    def __init__(
        self,
        device: str = "default",
        block_ms: int = BLOCK_MS,
        silent_s: float = _SILENT_S,
        channel: int | None = None,
    ) -> None:
        """`device`: a name as `list_devices` gives it. `block_ms`: 20 to 80, what PortAudio hands
        over at a time. `silent_s`: after so long without a block the device counts as lost.
        `channel`: which one is listened to, counted from 1; None: the mean of all."""
        if not 20 <= block_ms <= 80:
            raise ValueError(f"block_ms is {block_ms}, must be 20 to 80")
        self._device = device
        self._block_ms = block_ms
        self._silent_s = silent_s
        self._channel = channel
        self.dropped = 0

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Frames until the caller stops; the device is closed then, also on cancellation.

        Positions count the samples taken: what was dropped is not in them.
        Raises InputUnusable when the device cannot be opened, DeviceLost when it stops.
        """
        blocks = Blocks(QUEUE_MS // self._block_ms, LoopClock().monotonic)
        capture = DeviceCapture(self._device, blocks, self._block_ms, self._channel)
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
                f'The microphone "{self._device}" has given no sound for {patience:g} s: '
                "check its plug."
            ) from error
        if block is None:
            raise DeviceLost(f'The microphone "{self._device}" has gone: plug it in again.')
        return block
