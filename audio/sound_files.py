"""A frame source for WAV files, functions that read and write whole files, and a decoder for short
clips."""

import asyncio
import io
import stat
import struct
import wave
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE, Frame, Framer
from audio.mixer import RATE
from audio.resampling import Resampler, resample
from audio.timing import Clock, LoopClock
from audio.tts.tuned import level_whole

# WAV header parser with one-sentence errors. The standard library's `wave` rejects float samples
# and, before 3.12, extensible headers. Layout: Microsoft, "Multiple Channel Audio Data and WAVE
# Files", and RFC 2361.


_PCM = 1
_FLOAT = 3
_EXTENSIBLE = 0xFFFE  # the real format is in the first two bytes of the sub-format GUID
_NAMES = {2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "IMA ADPCM", 49: "GSM", 80: "MPEG", 85: "MP3"}
_WIDTHS = {_PCM: (1, 2, 3, 4), _FLOAT: (4, 8)}  # bytes per sample
_UNKNOWN_LENGTH = 0xFFFFFFFF  # written by programs that can't seek, e.g. ffmpeg to a pipe
_RATES = range(1_000, 768_001)  # Hz
_CHANNELS = range(1, 65)
_CONVERT = "convert it to 16-bit PCM with `ffmpeg -i IN -c:a pcm_s16le OUT.wav`"


@dataclass(frozen=True, slots=True)
class WavHeader:
    """The header of a WAV file, checked against the file's length."""

    channels: int
    rate: int  # Hz
    width: int  # bytes of one sample of one channel
    floating: bool  # IEEE float instead of integers
    offset: int  # byte at which the audio data begins
    size: int  # bytes of audio data: whole sample frames, above 0

    @property
    def frame_size(self) -> int:
        """Bytes per sample frame, which has one sample per channel."""
        return self.channels * self.width


