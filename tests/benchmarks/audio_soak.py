"""Hours of sound, pushed through the microphone and the idle ear faster than real time.

LONG=1: 12 hours, else 20 minutes. Memory has to stay flat, and no sample may be lost or doubled.
"""

import asyncio
import resource
import time
from contextlib import aclosing
from pathlib import Path

import numpy as np

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.hearing import Hearing
from assistant.domain.clock import VirtualClock
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from audio.microphone import Blocks, DeviceCapture, DeviceInput
from audio.steady import SteadyMicrophone
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine
from tests.benchmarks.figures import how_many, print_table, write_figures

BLOCK_SAMPLES = 1280  # 80 ms
KINDS = 997  # blocks of sound, one after the other; each begins with its own number
LOUD_EVERY = 7500  # blocks: ten minutes
LOUD = 25  # blocks, two seconds of noise as loud as speech
WINDOW = 12  # readings of the memory
GROWTH_MB = 5.0  # between the first quarter and the end


class EndlessCapture(DeviceCapture):
    """A microphone in a quiet room."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__("soak", blocks)
        rng = np.random.default_rng(1)
        quiet = rng.normal(0, 20, (KINDS, BLOCK_SAMPLES))
        loud = rng.normal(0, 3000, (KINDS, BLOCK_SAMPLES))
        numbers = np.arange(KINDS)
        quiet[:, 0] = loud[:, 0] = numbers
        self._silence = [block.astype("<i2").tobytes() for block in quiet]
        self._loud = [block.astype("<i2").tobytes() for block in loud]

    def open(self) -> None: ...

    def close(self) -> None: ...

    def mono(self, pcm: bytes) -> bytes:
        return pcm

    def give(self, number: int) -> None:
        """Deliver the block of that number."""
        sound = self._loud if number % LOUD_EVERY < LOUD else self._silence
        self._blocks.put(sound[number % KINDS], False)


class EndlessInput(DeviceInput):
    def __init__(self) -> None:
        super().__init__("soak")
        self.opened: asyncio.Future[EndlessCapture] = asyncio.get_running_loop().create_future()

    def capture(self, blocks: Blocks) -> EndlessCapture:
        capture = EndlessCapture(blocks)
        self.opened.set_result(capture)
        return capture

    def is_there(self) -> bool:
        return True

    def refresh(self) -> bool:
        return False


def memory_mb() -> float:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


class Soak:
    """Delivers block after block and checks the output."""

    def __init__(self, hearing: Hearing, blocks: int) -> None:
        self._hearing = hearing
        self._blocks = blocks
        self._heard = 0  # frames
        self._taken = asyncio.Event()
        self.end = 0  # position after the newest frame

    async def run(self) -> list[tuple[float, int]]:
        """Return memory and threads, WINDOW times."""
        clock = VirtualClock()
        source = EndlessInput()
        microphone = SteadyMicrophone(source, clock=clock)
        listening = asyncio.create_task(self._listen(microphone))
        capture = await source.opened
        readings = []
        for number in range(self._blocks):
            clock.advance(BLOCK_SAMPLES / SAMPLE_RATE)
            capture.give(number)
            while self.end < (number + 1) * BLOCK_SAMPLES and not listening.done():
                self._taken.clear()
                await self._taken.wait()
            if (number + 1) % (self._blocks // WINDOW) == 0:
                readings.append((memory_mb(), threads()))
        assert microphone.dropped == microphone.reopened == 0
        listening.cancel()
        await asyncio.wait([listening])
        if not listening.cancelled() and (error := listening.exception()):
            raise error
        return readings

    async def _listen(self, microphone: SteadyMicrophone) -> None:
        try:
            async with aclosing(microphone.frames()) as frames:
                async for frame in frames:
                    assert frame.start == self._heard * FRAME_SAMPLES, "a position was left out"
                    block, part = divmod(frame.start, BLOCK_SAMPLES)
                    if part == 0:
                        number = int.from_bytes(frame.pcm[:2], "little", signed=True)
                        assert number == block % KINDS, "another sample than was given"
                    await self._hearing.hear(frame)
                    self._heard += 1
                    self.end = frame.end
                    self._taken.set()
        finally:
            self._taken.set()


async def soak(hours: float) -> None:
    """Push `hours` of sound through, and print the costs."""
    voice = make_voice_detector()
    ear = AudioFrontEnd(
        make_wake_engine("micro", ["okay_nabu"]),
        voice,
        Endpointer(chunk_samples=voice.chunk_samples),
    )
    hearing = Hearing(ear)
    blocks = round(hours * 3600 * SAMPLE_RATE / BLOCK_SAMPLES)
    run = Soak(hearing, blocks)
    began, cpu = time.perf_counter(), time.process_time()
    try:
        readings = await run.run()
    finally:
        hearing.close()
        ear.close()
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    settled = readings[len(readings) // 4][0]
    most = max(memory for memory, _ in readings[len(readings) // 4 :])
    drift = run.end - blocks * BLOCK_SAMPLES
    head = ["hours", "took s", "CPU of a core", "samples", "drift", "MB settled", "most", "threads"]
    counts = sorted({count for _, count in readings[1:]})
    row = [hours, f"{took_s:.0f}", f"{cpu_s / (hours * 3600):.3%}", run.end, drift]
    print_table(head, [[*row, f"{settled:.1f}", f"{most:.1f}", counts]])
    write_figures(
        "audio_soak",
        {
            "hours": hours,
            "drift_samples": drift,
            "cpu_share": round(cpu_s / (hours * 3600), 6),
            "memory_mb": [round(memory, 1) for memory, _ in readings],
        },
    )
    assert drift == 0
    assert most - settled <= GROWTH_MB, "the memory grows"
    assert len(counts) == 1, "threads come or go"


def main() -> None:
    """Push twenty minutes through, or with LONG=1 twelve hours."""
    asyncio.run(soak(how_many(20, 12 * 60) / 60))
