"""The gate: closed in a room where nothing changes, open for whatever rises, however quiet."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.frames import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE
from audio.gate import GLANCE_MS, HOLD_MS, START_MS, EnergyGate

Samples = NDArray[np.float64]
SILENCE = np.zeros(10 * SAMPLE_RATE)


def frames(sound: Samples) -> list[bytes]:
    pcm = np.rint(sound).clip(-32768, 32767).astype("<i2").tobytes()
    return [pcm[at : at + FRAME_SAMPLES * 2] for at in range(0, len(pcm), FRAME_SAMPLES * 2)]


def hiss(rms: float, seconds: float = 10.0, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).normal(0, rms, round(seconds * SAMPLE_RATE))


def tone(hertz: float, rms: float, seconds: float = 10.0) -> Samples:
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return np.asarray(rms * math.sqrt(2) * np.sin(2 * np.pi * hertz * time), np.float64)


def opened(room: Samples, event: Samples | None = None) -> list[bool]:
    """Whether it is open for each frame, once the room is known; the event comes 5 s in."""
    sound = room.copy()
    if event is not None:
        at = 5 * SAMPLE_RATE
        sound[at : at + len(event)] += event
    gate = EnergyGate()
    return [gate.hear(frame) for frame in frames(sound)][(START_MS + 500) // FRAME_MS :]


ROOMS = {
    "digital silence": SILENCE,
    "the last bit": hiss(0.5),
    "a quiet room": hiss(10),
    "a loud fan": hiss(2_000),
    "hum": tone(100, 500) + hiss(5),
    "an offset": hiss(5) + 900,
}


@pytest.mark.parametrize("room", ROOMS)
def test_it_closes_where_nothing_changes(room: str) -> None:
    assert not any(opened(ROOMS[room]))


@pytest.mark.parametrize(
    ("room", "event"),
    [
        ("digital silence", tone(300, 8, 0.2)),  # -72 dBFS
        ("a quiet room", tone(300, 12, 0.2)),
        ("a loud fan", tone(300, 2_000, 0.2)),
        ("hum", hiss(60, 0.2, seed=2)),  # 18 dB below the hum
        ("an offset", tone(300, 12, 0.2)),
    ],
)
def test_a_small_rise_opens_it_and_it_closes_again(room: str, event: Samples) -> None:
    frames_open = opened(ROOMS[room], event)
    first = frames_open.index(True)
    assert abs(first * FRAME_MS - (5_000 - START_MS - 500)) <= 120
    assert not frames_open[-1]
    assert HOLD_MS <= sum(frames_open) * FRAME_MS <= HOLD_MS + 600


def test_a_word_at_the_very_beginning_is_not_taken_for_the_room() -> None:
    gate = EnergyGate()
    sound = np.concatenate([tone(300, 3_000, 1.0), hiss(10, 6.0), tone(300, 30, 0.2)])
    states = [gate.hear(frame) for frame in frames(sound)]
    assert all(states[: START_MS // FRAME_MS - 1])
    assert not states[349]
    assert states[-1]


def test_a_steady_noise_that_begins_is_the_room_after_a_while() -> None:
    gate = EnergyGate()
    for frame in frames(hiss(10, 5.0)):
        gate.hear(frame)
    states = [gate.hear(frame) for frame in frames(hiss(100, 60.0))]
    assert states[10 * 50]  # 20 dB more: the floor must not follow a sentence
    assert not states[-1]


@pytest.mark.parametrize("together", [1, 2, 3, 4, 7])
def test_frames_that_come_together_are_judged_as_one_by_one(together: int) -> None:
    gate, other = EnergyGate(), EnergyGate()
    sound = np.concatenate([hiss(10, 8.0), tone(300, 300, 0.1), hiss(10, 3.0, seed=2)])
    one_by_one = [other.hear(frame) for frame in frames(sound)]
    parts = [frames(sound)[at : at + together] for at in range(0, len(one_by_one), together)]
    assert [gate.hear(b"".join(part)) for part in parts if len(part) == together] == (
        one_by_one[together - 1 :: together]
    )


def test_who_only_glances_sees_it_open_at_once_and_close_a_little_later() -> None:
    gate, other = EnergyGate(), EnergyGate()
    sound = np.concatenate([hiss(10, 8.0), tone(300, 300, 0.1), hiss(10, 3.0, seed=2)])
    exact = [other.hear(frame) for frame in frames(sound)]
    seen = [gate.glance(frame) for frame in frames(sound)]
    known = (START_MS + 500) // FRAME_MS
    assert seen.index(True, known) == exact.index(True, known)
    assert all(state or not open_ for state, open_ in zip(seen, exact, strict=True))
    assert 0 <= sum(seen[known:]) - sum(exact[known:]) < GLANCE_MS // FRAME_MS
    assert not seen[-1]


def test_another_stream_begins_open() -> None:
    gate = EnergyGate()
    assert not all(gate.hear(frame) for frame in frames(hiss(10, 8.0)))
    gate.restart()
    assert gate.open
