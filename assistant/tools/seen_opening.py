"""What switches were seen to open: told to the picture of the house, and kept over a restart.

Home Assistant's own picture learns it (`integrations.home_assistant.runs.Switches`). Here it is
written down, so that a switch which unlocked the door last month is asked about today. A rating
that its owner gave before is void then, since it was given in the belief that nothing opens; one
that is given afterwards counts.
"""

import asyncio
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.journal.store import Store
from assistant.tools.ratings import Ratings
from integrations.home_assistant.client import HomeAssistant
from integrations.owner import OwnedTasks

RETRY_S = 30.0  # after which a write that failed is tried again
Openings = Mapping[str, frozenset[str]]  # what each was seen to open, by entity id

_log = logging.getLogger(__name__)


class SeenOpening:
    """Context in which what is learned is written down."""

    def __init__(self, home: HomeAssistant, store: Store, ratings: Ratings, clock: Clock) -> None:
        self._home = home
        self._store = store
        self._ratings = ratings
        self._clock = clock
        self._unwritten: dict[str, frozenset[str]] = {}
        self._came = asyncio.Event()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        """Recall what earlier processes have seen. Raises StoreError."""
        self._home.learn_openings(await self._store.openings(), self._take)
        await self._owner.__aenter__()
        self._owner.start_on(self._came, self._write_on, "what switches open")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write down what is left."""
        await self._owner.__aexit__(kind, error, trace)
        await self._write()

    def _take(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            _log.info("%s was seen to open %s", entity_id, ", ".join(sorted(opened)))
        self._add(fresh)
        self._came.set()

    def _add(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            self._unwritten[entity_id] = self._unwritten.get(entity_id, frozenset()) | opened

    async def _write_on(self) -> None:
        if not await self._write():
            await self._clock.sleep(RETRY_S)
            self._came.set()

    async def _write(self) -> bool:
        """Add what is new to the disk. False: that failed, and it is kept for another try."""
        fresh, self._unwritten = self._unwritten, {}
        if not fresh:
            return True
        try:
            known = await self._store.openings()
            await self._ratings.withdraw(fresh.keys() - known.keys())
            await self._store.add_openings(fresh)
        except StoreError as error:
            if not error.told:
                _log.warning("What switches open cannot be written down: %s", error)
            self._add(fresh)
            return False
        return True