def open_wav(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises InputUnusable."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputUnusable(f"{path} is a folder: give the path of a WAV file in it.")
        if not stat.S_ISREG(mode):
            raise InputUnusable(f"{path} is not a regular file: give the path of a WAV file.")
        return path.open("rb")
    except FileNotFoundError as error:
        raise InputUnusable(
            f"{path} does not exist: check the path and the file's name."
        ) from error
    except PermissionError as error:
        raise InputUnusable(
            f"{path} is not readable by this user: change its permissions with `chmod a+r`."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputUnusable(f"{path} cannot be opened ({reason}): choose another file.") from error


def read_header(file: BinaryIO, path: Path) -> WavHeader:
    """Return the header, parsed from the chunks before the audio data. `path` is used in error
    messages. Raises InputUnusable if the file isn't WAV, or is unsupported, damaged, empty or
    incomplete."""
    length = file.seek(0, 2)
    file.seek(0)
    riff = file.read(12)
    if length == 0:
        raise InputUnusable(f"{path} is empty: record or export it again.")
    if riff[:4] != b"RIFF" or riff[8:12] != b"WAVE":
        raise InputUnusable(
            f"{path} is not a WAV file, whatever its name: give a recording in WAV format."
        )
    form: bytes | None = None
    while len(chunk := file.read(8)) == 8:
        name, size = chunk[:4], struct.unpack("<I", chunk[4:])[0]
        if name == b"data" and form is not None:
            return _header(form, file.tell(), size, length, path)
        if name == b"fmt ":
            form = file.read(min(size, 64))
            size -= len(form)
        file.seek(size + size % 2, 1)  # chunks begin at even bytes
    raise _truncated(path, "it ends before its audio begins")


def _header(form: bytes, offset: int, size: int, length: int, path: Path) -> WavHeader:
    if len(form) < 16:
        raise _truncated(path, "its format chunk is too short")
    code, channels, rate, _, align, bits = struct.unpack("<HHIIHH", form[:16])
    if code == _EXTENSIBLE and len(form) >= 26:
        code = struct.unpack("<H", form[24:26])[0]
    if code not in _WIDTHS:
        raise InputUnusable(
            f"{path} contains {_NAMES.get(code, f'format {code}')} audio, which Hearth does not "
            f"support: {_CONVERT}."
        )
    width = align // channels if channels else 0
    if channels not in _CHANNELS or rate not in _RATES or width * channels != align:
        raise _truncated(path, f"{channels} channels at {rate} Hz are not plausible")
    if width not in _WIDTHS[code] or not 0 < bits <= width * 8:
        raise InputUnusable(
            f"{path} has {bits}-bit samples, which Hearth does not support: {_CONVERT}."
        )
    there = length - offset
    if size == _UNKNOWN_LENGTH:
        size = there
    if size > there:
        raise InputUnusable(
            f"{path} is incomplete: its header announces {size} bytes of audio, but it has "
            f"{there}; record or export it again."
        )
    size -= size % align
    if size == 0:
        raise InputUnusable(f"{path} contains no audio: record or export it again.")
    return WavHeader(channels, rate, width, code == _FLOAT, offset, size)


def _truncated(path: Path, reason: str) -> InputUnusable:
    return InputUnusable(f"{path} is damaged ({reason}): record or export it again.")


_BLOCKS_PER_SECOND = 25  # 40 ms are read at a time, so that a whole file is never in memory


class WavSource:
    """A frame source that reads a WAV file in a usual PCM or float format, and mixes its channels
    to one.

    The last frame is padded with silence. Each call of `frames` starts at the beginning.
    """

    def __init__(self, path: Path | str, *, realtime: bool, clock: Clock | None = None) -> None:
        """With `realtime`, each frame is delivered when its last sample would have been spoken."""
        self._path = Path(path)
        self._clock = (clock or LoopClock()) if realtime else None
        self.pulled = not realtime

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield the file's frames. Raises InputUnusable if the file can't be read."""
        began = self._clock.monotonic() if self._clock else 0.0
        for frame in _frames(self._path):
            if self._clock:
                # Count from the start, not from the last frame, so that delays don't add up.
                due = began + frame.end / SAMPLE_RATE
                await self._clock.sleep(max(0.0, due - self._clock.monotonic()))
            else:
                await asyncio.sleep(0)  # a two-hour file must not block the event loop
            yield frame


def read_wav(path: Path | str) -> bytes:
    """Read a whole file as 16 kHz mono int16. Raises InputUnusable."""
    return b"".join(_blocks(Path(path)))


def write_wav(path: Path | str, pcm: bytes, rate: int) -> None:
    """Write mono int16 at `rate` Hz. Raises InputUnusable if the file can't be written."""
    try:
        with Path(path).open("wb") as plain, wave.open(plain, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(pcm)
    except OSError as error:
        raise InputUnusable(
            f"{path} cannot be written ({error.strerror}): choose a file in a writable folder."
        ) from error


def _frames(path: Path) -> Iterator[Frame]:
    framer = Framer()
    for block in _blocks(path):
        yield from framer.push(block)
    yield from framer.flush()


def _blocks(path: Path) -> Iterator[bytes]:
    with open_wav(path) as file:
        header = read_header(file, path)
        resampler = Resampler(header.rate, SAMPLE_RATE)
        file.seek(header.offset)
        left = header.size
        while left:
            wanted = min(left, header.rate // _BLOCKS_PER_SECOND * header.frame_size)
            raw = file.read(wanted)
            if len(raw) < wanted:
                raise InputUnusable(
                    f"{path} shrank while it was being read: wait until it is complete."
                )
            left -= wanted
            yield resampler.push(_mono(raw, header))
        yield resampler.flush()


def _mono(raw: bytes, header: WavHeader) -> bytes:
    if header.channels == 1 and header.width == 2:
        return raw
    samples = _as_float(raw, header).reshape(-1, header.channels).mean(axis=1)
    # Full scale is 32768 on the negative side only. Float files can contain infinity and NaN.
    safe = np.nan_to_num(samples, nan=0.0, posinf=32767.0, neginf=-32768.0)
    return bytes(np.rint(safe).clip(-32768, 32767).astype("<i2").tobytes())


def _as_float(raw: bytes, header: WavHeader) -> NDArray[np.float64]:
    if header.floating:
        return np.frombuffer(raw, f"<f{header.width}").astype(np.float64) * 32768.0
    if header.width == 1:  # the only unsigned format
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128.0) * 256.0
    if header.width == 3:  # numpy has no 24-bit type: use each sample as the upper bytes of four
        wide = np.zeros((len(raw) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return wide.view("<i4").ravel().astype(np.float64) / 65536.0
    return np.frombuffer(raw, f"<i{header.width}").astype(np.float64) / 256.0 ** (header.width - 2)


# Short clips, decoded as a whole and levelled to Hearth's voice. libsndfile supports some thirty
# formats, but is given only the usual ones, which are recognised by their first bytes.


LONGEST_S = 120.0
MOST_CHANNELS = 8
_CLIP_RATES = range(4_000, 192_001)  # Hz
_BLOCK = 1 << 16  # sample frames decoded at a time
_FULL = 32_767.0
_HEADS = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"ID3", b"FORM")


@dataclass(frozen=True, slots=True)
class Clip:
    """A short audio clip as mono int16 PCM."""

    name: str  # display name, such as "doorbell.wav"
    pcm: bytes = field(repr=False)
    rate: int  # Hz

    @property
    def seconds(self) -> float:
        return len(self.pcm) / 2 / self.rate


def decoded(data: bytes, name: str) -> Clip:
    """Decode a WAV, AIFF, FLAC, OGG or MP3 file to a clip at the mixer's rate (48 kHz), as loud as
    Hearth's voice. `name` is used in error messages. Blocks. Raises InputUnusable."""
    if not data.startswith(_HEADS) and not _is_mp3(data):
        raise InputUnusable(
            f"{name} is not a sound file that Hearth can play: use WAV, FLAC, OGG or MP3."
        )
    # Imported here because it loads a library that most processes never need.
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            rate, channels = int(file.samplerate), int(file.channels)
            if rate not in _CLIP_RATES or channels > MOST_CHANNELS:
                raise InputUnusable(
                    f"{name} has {channels} channels at {rate} Hz, which Hearth cannot play: "
                    "convert it to 44100 Hz stereo or mono."
                )
            pcm = _read(file, rate, name)
    except soundfile.SoundFileError as error:
        raise InputUnusable(
            f"{name} is damaged or has an unsupported format: export it again as WAV, FLAC, OGG or "
            "MP3."
        ) from error
    if not pcm:
        raise InputUnusable(f"{name} contains no audio: record or export it again.")
    return Clip(name, level_whole(pcm, RATE), RATE)


def levelled(pcm: bytes, rate: int, name: str) -> Clip:
    """Return a clip of mono int16 PCM at the mixer's rate (48 kHz), as loud as Hearth's voice.

    Blocks for about 10 ms per minute of audio. Raises InputUnusable if the audio is longer than
    LONGEST_S (120 s) or its rate isn't supported.
    """
    if rate not in _CLIP_RATES:
        raise InputUnusable(f"{name} is at {rate} Hz, which Hearth cannot play.")
    if len(pcm) / 2 / rate > LONGEST_S:
        raise _too_long(name)
    return Clip(name, level_whole(resample(pcm, rate, RATE), RATE), RATE)


def _read(file: Any, rate: int, name: str) -> bytes:
    resampler, made, samples = Resampler(rate, RATE), bytearray(), 0
    for block in file.blocks(_BLOCK, dtype="float32", always_2d=True):
        samples += len(block)
        if samples > LONGEST_S * rate:  # count, because the header's length can be wrong
            raise _too_long(name)
        mono = np.nan_to_num(block.mean(axis=1), nan=0.0, posinf=1.0, neginf=-1.0)
        pcm = np.rint(mono.clip(-1.0, 1.0) * _FULL).astype("<i2").tobytes()
        made += resampler.push(pcm)
    return bytes(made + resampler.flush())


def _is_mp3(data: bytes) -> bool:
    """Return True if the data starts like MPEG audio of layer III, with eleven set bits."""
    return len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2


def _too_long(name: str) -> InputUnusable:
    return InputUnusable(
        f"{name} is longer than {LONGEST_S:g} s, the limit for announcements: play it on a media "
        "player instead."
    )
