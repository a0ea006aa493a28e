"""The state of the house at one point in time: floors, areas and entities, as plain values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Direction in which an entity is switched. "on" means to start, open, lock or arm, as `turn_on`
# would in its domain; "either" means that the direction is unknown.
Way = Literal["on", "off", "either"]


@dataclass(frozen=True, slots=True)
class Floor:
    floor_id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    area_id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor_id: str | None = None
    # Entity ids of the sensors that are assigned to the area in Home Assistant (since 2025.3).
    temperature_entity_id: str | None = None
    humidity_entity_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    entity_id: str
    name: str
    state: str  # Home Assistant's value: "on", "locked", "21.5", "unavailable"
    aliases: tuple[str, ...] = ()
    area_id: str | None = None  # its own, else its device's
    device_class: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = True  # True: the assistant may see it
    device_id: str | None = None
    features: int = 0  # `supported_features`, a bit field that depends on the domain
    precision: int | None = None  # number of decimals to show; None: as in `state`
    labels: tuple[str, ...] = ()  # ids and names of labels of the entity, its device and its area
    device_name: str = ""
    last_changed: str = ""  # when the state last changed, in ISO 8601
    # Integration that provides the entity ("template", "mqtt"), from the entity registry. "" if it
    # is not registered, such as YAML without a `unique_id`; None if unknown.
    platform: str | None = None

    @property
    def domain(self) -> str:
        return self.entity_id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class HouseSettings:
    """Home Assistant's general settings. One that isn't known is ""."""

    time_zone: str = ""
    country: str = ""  # ISO 3166, such as "US"
    temperature: str = ""  # unit, "°C" or "°F"
    length: str = ""  # unit of distances, "km" or "mi"
    wind_speed: str = ""  # unit, such as "m/s" or "mph"


UNKNOWN_SETTINGS = HouseSettings()


def in_unit_of(house: HouseSettings, degrees: float, unit: str) -> float:
    """Convert a temperature from "°C" or "°F" to the house's unit, rounded to half a degree Celsius
    or a whole degree Fahrenheit."""
    if unit == house.temperature or not house.temperature:
        return degrees
    if house.temperature == "°F":
        return round(degrees * 1.8 + 32)
    return round((degrees - 32) / 1.8 * 2) / 2


def read_settings(config: Mapping[str, Any]) -> HouseSettings:
    """Return the settings in the result of `get_config`."""
    units = mapping(config.get("unit_system"))
    return HouseSettings(
        time_zone=text(config.get("time_zone")),
        country=text(config.get("country")),
        temperature=text(units.get("temperature")),
        length=text(units.get("length")),
        wind_speed=text(units.get("wind_speed")),
    )


@dataclass(frozen=True, slots=True)
class House:
    """The state of the house at one point in time.

    Mappings are keyed by id. Floors, areas and entities are in Home Assistant's order.
    """

    floors: Mapping[str, Floor] = field(default_factory=dict)
    areas: Mapping[str, Area] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    # Everything that a script, automation or scene affects. Those without an entry are not fully
    # known.
    touches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # The entities that are known to be affected, for those that are not fully known.
    partly: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # The direction in which each script, automation or scene switches its entities, if known.
    ways: Mapping[str, Mapping[str, Way]] = field(default_factory=dict)
    # Scripts, automations and scenes whose effects have not been read yet.
    unread: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()  # those whose effects Home Assistant refuses to report
    # Trigger sentences by automation id; () if the automation has none. An automation without an
    # entry was not read and could be triggered by any sentence.
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # What each switch, light or button was seen to open, unlock or disarm (`runs.Switches`).
    seen_opening: Mapping[str, frozenset[str]] = field(default_factory=dict)
    settings: HouseSettings = UNKNOWN_SETTINGS
    # Entities by device id, and exposed entities by domain, built on first use.
    _by_device: dict[str, list[Entity]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _by_domain: dict[str, list[Entity]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def beside(self, entity: Entity) -> list[Entity]:
        """Return the other entities of this entity's device."""
        if entity.device_id is None:
            return []
        if not self._by_device:
            for one in self.entities.values():
                if one.device_id is not None:
                    self._by_device.setdefault(one.device_id, []).append(one)
        alike = self._by_device.get(entity.device_id, [])
        return [one for one in alike if one.entity_id != entity.entity_id]

    def exposed(self) -> list[Entity]:
        return [entity for entity in self.entities.values() if entity.exposed]

    def of_domain(self, domain: str) -> list[Entity]:
        """Return the exposed entities of this domain."""
        if not self._by_domain:
            found: dict[str, list[Entity]] = {}
            for one in self.exposed():
                found.setdefault(one.domain, []).append(one)
            self._by_domain.update(found)  # at once, for other threads
        return list(self._by_domain.get(domain, ()))


# Home Assistant's responses are read leniently: a value of the wrong type counts as missing, so
# that one invalid row from a custom integration does not break everything else.


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, and otherwise an empty object."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return the JSON objects in a list, skipping other values."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return the value if it is a string, and otherwise ""."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the non-empty strings in a list, skipping other values."""
    return tuple(one for one in value if text(one)) if isinstance(value, list) else ()


def keyed(values: Iterable[Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Index rows by their id, which is under `key`."""
    return {
        row[key]: row
        for row in values
        if isinstance(row, Mapping) and isinstance(row.get(key), str)
    }
