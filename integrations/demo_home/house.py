"""The simulated house: its entities and their states, with listeners for changes."""

import asyncio
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from integrations.demo_home.almanac import CHANGING
from integrations.demo_home.surroundings import Spawn, SystemClock
from integrations.home_assistant.house import Area, Floor

if TYPE_CHECKING:
    from integrations.demo_home.intents import Tool


UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class CallerPlace:
    area_id: str | None = None
    floor_id: str | None = None
    device_id: str | None = None  # set only if the device supports timers


NOWHERE = CallerPlace()


@dataclass(frozen=True, slots=True)
class Thing:
    """The registry data and the initial state of an entity."""

    entity_id: str
    name: str
    state: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    area_id: str | None = None
    aliases: tuple[str, ...] = ()
    exposed: bool = True
    area_on_device: bool = False  # True if the area is assigned to the device, not the entity
    own_name: bool = True  # False if the user turned off matching by name, leaving the aliases
    device: str | None = None  # id of the device, if several entities share it
    labels: tuple[str, ...] = ()  # ids of the entity's own labels
    registered: bool = True  # False without a registry entry, because it has no unique id

    @property
    def domain(self) -> str:
        return self.entity_id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases) if self.own_name else self.aliases

    @property
    def device_id(self) -> str | None:
        if self.device is not None:
            return self.device
        if self.domain in ("calendar", "script", "scene", "sun", "todo"):
            return None
        return uuid.uuid5(uuid.NAMESPACE_DNS, self.entity_id).hex


@dataclass(frozen=True, slots=True)
class Snapshot:
    entity_id: str
    state: str
    attributes: Mapping[str, Any]
    last_changed: datetime
    last_updated: datetime
    context_id: str


@dataclass(frozen=True, slots=True)
class StateChange:
    old: Snapshot | None  # None if the entity is new
    new: Snapshot | None  # None if the entity was removed

    @property
    def entity_id(self) -> str:
        known = self.new or self.old
        assert known is not None
        return known.entity_id


@dataclass(frozen=True, slots=True)
class Event:
    kind: str  # such as "area_registry_updated"
    data: Mapping[str, Any]


@dataclass(slots=True)
class TodoItem:
    summary: str
    done: bool = False
    uid: str = field(default_factory=lambda: uuid.uuid4().hex)

    def tick_off(self) -> None:
        self.done = True

    def row(self) -> dict[str, str]:
        status = "completed" if self.done else "needs_action"
        return {"summary": self.summary, "uid": self.uid, "status": status}


Listener = Callable[[StateChange], None]
EventListener = Callable[[Event], None]


