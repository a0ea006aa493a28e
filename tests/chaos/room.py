"""The microphone of a running `hearth run`: a file that is written while it is played."""

import asyncio
import struct
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav

_HEADER = 44  # bytes
_LONG_S = 20 * 60  # of silence at first; its zeros take no room on the disk
_AHEAD_S = 1.0  # of where it is being read, more than what is read at once
# Bytes: each recording begins at a multiple of them (0.96 s), and so lies alike in the frames of
# all who listen (10, 20, 30, 32 and 80 ms).
_GRID = SAMPLE_RATE * 96 // 100 * 2


class Room:
    """Silent until somebody speaks. `source` is for audio.input."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("wb") as plain:
            plain.write(_header(_LONG_S * SAMPLE_RATE * 2))
            plain.truncate(plain.tell() + _LONG_S * SAMPLE_RATE * 2)

    @property
    def source(self) -> str:
        """Return the value for the settings."""
        return f"file:{self._path}"

    async def say(self, recording: Path, to: int) -> None:
        """Say it to the process with this id."""
        async with asyncio.timeout(60.0):  # it plays once everything stands
            while (position := self._position(to)) is None:  # noqa: ASYNC110 (another process)
                await asyncio.sleep(0.1)
        begins = position + round(_AHEAD_S * SAMPLE_RATE) * 2
        with self._path.open("r+b") as file:
            file.seek(_HEADER + (begins // _GRID + 1) * _GRID)
            file.write(read_wav(recording))

    def _position(self, process: int) -> int | None:
        """Return how many bytes of it that process has read, or None if it has not opened it."""
        folder = Path(f"/proc/{process}")
        for handle in (folder / "fd").iterdir():
            try:
                if handle.readlink() == self._path:
                    told = (folder / "fdinfo" / handle.name).read_text(encoding="ascii")
                    return int(told.split("pos:")[1].split()[0])
            except OSError:
                continue  # closed meanwhile
        return None


def _header(size: int) -> bytes:
    """Return the header of a WAV file with `size` bytes of 16-bit mono."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + size, b"WAVE")
        + form
        + struct.pack("<4sI", b"data", size)
    )
