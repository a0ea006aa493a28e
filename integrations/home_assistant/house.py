"""A picture of the house at one moment: floors, areas and entities, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    last_changed: str = ""  # when its state changed, as Home Assistant writes it (ISO 8601)

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
    # What a script, automation or scene touches, as far as Home Assistant tells
    # (`search/related`); without a row here, or with an empty one, nobody knows.
    touches: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def exposed(self) -> list[Entity]:
        """The entities that the assistant may see."""
        return [entity for entity in self.entities.values() if entity.exposed]
