"""The sound of the simulated service: a tone it speaks with, and how it finds what it has heard."""

import functools
from collections.abc import Iterator

import numpy as np

RATE_IN = 16_000  # Hz, mono int16: what clients send
RATE_OUT = 24_000  # Hz, mono int16: what the service sends
FRAME_S = 0.1  # of the service's sound


@functools.cache
def _second() -> bytes:
    """One second of 440 Hz, whole periods, so that it can be repeated without a click."""
    wave = np.sin(2 * np.pi * 440 * np.arange(RATE_OUT) / RATE_OUT) * 8_000
    return bytes(np.rint(wave).astype("<i2").tobytes())


def tone(seconds: float) -> bytes:
    """Speech stands in for itself: a tone of `seconds` at 24 kHz."""
    length = round(seconds * RATE_OUT) * 2
    return (_second() * (length // len(_second()) + 1))[:length]


def frames(pcm: bytes) -> Iterator[bytes]:
    """`pcm` at 24 kHz in the pieces that go on the wire."""
    size = round(FRAME_S * RATE_OUT) * 2
    for start in range(0, len(pcm), size):
        yield pcm[start : start + size]


def find(part: bytes, whole: bytes) -> list[int]:
    """Each sample of `whole` (mono int16) at which `part` begins, exactly."""
    found, at = [], whole.find(part)
    while at >= 0:
        if at % 2 == 0:
            found.append(at // 2)
        at = whole.find(part, at + 1)
    return found
