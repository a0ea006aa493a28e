"""What the cloud may cost a day (`limits.daily_cost_usd`), and what it has cost today."""

import asyncio
import logging
from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError

_log = logging.getLogger(__name__)
ASK_S = 0.5  # real seconds for the journal's answer; a turn does not wait for a busy disk
_OWN_TURNS = 1_000  # of today, counted here; what is older is left to the journal


class Spendings(Protocol):
    """Where the cost of turns is kept (`assistant.journal.store.Store`)."""

    async def spent_since(self, since: datetime, besides: Collection[str] = ()) -> float:
        """What the turns begun since then cost, in USD, but for the turns of these ids."""
        ...


class Budget:
    """Counts the day's spending from local midnight on.

    Turns of this process are counted here, as they spend; those of other processes, and of this
    one before it was restarted, are asked of the journal.
    """

    def __init__(self, limit_usd: float, spendings: Spendings, clock: Clock) -> None:
        self._limit_usd = limit_usd
        self._spendings = spendings
        self._clock = clock
        self._day = start_of_day(clock.now())
        self._own: dict[str, float] = {}  # USD of today by turn id, oldest first
        self._others_usd = 0.0  # as the journal last said

    @property
    def limit_usd(self) -> float:
        """What a day may cost."""
        return self._limit_usd

    @property
    def known_usd(self) -> float:
        """Today's spending as far as it is known without asking the journal."""
        self._turn_the_page()
        return self._others_usd + sum(self._own.values())

    @property
    def known_reached(self) -> bool:
        """Whether the limit is reached, as far as it is known without asking the journal."""
        return self.known_usd >= self._limit_usd

    async def reached(self) -> bool:
        """Whether nothing more may be spent today. Once it is so it stays so until midnight."""
        if self.known_reached:
            return True
        try:
            async with asyncio.timeout(ASK_S):
                self._others_usd = await self._spendings.spent_since(self._day, tuple(self._own))
        except TimeoutError:
            _log.warning("the journal did not tell in %g s what was spent today", ASK_S)
        except StoreError as error:
            _log.error("%s", error)
        return self.known_reached

    def spend(self, turn_id: str, cost_usd: float) -> None:
        """A turn, or a job that it began, has cost this much more."""
        self._turn_the_page()
        self._own[turn_id] = self._own.get(turn_id, 0.0) + cost_usd
        if len(self._own) > _OWN_TURNS:
            oldest = next(iter(self._own))
            self._others_usd += self._own.pop(oldest)

    def _turn_the_page(self) -> None:
        today = start_of_day(self._clock.now())
        if today.date() != self._day.date():  # not the instants: the clocks may have changed
            self._day, self._own, self._others_usd = today, {}, 0.0


def start_of_day(now: datetime) -> datetime:
    """The midnight before `now`, in its own time zone."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
