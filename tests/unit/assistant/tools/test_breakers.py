"""When a server that fails is called again."""

import pytest

from assistant.domain.clock import VirtualClock
from assistant.tools.execution.guards import PROBE_S, Breakers


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def breakers(clock: VirtualClock) -> Breakers:
    return Breakers(clock)


def fail(breakers: Breakers, times: int) -> None:
    for _ in range(times):
        assert breakers.admits("search")
        breakers.failed("search")


def is_open_for(breakers: Breakers, clock: VirtualClock, seconds: float) -> None:
    """Nothing is let through until then, then one call is."""
    assert not breakers.admits("search")
    clock.advance(seconds - 0.1)
    assert not breakers.admits("search")
    assert breakers.is_down("search")
    clock.advance(0.1)
    assert breakers.admits("search")
    assert not breakers.admits("search")


def test_three_failures_in_a_row_open_it(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 2)
    assert not breakers.is_down("search")
    fail(breakers, 1)
    is_open_for(breakers, clock, 30)


def test_a_success_in_between_is_no_row(breakers: Breakers) -> None:
    fail(breakers, 2)
    breakers.succeeded("search")
    fail(breakers, 2)
    assert breakers.admits("search")


def test_the_pause_doubles_up_to_ten_minutes(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 3)
    for seconds in (30, 60, 120, 240, 480, 600, 600):
        is_open_for(breakers, clock, seconds)
        breakers.failed("search")


def test_a_probe_that_succeeds_closes_it(breakers: Breakers, clock: VirtualClock) -> None:
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)
    breakers.succeeded("search")
    assert not breakers.is_down("search")
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)


def test_a_probe_of_which_nothing_is_heard_is_given_up(
    breakers: Breakers, clock: VirtualClock
) -> None:
    fail(breakers, 3)
    is_open_for(breakers, clock, 30)
    clock.advance(PROBE_S - 0.1)
    assert not breakers.admits("search")
    clock.advance(0.1)
    assert breakers.admits("search")


def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_pause(
    breakers: Breakers, clock: VirtualClock
) -> None:
    fail(breakers, 3)
    for _ in range(5):
        breakers.failed("search")
    is_open_for(breakers, clock, 30)


def test_servers_do_not_hurt_each_other(breakers: Breakers) -> None:
    fail(breakers, 3)
    assert not breakers.admits("search")
    assert breakers.admits("house")
    assert not breakers.is_down("house")
