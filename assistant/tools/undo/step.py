"""Undo steps, their reports, and the step that restores the states of entities."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assistant.tools.house.intents import Move
from assistant.tools.undo.reversible import (
    PLAYERS,
    AskTiers,
    actions,
    differences,
    is_away,
    is_on_the_way,
    is_reversible,
    way_back,
)
from integrations.errors import IntegrationError
from integrations.home_assistant.house import Entity, House

if TYPE_CHECKING:
    from assistant.tools.undo.storage import SnapshotShelf
    from integrations.home_assistant.client import HomeAssistant
    from integrations.home_assistant.services import Services


@dataclass(frozen=True, slots=True)
class StoredStep:
    """The states of some entities before a call."""

    was: Mapping[str, Entity]
    number: int | None  # of the snapshot in Home Assistant
    not_kept: Mapping[str, str]  # reasons, by the ids of entities that can't be restored
    other_media: bool = False


# Reasons that something was not restored: catalogue keys.
WHY_NOT_REACHED = "undo.why_not_reached"  # it is unreachable now
WHY_WAS_AWAY = "undo.why_was_away"  # it was unreachable, so its state is unknown
WHY_NEVER = "undo.why_never"  # a lock, an opener, an alarm or similar
WHY_NOT_KEPT = "undo.why_not_kept"  # Home Assistant did not take the snapshot in time
WHY_OPENER = "undo.why_opener"  # it has become an opener in the meantime
WHY_MEDIA = "undo.why_media"  # another track or channel
WHY_OTHERWISE = "undo.why_otherwise"  # it got the command, but doesn't show the state
WHY_UNKNOWN = "undo.why_unknown"  # Hearth doesn't know how to undo it


@dataclass(frozen=True, slots=True)
class NotPutBack:
    name: str  # as spoken; "" if it may not be spoken
    why: str = WHY_OTHERWISE  # catalogue key


@dataclass(frozen=True, slots=True)
class UndoneReport:
    """The result of undoing, by the spoken names of the entities. A name is "" if it must not be
    spoken."""

    put_back: tuple[str, ...] = ()  # seen to be as before
    on_the_way: tuple[str, ...] = ()  # still moving there
    unchanged: tuple[str, ...] = ()  # never changed
    not_put_back: tuple[NotPutBack, ...] = ()

    def __add__(self, other: "UndoneReport") -> "UndoneReport":
        return UndoneReport(
            self.put_back + other.put_back,
            self.on_the_way + other.on_the_way,
            self.unchanged + other.unchanged,
            self.not_put_back + other.not_put_back,
        )


class UndoStep(ABC):
    """A change that can be undone once, within `stack.LIFE_S`."""

    @abstractmethod
    async def run(self) -> UndoneReport:
        """Undo the change. Failures are reported, not raised."""

    @abstractmethod
    async def forget(self) -> None:
        """Delete the step's stored data after it was undone or has expired. Called once."""


UNKNOWN = UndoneReport(not_put_back=(NotPutBack("", WHY_UNKNOWN),))


async def ran(step: UndoStep) -> UndoneReport:
    """Run a step and return its report. Failures are logged, so that the other steps still run."""
    try:
        return await step.run()
    except Exception:
        _log.exception("A change could not be undone")
        return UNKNOWN


async def forgotten(step: UndoStep) -> None:
    """Delete a step's stored data. Failures are logged."""
    try:
        await step.forget()
    except Exception:
        _log.exception("The saved state of a change could not be deleted")


_log = logging.getLogger(__name__)
RESTORE_S = 8.0  # for Home Assistant's answer to one action
SEEN_S = 2.0  # for the house to show the state


class HomeStep(UndoStep):
    """Restores the entities that a call changed, unless an earlier call of the turn had changed
    them already."""

    def __init__(
        self,
        home: "HomeAssistant",
        keeper: "SnapshotShelf",
        services: "Services",
        stored: StoredStep,
        tiers: AskTiers,
    ) -> None:
        self._home = home
        self._keeper = keeper
        self._services = services
        self._tiers = tiers
        self.stored = stored  # copy for other processes
        self._was = stored.was

    @property
    def number(self) -> int | None:
        return self.stored.number

    @property
    def entities(self) -> frozenset[str]:
        return frozenset((*self._was, *self.stored.not_kept))

    def choose_other_media(self) -> None:
        """Record that the call started a different track or channel, which can't be undone."""
        self.stored = replace(self.stored, other_media=True)

    def has_changed(self) -> bool:
        house = self._home.house
        return any(not _is_same(was, house) for was in self._was.values())

    def moves(self, house: House) -> tuple[Move, ...]:
        """Return the moves that `run` would make if the house were in this state."""
        barred = self._barred(house)
        return tuple(
            move
            for name, was in self._was.items()
            if (now := house.entities.get(name)) is not None
            and not _is_same(was, house)
            and not (barred and name in self._scene)
            for move in way_back(was, now)
        )

    def after(self, house: House) -> House:
        """Return the house as it would be after `run` has restored everything."""
        there = {name: was for name, was in self._was.items() if name in house.entities}
        return replace(house, entities={**house.entities, **there})

    async def run(self) -> UndoneReport:
        before = self._home.house
        same = {name for name, was in self._was.items() if _is_same(was, before)}
        barred = self._barred(before)
        if not self._scene <= same and not barred:
            await self._try(self._restore())
        for entity_id in self._was.keys() - self._scene - same:
            now = before.entities.get(entity_id)
            if now is not None:
                await self._put_back_player(self._was[entity_id], now)
        moved = {
            name: was
            for name, was in self._was.items()
            if name not in same and not (barred and name in self._scene)
        }
        await self._home.wait_for(
            list(moved), lambda house: all(_is_same(was, house) for was in moved.values()), SEEN_S
        )
        return self._report(self._home.house, moved, same, barred)

    async def forget(self) -> None:
        if self.stored.number is not None:
            self._keeper.drop(self.stored.number)

    @property
    def _scene(self) -> set[str]:
        return {name for name, was in self._was.items() if was.domain != PLAYERS}

    def _barred(self, house: House) -> bool:
        """Return True if an entity in the snapshot has become an opener in the meantime. Home
        Assistant can restore a scene only as a whole, so nothing in it is restored then."""
        known = (house.entities.get(name) for name in self._scene)
        return any(entity is not None and self._opens(entity, house) for entity in known)

    def _opens(self, entity: Entity, house: House) -> bool:
        return not is_reversible(entity, house, self._tiers())

    async def _restore(self) -> None:
        assert self.stored.number is not None
        await self._keeper.restore(self.stored.number)

    async def _put_back_player(self, was: Entity, now: Entity) -> None:
        for service, data in actions(was, now):
            await self._try(self._services.call(PLAYERS, service, data, entities=(was.entity_id,)))

    async def _try(self, work: Awaitable[Any]) -> None:
        try:
            async with asyncio.timeout(RESTORE_S):
                await work
        except (IntegrationError, TimeoutError) as error:
            _log.info("Something could not be restored: %s", str(error) or "no answer in time")

    def _report(
        self, house: House, moved: Mapping[str, Entity], same: set[str], barred: bool
    ) -> UndoneReport:
        put_back, on_the_way, unchanged = [], [], []
        left = [NotPutBack(_name(name, house), why) for name, why in self.stored.not_kept.items()]
        for entity_id, was in self._was.items():
            now, name = house.entities.get(entity_id), _name(entity_id, house, was)
            if self.stored.other_media and was.domain == PLAYERS:
                left.append(NotPutBack(name, WHY_MEDIA))
            elif entity_id in same:
                unchanged.append(name)
            elif entity_id not in moved:
                opens = barred and now is not None and self._opens(now, house)
                left.append(NotPutBack(name, WHY_OPENER if opens else WHY_OTHERWISE))
            elif _is_same(was, house):
                put_back.append(name)
            elif is_on_the_way(was, now):
                on_the_way.append(name)
            else:
                left.append(NotPutBack(name, WHY_NOT_REACHED if is_away(now) else WHY_OTHERWISE))
        return UndoneReport(tuple(put_back), tuple(on_the_way), tuple(unchanged), tuple(left))


def reasons(
    never: tuple[str, ...], away: tuple[str, ...], lost: tuple[str, ...] = ()
) -> dict[str, str]:
    return {
        **dict.fromkeys(never, WHY_NEVER),
        **dict.fromkeys(away, WHY_WAS_AWAY),
        **dict.fromkeys(lost, WHY_NOT_KEPT),
    }


def _is_same(was: Entity, house: House) -> bool:
    now = house.entities.get(was.entity_id)
    return now is not None and not differences(was, now)


def _name(entity_id: str, house: House, was: Entity | None = None) -> str:
    entity = house.entities.get(entity_id) or was
    return entity.name if entity is not None and entity.exposed else ""
