"""A loudspeaker: PortAudio pulls the sound from a bounded buffer."""

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from audio.devices import find_device, load_portaudio
from audio.errors import DeviceLost
from audio.player import AHEAD_SECONDS, Conversion

BLOCK_MS = 20  # what the device takes at a time
LATENCY_SECONDS = 0.05  # asked of PortAudio: room for a busy Pi, and still silent within 100 ms
POLL_SECONDS = 0.01  # how often waiting looks at the buffer
SILENT_SECONDS = 1.0  # a running stream that asks for nothing this long is dead
GRACE_SECONDS = 0.2  # before a silent device is believed to be dead
CALL_SECONDS = 5.0  # for opening and closing
# After the sound's own rate: what sound servers and cards take. A server resamples by itself.
RATES = (22_050, 24_000, 48_000, 44_100)  # Hz


Result = TypeVar("Result")


class Buffer:
    """Sound between the event loop, which fills it, and PortAudio's thread, which empties it."""

    def __init__(self, channels: int) -> None:
        self._channels = channels
        self._lock = threading.Lock()
        self._pieces: deque[bytes] = deque()
        self._waiting = 0  # bytes of mono int16
        self.taken = 0  # samples of sound handed to the device
        self._asked_at = time.monotonic()  # when the device last asked

    @property
    def forgotten(self) -> bool:
        """Whether the device has stopped asking."""
        return time.monotonic() - self._asked_at > SILENT_SECONDS

    @property
    def waiting(self) -> int:
        """Samples not yet handed to the device."""
        return self._waiting // 2

    def put(self, pcm: bytes) -> None:
        """Queue mono int16."""
        with self._lock:
            self._pieces.append(pcm)
            self._waiting += len(pcm)

    def clear(self) -> None:
        """Drop what is queued."""
        with self._lock:
            self._pieces.clear()
            self._waiting = 0

    def fill(self, out: Any, samples: int) -> None:
        """Write `samples` into the device's buffer, silence where no sound is left."""
        self._asked_at = time.monotonic()
        sound = self._take(samples * 2)
        self.taken += len(sound) // 2
        sound = sound.ljust(samples * 2, b"\0")
        if self._channels > 1:
            sound = np.repeat(np.frombuffer(sound, np.int16), self._channels).tobytes()
        out[:] = sound

    def _take(self, size: int) -> bytes:
        with self._lock:
            taken = bytearray()
            while self._pieces and len(taken) < size:
                piece = self._pieces.popleft()
                room = size - len(taken)
                taken += piece[:room]
                if len(piece) > room:
                    self._pieces.appendleft(piece[room:])
            self._waiting -= len(taken)
            return bytes(taken)


@dataclass(slots=True)
class OpenStream:
    """A running stream and what belongs to it."""

    stream: Any
    rate: int  # Hz
    latency: float  # seconds from the hand-over to the air
    buffer: Buffer
    conversion: Conversion


