"""Blocks of any length become frames, and nothing is lost."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.frames import FRAME_BYTES, FRAME_SAMPLES, Frame, Framer, Ring


@given(st.lists(st.integers(0, 3 * FRAME_SAMPLES), max_size=12))
@settings(deadline=None)
def test_frames_joined_are_the_blocks_joined(lengths: list[int]) -> None:
    whole = bytes(index % 251 for index in range(2 * sum(lengths)))
    framer, taken = Framer(), 0
    frames: list[Frame] = []
    for length in lengths:
        frames += framer.push(whole[taken : taken + 2 * length])
        taken += 2 * length
    assert len(frames) == sum(lengths) // FRAME_SAMPLES  # each as soon as it is complete
    frames += framer.flush()

    joined = b"".join(frame.pcm for frame in frames)
    assert joined[: len(whole)] == whole
    assert not any(joined[len(whole) :])
    assert all(len(frame.pcm) == FRAME_BYTES for frame in frames)
    assert [frame.start for frame in frames] == [n * FRAME_SAMPLES for n in range(len(frames))]


def test_flush_of_nothing_gives_nothing() -> None:
    framer = Framer()
    assert len(list(framer.push(bytes(FRAME_BYTES)))) == 1
    assert list(framer.flush()) == []


# The ring returns exactly the newest sound, from any sample on.


def frame(number: int) -> Frame:
    """Make a frame whose samples are their own positions."""
    start = number * FRAME_SAMPLES
    return Frame(np.arange(start, start + FRAME_SAMPLES).astype("<i2").tobytes(), start)


@given(count=st.integers(0, 20), sample=st.integers(-500, 8000))
@settings(deadline=None)
def test_since_any_sample(count: int, sample: int) -> None:
    ring = Ring(seconds=0.2)  # ten frames
    for number in range(count):
        ring.push(frame(number))

    assert ring.end == count * FRAME_SAMPLES
    assert ring.start == max(0, count - 10) * FRAME_SAMPLES
    got = np.frombuffer(ring.since(sample), "<i2").tolist()
    assert got == list(range(max(sample, ring.start), ring.end))


def test_a_jump_in_the_stream_begins_anew() -> None:
    ring = Ring()
    ring.push(frame(0))
    ring.push(frame(7))
    assert (ring.start, ring.end) == (7 * FRAME_SAMPLES, 8 * FRAME_SAMPLES)
    assert ring.since(0) == frame(7).pcm


def test_three_seconds_are_kept() -> None:
    ring = Ring()
    for number in range(200):
        ring.push(frame(number))
    assert len(ring.since(0)) == 3 * 16_000 * 2
