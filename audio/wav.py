"""WAV files: read as if they were a microphone, read whole, and written."""

import asyncio
import wave
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audio.clock import Clock, LoopClock
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE, Frame, Framer
from audio.resample import Resampler
from audio.riff import WavHeader, open_wav, read_header

_BLOCKS_PER_SECOND = 25  # 40 ms are read at a time, so that no file is ever whole in memory


class WavSource:
    """A frame source that plays a WAV file: any PCM or float, any rate, channels mixed to one.

    16 kHz mono 16-bit comes through bit for bit. The last frame is filled up with silence.
    Each call of `frames` begins anew.
    """

    def __init__(self, path: Path | str, *, realtime: bool, clock: Clock | None = None) -> None:
        """`realtime`: each frame comes when its last sample would have been spoken, by `clock`."""
        self._path = Path(path)
        self._clock = (clock or LoopClock()) if realtime else None
        self.pulled = not realtime

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """The file's frames. Raises InputUnusable, one sentence, for whatever is wrong with it."""
        began = self._clock.monotonic() if self._clock else 0.0
        for frame in _frames(self._path):
            if self._clock:
                # Counted from the start, not from the last frame: late wake-ups do not add up.
                due = began + frame.end / SAMPLE_RATE
                await self._clock.sleep(max(0.0, due - self._clock.monotonic()))
            else:
                await asyncio.sleep(0)  # a two-hour file must not keep the loop to itself
            yield frame


def read_wav(path: Path | str) -> bytes:
    """The whole file as 16 kHz mono int16. Raises InputUnusable."""
    return b"".join(_blocks(Path(path)))


def write_wav(path: Path | str, pcm: bytes, rate: int) -> None:
    """Write mono int16 at `rate` Hz. Raises InputUnusable when the file cannot be written."""
    try:
        with Path(path).open("wb") as plain, wave.open(plain, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(pcm)
    except OSError as error:
        raise InputUnusable(
            f"{path} cannot be written ({error.strerror}): give a file in a folder that can."
        ) from error


def _frames(path: Path) -> Iterator[Frame]:
    framer = Framer()
    for block in _blocks(path):
        yield from framer.push(block)
    yield from framer.flush()


def _blocks(path: Path) -> Iterator[bytes]:
    """16 kHz mono int16 in pieces of any length."""
    with open_wav(path) as file:
        header = read_header(file, path)
        resampler = Resampler(header.rate, SAMPLE_RATE)
        file.seek(header.offset)
        left = header.size
        while left:
            wanted = min(left, header.rate // _BLOCKS_PER_SECOND * header.frame_size)
            raw = file.read(wanted)
            if len(raw) < wanted:
                raise InputUnusable(f"{path} was cut short while it was read: let it be finished.")
            left -= wanted
            yield resampler.push(_mono(raw, header))
        yield resampler.flush()


def _mono(raw: bytes, header: WavHeader) -> bytes:
    """Sample frames as they lie in the file, as mono int16."""
    if header.channels == 1 and header.width == 2:
        return raw
    samples = _as_float(raw, header).reshape(-1, header.channels).mean(axis=1)
    # Full scale is 32768 on the negative side only; infinity and not-a-number occur in float files.
    safe = np.nan_to_num(samples, nan=0.0, posinf=32767.0, neginf=-32768.0)
    return bytes(np.rint(safe).clip(-32768, 32767).astype("<i2").tobytes())


def _as_float(raw: bytes, header: WavHeader) -> NDArray[np.float64]:
    """All channels' samples, scaled to the range of int16."""
    if header.floating:
        return np.frombuffer(raw, f"<f{header.width}").astype(np.float64) * 32768.0
    if header.width == 1:  # the only unsigned one
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128.0) * 256.0
    if header.width == 3:  # numpy has no such type: set each as the upper bytes of four
        wide = np.zeros((len(raw) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return wide.view("<i4").ravel().astype(np.float64) / 65536.0
    return np.frombuffer(raw, f"<i{header.width}").astype(np.float64) / 256.0 ** (header.width - 2)