class DevicePlayer:
    """Plays through a sound device, opened at the first sound and kept open.

    It counts as played what was handed to the device. `device`: a name, or "default".
    A stream that died is opened again by the next `play`.
    """

    def __init__(self, device: str = "default") -> None:
        self._device = device
        self._open: OpenStream | None = None
        self._opening = asyncio.Lock()
        self._played_before = 0.0  # ms played through streams that are closed
        self._stops = 0  # how often `stop` was called

    async def play(self, pcm: bytes, rate: int) -> None:
        stops = self._stops
        current = await self._stream(rate)
        while current.buffer.waiting > AHEAD_SECONDS * current.rate:
            await self._wait(current)
        if stops == self._stops:
            current.buffer.put(current.conversion.push(pcm, rate))

    async def drain(self) -> None:
        current, stops = self._open, self._stops
        if current is None:
            return
        current.buffer.put(current.conversion.flush())
        while current.buffer.waiting:
            await self._wait(current)
        if stops == self._stops:
            await asyncio.sleep(current.latency)

    def stop(self) -> None:
        self._stops += 1
        if self._open is not None:
            self._open.conversion.flush()
            self._open.buffer.clear()

    @property
    def played_ms(self) -> float:
        return self._played_before + (_played_ms(self._open) if self._open else 0.0)

    async def close(self) -> None:
        self.stop()
        current, self._open = self._open, None
        if current is not None:
            self._played_before += _played_ms(current)
            loop = asyncio.get_running_loop()
            await _bounded(self._device, loop.run_in_executor(None, _close, current.stream))

    async def _stream(self, rate: int) -> OpenStream:
        async with self._opening:
            if self._open is not None and not self._open.stream.active:
                await self.close()
            if self._open is None:
                self._open = await self._opened(rate)
            return self._open

    async def _opened(self, rate: int) -> OpenStream:
        """A new stream. One that comes when nobody waits for it any more is closed again."""
        loop = asyncio.get_running_loop()
        opening = loop.run_in_executor(None, _open, self._device, rate)
        try:
            return await _bounded(self._device, opening)
        except (DeviceLost, asyncio.CancelledError):
            opening.add_done_callback(_close_unwanted)
            raise

    async def _wait(self, current: OpenStream) -> None:
        """One look at the buffer. Raises DeviceLost when nobody empties it any more."""
        await asyncio.sleep(POLL_SECONDS)
        if current.stream.active and not current.buffer.forgotten:
            return
        await asyncio.sleep(GRACE_SECONDS)  # the whole process may have stood still, not the device
        if current.stream.active and not current.buffer.forgotten:
            return
        if current is self._open:
            await self.close()
        raise _lost(self._device, "has stopped taking sound")


def _played_ms(current: OpenStream) -> float:
    return current.buffer.taken / current.rate * 1000


def _lost(device: str, what: str) -> DeviceLost:
    return DeviceLost(f"The loudspeaker ({device}) {what}; check audio.output and its cable.")


async def _bounded(device: str, work: asyncio.Future[Result]) -> Result:
    """Work in a thread, which goes on by itself when it is not waited for any longer."""
    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await asyncio.shield(work)
    except TimeoutError as error:
        raise _lost(device, "does not react") from error


def _close_unwanted(opening: asyncio.Future[OpenStream]) -> None:
    if opening.cancelled() or opening.exception() is not None:
        return
    # In a thread of its own: the loop may be ending, and closing can block.
    threading.Thread(target=_close, args=(opening.result().stream,), daemon=True).start()


def _close(stream: Any) -> None:
    stream.abort(ignore_errors=True)
    stream.close(ignore_errors=True)


def _open(device: str, rate: int) -> OpenStream:
    """The first rate and channel count that the device takes. Blocking."""
    portaudio = load_portaudio()
    index = find_device(device, "output").index
    trouble: Exception | None = None
    for channels in (1, 2):
        for candidate in dict.fromkeys((rate, *RATES)):
            try:
                return _start(portaudio, index, candidate, channels)
            except portaudio.PortAudioError as error:
                trouble = error
    raise _lost(device, "cannot be opened") from trouble


def _start(portaudio: Any, index: int, rate: int, channels: int) -> OpenStream:
    portaudio.check_output_settings(device=index, channels=channels, dtype="int16", samplerate=rate)
    buffer = Buffer(channels)
    stream = portaudio.RawOutputStream(
        device=index,
        channels=channels,
        dtype="int16",
        samplerate=rate,
        blocksize=rate * BLOCK_MS // 1000,
        latency=LATENCY_SECONDS,
        callback=lambda out, samples, when, status: buffer.fill(out, samples),
    )
    try:
        stream.start()
    except portaudio.PortAudioError:
        _close(stream)
        raise
    return OpenStream(stream, rate, float(stream.latency), buffer, Conversion(rate))
