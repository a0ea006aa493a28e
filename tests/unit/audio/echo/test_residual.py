"""Ours or a person's, by what the canceller left."""

import pytest

from audio.echo.livekit import Residual

LOUD, QUIET = 4_000.0**2, 20.0**2


def learnt() -> Residual:
    residual = Residual()
    for _ in range(100):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    return residual


def test_without_sound_of_ours_nothing_is_ours() -> None:
    residual = Residual()
    assert not any(residual.judge(LOUD, LOUD, playing=False) for _ in range(50))


def test_what_was_taken_down_is_ours() -> None:
    residual = learnt()
    assert all(residual.judge(LOUD, LOUD / 1e3, playing=True) for _ in range(50))


def test_a_person_is_believed_within_three_frames_and_for_300_ms_more() -> None:
    residual = learnt()
    verdicts = [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(4)]
    assert verdicts == [True, True, False, False]
    after = [residual.judge(LOUD, LOUD / 1e4, playing=True) for _ in range(30)]
    assert after.index(True) in range(13, 19)


def test_one_leak_is_no_person() -> None:
    residual = learnt()
    leak = [residual.judge(LOUD, LOUD / 2, playing=True) for _ in range(2)]
    rest = [residual.judge(LOUD, LOUD / 1e4, playing=True) for _ in range(10)]
    assert all(leak + rest)


def test_while_it_learns_all_is_ours_but_not_for_ever() -> None:
    residual = Residual()
    verdicts = [residual.judge(LOUD, LOUD, playing=True) for _ in range(200)]
    assert all(verdicts[:150])
    assert not any(verdicts[155:])


def test_quiet_rests_are_nobody() -> None:
    residual = learnt()
    assert all(residual.judge(QUIET, QUIET, playing=True) for _ in range(50))


def test_the_echo_lasts_longer_than_the_sound() -> None:
    residual = learnt()
    verdicts = [residual.judge(LOUD, LOUD / 1e3, playing=False) for _ in range(40)]
    assert all(verdicts[:24])
    assert not any(verdicts[25:])


def test_a_new_opening_of_the_output_is_learnt_quicker() -> None:
    residual = learnt()
    residual.moved()
    for _ in range(20):
        assert residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5)][-1]


def test_while_nobody_knows_what_is_played_all_is_ours() -> None:
    residual = learnt()
    for _ in range(100):
        residual.moved()
        assert residual.judge(LOUD, LOUD, playing=False)


def test_a_new_opening_does_not_cut_the_first_learning_short() -> None:
    residual = Residual()
    residual.moved()
    for _ in range(25):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert all(residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5))


def test_behind_a_break_a_canceller_that_finds_nothing_has_lost_the_path() -> None:
    residual = learnt()
    residual.moved()
    lost = []
    for _ in range(12):
        assert residual.judge(LOUD, LOUD, playing=True)
        lost.append(residual.lost)
    assert lost.index(True) == 9
    residual.renewed()
    assert not residual.lost
    for _ in range(20):
        assert residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5)][-1]


def test_a_new_canceller_is_not_waited_for_without_end() -> None:
    residual = learnt()
    residual.moved()
    residual.renewed()
    verdicts = [residual.judge(LOUD, LOUD, playing=True) for _ in range(80)]
    assert all(verdicts[:60])
    assert not any(verdicts[65:])
    assert not residual.lost


@pytest.mark.parametrize(("frames", "down"), [(200, True), (9, False), (0, False)])
def test_a_canceller_that_still_works_stays(frames: int, down: bool) -> None:
    residual = learnt()
    residual.moved()
    for _ in range(frames):
        residual.judge(LOUD, LOUD / 1e4 if down else LOUD, playing=True)
        assert not residual.lost
    for _ in range(20):  # rests of the sound tell nothing
        residual.judge(QUIET, QUIET, playing=True)
        residual.judge(LOUD, LOUD, playing=False)
        assert not residual.lost


def test_who_speaks_long_after_a_break_makes_no_new_canceller() -> None:
    residual = learnt()
    residual.moved()
    for _ in range(60):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    for _ in range(100):
        residual.judge(2 * LOUD, LOUD, playing=True)
        assert not residual.lost


def test_who_talks_over_the_beginning_of_an_answer_makes_no_new_canceller() -> None:
    residual = learnt()
    residual.moved(opened=True)
    for _ in range(59):
        residual.judge(2 * LOUD, LOUD, playing=True)
        assert not residual.lost
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(8)][-1]


def test_the_first_learning_makes_no_new_canceller() -> None:
    residual = Residual()
    residual.moved()
    for _ in range(149):
        residual.judge(LOUD, LOUD, playing=True)
        assert not residual.lost
