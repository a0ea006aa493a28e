"""The picture of the simulated camera: a front door, drawn in code."""

import struct
import zlib

WIDTH, HEIGHT = 96, 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_WALL, _DOOR, _HANDLE, _STEP = (203, 197, 186), (122, 62, 38), (224, 190, 90), (120, 120, 120)


def picture() -> bytes:
    """A PNG of WIDTH by HEIGHT, 8 bits of red, green and blue (W3C PNG, section 11)."""
    rows = b"".join(
        b"\x00" + bytes(part for x in range(WIDTH) for part in _colour(x, y)) for y in range(HEIGHT)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows))
        + _chunk(b"IEND", b"")
    )


def _colour(x: int, y: int) -> tuple[int, int, int]:
    """A wall with a door in it and a step before it."""
    if y >= HEIGHT - 8:
        return _STEP
    if 52 <= x < 55 and 34 <= y < 38:
        return _HANDLE
    return _DOOR if 36 <= x < 60 and y >= 12 else _WALL


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum
