"""When a rung that failed is asked again."""

import pytest

from assistant.brains.slots import Breaker
from assistant.domain.brain import BrainFault, FaultKind
from assistant.domain.clock import VirtualClock


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def breaker(clock: VirtualClock) -> Breaker:
    return Breaker(clock)


def fault(kind: FaultKind) -> BrainFault:
    return BrainFault(kind, f"It is {kind}.", retryable=True)


def is_open_for(breaker: Breaker, clock: VirtualClock, seconds: float) -> None:
    """It is open, and closes after this long."""
    assert breaker.fault is not None
    clock.advance(seconds - 0.1)
    assert breaker.fault is not None
    clock.advance(0.1)
    assert breaker.fault is None


@pytest.mark.parametrize("kind", ["unreachable", "timeout", "broken", "empty"])
def test_what_may_pass_opens_at_the_second_time(
    breaker: Breaker, clock: VirtualClock, kind: FaultKind
) -> None:
    breaker.failed(fault(kind))
    assert breaker.fault is None
    breaker.failed(fault(kind))
    assert breaker.fault == fault(kind)
    is_open_for(breaker, clock, 30)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("quota", 600), ("sign_in", 3_600), ("retired", 3_600)],
)
def test_what_does_not_pass_soon_opens_at_once(
    breaker: Breaker, clock: VirtualClock, kind: FaultKind, seconds: float
) -> None:
    breaker.failed(fault(kind))
    assert breaker.fault == fault(kind)
    is_open_for(breaker, clock, seconds)


def test_one_request_that_is_refused_may_be_that_sentence_s_fault_two_are_not(
    breaker: Breaker, clock: VirtualClock
) -> None:
    breaker.failed(fault("refused"))
    assert breaker.fault is None
    breaker.failed(fault("refused"))
    assert breaker.fault == fault("refused")
    is_open_for(breaker, clock, 600)


@pytest.mark.parametrize("kind", ["blocked", "house_away", "budget"])
def test_what_is_not_the_brains_own_never_opens(breaker: Breaker, kind: FaultKind) -> None:
    for _ in range(5):
        breaker.failed(fault(kind))
    assert breaker.fault is None


def test_each_further_failure_doubles_the_pause_up_to_ten_minutes(
    breaker: Breaker, clock: VirtualClock
) -> None:
    breaker.failed(fault("unreachable"))
    for seconds in (30, 60, 120, 240, 480, 600, 600):
        breaker.failed(fault("unreachable"))
        is_open_for(breaker, clock, seconds)


def test_a_success_begins_anew(breaker: Breaker, clock: VirtualClock) -> None:
    for _ in range(3):
        breaker.failed(fault("timeout"))
    clock.advance(60)
    breaker.succeeded()
    breaker.failed(fault("timeout"))
    assert breaker.fault is None
    breaker.failed(fault("timeout"))
    is_open_for(breaker, clock, 30)


def test_faults_of_different_kinds_count_together(breaker: Breaker) -> None:
    breaker.failed(fault("unreachable"))
    breaker.failed(fault("empty"))
    assert breaker.fault == fault("empty")


def test_one_sentence_that_was_declined_is_no_break_in_the_row(breaker: Breaker) -> None:
    breaker.failed(fault("unreachable"))
    breaker.failed(fault("blocked"))
    breaker.failed(fault("unreachable"))
    assert breaker.fault == fault("unreachable")
