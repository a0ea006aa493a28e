"""Reads the header of a WAV file, and says in one sentence why a file is none.

The standard library's `wave` refuses float samples, and before 3.12 extensible headers.
Layout: Microsoft, "Multiple Channel Audio Data and WAVE Files" and RFC 2361.
"""

import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from audio.errors import InputUnusable

_PCM = 1
_FLOAT = 3
_EXTENSIBLE = 0xFFFE  # the real format is in the first two bytes of the sub-format GUID
_NAMES = {2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "IMA ADPCM", 49: "GSM", 80: "MPEG", 85: "MP3"}
_WIDTHS = {_PCM: (1, 2, 3, 4), _FLOAT: (4, 8)}  # bytes for each sample
_UNKNOWN_LENGTH = 0xFFFFFFFF  # written by programs that could not go back, e.g. ffmpeg to a pipe
_RATES = range(1_000, 768_001)  # Hz
_CHANNELS = range(1, 65)
_CONVERT = "convert it to 16-bit PCM with `ffmpeg -i IN -c:a pcm_s16le OUT.wav`"


@dataclass(frozen=True, slots=True)
class WavHeader:
    """What a WAV file says of its sound, checked against the file's length."""

    channels: int
    rate: int  # Hz
    width: int  # bytes of one sample of one channel
    floating: bool  # IEEE float instead of integers
    offset: int  # byte at which the sound begins
    size: int  # bytes of sound, a whole number of sample frames, above 0

    @property
    def frame_size(self) -> int:
        """Bytes of one sample of all channels."""
        return self.channels * self.width


def open_wav(path: Path) -> BinaryIO:
    """The file, open for reading. Raises InputUnusable, where `wave.open` has many errors."""
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
            f"{path} may not be read by this user: change its permissions with `chmod a+r`."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputUnusable(f"{path} cannot be opened ({reason}): give another file.") from error


def read_header(file: BinaryIO, path: Path) -> WavHeader:
    """Parse the chunks up to the sound. `path` is for the messages.

    Raises InputUnusable for what is no WAV, is compressed, is empty, or is shorter than it says.
    """
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
    raise _truncated(path, "it ends before its sound begins")


def _header(form: bytes, offset: int, size: int, length: int, path: Path) -> WavHeader:
    if len(form) < 16:
        raise _truncated(path, "its format chunk is too short")
    code, channels, rate, _, align, bits = struct.unpack("<HHIIHH", form[:16])
    if code == _EXTENSIBLE and len(form) >= 26:
        code = struct.unpack("<H", form[24:26])[0]
    if code not in _WIDTHS:
        raise InputUnusable(
            f"{path} holds {_NAMES.get(code, f'format {code}')} sound, which is not read here: "
            f"{_CONVERT}."
        )
    width = align // channels if channels else 0
    if channels not in _CHANNELS or rate not in _RATES or width * channels != align:
        raise _truncated(path, f"{channels} channels at {rate} Hz cannot be right")
    if width not in _WIDTHS[code] or not 0 < bits <= width * 8:
        raise InputUnusable(f"{path} has {bits}-bit samples, which are not read here: {_CONVERT}.")
    there = length - offset
    if size == _UNKNOWN_LENGTH:
        size = there
    if size > there:
        raise InputUnusable(
            f"{path} is cut short: its header promises {size} bytes of sound, {there} are there; "
            "record or export it again."
        )
    size -= size % align
    if size == 0:
        raise InputUnusable(f"{path} holds no sound: record or export it again.")
    return WavHeader(channels, rate, width, code == _FLOAT, offset, size)


def _truncated(path: Path, reason: str) -> InputUnusable:
    return InputUnusable(f"{path} is damaged ({reason}): record or export it again.")
