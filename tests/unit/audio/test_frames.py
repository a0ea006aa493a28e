"""Blocks of any length become frames, and nothing is lost between them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from audio.frames import FRAME_BYTES, FRAME_SAMPLES, Frame, Framer


@given(st.lists(st.integers(0, 3 * FRAME_SAMPLES), max_size=12))
@settings(deadline=None)
def test_frames_joined_are_the_blocks_joined(lengths: list[int]) -> None:
    whole = bytes(index % 251 for index in range(2 * sum(lengths)))
    framer, taken = Framer(), 0
    frames: list[Frame] = []
    for length in lengths:
        frames += framer.push(whole[taken : taken + 2 * length])
        taken += 2 * length
    assert len(frames) == sum(lengths) // FRAME_SAMPLES  # each as soon as it is whole
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
