"""Tests of when a failed brain is tried again."""

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime, timedelta, timezone

import pytest

from assistant.brains import slots as module
from assistant.brains.slots import Breaker, Budget
from assistant.domain.brain import BrainFault, FaultKind
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def breaker(clock: VirtualClock) -> Breaker:
    return Breaker(clock)


def fault(kind: FaultKind) -> BrainFault:
    return BrainFault(kind, f"It is {kind}.", retryable=True)


def is_open_for(breaker: Breaker, clock: VirtualClock, seconds: float) -> None:
    """Check that the breaker is open, and closes after `seconds`."""
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
    is_open_for(breaker, clock, 30)


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


# --- The cloud's costs of today.

EAST = timezone(timedelta(hours=2))


class Journal:
    """A journal with scripted answers, which records the questions."""

    def __init__(self, *answers: float | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[datetime, tuple[str, ...]]] = []

    async def __call__(self, since: datetime, besides: Collection[str] = ()) -> float:
        self.asked.append((since, tuple(besides)))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def local_clock() -> VirtualClock:
    return VirtualClock(datetime(2026, 5, 4, 22, 0, tzinfo=EAST))


async def test_the_journal_and_our_own_spending_add_up(local_clock: VirtualClock) -> None:
    journal = Journal(0.4, 0.4)
    budget = Budget(1.0, journal, local_clock)
    assert not await budget.reached()
    budget.spend("t1", 0.25)
    budget.spend("t1", 0.25)
    budget.spend("t2", 0.125)
    assert await budget.reached()
    assert budget.known_usd == pytest.approx(1.025)
    midnight = datetime(2026, 5, 4, tzinfo=EAST)
    assert journal.asked == [(midnight, ())]  # the second time our own was enough


async def test_own_turns_are_not_asked_of_the_journal_too(local_clock: VirtualClock) -> None:
    journal = Journal(0.5)
    budget = Budget(1.0, journal, local_clock)
    budget.spend("t1", 0.4)
    assert not await budget.reached()
    assert journal.asked[0][1] == ("t1",)


async def test_what_others_spend_meanwhile_counts(local_clock: VirtualClock) -> None:
    budget = Budget(1.0, Journal(0.5, 1.0), local_clock)
    assert [await budget.reached(), await budget.reached()] == [False, True]


async def test_the_next_day_begins_at_local_midnight(local_clock: VirtualClock) -> None:
    journal = Journal(5.0, 0.0)
    budget = Budget(1.0, journal, local_clock)
    assert await budget.reached()
    local_clock.advance(2 * 3600 - 1)
    assert await budget.reached()  # without asking: the day cannot get cheaper
    assert len(journal.asked) == 1
    local_clock.advance(1)
    assert budget.known_usd == 0.0
    assert not await budget.reached()
    assert journal.asked[1][0] == datetime(2026, 5, 4, 22, 0, tzinfo=UTC)


class Traveller(VirtualClock):
    """A clock whose time zone changes, as it does twice a year."""

    zone = timezone(timedelta(hours=1))

    def now(self) -> datetime:
        return super().now().astimezone(self.zone)


async def test_a_changed_offset_is_no_new_day() -> None:
    local_clock = Traveller(datetime(2026, 3, 29, 2, 30, tzinfo=UTC))
    budget = Budget(1.0, Journal(), local_clock)
    budget.spend("t1", 2.0)
    local_clock.zone = EAST
    assert await budget.reached()


async def test_a_broken_journal_leaves_what_is_known(
    local_clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    budget = Budget(1.0, Journal(0.5, StoreError("The disk is full."), 0.5), local_clock)
    assert not await budget.reached()
    assert not await budget.reached()
    assert "The disk is full." in caplog.text
    budget.spend("t1", 0.5)
    assert await budget.reached()


async def test_a_slow_journal_is_not_waited_for(
    local_clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(Journal):
        async def __call__(self, since: datetime, besides: Collection[str] = ()) -> float:
            await asyncio.Event().wait()
            raise AssertionError("never")

    monkeypatch.setattr(module, "ASK_S", 0.01)
    budget = Budget(1.0, Slow(), local_clock)
    assert not await budget.reached()
    assert "the journal did not report today's spending within 0.01 s" in caplog.text


async def test_nothing_may_be_spent_of_nothing(local_clock: VirtualClock) -> None:
    assert await Budget(0.0, Journal(), local_clock).reached()


async def test_the_oldest_turns_are_left_to_the_journal(local_clock: VirtualClock) -> None:
    journal = Journal(0.0)
    budget = Budget(1e9, journal, local_clock)
    for number in range(1_003):
        budget.spend(f"t{number}", 1.0)
    assert budget.known_usd == pytest.approx(1_003)
    await budget.reached()
    assert len(journal.asked[0][1]) == 1_000
    assert "t2" not in journal.asked[0][1]
