"""Steps that can be undone, and the report of undoing them; first of all those of the house."""

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
    """State of some things of the house before a call."""

    was: Mapping[str, Entity]
    number: int | None  # of the snapshot in Home Assistant
    not_kept: Mapping[str, str]  # ids of what cannot be put back, and why
    other_media: bool = False


# Why something is not as it was: keys of the catalogue.
WHY_NOT_REACHED = "undo.why_not_reached"  # it cannot be reached now
WHY_WAS_AWAY = "undo.why_was_away"  # it could not be reached, so that nobody knows how it was
WHY_NEVER = "undo.why_never"  # a lock, an opener, an alarm and the like
WHY_NOT_KEPT = "undo.why_not_kept"  # the home did not keep it in time
WHY_OPENER = "undo.why_opener"  # meanwhile it has become something that opens
WHY_MEDIA = "undo.why_media"  # another track or channel
WHY_OTHERWISE = "undo.why_otherwise"  # it was asked, and does not show it
WHY_UNKNOWN = "undo.why_unknown"  # nobody knows how


@dataclass(frozen=True, slots=True)
class NotPutBack:
    """One thing that is not as it was."""

    name: str  # as people say it; "" where it has none to tell
    why: str = WHY_OTHERWISE  # key of the catalogue


@dataclass(frozen=True, slots=True)
class UndoneReport:
    """Results by the things' names as people say them ("" where one has none to tell)."""

    put_back: tuple[str, ...] = ()  # seen to be as before
    on_the_way: tuple[str, ...] = ()  # still moving there
    unchanged: tuple[str, ...] = ()  # were as before all the time
    not_put_back: tuple[NotPutBack, ...] = ()

    def __add__(self, other: "UndoneReport") -> "UndoneReport":
        return UndoneReport(
            self.put_back + other.put_back,
            self.on_the_way + other.on_the_way,
            self.unchanged + other.unchanged,
            self.not_put_back + other.not_put_back,
        )


class UndoStep(ABC):
    """One thing that can be undone once, within `stack.LIFE_S`."""

    @abstractmethod
    async def run(self) -> UndoneReport:
        """Put it back. What cannot be is told in the report."""

    @abstractmethod
    async def forget(self) -> None:
        """Delete what is kept for it, once it was run or never will be. Called once."""


UNKNOWN = UndoneReport(not_put_back=(NotPutBack("", WHY_UNKNOWN),))


async def ran(step: UndoStep) -> UndoneReport:
    """Run a step and return its report. One that is broken must not cost the others: never raises
    but for being cancelled."""
    try:
        return await step.run()
    except Exception:
        _log.exception("A change could not be undone")
        return UNKNOWN


async def forgotten(step: UndoStep) -> None:
    """Let go of what is kept for a step. Never raises but for being cancelled."""
    try:
        await step.forget()
    except Exception:
        _log.exception("What was kept for a change could not be let go")


_log = logging.getLogger(__name__)
RESTORE_S = 8.0  # for Home Assistant's answer to one action
SEEN_S = 2.0  # for the house to show it


class HomeStep(UndoStep):
    """Snapshot of what one call touched first in its turn, and what is known beside."""

    def __init__(
        self,
        home: "HomeAssistant",
        keeper: "SnapshotShelf",
        services: "Services",
        stored: StoredStep,
        tiers: AskTiers,
    ) -> None:
        """`tiers`: the owner's ratings."""
        self._home = home
        self._keeper = keeper
        self._services = services
        self._tiers = tiers
        self.stored = stored  # the same for another process
        self._was = stored.was

    @property
    def number(self) -> int | None:
        """Of its snapshot in Home Assistant, if it has one."""
        return self.stored.number

    @property
    def entities(self) -> frozenset[str]:
        """The ids of all that it knows of."""
        return frozenset((*self._was, *self.stored.not_kept))

    def choose_other_media(self) -> None:
        """Note that the call chose another track or channel."""
        self.stored = replace(self.stored, other_media=True)

    def has_changed(self) -> bool:
        """True where anything that it knows of is not as it was."""
        house = self._home.house
        return any(not _is_same(was, house) for was in self._was.values())

    def moves(self, house: House) -> tuple[Move, ...]:
        """Moves that `run` would make in that house."""
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
        """Return that house once all of it is put back."""
        there = {name: was for name, was in self._was.items() if name in house.entities}
        return replace(house, entities={**house.entities, **there})

    async def run(self) -> UndoneReport:
        """Put back what differs, and look. Never raises but for being cancelled."""
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
        """Delete the snapshot."""
        if self.stored.number is not None:
            self._keeper.drop(self.stored.number)

    @property
    def _scene(self) -> set[str]:
        """Ids of what is in the snapshot."""
        return {name for name, was in self._was.items() if was.domain != PLAYERS}

    def _barred(self, house: House) -> bool:
        """True where something in the snapshot has become what is never put back.

        A scene is restored as a whole or not at all.
        """
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
        """Log what fails: the house shows it, and one that refuses does not stop the others."""
        try:
            async with asyncio.timeout(RESTORE_S):
                await work
        except (IntegrationError, TimeoutError) as error:
            _log.info("Something could not be put back: %s", str(error) or "no answer in time")

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
    """Why each of these cannot be put back, by id."""
    return {
        **dict.fromkeys(never, WHY_NEVER),
        **dict.fromkeys(away, WHY_WAS_AWAY),
        **dict.fromkeys(lost, WHY_NOT_KEPT),
    }


def _is_same(was: Entity, house: House) -> bool:
    now = house.entities.get(was.entity_id)
    return now is not None and not differences(was, now)


def _name(entity_id: str, house: House, was: Entity | None = None) -> str:
    """Name of a thing; "" where the assistant may not see it."""
    entity = house.entities.get(entity_id) or was
    return entity.name if entity is not None and entity.exposed else ""
