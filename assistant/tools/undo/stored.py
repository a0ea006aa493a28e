"""What can be undone, kept in the store: `hearth ask "undo that"` is another process than the one
that did it. Only how things of the house were is kept; the rest is known to its own process alone.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from integrations.home_assistant.house import Entity

_log = logging.getLogger(__name__)
KEPT = "undo"  # its name among the kept values
MOST = 10  # turns
MOST_THINGS = 64  # of one turn; with more of them only its own process can undo it
_TUPLES = frozenset({"aliases", "labels"})
_FIELDS = frozenset(one.name for one in fields(Entity))


class Kept(Protocol):
    """Where small values are (`assistant.journal.store.Store`)."""

    async def kept(self, name: str) -> Any | None:
        """The value of that name. Raises StoreError."""
        ...

    async def keep(self, name: str, value: Any) -> None:
        """Write it. Raises StoreError."""
        ...


@dataclass(frozen=True, slots=True)
class StoredStep:
    """How some things of the house were before a call."""

    was: Mapping[str, Entity]
    number: int | None  # of the snapshot in Home Assistant
    not_kept: Mapping[str, str]  # ids of what cannot be put back, and why
    other_media: bool = False


@dataclass(frozen=True, slots=True)
class StoredLevel:
    """What one turn has changed."""

    turn_id: str
    at: datetime
    steps: tuple[StoredStep, ...]
    unknown: bool  # it did more, of which nobody else knows how to undo it


class StoredLevels:
    """Reads and writes them. Never raises: without it a process undoes what it did itself."""

    def __init__(self, store: Kept | None, clock: Clock, life_s: float) -> None:
        self._store = store
        self._clock = clock
        self._life_s = life_s
        self._lock = asyncio.Lock()

    async def load(self) -> list[StoredLevel] | None:
        """Those that are not too old, the oldest first; None where they cannot be read."""
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
