"""What the journal tells of many turns at once: costs, how the turns went, and faults."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Protocol, TypeVar

from assistant.domain.clock import Clock
from assistant.domain.records import FaultRecord, Mark, TurnRecord
from assistant.journal import cost_rows, fault_rows, mark_rows
from assistant.journal.database import Work
from assistant.journal.rows import instant, turn_from
from assistant.journal.shares import Shares, shares_of

T = TypeVar("T")
_MOST_DAYS = 36_500  # no journal is older


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one brain with one model has cost on one day."""

    day: date  # in this machine's time zone, as `limits.daily_cost_usd` counts it
    brain: str  # as in `brain.order`; "" where none was asked
    model: str  # "" where the brain has none, or the row is older than the column
    turns: int
    cost_usd: float
    input_tokens: int
    output_tokens: int
    by_modality: dict[str, int] = field(default_factory=dict)  # "input_audio": tokens, ...


def first_midnight(days: int, now: datetime) -> datetime:
    """The midnight with which the last so many days begin, the present one among them."""
    first = now.date() - timedelta(days=min(days, _MOST_DAYS) - 1)
    # Without a zone as yet: `astimezone` finds the offset that counted on that very day.
    return datetime.combine(first, time.min).astimezone()


class Runs(Protocol):
    """What is needed of `assistant.journal.database.Database`."""

    def run(self, work: Work[T], *, durable: bool = False) -> Awaitable[T]:
        """Do it in one transaction that writes. Raises StoreError."""
        ...

    def read(self, work: Work[T]) -> Awaitable[T]:
        """The same for what only reads."""
        ...


class Reports:
    """Reads over many rows, and the few words that are written about them afterwards.

    Every method may raise StoreError.
    """

    def __init__(self, database: Runs, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def costs(self, since: datetime) -> list[CostRow]:
        """By day, brain and model from `since` on, the newest day first; within a day the dearest.

        Announcements, which cost nothing, are left out; what jobs have cost is there.
        """
        rows = await self._database.read(lambda db: cost_rows.costs(db, instant(since)))
        return [CostRow(**row) for row in rows]

    async def shares(self, since: datetime) -> Shares:
        """How the commands of people from `since` on have gone; see `Shares`."""
        judged = await self._database.read(lambda db: mark_rows.judged(db, instant(since)))
        return shares_of(judged)

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        """Say of a turn that it was wrong or misheard; "" takes it back. False: no such turn."""
        return await self._database.run(lambda db: mark_rows.mark(db, turn_id, mark), durable=True)

    async def last_command(self, since: datetime) -> TurnRecord | None:
        """What a person asked for last, from `since` on: no announcement, no program's turn,
        none in which nothing was said, and none that only marked another one."""
        span = (instant(since), instant(self._clock.now()))
        row = await self._database.read(lambda db: mark_rows.last_command(db, *span))
        return turn_from(row) if row is not None else None

    async def faults(self, since: datetime, limit: int = 1000) -> list[FaultRecord]:
        """What did not work from `since` on, or still does not; the newest first."""
        return await self._database.read(lambda db: fault_rows.faults(db, instant(since), limit))

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        """Something has stopped working; it lasts until `end_fault`."""
        await self._database.run(lambda db: fault_rows.begin(db, what, problem, instant(at)))

    async def end_fault(self, what: str, at: datetime) -> None:
        """It works again."""
        await self._database.run(lambda db: fault_rows.end(db, what, instant(at)))

    async def settle_faults(self) -> None:
        """End what an earlier process left open: nobody knows when it was over. For the one
        process that writes faults down, at its start."""
        now = instant(self._clock.now())
        await self._database.run(lambda db: fault_rows.settle(db, now))
