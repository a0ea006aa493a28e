"""The way from the loudspeaker to the microphone: a process that carries the one into the other.

    python -m tests.devices.echo_path [--delay MS] [--gain FACTOR] [--ppm DRIFT]

It reads the monitor of the simulated loudspeaker and plays it into the simulated microphone, later,
through a small room, and by a clock that runs a little fast, as a second sound card does. Every
second it prints how many frames (20 ms) it has carried, and how many of them were not silence.
However long it is held up, what it carries afterwards is as late as before, as it is in air.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
import soxr
from numpy.typing import NDArray

from tests.devices.pulse_pipe import PulsePipe

RATE = 48_000  # Hz, of both devices
FRAME = RATE // 50
DRIFT_PPM = 50.0
DELAY_MS = 120.0
_ROOM_SECONDS = 0.1
_ROOM_DECAY_SECONDS = 0.02
_REPORT_FRAMES = 25
_PATIENCE_SECONDS = 15.0  # for a program at one of the ends
_SETTLED_FRAMES = 20  # after which the delay of the server itself is known and filled up
_RESERVE = RATE // 10  # samples: so long this process may be held up without a gap


def room(rate: int = RATE) -> NDArray[np.float32]:
    """The answer of a small room to a click, of power 1, always the same."""
    count = round(_ROOM_SECONDS * rate)
    fading = np.exp(-np.arange(count) / (_ROOM_DECAY_SECONDS * rate))
    answer = np.random.default_rng(7).standard_normal(count) * fading * 0.1
    answer[0] = 1.0
    return np.asarray(answer / np.sqrt(np.sum(answer**2)), np.float32)


class Carrier:
    """Room, gain and drift for a stream of mono int16 at RATE."""

    def __init__(self, gain: float, ppm: float) -> None:
        self.frames = 0
        self.loud = 0
        self._gain = gain
        self._answer = room()
        self._past = np.zeros(len(self._answer) - 1, np.float32)
        self._resampler = soxr.ResampleStream(RATE, RATE * (1 + ppm * 1e-6), 1, dtype="float32")

    def carry(self, pcm: bytes) -> bytes:
        """A frame from the one side, what the other side gets for it: any number of samples."""
        samples = np.frombuffer(pcm, np.int16).astype(np.float32)
        self.frames += 1
        self.loud += bool(np.abs(samples).max(initial=0.0) > 100)
        joined = np.concatenate([self._past, samples])
        self._past = joined[len(samples) :]
        size = 1 << (len(joined) + len(self._answer)).bit_length()
        spectrum = np.fft.rfft(joined, size) * np.fft.rfft(self._answer, size)
        echo = np.fft.irfft(spectrum, size)[len(self._answer) - 1 : len(joined)]
        drifted = self._resampler.resample_chunk((echo * self._gain).astype(np.float32))
        return bytes(np.clip(drifted, -32768, 32767).astype(np.int16).tobytes())


def carry(delay_ms: float, gain: float, ppm: float) -> None:
    """Until we are ended."""
    ear = PulsePipe("speaker.monitor", RATE, FRAME, hears=True)
    mouth = PulsePipe("micsink", RATE, _RESERVE, hears=False)
    carrier = Carrier(gain, ppm)
    while True:
        frame = ear.read(FRAME * 2)
        late = carrier.carry(frame)
        if carrier.frames == _SETTLED_FRAMES:
            ours = ear.latency + FRAME / RATE + mouth.latency
            missing = round((delay_ms / 1000 - ours) * RATE)
            late = bytes(2 * missing) + late if missing > 0 else late[-2 * missing :]
        if late:
            mouth.write(late)
        if carrier.frames % _REPORT_FRAMES == 0:
            print(json.dumps([carrier.frames, carrier.loud]), flush=True)


@dataclass(slots=True)
class Carried:
    """What the process has said so far."""

    frames: int = 0  # of 20 ms
    loud: int = 0  # of them, that were not silence


@asynccontextmanager
async def echo_path(
    delay_ms: float = DELAY_MS, gain: float = 1.0, ppm: float = DRIFT_PPM
) -> AsyncIterator[Carried]:
    """The path while the block runs; it carries when the block starts."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, f"--delay={delay_ms}", f"--gain={gain}", f"--ppm={ppm}"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    carried = Carried()

    async def listen(stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            carried.frames, carried.loud = json.loads(line)

    listening: asyncio.Task[None] | None = None
    try:
        first = await asyncio.wait_for(process.stdout.readline(), _PATIENCE_SECONDS)
        carried.frames, carried.loud = json.loads(first)
        listening = asyncio.create_task(listen(process.stdout))
        yield carried
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        if listening is not None:
            await listening


def main(arguments: list[str]) -> None:
    """Carry with these settings until a termination."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=DELAY_MS)
    parser.add_argument("--gain", type=float, default=1.0)
    parser.add_argument("--ppm", type=float, default=DRIFT_PPM)
    given = parser.parse_args(arguments)
    carry(given.delay, given.gain, given.ppm)


if __name__ == "__main__":
    main(sys.argv[1:])
