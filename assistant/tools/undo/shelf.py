"""The snapshots in Home Assistant: numbered, and deleted as soon as nobody needs them."""

import asyncio
import logging
import secrets
from collections.abc import Collection, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Protocol

from assistant.domain.clock import Clock
from integrations.errors import IntegrationError
from integrations.home_assistant.services import Found, snapshot_id
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
AGAIN_S = 15.0  # between two tries to delete what the home is away for
OLD = timedelta(minutes=20)  # no process of Hearth has a use for an older one
_SHARE = 1000  # numbers of one process


class Snapshots(Protocol):
    """Where they are (`integrations.home_assistant.services.Snapshots`). All raise
    IntegrationError."""

    async def create(self, number: int, entity_ids: Sequence[str]) -> None:
        """Keep how these are now."""
        ...

    async def restore(self, number: int) -> None:
        """Bring it back."""
        ...

    async def delete(self, entity_id: str) -> None:
        """Forget it."""
        ...

    async def found(self) -> list[Found]:
        """All that there are."""
        ...


class SnapshotShelf:
    """Takes snapshots and gets rid of them, whether the home is there at that moment or not."""

    def __init__(
        self, snapshots: Snapshots, clock: Clock, tasks: OwnedTasks, *, alone: bool
    ) -> None:
        """`tasks` runs what goes on in the background; `alone` as in `stack.UndoStack`."""
        self._snapshots = snapshots
        self._clock = clock
        self._tasks = tasks
        self._alone = alone
        # Low numbers come again and again: Home Assistant keeps a row of each name it ever exposed.
        self._first = 1 if alone else _SHARE * (1 + secrets.randbelow(9))
        self._numbers: set[int] = set()  # in use, or to be deleted still

    async def take(self, entity_ids: Sequence[str]) -> int:
        """The number of a snapshot of how these are now. Raises IntegrationError."""
        number = next(n for n in range(self._first, self._first + _SHARE) if n not in self._numbers)
        self._numbers.add(number)
        try:
            await self._snapshots.create(number, entity_ids)
        except BaseException:  # out of time or cancelled: it may be made all the same
            self.drop(number)
            raise
        return number

    async def restore(self, number: int) -> None:
        """Bring everything in it back. Raises IntegrationError."""
        await self._snapshots.restore(number)

    def drop(self, number: int) -> None:
        """Delete it as soon as that can be; its number is free then."""
        self._start(self._deleted(number), "undo deletes")

    def reserve(self, numbers: Collection[int]) -> None:
        """Other processes have made these, and may still need them."""
        self._numbers.update(numbers)

    def clean_up(self) -> None:
        """Delete what former processes have left, as soon as the home is there."""
        self._start(self._clean_up(), "undo leftovers")

    async def empty(self, besides: Collection[int] = ()) -> None:
        """Try once to delete all that is left of ours, but those. Raises nothing."""
        gone = sorted(self._numbers.difference(besides))
        await asyncio.gather(*(self._delete(snapshot_id(one)) for one in gone))

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            self._tasks.start(work, name)
        except RuntimeError:  # the process ends: `empty` deletes it
            work.close()

    async def _deleted(self, number: int) -> None:
        while not await self._delete(snapshot_id(number)):
            await self._clock.sleep(AGAIN_S)
        self._numbers.discard(number)

    async def _clean_up(self) -> None:
        while True:
            try:
                found = await self._snapshots.found()
                break
            except IntegrationError:
                await self._clock.sleep(AGAIN_S)
        for one in found:
            old = one.since is not None and self._clock.now() - one.since > OLD
            if not (self._alone or old):
                continue
            # One that this process makes at this moment is in the place of a former one.
            while one.entity_id not in map(snapshot_id, self._numbers):
                if await self._delete(one.entity_id):
                    break
                await self._clock.sleep(AGAIN_S)

    async def _delete(self, entity_id: str) -> bool:
        """False: the house is away, or did not answer."""
        try:
            await self._snapshots.delete(entity_id)
        except IntegrationError as error:
            _log.info("A snapshot could not be deleted: %s", error)
            return False
        return True
