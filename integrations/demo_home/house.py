"""The state of the simulated house: what each entity says now, and who wants to hear of changes."""

import asyncio
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from integrations.demo_home.surroundings import Spawn, SystemClock
from integrations.home_assistant.house import Area, Floor

if TYPE_CHECKING:
    from integrations.demo_home.intents import Tool


UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class CallerPlace:
    """Place of a caller: area and floor ids of the device that the call names."""

    area_id: str | None = None
    floor_id: str | None = None
    device_id: str | None = None  # only of a device that takes timers


NOWHERE = CallerPlace()


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
    own_name: bool = True  # its name counts beside the aliases; people can take that away
    device: str | None = None  # id of the device it belongs to, if that is not its own
    labels: tuple[str, ...] = ()  # ids of its own labels
    registered: bool = True  # what has no unique id of its own has no entry in the registry

    @property
    def domain(self) -> str:
        """The part of the id before the dot."""
        return self.entity_id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, if that counts, and every alias."""
        return (self.name, *self.aliases) if self.own_name else self.aliases

    @property
    def device_id(self) -> str | None:
        """The id of its device; what is configured in software has none."""
        if self.device is not None:
            return self.device
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
class StateChange:
    """One entity went from one state to another."""

    old: Snapshot | None  # None: it is new
    new: Snapshot | None  # None: it is gone

    @property
    def entity_id(self) -> str:
        """The entity that has changed."""
        known = self.new or self.old
        assert known is not None
        return known.entity_id


@dataclass(frozen=True, slots=True)
class Event:
    """Something else that happened: a registry changed, a device told something."""

    kind: str  # "area_registry_updated"
    data: Mapping[str, Any]


@dataclass(slots=True)
class TodoItem:
    """One line of a to-do list."""

    summary: str
    done: bool = False
    uid: str = field(default_factory=lambda: uuid.uuid4().hex)

    def tick_off(self) -> None:
        """Mark it as completed."""
        self.done = True

    def row(self) -> dict[str, str]:
        """The item as Home Assistant tells it."""
        status = "completed" if self.done else "needs_action"
        return {"summary": self.summary, "uid": self.uid, "status": status}


Listener = Callable[[StateChange], None]
EventListener = Callable[[Event], None]


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
        clock: SystemClock,
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
        self.scenes: dict[str, tuple[Snapshot, ...]] = {}  # made while running, by entity id
        self.labels = Labels()
        self.failing: set[str] = set()  # entities whose next action fails
        self.jammed: set[str] = set()  # locks that never arrive
        self._spawn = spawn
        self._settle_s = settle_s
        self._states = {thing.entity_id: self._first(thing) for thing in things}
        self._listeners: list[Listener] = []
        self._event_listeners: list[EventListener] = []
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
        """The entities that an assistant may see, whoever asks."""
        return [thing for thing in self.things.values() if thing.exposed]

    def area_of(self, entity_id: str) -> Area | None:
        """The area of the entity or of its device."""
        thing = self.things[entity_id]
        return self.areas[thing.area_id] if thing.area_id is not None else None

    def place_of(self, device_id: str) -> CallerPlace:
        """The place of a device by its id; an unknown one is nowhere."""
        for thing in self.things.values():
            area = self.area_of(thing.entity_id)
            if thing.device_id == device_id and area is not None:
                return CallerPlace(area.area_id, area.floor_id)
        return NOWHERE

    def put_device(self, device_id: str, area_id: str | None) -> None:
        """Put a device into an area, or into none."""
        for thing in [one for one in self.things.values() if one.device_id == device_id]:
            self.alter(thing.entity_id, area_id=area_id, area_on_device=True)

    # A house of tests has devices that registered themselves (tests/simulators/phone_home.py).

    def registered_devices(self, since: datetime) -> list[dict[str, Any]]:
        """Rows of the device registry for devices that registered themselves."""
        return []

    def notifiers(self) -> list[str]:
        """Names of the actions in `notify` that push to one device."""
        return []

    def notify(self, notifier: str, data: Mapping[str, Any]) -> None:
        """Push to the device of a notifier, or of the notify entity of that id."""

    def timer_tools(self, place: CallerPlace) -> "Sequence[Tool] | None":
        """Tools for the timers of the caller's device; None: this house keeps no timers."""
        return None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def listen_events(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` after each other event; the returned function ends that."""
        self._event_listeners.append(listener)
        return lambda: self._event_listeners.remove(listener)

    def fire(self, kind: str, **data: Any) -> None:
        """Tell that something happened."""
        for listener in tuple(self._event_listeners):
            listener(Event(kind, data))

    def add(self, thing: Thing) -> None:
        """A new entity, or one in place of another of its id."""
        old = self._states.get(thing.entity_id)
        self.things[thing.entity_id] = thing
        self._states[thing.entity_id] = self._first(thing)
        self._tell(StateChange(old, self._states[thing.entity_id]))
        if thing.registered:
            self.changed_entry(thing.entity_id, "update" if old else "create")

    def remove(self, entity_id: str) -> None:
        """Take an entity away. An unknown id is a KeyError."""
        thing = self.things.pop(entity_id)
        self._tell(StateChange(self._states.pop(entity_id), None))
        if thing.registered:
            self.changed_entry(entity_id, "remove")

    def alter(self, entity_id: str, **changes: Any) -> None:
        """Change what the registries say of an entity: fields of `Thing`."""
        thing = replace(self.things[entity_id], **changes)
        self.things[entity_id] = thing
        self.write(entity_id, friendly_name=thing.name)
        self.changed_entry(entity_id, "update")

    def changed_entry(self, entity_id: str, action: str) -> None:
        """Tell that the registry's entry is another one now."""
        self.fire("entity_registry_updated", action=action, entity_id=entity_id)

    def _tell(self, change: StateChange) -> None:
        for listener in tuple(self._listeners):
            listener(change)

    def write(self, entity_id: str, state: str | None = None, /, **attributes: Any) -> None:
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
        self._tell(StateChange(old, new))

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


@dataclass(slots=True)
class Labels:
    """The label registry. The labels of an entity are in `Thing.labels`."""

    names: dict[str, str] = field(default_factory=dict)  # by label id
    borne: dict[str, tuple[str, ...]] = field(default_factory=dict)  # ids, by area or device id

    def create(self, name: str) -> str:
        """A new label; returns its id. Raises ValueError where there is one of that name."""
        if name.casefold() in (known.casefold() for known in self.names.values()):
            raise ValueError(f"The name {name} ({_slug(name)}) is already in use")
        label_id, number = _slug(name), 2
        while label_id in self.names:
            label_id, number = f"{_slug(name)}_{number}", number + 1
        self.names[label_id] = name
        return label_id

    def put(self, owner: str, label_ids: Iterable[str]) -> None:
        """The labels of an area or a device, by its id."""
        self.borne[owner] = tuple(label_ids)

    def of(self, owner: str) -> list[str]:
        """The ids of the labels of an area or a device."""
        return list(self.borne.get(owner, ()))


def _slug(name: str) -> str:
    signs = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(one for one in signs if not unicodedata.combining(one))
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "unknown"
