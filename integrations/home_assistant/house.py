"""A picture of the house at one moment: floors, areas and entities, as plain values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Which way a thing is switched: "on" is to start, open, lock or arm, as `turn_on` of its domain
# would; "either" where that is not told.
Way = Literal["on", "off", "either"]


@dataclass(frozen=True, slots=True)
class Floor:
    """One storey."""

    floor_id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """One room or place."""

    area_id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor_id: str | None = None
    # The sensors that its owner chose for it in Home Assistant (since 2025.3), by entity id.
    temperature_entity_id: str | None = None
    humidity_entity_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that has a state."""

    entity_id: str
    name: str
    state: str  # as Home Assistant says it: "on", "locked", "21.5", "unavailable"
    aliases: tuple[str, ...] = ()
    area_id: str | None = None  # its own, else its device's
    device_class: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = True  # may the assistant see it
    device_id: str | None = None
    features: int = 0  # `supported_features`, a bit field of its domain
    precision: int | None = None  # decimals in which a sensor is shown; None: as they come
    labels: tuple[str, ...] = ()  # ids and names of its own, its device's and its area's labels
    device_name: str = ""  # what its device is called
    last_changed: str = ""  # when its state changed, as Home Assistant writes it (ISO 8601)
    # The integration that made it ("template", "mqtt"), by the entity registry. "": the registry
    # does not know it, as of YAML without a `unique_id`. None: not told.
    platform: str | None = None

    @property
    def domain(self) -> str:
        """The part of the id before the dot: "light", "lock"."""
        return self.entity_id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and every alias."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class House:
    """Everything known of the house at one moment. Ids map to values; order is Home Assistant's."""

    floors: Mapping[str, Floor] = field(default_factory=dict)
    areas: Mapping[str, Area] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    # All that a script, automation or scene touches; without a row here not all of it is known.
    touches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # What is known of those whose effect is known in part only.
    partly: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Which way the scripts, automations and scenes that were read switch what they touch.
    ways: Mapping[str, Mapping[str, Way]] = field(default_factory=dict)
    # Scripts, automations and scenes of which Home Assistant has not told yet what they touch.
    unread: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()  # those of which it refuses to tell
    # The sentences that each automation waits for, by its id; a row without any for one that was
    # read and waits for none. No row: it was not read, and may wait for any sentence.
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # What a switch, lamp or button was seen to open, unlock or disarm (`runs.Switched`).
    seen_opening: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # By device id, made at the first look.
    _by_device: dict[str, list[Entity]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def beside(self, entity: Entity) -> list[Entity]:
        """The other entities of its device."""
        if entity.device_id is None:
            return []
        if not self._by_device:
            for one in self.entities.values():
                if one.device_id is not None:
                    self._by_device.setdefault(one.device_id, []).append(one)
        alike = self._by_device.get(entity.device_id, [])
        return [one for one in alike if one.entity_id != entity.entity_id]

    def exposed(self) -> list[Entity]:
        """The entities that the assistant may see."""
        return [entity for entity in self.entities.values() if entity.exposed]


# Answers of Home Assistant are read with patience: what is of the wrong type counts as absent. One
# odd row, of an integration that somebody wrote at home, must not cost the rest of the house.


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, without empty ones."""
    return tuple(one for one in value if text(one)) if isinstance(value, list) else ()


def keyed(values: Iterable[Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Rows by the id that they hold under `key`. Raises TypeError where `values` are no rows."""
    return {
        row[key]: row
        for row in values
        if isinstance(row, Mapping) and isinstance(row.get(key), str)
    }
