"""Detections and near misses from scores."""

import pytest

from audio.wake import REFRACTORY, NearMiss, Trigger

FRAME = 320


def judged(trigger: Trigger, scores: list[float], first: int = 0) -> list[int]:
    """Return the numbers of the frames at which it fires, for one word with threshold 0.8."""
    return [
        number
        for number, score in enumerate(scores, first)
        if trigger.judge({"alexa": score}, number * FRAME)
    ]


def trigger() -> Trigger:
    return Trigger({"alexa": 0.8}, lead_ms=300)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0.1, 0.5, 0.72, 0.6, 0.1], [2]),
        ([0.1, 0.5, 0.72, 0.6, 0.3], []),  # the score has not fallen yet
        ([0.1, 0.39, 0.1], []),  # less than half of the threshold
        ([0.1, 0.7, 0.3, 0.75, 0.1], [3]),  # one peak with a dent
        ([0.1, 0.7, 0.9, 0.7, 0.1], []),  # it fired
        ([0.7, 0.1, 0.7, 0.1], [0]),  # two within 2 s
        ([0.7, *[0.1] * 99, 0.6, 0.1], [0, 100]),
    ],
)
def test_a_peak_that_falls_without_firing_is_a_near_miss(
    scores: list[float], told: list[int]
) -> None:
    judge = trigger()
    judged(judge, scores)
    assert judge.near_misses() == [
        NearMiss("alexa", scores[at], scores[at] / 0.8, at * FRAME) for at in told
    ]
    assert judge.near_misses() == []  # each is returned once


def test_nothing_is_missed_while_it_is_deaf() -> None:
    judge = trigger()
    judged(judge, [0.9, 0.1, 0.7, 0.1, 0.1])
    assert judge.near_misses() == []
    judged(judge, [0.7, 0.1], first=REFRACTORY // FRAME)
    assert [missed.at for missed in judge.near_misses()] == [REFRACTORY]


def test_the_nearest_word_is_the_one_that_was_missed() -> None:
    judge = Trigger({"a": 0.9, "b": 0.5}, lead_ms=300)
    judge.judge({"a": 0.6, "b": 0.45}, 320)
    judge.judge({"a": 0.0, "b": 0.0}, 640)
    assert [missed.word for missed in judge.near_misses()] == ["b"]


def test_strict_asks_for_half_of_what_is_left_to_certainty() -> None:
    judge = trigger()
    judge.strict(True)
    assert judged(judge, [0.85, 0.9]) == []
    assert judge.closeness({"alexa": 0.9}) == pytest.approx(1.0)
    assert judged(judge, [0.91], first=2) == [2]
    judge.restart()
    judge.strict(False)
    assert judged(judge, [0.81]) == [0]


def test_another_stream_begins_without_pauses_or_peaks() -> None:
    judge = trigger()
    judged(judge, [0.7, 0.1, 0.9])
    judge.restart()
    assert judge.near_misses() == []
    assert judged(judge, [0.9]) == [0]
