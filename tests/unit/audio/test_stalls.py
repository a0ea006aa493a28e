"""Silence from a loudspeaker's stalls, derived from the times of its blocks."""

import pytest

from audio.playback import Stalls

BLOCK = 0.01  # seconds


def told(stalls: Stalls, late: float, count: int, first: int, ppm: float = 0.0) -> list[float]:
    """Return the silence reported for blocks that are late like this."""
    return [
        stalls.note(BLOCK, 100.0 + late + number * BLOCK * (1 + ppm * 1e-6), stalled=False)
        for number in range(first, first + count)
    ]


def test_what_plays_on_tells_nothing() -> None:
    assert not any(told(Stalls(), 0.0, 500, 0))


def test_two_clocks_that_differ_tell_nothing() -> None:
    assert not any(told(Stalls(), 0.0, 100_000, 0, ppm=200.0))


@pytest.mark.parametrize("late", [0.03, 0.5])
def test_a_stall_is_told_at_once_and_its_rest_later(late: float) -> None:
    stalls = Stalls()
    told(stalls, 0.0, 100, 0)
    assert stalls.note(BLOCK, 100.0 + late + 100 * BLOCK, stalled=True) == pytest.approx(late)
    rest = told(stalls, late + 0.015, 100, 101)
    assert sum(rest) == pytest.approx(0.015)
    assert not any(rest[:19])


def test_a_stall_that_nobody_tells_of_is_seen() -> None:
    stalls = Stalls()
    told(stalls, 0.0, 100, 0)
    assert sum(told(stalls, 0.1, 50, 100)) == pytest.approx(0.1)


def test_a_time_that_is_out_for_a_moment_is_none() -> None:
    stalls = Stalls()
    assert not any(
        silence
        for number in range(500)
        for silence in told(stalls, 0.04 * (number % 15 == 0), 1, number)
    )


def test_stalls_on_stalls_are_told_in_full() -> None:
    stalls, late, whole = Stalls(), 0.0, 0.0
    for number in range(300):
        stalled = number % 7 == 6
        late += 0.04 * stalled
        whole += stalls.note(BLOCK, 100.0 + late + number * BLOCK, stalled=stalled)
    assert whole == pytest.approx(late)


def test_an_underrun_without_silence_tells_none() -> None:
    stalls = Stalls()
    told(stalls, 0.0, 100, 0)
    assert stalls.note(BLOCK, 100.0 + 99 * BLOCK, stalled=True) == 0.0


def test_a_device_that_cannot_tell_is_not_believed() -> None:
    stalls = Stalls()
    assert [stalls.note(BLOCK, 0.0, stalled=True) for _ in range(3)] == [0.0, 0.0, 0.0]
