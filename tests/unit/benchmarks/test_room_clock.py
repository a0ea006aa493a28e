"""Tests of the time at which a clip began in the microphone's sound."""

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from tests.benchmarks.room_clock import RoomClock

_RNG = np.random.default_rng(4)
_CLIP = _RNG.normal(0, 2000, SAMPLE_RATE // 2).astype("<i2").tobytes()
_PIECE = 320  # bytes, 10 ms


def _recorded(began: float, late: list[float]) -> RoomClock:
    """Return a second of room with the clip 0.4 s after its beginning; `late` delays the pieces."""
    room = _RNG.normal(0, 20, SAMPLE_RATE).astype("<i2").tobytes()
    at = round(0.4 * SAMPLE_RATE) * 2
    pcm = room[:at] + _CLIP + room[at + len(_CLIP) :]
    clock = RoomClock()
    for number, start in enumerate(range(0, len(pcm), _PIECE)):
        ready = began + (start + _PIECE) / 2 / SAMPLE_RATE
        clock.take(pcm[start : start + _PIECE], ready + late[number % len(late)])
    return clock


def test_the_moment_goes_by_the_piece_that_came_soonest() -> None:
    clock = _recorded(100.0, [0.05, 0.02, 0.005, 0.03])
    assert clock.began(_CLIP, 0) == pytest.approx(100.405, abs=1e-3)


def test_what_came_before_is_not_looked_at() -> None:
    clock = _recorded(50.0, [0.0])
    assert clock.samples == SAMPLE_RATE
    assert clock.began(_CLIP, round(0.3 * SAMPLE_RATE)) == pytest.approx(50.4, abs=1e-3)
