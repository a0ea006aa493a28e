"""Storage of what can be undone: snapshots in Home Assistant, and rows in the store.

`hearth ask "undo that"` is another process than the one that did it. Only how things of the house
were is stored for it; the rest is known to its own process alone.
"""

import asyncio
import logging
import secrets
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from assistant.tools.undo.step import StoredStep
from integrations.errors import IntegrationError
from integrations.home_assistant.house import Entity
from integrations.home_assistant.services import Snapshots, snapshot_id
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
AGAIN_S = 15.0  # between two tries to delete what the home is away for
OLD = timedelta(minutes=20)  # no process of Hearth has a use for an older one
_SHARE = 1000  # numbers of one process


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


KEPT = "undo"  # its name among the kept values
MOST = 10  # turns
MOST_THINGS = 64  # of one turn; with more of them only its own process can undo it
_TUPLES = frozenset({"aliases", "labels"})
_FIELDS = frozenset(one.name for one in fields(Entity))


@dataclass(frozen=True, slots=True)
class StoredLevel:
    """Changes of one turn, as they are stored."""

    turn_id: str
    at: datetime
    steps: tuple[StoredStep, ...]
    unknown: bool  # it did more, of which nobody else knows how to undo it


class StoredLevels:
    """Reads and writes them. Never raises: without it a process undoes what it did itself."""

    def __init__(self, store: SmallValues | None, clock: Clock, life_s: float) -> None:
        self._store = store
        self._clock = clock
        self._life_s = life_s
        self._lock = asyncio.Lock()

    async def load(self) -> list[StoredLevel] | None:
        """Read those that are not too old, the oldest first; None where they cannot be read."""
        if self._store is None:
            return None
        try:
            rows = await self._store.kept(KEPT)
        except StoreError as error:
            _log.warning("what other processes did cannot be read: %s", error)
            return None
        try:
            levels = [_level_of(row) for row in rows or ()]
        except (TypeError, ValueError, KeyError, AttributeError):
            _log.warning("what is kept for undoing cannot be read, and is left")
            return []
        now = self._clock.now()
        fresh = [one for one in levels if 0 <= (now - one.at).total_seconds() <= self._life_s]
        return sorted(fresh, key=lambda one: one.at)

    async def save(self, level: StoredLevel) -> bool:
        """Keep it in the place of what was kept of that turn. Whether it is."""
        if sum(len(step.was) for step in level.steps) > MOST_THINGS:
            return False
        return await self._write(level.turn_id, level)

    async def drop(self, turn_id: str) -> None:
        """It is undone, or too old."""
        await self._write(turn_id, None)

    async def _write(self, turn_id: str, level: StoredLevel | None) -> bool:
        if self._store is None:
            return False
        async with self._lock:
            known = await self.load()
            if known is None:
                return False
            rest = [one for one in known if one.turn_id != turn_id]
            if level is None and len(rest) == len(known):
                return True
            rows = [*rest, level] if level is not None else rest
            try:
                await self._store.keep(KEPT, [_row_of(one) for one in rows[-MOST:]])
            except (StoreError, TypeError, ValueError) as error:
                _log.warning("what was done cannot be kept for undoing elsewhere: %s", error)
                return False
        return True


def numbers_of(levels: Collection[StoredLevel]) -> set[int]:
    """The snapshots that they need."""
    return {step.number for one in levels for step in one.steps if step.number is not None}


def _row_of(level: StoredLevel) -> dict[str, Any]:
    steps = [
        {
            "was": [asdict(one) for one in step.was.values()],
            "number": step.number,
            "not_kept": dict(step.not_kept),
            "other_media": step.other_media,
        }
        for step in level.steps
    ]
    return {
        "turn_id": level.turn_id,
        "at": level.at.isoformat(),
        "steps": steps,
        "unknown": level.unknown,
    }


def _level_of(row: Mapping[str, Any]) -> StoredLevel:
    steps = [
        StoredStep(
            {one["entity_id"]: _entity_of(one) for one in step["was"]},
            step["number"],
            dict(step["not_kept"]),
            bool(step["other_media"]),
        )
        for step in row["steps"]
    ]
    at = datetime.fromisoformat(row["at"])
    return StoredLevel(str(row["turn_id"]), at, tuple(steps), bool(row["unknown"]))


def _entity_of(row: Mapping[str, Any]) -> Entity:
    known: dict[str, Any] = {
        key: tuple(value) if key in _TUPLES else value
        for key, value in row.items()
        if key in _FIELDS
    }
    return Entity(**known)
