"""Tests of `ClockWatch`: the machine's clock is set while Hearth runs."""

import pytest

from assistant.app.process import ClockWatch
from assistant.domain.clock import VirtualClock

DAY_S = 86_400.0


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def watch(clock: VirtualClock) -> ClockWatch:
    return ClockWatch(clock, lambda: False)


def test_time_that_passes_is_no_trouble(clock: VirtualClock, watch: ClockWatch) -> None:
    clock.advance(5 * DAY_S)
    clock.suspend(DAY_S)
    assert watch.problem() == ""


def test_a_clock_that_was_set_back_is_told_of_until_it_is_right_again(
    clock: VirtualClock, watch: ClockWatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock.set_ahead(-DAY_S)
    for _ in range(2):
        assert watch.problem().startswith("The machine's clock was set back by 24 hours and")
        clock.advance(100.0)
    assert [one.getMessage() for one in caplog.records] == [
        "the machine's clock was set back by 24 hours"
    ]
    clock.set_ahead(DAY_S)
    assert watch.problem() == ""
    assert caplog.records[-1].getMessage() == "the machine's clock was set ahead by 24 hours"


def test_a_clock_that_is_kept_right_was_put_right(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    watch = ClockWatch(clock, lambda: True)
    clock.set_ahead(-3 * DAY_S)
    assert watch.problem() == ""
    assert caplog.records[0].getMessage() == "the machine's clock was set back by 3 days"


def test_a_leap_ahead_is_what_a_box_without_a_clock_of_its_own_does(
    clock: VirtualClock, watch: ClockWatch
) -> None:
    clock.set_ahead(300 * DAY_S)
    assert watch.problem() == ""
    clock.set_ahead(-600.0)  # and back from there
    assert "by 10 minutes" in watch.problem()


def test_small_steps_are_no_leaps(
    clock: VirtualClock, watch: ClockWatch, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(100):
        clock.set_ahead(-1.0)
        assert watch.problem() == ""
    assert not caplog.records
