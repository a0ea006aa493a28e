"""The path from the loudspeaker to the microphone, simulated by a process.

  python -m tests.devices.echo_path [--delay MS] [--gain FACTOR] [--ppm DRIFT] [--noise RMS]
      [--device open|closes|cancels]

It reads the simulated loudspeaker's monitor and plays it into the simulated microphone, delayed,
through a small room, and by a clock that runs a little fast, like that of a second sound card.
Every second it prints how many frames (20 ms) it has carried, how many of them were not silence,
and how many were late. The noise is that of the room. The device may be one that closes its
microphone while it plays, or one that cancels its own echo. After a delay of this process, the
sound is as late as before, as it is in air.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, get_args

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
_PATIENCE_SECONDS = 15.0  # for a program at one end
_SETTLED_FRAMES = 20  # after which the server's own delay is known and compensated
_RESERVE = RATE // 10  # samples: this process may be delayed by this much without a gap
_STAYS_SHUT_FRAMES = 15  # 300 ms after the last sound
_LETS_THROUGH_FRAMES = 6  # frames of a sound until a device has found the echo that it cancels

Device = Literal["open", "closes", "cancels"]


def room(rate: int = RATE) -> NDArray[np.float32]:
    """Return the impulse response of a small room, with power 1, always the same."""
    count = round(_ROOM_SECONDS * rate)
    fading = np.exp(-np.arange(count) / (_ROOM_DECAY_SECONDS * rate))
    answer = np.random.default_rng(7).standard_normal(count) * fading * 0.1
    answer[0] = 1.0
    return np.asarray(answer / np.sqrt(np.sum(answer**2)), np.float32)


class Carrier:
    """Room, gain, drift and device for a stream of mono int16 at RATE."""

    def __init__(self, gain: float, ppm: float, noise: float, device: Device) -> None:
        self.frames = 0
        self.loud = 0
        self._noise = noise
        self._device = device
        self._rng = np.random.default_rng(8)
        self._playing = 0  # frames of the current sound
        self._hold = 0  # frames until the device notices its end
        self._gain = gain
        self._answer = room()
        self._past = np.zeros(len(self._answer) - 1, np.float32)
        self._resampler = soxr.ResampleStream(RATE, RATE * (1 + ppm * 1e-6), 1, dtype="float32")

    def carry(self, pcm: bytes) -> bytes:
        """Take a frame from one side and return any number of samples for the other side."""
        samples = np.frombuffer(pcm, np.int16).astype(np.float32)
        self.frames += 1
        loud = bool(np.abs(samples).max(initial=0.0) > 100)
        self.loud += loud
        joined = np.concatenate([self._past, samples])
        self._past = joined[len(samples) :]
        size = 1 << (len(joined) + len(self._answer)).bit_length()
        spectrum = np.fft.rfft(joined, size) * np.fft.rfft(self._answer, size)
        echo = np.fft.irfft(spectrum, size)[len(self._answer) - 1 : len(joined)]
        drifted = self._resampler.resample_chunk((echo * self._gain).astype(np.float32))
        noise = self._rng.standard_normal(len(drifted)) * self._noise
        heard = self._through_device(drifted, noise, loud)
        return bytes(np.clip(heard, -32768, 32767).astype(np.int16).tobytes())

    def _through_device(
        self, echo: NDArray[np.float32], noise: NDArray[np.float64], loud: bool
    ) -> NDArray[np.float64]:
        self._hold = _STAYS_SHUT_FRAMES if loud else max(0, self._hold - 1)
        self._playing = self._playing + 1 if self._hold else 0
        if not self._playing or self._device == "open":
            return echo + noise
        if self._device == "closes":
            return np.zeros(len(echo))
        return echo + noise if self._playing <= _LETS_THROUGH_FRAMES else noise / 4


def carry(delay_ms: float, carrier: Carrier) -> None:
    """Carry sound until the process is terminated."""
    ear = PulsePipe("speaker.monitor", RATE, FRAME, hears=True)
    mouth = PulsePipe("micsink", RATE, _RESERVE, hears=False)
    late_frames, read_at = 0, time.monotonic()
    while True:
        frame = ear.read(FRAME * 2)
        late = carrier.carry(frame)
        if carrier.frames == _SETTLED_FRAMES:
            ours = ear.latency + FRAME / RATE + mouth.latency
            missing = round((delay_ms / 1000 - ours) * RATE)
            late = bytes(2 * missing) + late if missing > 0 else late[-2 * missing :]
        if late:
            mouth.write(late)
        late_frames += time.monotonic() - read_at > _RESERVE / RATE
        read_at = time.monotonic()
        if carrier.frames % _REPORT_FRAMES == 0:
            print(json.dumps([carrier.frames, carrier.loud, late_frames]), flush=True)


@dataclass(slots=True)
class Carried:
    frames: int = 0  # of 20 ms
    loud: int = 0  # of them, not silence
    late: int = 0  # of them, after a delay that was too long to hide


@asynccontextmanager
async def echo_path(
    delay_ms: float = DELAY_MS,
    gain: float = 1.0,
    ppm: float = DRIFT_PPM,
    noise: float = 0.0,
    device: Device = "open",
) -> AsyncIterator[Carried]:
    """Run the path while the block runs; it carries sound when the block starts."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, f"--delay={delay_ms}", f"--gain={gain}", f"--ppm={ppm}"),
        *(f"--noise={noise}", f"--device={device}"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    carried = Carried()

    async def listen(stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            carried.frames, carried.loud, carried.late = json.loads(line)

    listening: asyncio.Task[None] | None = None
    try:
        first = await asyncio.wait_for(process.stdout.readline(), _PATIENCE_SECONDS)
        carried.frames, carried.loud, carried.late = json.loads(first)
        listening = asyncio.create_task(listen(process.stdout))
        yield carried
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        if listening is not None:
            await listening


def main(arguments: list[str]) -> None:
    """Carry sound with these settings until a termination."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=DELAY_MS)
    parser.add_argument("--gain", type=float, default=1.0)
    parser.add_argument("--ppm", type=float, default=DRIFT_PPM)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--device", choices=get_args(Device), default="open")
    given = parser.parse_args(arguments)
    carry(given.delay, Carrier(given.gain, given.ppm, given.noise, given.device))


if __name__ == "__main__":
    main(sys.argv[1:])
