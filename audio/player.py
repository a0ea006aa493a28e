"""Audio players that play on a device, write a WAV file or discard the audio, with a common
protocol."""

import asyncio
import os
import struct
import tempfile
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from audio.errors import InputUnusable
from audio.resampling import Conversion
from audio.timing import Clock, LoopClock

AHEAD_SECONDS = 2.0  # audio that a player accepts before `play` waits
EMPTY_FILE_RATE = 22_050  # Hz; rate of a WAV file without audio
HEADER_BYTES = 44


class Player(Protocol):
    """Plays PCM in order and without gaps. Call it only on the event loop's thread."""

    async def play(self, pcm: bytes, rate: int) -> None:
        """Queue mono int16 at `rate` Hz, waiting for room if necessary.

        If `stop` is called during the wait, the remaining audio is dropped. Raises DeviceLost if
        the device has disappeared, and InputUnusable if it can't be used.
        """
        ...

    async def drain(self) -> None:
        """Wait until all queued audio has been played or `stop` is called."""
        ...

    def stop(self) -> None:
        """Stop immediately and clear the queue. The player can be used again."""
        ...

    @property
    def played_ms(self) -> float:
        """Milliseconds of audio played since the player was created."""
        ...

    async def close(self) -> None:
        """Release the device, or finish the file."""
        ...


StreamName = Literal["voice", "announcements", "sounds", "ringing"]


@runtime_checkable
class Outputs(Protocol):
    """A loudspeaker that plays several streams at once, each of which is a Player. A stream's
    methods concern only that stream, and closing a stream does nothing."""

    def stream(self, name: StreamName) -> Player:
        """Return the stream with this name, which is always the same object."""
        ...

    def duck(self, on: bool) -> None:
        """Make speech (voice and announcements) much quieter immediately, or restore its volume."""
        ...

    async def close(self) -> None:
        """Release the device, or finish the file."""
        ...


class OneOutput:
    """Uses one player for all streams. They play one after another, and ducking has no effect."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def stream(self, name: StreamName) -> Player:
        return self._player

    def duck(self, on: bool) -> None:
        pass

    async def close(self) -> None:
        await self._player.close()


def as_outputs(sound: Outputs | Player) -> Outputs:
    """Return `sound` if it has streams, otherwise a wrapper that plays all streams on it."""
    return sound if isinstance(sound, Outputs) else OneOutput(sound)


class Pace:
    """Tracks how much of the accepted audio a loudspeaker would have played by now. Without a
    clock, all accepted audio counts as played."""

    def __init__(self, clock: Clock | None) -> None:
        self._clock = clock
        self._accepted = 0.0  # seconds
        self._ends_at = 0.0  # clock time at which all accepted audio will have been played
        self._stopped = asyncio.Event()

    @property
    def ahead(self) -> float:
        """Seconds of audio accepted but not yet played."""
        if self._clock is None:
            return 0.0
        return max(0.0, self._ends_at - self._clock.monotonic())

    @property
    def played(self) -> float:
        return self._accepted - self.ahead

    async def wait_until(self, ahead: float) -> bool:
        """Wait until at most `ahead` seconds are left to play. Returns False if `stop` is called
        first."""
        stopped = self._stopped
        while self._clock is not None and self.ahead > ahead + 1e-9:
            await self._pause(self._clock, self.ahead - ahead, stopped)
            if stopped.is_set():
                return False
        return True

    def accept(self, seconds: float) -> None:
        if self._clock is not None:
            self._ends_at = max(self._ends_at, self._clock.monotonic()) + seconds
        self._accepted += seconds

    def stop(self) -> None:
        self._accepted = self.played
        self._ends_at = 0.0
        self._stopped.set()
        self._stopped = asyncio.Event()

    @staticmethod
    async def _pause(clock: Clock, seconds: float, stopped: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            waits = {group.create_task(clock.sleep(seconds)), group.create_task(stopped.wait())}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()


class NullPlayer:
    """Discards the audio. With `paced`, playing takes as long as on a loudspeaker."""

    def __init__(self, paced: bool, clock: Clock | None = None) -> None:
        self._pace = Pace((clock or LoopClock()) if paced else None)

    async def play(self, pcm: bytes, rate: int) -> None:
        if await self._pace.wait_until(AHEAD_SECONDS):
            self._pace.accept(len(pcm) / 2 / rate)

    async def drain(self) -> None:
        await self._pace.wait_until(0.0)

    def stop(self) -> None:
        self._pace.stop()

    @property
    def played_ms(self) -> float:
        return self._pace.played * 1000

    async def close(self) -> None:
        self.stop()


class WavPlayer(NullPlayer):
    """Writes a mono 16-bit WAV file, which appears at its final path when `close` returns.

    The first audio sets the file's sample rate. With `paced`, `stop` cuts off audio that a
    loudspeaker would not have played yet. Raises InputUnusable if the file can't be written.
    """

    def __init__(self, path: Path, paced: bool, clock: Clock | None = None) -> None:
        super().__init__(paced, clock)
        self._path = path
        self._rate = EMPTY_FILE_RATE  # Hz
        self._conversion: Conversion | None = None  # None until the first audio
        self._samples = 0  # in the file
        if path.is_dir():
            raise InputUnusable(f"{path} is a folder; name a WAV file to write.")
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        except OSError as error:
            raise self._unusable(error) from error
        self._temporary = Path(name)
        self._file = os.fdopen(handle, "wb")
        self._file.write(bytes(HEADER_BYTES))

    async def play(self, pcm: bytes, rate: int) -> None:
        if not await self._pace.wait_until(AHEAD_SECONDS):
            return
        if self._conversion is None:
            self._rate = rate
            self._conversion = Conversion(rate)
        self._write(self._conversion.push(pcm, rate))

    async def drain(self) -> None:
        if self._conversion is not None:
            self._write(self._conversion.flush())
        await self._pace.wait_until(0.0)

    def stop(self) -> None:
        if self._file.closed:
            return
        if self._conversion is not None:
            self._conversion.flush()
        self._pace.stop()
        self._samples = min(self._samples, round(self._pace.played * self._rate))
        self._file.seek(HEADER_BYTES + 2 * self._samples)
        self._file.truncate()

    async def close(self) -> None:
        if self._file.closed:
            return
        self.stop()
        try:
            self._file.seek(0)
            self._file.write(wav_header(self._rate, self._samples))
            self._file.close()
            self._temporary.chmod(0o644)
            self._temporary.replace(self._path)
        except OSError as error:
            self._temporary.unlink(missing_ok=True)
            raise self._unusable(error) from error

    def _write(self, sound: bytes) -> None:
        try:
            self._file.write(sound)
        except OSError as error:
            raise self._unusable(error) from error
        self._samples += len(sound) // 2
        self._pace.accept(len(sound) / 2 / self._rate)

    def _unusable(self, error: OSError) -> InputUnusable:
        return InputUnusable(
            f"{self._path} cannot be written ({error.strerror}); choose a folder that exists and "
            "that you own."
        )


def wav_header(rate: int, samples: int) -> bytes:
    """Return a WAV file's header (HEADER_BYTES, 44) for mono int16 PCM (RIFF/WAVE, format 1)."""
    size = samples * 2
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + size, b"WAVE")
        + struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
        + struct.pack("<4sI", b"data", size)
    )
