"""The state of the simulated house: what each entity says now, and who wants to hear of changes."""

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from integrations.home_assistant.house import Area, Floor

UNAVAILABLE = "unavailable"


class Clock(Protocol):
    """The time as the house needs it."""

    def now(self) -> datetime:
        """The wall clock, with a time zone."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The wall clock in the machine's zone."""
        return datetime.now().astimezone()

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Thing:
    """One entity as the registries know it, with the state that it starts in."""

    entity_id: str
    name: str
    state: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    area_id: str | None = None
    aliases: tuple[str, ...] = ()
    exposed: bool = True
    area_on_device: bool = False  # the device carries the area, the entity has none of its own

    @property
    def domain(self) -> str:
        """The part of the id before the dot."""
        return self.entity_id.partition(".")[0]

    @property
    def device_id(self) -> str | None:
        """The id of its device; what is configured in software has none."""
        if self.domain in ("script", "scene", "todo"):
            return None
        return uuid.uuid5(uuid.NAMESPACE_DNS, self.entity_id).hex


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of one entity at one moment."""

    entity_id: str
    state: str
    attributes: Mapping[str, Any]
    last_changed: datetime
    last_updated: datetime
    context_id: str


@dataclass(frozen=True, slots=True)
class Change:
    """One entity went from one state to another."""

    old: Snapshot
    new: Snapshot


@dataclass(slots=True)
class TodoItem:
    """One line of a to-do list."""

    summary: str
    done: bool = False
    uid: str = field(default_factory=lambda: uuid.uuid4().hex)


Listener = Callable[[Change], None]
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class DemoHouse:
    """All entities, their areas and their states.

    `settle_s` is how long a lock or a cover is on its way before it arrives; with 0 it arrives at
    once, after both states were told. `spawn` starts the waiting in the owner's task group.
    """

    def __init__(
        self,
        floors: tuple[Floor, ...],
        areas: tuple[Area, ...],
        things: tuple[Thing, ...],
        *,
        clock: Clock,
        spawn: Spawn,
        settle_s: float,
    ) -> None:
        self.floors = {floor.floor_id: floor for floor in floors}
        self.areas = {area.area_id: area for area in areas}
        self.things = {thing.entity_id: thing for thing in things}
        self.clock = clock
        self.todo: dict[str, list[TodoItem]] = {
            thing.entity_id: [] for thing in things if thing.domain == "todo"
        }
        self.remembered: dict[str, dict[str, Any]] = {}  # what a light returns to
        self.failing: set[str] = set()  # entities whose next action fails
        self.jammed: set[str] = set()  # locks that never arrive
        self._spawn = spawn
        self._settle_s = settle_s
        self._states = {thing.entity_id: self._first(thing) for thing in things}
        self._listeners: list[Listener] = []
        self._travelling: dict[str, asyncio.Task[None]] = {}

    def _first(self, thing: Thing) -> Snapshot:
        now = self.clock.now().astimezone(UTC)
        attributes = {**thing.attributes, "friendly_name": thing.name}
        return Snapshot(
            thing.entity_id, thing.state, MappingProxyType(attributes), now, now, _new_context()
        )

    def get(self, entity_id: str) -> Snapshot:
        """The entity's state now. An unknown id is a KeyError."""
        return self._states[entity_id]

    def all(self) -> list[Snapshot]:
        """Every entity's state now, in the order in which they were set up."""
        return list(self._states.values())

    def exposed(self) -> list[Thing]:
        """The entities that an assistant may see."""
        return [thing for thing in self.things.values() if thing.exposed]

    def area_of(self, entity_id: str) -> Area | None:
        """The area of the entity or of its device."""
        area_id = self.things[entity_id].area_id
        return self.areas[area_id] if area_id is not None else None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def write(self, entity_id: str, state: str | None = None, **attributes: Any) -> None:
        """Set the state and some attributes; tell the listeners if anything is different."""
        old = self._states[entity_id]
        new_state = old.state if state is None else state
        new_attributes = {**old.attributes, **attributes}
        if new_state == old.state and new_attributes == dict(old.attributes):
            return
        now = self.clock.now().astimezone(UTC)
        changed = now if new_state != old.state else old.last_changed
        new = Snapshot(
            entity_id, new_state, MappingProxyType(new_attributes), changed, now, _new_context()
        )
        self._states[entity_id] = new
        for listener in tuple(self._listeners):
            listener(Change(old, new))

    def travel(self, entity_id: str, via: str, to: str, **attributes: Any) -> None:
        """Go to `to` through `via`, which lasts `settle_s`. A new journey ends the one before."""
        self.halt(entity_id)
        if self.get(entity_id).state == to and all(
            self.get(entity_id).attributes.get(key) == value for key, value in attributes.items()
        ):
            return
        self.write(entity_id, via)
        if self._settle_s <= 0:
            self.write(entity_id, to, **attributes)
            return
        self._travelling[entity_id] = self._spawn(self._arrive(entity_id, to, attributes))

    def halt(self, entity_id: str) -> bool:
        """Forget where the entity was going. True if it was on its way."""
        task = self._travelling.pop(entity_id, None)
        return task.cancel() if task is not None else False

    def stop(self) -> None:
        """End every journey, at shutdown."""
        for entity_id in tuple(self._travelling):
            self.halt(entity_id)

    async def _arrive(self, entity_id: str, to: str, attributes: Mapping[str, Any]) -> None:
        await self.clock.sleep(self._settle_s)
        del self._travelling[entity_id]
        self.write(entity_id, to, **attributes)

    def count_todo(self, entity_id: str) -> None:
        """Write the number of open items as the list's state."""
        self.write(entity_id, str(sum(not item.done for item in self.todo[entity_id])))


def _new_context() -> str:
    return uuid.uuid4().hex[:26].upper()