class DemoHouse:
    """All entities, their areas and their current states.

    An entity that moves, such as a lock, takes `settle_s` seconds. `spawn` starts a background task
    in the owner's task group.
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
        # Attributes that a light restores when it is turned on.
        self.remembered: dict[str, dict[str, Any]] = {}
        self.scenes: dict[str, tuple[Snapshot, ...]] = {}  # from `scene.create`, by entity id
        self.labels = Labels()
        self.general: dict[str, Any] = {}  # general settings that differ from the demo's
        self.failing: set[str] = set()  # entities whose next action fails
        self.jammed: set[str] = set()  # locks that jam when they move
        self._spawn = spawn
        self._settle_s = settle_s
        self._states = {thing.entity_id: self._first(thing) for thing in things}
        self._listeners: list[Listener] = []
        self._event_listeners: list[EventListener] = []
        self._travelling: dict[str, asyncio.Task[None]] = {}

    def _first(self, thing: Thing) -> Snapshot:
        now = self.clock.now().astimezone(UTC)
        state, more = self._current(thing)
        attributes = {**thing.attributes, **more, "friendly_name": thing.name}
        return Snapshot(
            thing.entity_id, state, MappingProxyType(attributes), now, now, _new_context()
        )

    def _current(self, thing: Thing) -> tuple[str, Mapping[str, Any]]:
        """Return the state now, and the attributes that change with time."""
        told = CHANGING.get(thing.domain)
        return told(self.clock.now()) if told else (thing.state, {})

    def catch_up(self) -> None:
        """Give the sun and the calendars their present states."""
        for thing in self.things.values():
            if thing.domain in CHANGING:
                state, attributes = self._current(thing)
                self.write(thing.entity_id, state, **attributes)

    def get(self, entity_id: str) -> Snapshot:
        return self._states[entity_id]

    def all(self) -> list[Snapshot]:
        return list(self._states.values())

    def exposed(self) -> list[Thing]:
        return [thing for thing in self.things.values() if thing.exposed]

    def area_of(self, entity_id: str) -> Area | None:
        thing = self.things[entity_id]
        return self.areas[thing.area_id] if thing.area_id is not None else None

    def place_of(self, device_id: str) -> CallerPlace:
        """Return the device's area and floor, or NOWHERE if the device is unknown or has no
        area."""
        for thing in self.things.values():
            area = self.area_of(thing.entity_id)
            if thing.device_id == device_id and area is not None:
                return CallerPlace(area.area_id, area.floor_id)
        return NOWHERE

    def put_device(self, device_id: str, area_id: str | None) -> None:
        for thing in [one for one in self.things.values() if one.device_id == device_id]:
            self.alter(thing.entity_id, area_id=area_id, area_on_device=True)

    # The next four methods are overridden in the tests' house, which has devices that registered
    # themselves (tests/simulators/phone_home.py).

    def registered_devices(self, since: datetime) -> list[dict[str, Any]]:
        """Return the device registry rows of devices that registered themselves."""
        return []

    def notifiers(self) -> list[str]:
        """Return the names of the `notify` actions, each of which sends to one device."""
        return []

    def notify(self, notifier: str, data: Mapping[str, Any]) -> None:
        """Send a message to the device that a `notify` action or entity represents."""

    def timer_tools(self, place: CallerPlace) -> "Sequence[Tool] | None":
        """Return the timer tools for the calling device, or None if the house has no timers."""
        return None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Register a callback for state changes, and return a function that unregisters it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def listen_events(self, listener: EventListener) -> Callable[[], None]:
        self._event_listeners.append(listener)
        return lambda: self._event_listeners.remove(listener)

    def fire(self, kind: str, **data: Any) -> None:
        for listener in tuple(self._event_listeners):
            listener(Event(kind, data))

    def add(self, thing: Thing) -> None:
        old = self._states.get(thing.entity_id)
        self.things[thing.entity_id] = thing
        self._states[thing.entity_id] = self._first(thing)
        self._tell(StateChange(old, self._states[thing.entity_id]))
        if thing.registered:
            self.changed_entry(thing.entity_id, "update" if old else "create")

    def remove(self, entity_id: str) -> None:
        thing = self.things.pop(entity_id)
        self._tell(StateChange(self._states.pop(entity_id), None))
        if thing.registered:
            self.changed_entry(entity_id, "remove")

    def alter(self, entity_id: str, **changes: Any) -> None:
        """Change an entity's registry data. `changes` are fields of `Thing`."""
        thing = replace(self.things[entity_id], **changes)
        self.things[entity_id] = thing
        self.write(entity_id, friendly_name=thing.name)
        self.changed_entry(entity_id, "update")

    def changed_entry(self, entity_id: str, action: str) -> None:
        self.fire("entity_registry_updated", action=action, entity_id=entity_id)

    def _tell(self, change: StateChange) -> None:
        for listener in tuple(self._listeners):
            listener(change)

    def write(self, entity_id: str, state: str | None = None, /, **attributes: Any) -> None:
        """Set the given attributes, and the state unless it is None."""
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
        """Move the entity to the state `to`, through the state `via`, in `settle_s` seconds.
        Replaces any movement in progress."""
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
        """Cancel the entity's movement. Returns True if it was moving."""
        task = self._travelling.pop(entity_id, None)
        return task.cancel() if task is not None else False

    def stop(self) -> None:
        for entity_id in tuple(self._travelling):
            self.halt(entity_id)

    async def _arrive(self, entity_id: str, to: str, attributes: Mapping[str, Any]) -> None:
        await self.clock.sleep(self._settle_s)
        del self._travelling[entity_id]
        self.write(entity_id, to, **attributes)

    def count_todo(self, entity_id: str) -> None:
        self.write(entity_id, str(sum(not item.done for item in self.todo[entity_id])))


def _new_context() -> str:
    return uuid.uuid4().hex[:26].upper()


@dataclass(slots=True)
class Labels:
    """The label registry, with the labels of areas and devices. An entity's labels are in
    `Thing.labels`."""

    names: dict[str, str] = field(default_factory=dict)  # by label id
    # Label ids, by area or device id.
    borne: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def create(self, name: str) -> str:
        """Create a label and return its id. Raises ValueError if the name is taken."""
        if name.casefold() in (known.casefold() for known in self.names.values()):
            raise ValueError(f"The name {name} ({_slug(name)}) is already in use")
        label_id, number = _slug(name), 2
        while label_id in self.names:
            label_id, number = f"{_slug(name)}_{number}", number + 1
        self.names[label_id] = name
        return label_id

    def put(self, owner: str, label_ids: Iterable[str]) -> None:
        self.borne[owner] = tuple(label_ids)

    def of(self, owner: str) -> list[str]:
        return list(self.borne.get(owner, ()))


def _slug(name: str) -> str:
    signs = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(one for one in signs if not unicodedata.combining(one))
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "unknown"
