"""What the cloud has cost today."""

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime, timedelta, timezone

import pytest

from assistant.brains import slots as module
from assistant.brains.slots import Budget
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError

EAST = timezone(timedelta(hours=2))


class Journal:
    """Answers what it is told to, and remembers what it was asked."""

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
def clock() -> VirtualClock:
    return VirtualClock(datetime(2026, 5, 4, 22, 0, tzinfo=EAST))


async def test_the_journal_and_our_own_spending_add_up(clock: VirtualClock) -> None:
    journal = Journal(0.4, 0.4)
    budget = Budget(1.0, journal, clock)
    assert not await budget.reached()
    budget.spend("t1", 0.25)
    budget.spend("t1", 0.25)
    budget.spend("t2", 0.125)
    assert await budget.reached()
    assert budget.known_usd == pytest.approx(1.025)
    midnight = datetime(2026, 5, 4, tzinfo=EAST)
    assert journal.asked == [(midnight, ())]  # the second time our own was enough


async def test_own_turns_are_not_asked_of_the_journal_too(clock: VirtualClock) -> None:
    journal = Journal(0.5)
    budget = Budget(1.0, journal, clock)
    budget.spend("t1", 0.4)
    assert not await budget.reached()
    assert journal.asked[0][1] == ("t1",)


async def test_what_others_spend_meanwhile_counts(clock: VirtualClock) -> None:
    budget = Budget(1.0, Journal(0.5, 1.0), clock)
    assert [await budget.reached(), await budget.reached()] == [False, True]


async def test_the_next_day_begins_at_local_midnight(clock: VirtualClock) -> None:
    journal = Journal(5.0, 0.0)
    budget = Budget(1.0, journal, clock)
    assert await budget.reached()
    clock.advance(2 * 3600 - 1)
    assert await budget.reached()  # without asking: the day cannot get cheaper
    assert len(journal.asked) == 1
    clock.advance(1)
    assert budget.known_usd == 0.0
    assert not await budget.reached()
    assert journal.asked[1][0] == datetime(2026, 5, 4, 22, 0, tzinfo=UTC)


class Traveller(VirtualClock):
    """A clock whose time zone changes, as it does twice a year."""

    zone = timezone(timedelta(hours=1))

    def now(self) -> datetime:
        return super().now().astimezone(self.zone)


async def test_a_changed_offset_is_no_new_day() -> None:
    clock = Traveller(datetime(2026, 3, 29, 2, 30, tzinfo=UTC))
    budget = Budget(1.0, Journal(), clock)
    budget.spend("t1", 2.0)
    clock.zone = EAST
    assert await budget.reached()


async def test_a_broken_journal_leaves_what_is_known(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    budget = Budget(1.0, Journal(0.5, StoreError("The disk is full."), 0.5), clock)
    assert not await budget.reached()
    assert not await budget.reached()
    assert "The disk is full." in caplog.text
    budget.spend("t1", 0.5)
    assert await budget.reached()


async def test_a_slow_journal_is_not_waited_for(
    clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(Journal):
        async def __call__(self, since: datetime, besides: Collection[str] = ()) -> float:
            await asyncio.Event().wait()
            raise AssertionError("never")

    monkeypatch.setattr(module, "ASK_S", 0.01)
    budget = Budget(1.0, Slow(), clock)
    assert not await budget.reached()
    assert "did not tell" in caplog.text


async def test_nothing_may_be_spent_of_nothing(clock: VirtualClock) -> None:
    assert await Budget(0.0, Journal(), clock).reached()


async def test_the_oldest_turns_are_left_to_the_journal(clock: VirtualClock) -> None:
    journal = Journal(0.0)
    budget = Budget(1e9, journal, clock)
    for number in range(1_003):
        budget.spend(f"t{number}", 1.0)
    assert budget.known_usd == pytest.approx(1_003)
    await budget.reached()
    assert len(journal.asked[0][1]) == 1_000
    assert "t2" not in journal.asked[0][1]
