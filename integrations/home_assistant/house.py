"""The house at one point in time: floors, areas and entities, as plain values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Direction of switching: "on" is to start, open, lock or arm, as `turn_on` of the domain would;
# "either" if unknown.
Way = Literal["on", "off", "either"]


@dataclass(frozen=True, slots=True)
class Floor:
    floor_id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A room or another area."""

    area_id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor_id: str | None = None
    # Entity ids of the sensors chosen for the area in Home Assistant (since 2025.3).
    temperature_entity_id: str | None = None
    humidity_entity_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A Home Assistant entity with its state and registry data."""

    entity_id: str
    name: str
    state: str  # Home Assistant's value: "on", "locked", "21.5", "unavailable"
    aliases: tuple[str, ...] = ()
    area_id: str | None = None  # its own, else its device's
    device_class: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = True  # visible to the assistant
    device_id: str | None = None
    features: int = 0  # `supported_features`, a bit field of its domain
    precision: int | None = None  # decimals with which a sensor is shown; None: unchanged
    labels: tuple[str, ...] = ()  # ids and names of its own, its device's and its area's labels
    device_name: str = ""  # name of its device
    last_changed: str = ""  # last change of its state, as in Home Assistant (ISO 8601)
    # Integration that provides it ("template", "mqtt"), from the entity registry. "": it is not
    # registered, like YAML without a `unique_id`. None: unknown.
    platform: str | None = None

    @property
    def domain(self) -> str:
        """The part of the id before the dot: "light", "lock"."""
        return self.entity_id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class House:
    """The house at one point in time. Mappings are by id, in Home Assistant's order."""

    floors: Mapping[str, Floor] = field(default_factory=dict)
    areas: Mapping[str, Area] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    # Everything that a script, automation or scene affects; those without an entry are not fully
    # known.
    touches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # The known part, for those that are not fully known.
    partly: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Direction in which scripts, automations and scenes switch what they affect, if that was read.
    ways: Mapping[str, Mapping[str, Way]] = field(default_factory=dict)
    # Scripts, automations and scenes whose effects have not been read yet.
    unread: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()  # those for which Home Assistant refuses it
    # Trigger sentences of each automation by its id; () for one that has none. An automation
    # without an entry was not read and may wait for any sentence.
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # What a switch, lamp or button was seen to open, unlock or disarm (`runs.Switches`).
    seen_opening: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # By device id, made at the first use.
    _by_device: dict[str, list[Entity]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def beside(self, entity: Entity) -> list[Entity]:
        """Return the other entities of the entity's device."""
        if entity.device_id is None:
            return []
        if not self._by_device:
            for one in self.entities.values():
                if one.device_id is not None:
                    self._by_device.setdefault(one.device_id, []).append(one)
        alike = self._by_device.get(entity.device_id, [])
        return [one for one in alike if one.entity_id != entity.entity_id]

    def exposed(self) -> list[Entity]:
        """Return the entities that the assistant is allowed to see."""
        return [entity for entity in self.entities.values() if entity.exposed]


# Home Assistant's answers are read leniently: a value of the wrong type counts as missing, so that
# one odd row of a custom integration does not cost the rest of the house.


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, or else an empty object."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return a list's JSON objects, skipping other values."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return the value if it is a string, or else ""."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the non-empty strings of a list."""
    return tuple(one for one in value if text(one)) if isinstance(value, list) else ()


def keyed(values: Iterable[Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Index rows by the id under `key`. Raises TypeError if `values` is not iterable."""
    return {
        row[key]: row
        for row in values
        if isinstance(row, Mapping) and isinstance(row.get(key), str)
    }
