"""A microphone on the test's own sound server, and failures of both."""

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from audio.device_status import MicrophoneStatus
from audio.devices.watch import DeviceWatch
from audio.frames import SAMPLE_RATE
from audio.microphone import DeviceInput
from audio.sound_files import write_wav
from audio.steady import SteadyMicrophone
from tests.devices.pulse import SoundServer

_PATIENCE_S = 15.0  # limit for every step
_LOUD = 500


class Rig:
    """The server, and a listener that takes every frame."""

    def __init__(self, server: SoundServer, folder: Path, watch: DeviceWatch) -> None:
        self.server = server
        self.microphone = SteadyMicrophone(DeviceInput("default"), watch=watch)
        self.heard_at = 0.0  # when the newest frame with sound in it came
        self.frames = 0
        self.positions_fell = False  # a frame began before the end of the one before it
        self._noise = folder / "noise.wav"
        noise = np.random.default_rng(7).normal(0, 6000, SAMPLE_RATE // 2).clip(-32_000, 32_000)
        write_wav(self._noise, noise.astype("<i2").tobytes(), SAMPLE_RATE)

    async def pactl(self, *command: str) -> str:
        """Run pactl and return its output."""
        process = await asyncio.create_subprocess_exec(
            "pactl", *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        out, _ = await process.communicate()
        return out.decode().strip()

    async def modules(self, *names: str) -> list[str]:
        """Return the numbers of the modules with these words in their line, newest first."""
        lines = (await self.pactl("list", "short", "modules")).splitlines()
        fitting = [line.split("\t")[0] for line in lines if any(name in line for name in names)]
        return fitting[::-1]

    async def recordings(self) -> int:
        """Return the number of streams that record from the server, its own included."""
        return len((await self.pactl("list", "short", "source-outputs")).splitlines())

    async def unload(self, *names: str) -> None:
        for number in await self.modules(*names):
            await self.pactl("unload-module", number)

    async def plug_in(self) -> None:
        """Add the microphone and make it the server's default."""
        await self.pactl(
            "load-module", "module-remap-source", "source_name=mic", "master=micsink.monitor"
        )
        await self.pactl("set-default-source", "mic")

    async def until_heard(self, since: float) -> float:
        """Make noise in the room until it is heard; returns the seconds since `since`. Raises
        TimeoutError."""
        async with asyncio.timeout(_PATIENCE_S):
            while self.heard_at < since:
                await self._make_noise(since)
        return self.heard_at - since

    async def _make_noise(self, since: float) -> None:
        process = await asyncio.create_subprocess_exec(
            *("paplay", "--device=micsink", "--latency-msec=20", str(self._noise)),
            stderr=asyncio.subprocess.DEVNULL,
        )
        ended = asyncio.ensure_future(process.wait())
        try:
            await _until(lambda: self.heard_at >= since or ended.done())
        finally:
            if process.returncode is None:
                process.kill()
            await ended

    async def until(self, *statuses: MicrophoneStatus) -> None:
        """Wait for the status. Raises TimeoutError."""
        async with asyncio.timeout(_PATIENCE_S):
            await _until(lambda: self.microphone.status in statuses)

    async def _listen(self) -> None:
        end = 0
        async for frame in self.microphone.frames():
            self.frames += 1
            self.positions_fell |= frame.start < end
            end = frame.end
            if np.abs(np.frombuffer(frame.pcm, "<i2").astype(int)).max() > _LOUD:
                self.heard_at = time.monotonic()


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (nobody tells)
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def rig(up: bool = True) -> AsyncIterator[Rig]:
    """Run our own server and a listener; `up`: the server runs when the listening begins."""
    with tempfile.TemporaryDirectory(prefix="hearth-heal-") as name:
        server = SoundServer(Path(name))
        with mock.patch.dict(os.environ, server.surroundings):
            try:
                if up:
                    await asyncio.to_thread(server.start)
                async with DeviceWatch() as watch, asyncio.TaskGroup() as group:
                    made = Rig(server, Path(name), watch)
                    listening = group.create_task(made._listen())
                    yield made
                    listening.cancel()
            finally:
                await asyncio.to_thread(server.stop)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failure of a microphone; `mend` returns once it works again."""

    name: str
    strike: Callable[[Rig], Awaitable[None]]
    mend: Callable[[Rig], Awaitable[None]]


async def _remove(rig: Rig) -> None:
    """Remove every source."""
    await rig.unload("module-remap-source", "module-null-sink")
    await rig.until(MicrophoneStatus.MISSING)


async def _put_back(rig: Rig) -> None:
    for sink in ("speaker", "micsink"):
        arguments = (f"sink_name={sink}", "rate=48000", "channels=1", "norewinds=1")
        await rig.pactl("load-module", "module-null-sink", *arguments)
    await rig.pactl("set-default-sink", "speaker")
    await rig.plug_in()


async def _kill(rig: Rig) -> None:
    await asyncio.to_thread(rig.server.kill)
    await rig.until(MicrophoneStatus.MISSING)


async def _restart(rig: Rig) -> None:
    await asyncio.to_thread(rig.server.start)


async def _suspend(rig: Rig) -> None:
    await rig.pactl("suspend-source", "mic", "1")
    await rig.until(MicrophoneStatus.MISSING)


async def _resume(rig: Rig) -> None:
    await rig.pactl("suspend-source", "mic", "0")


async def _move(rig: Rig) -> None:
    """Remove the microphone, so that the server moves us to a loudspeaker's monitor."""
    await rig.unload("module-remap-source")
    await rig.until(MicrophoneStatus.ELSEWHERE, MicrophoneStatus.MISSING)


async def _move_back(rig: Rig) -> None:
    await rig.plug_in()


TROUBLES = (
    Trouble("removed", _remove, _put_back),
    Trouble("server killed", _kill, _restart),
    Trouble("suspended", _suspend, _resume),
    Trouble("moved", _move, _move_back),
)


def handles() -> int:
    """Return the number of open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def threads() -> int:
    """Return the number of threads of this process, including PortAudio's and libpulse's."""
    return len(list(Path("/proc/self/task").iterdir()))
