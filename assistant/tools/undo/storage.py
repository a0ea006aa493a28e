"""Storage for undo: snapshots in Home Assistant, and levels in the store.

"Undo that" can reach another process than the one that made the change, for example after a
restart.
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
AGAIN_S = 15.0  # between two attempts to delete while Home Assistant is unreachable
OLD = timedelta(minutes=20)  # older snapshots are of no use to any process
_SHARE = 1000  # numbers per process


class SnapshotShelf:
    """Takes and deletes snapshots in Home Assistant, and retries deletions while Home Assistant is
    unreachable. See `stack.UndoStack` for `alone`."""

    def __init__(
        self, snapshots: Snapshots, clock: Clock, tasks: OwnedTasks, *, alone: bool
    ) -> None:
        self._snapshots = snapshots
        self._clock = clock
        self._tasks = tasks
        self._alone = alone
        # Numbers are reused, because Home Assistant keeps a row for every name it ever exposed.
        self._first = 1 if alone else _SHARE * (1 + secrets.randbelow(9))
        self._numbers: set[int] = set()  # in use, or waiting to be deleted

    async def take(self, entity_ids: Sequence[str]) -> int:
        """Take a snapshot of these entities and return its number. Raises IntegrationError."""
        number = next(n for n in range(self._first, self._first + _SHARE) if n not in self._numbers)
        self._numbers.add(number)
        try:
            await self._snapshots.create(number, entity_ids)
        except BaseException:  # timed out or cancelled, but possibly created
            self.drop(number)
            raise
        return number

    async def restore(self, number: int) -> None:
        await self._snapshots.restore(number)

    def drop(self, number: int) -> None:
        """Delete a snapshot in the background. Its number can be reused afterwards."""
        self._start(self._deleted(number), "undo deletes")

    def reserve(self, numbers: Collection[int]) -> None:
        """Reserve the numbers of snapshots that other processes may still need."""
        self._numbers.update(numbers)

    def clean_up(self) -> None:
        """Delete the snapshots that earlier processes left behind, once Home Assistant is
        reachable."""
        self._start(self._clean_up(), "undo leftovers")

    async def empty(self, besides: Collection[int] = ()) -> None:
        """Try once to delete all snapshots except those in `besides`. Never raises."""
        gone = sorted(self._numbers.difference(besides))
        await asyncio.gather(*(self._delete(snapshot_id(one)) for one in gone))

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            self._tasks.start(work, name)
        except RuntimeError:  # the process is ending; `empty` deletes it
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
            # A snapshot that this process is creating takes the place of an old one.
            while one.entity_id not in map(snapshot_id, self._numbers):
                if await self._delete(one.entity_id):
                    break
                await self._clock.sleep(AGAIN_S)

    async def _delete(self, entity_id: str) -> bool:
        try:
            await self._snapshots.delete(entity_id)
        except IntegrationError as error:
            _log.info("A snapshot could not be deleted: %s", error)
            return False
        return True


KEPT = "undo"  # key in the store
MOST = 10  # turns
MOST_THINGS = 64  # per turn; larger changes can be undone only by their own process
_TUPLES = frozenset({"aliases", "labels"})
_FIELDS = frozenset(one.name for one in fields(Entity))


@dataclass(frozen=True, slots=True)
class StoredLevel:
    turn_id: str
    at: datetime
    steps: tuple[StoredStep, ...]
    unknown: bool  # the turn also did something that other processes can't undo


class StoredLevels:
    """Reads and writes levels in the store. If the store fails, a process can undo only its own
    changes."""

    def __init__(self, store: SmallValues | None, clock: Clock, life_s: float) -> None:
        self._store = store
        self._clock = clock
        self._life_s = life_s
        self._lock = asyncio.Lock()

    async def load(self) -> list[StoredLevel] | None:
        """Return the levels that haven't expired, oldest first, or None if they can't be read."""
        if self._store is None:
            return None
        try:
            rows = await self._store.kept(KEPT)
        except StoreError as error:
            _log.warning("other processes' changes cannot be read: %s", error)
            return None
        try:
            levels = [_level_of(row) for row in rows or ()]
        except (TypeError, ValueError, KeyError, AttributeError):
            _log.warning("the saved undo steps cannot be read, and are ignored")
            return []
        now = self._clock.now()
        fresh = [one for one in levels if 0 <= (now - one.at).total_seconds() <= self._life_s]
        return sorted(fresh, key=lambda one: one.at)

    async def save(self, level: StoredLevel) -> bool:
        """Store a level in place of the same turn's earlier level. Returns True on success."""
        if sum(len(step.was) for step in level.steps) > MOST_THINGS:
            return False
        return await self._write(level.turn_id, level)

    async def drop(self, turn_id: str) -> None:
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
                _log.warning("a change cannot be saved for undoing in another process: %s", error)
                return False
        return True


def numbers_of(levels: Collection[StoredLevel]) -> set[int]:
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
