"""The sound of the simulated service: its tone, and how it finds what it has heard."""

import functools
from collections.abc import Iterator

import numpy as np

RATE_IN = 16_000  # Hz, mono int16: what clients send
RATE_OUT = 24_000  # Hz, mono int16: what the service sends
FRAME_S = 0.1  # of the service's sound


@functools.cache
def _second() -> bytes:
    """Make one second of 440 Hz in whole periods, so that it repeats without a click."""
    wave = np.sin(2 * np.pi * 440 * np.arange(RATE_OUT) / RATE_OUT) * 8_000
    return bytes(np.rint(wave).astype("<i2").tobytes())


def tone(seconds: float) -> bytes:
    """Make a tone of `seconds` at 24 kHz, in place of speech."""
    length = round(seconds * RATE_OUT) * 2
    return (_second() * (length // len(_second()) + 1))[:length]


def frames(pcm: bytes) -> Iterator[bytes]:
    """Split `pcm` at 24 kHz into the pieces that are sent."""
    size = round(FRAME_S * RATE_OUT) * 2
    for start in range(0, len(pcm), size):
        yield pcm[start : start + size]


def find(part: bytes, whole: bytes) -> list[int]:
    """Return each sample of `whole` (mono int16) at which `part` begins exactly."""
    found, at = [], whole.find(part)
    while at >= 0:
        if at % 2 == 0:
            found.append(at // 2)
        at = whole.find(part, at + 1)
    return found
