"""From Home Assistant's registries and states to a House: plain functions over plain answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from integrations.home_assistant.house import Area, Entity, Floor

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Registries:
    """What the registries say; states come and go on top of it."""

    floors: Mapping[str, Floor] = field(default_factory=dict)
    areas: Mapping[str, Area] = field(default_factory=dict)
    device_areas: Mapping[str, str] = field(default_factory=dict)  # device id -> area id
    entities: Mapping[str, Json] = field(default_factory=dict)  # entity id -> registry entry
    exposure: Mapping[str, bool] = field(default_factory=dict)  # entity id -> said explicitly


def read_floors(rows: Iterable[Json]) -> dict[str, Floor]:
    """From `config/floor_registry/list`."""
    return {
        row["floor_id"]: Floor(row["floor_id"], row["name"], _texts(row.get("aliases")))
        for row in rows
    }


def read_areas(rows: Iterable[Json]) -> dict[str, Area]:
    """From `config/area_registry/list`."""
    return {
        row["area_id"]: Area(
            row["area_id"], row["name"], _texts(row.get("aliases")), row.get("floor_id")
        )
        for row in rows
    }


def read_device_areas(rows: Iterable[Json]) -> dict[str, str]:
    """From `config/device_registry/list`: the devices that stand somewhere."""
    return {row["id"]: row["area_id"] for row in rows if row.get("area_id")}


def read_exposure(entries: Mapping[str, Json], listed: Json | None) -> dict[str, bool]:
    """What was decided by hand for the `conversation` assistant.

    `listed` is the answer of `homeassistant/expose_entity/list` (admins only) or None; the registry
    entry's own options say the same to any user.
    """
    said: dict[str, bool] = {}
    for entity_id, assistants in ((listed or {}).get("exposed_entities") or {}).items():
        if "conversation" in assistants:
            said[entity_id] = bool(assistants["conversation"])
    for entity_id, entry in entries.items():
        options = (entry.get("options") or {}).get("conversation") or {}
        if "should_expose" in options:
            said[entity_id] = bool(options["should_expose"])
    return said


def read_entity(state: Json, registries: Registries) -> Entity:
    """One entity from its state object (`get_states`, `state_changed`) and its registry entry."""
    entity_id = str(state["entity_id"])
    entry = registries.entities.get(entity_id, {})
    attributes = state.get("attributes") or {}
    name = attributes.get("friendly_name") or entry.get("name") or entry.get("original_name")
    return Entity(
        entity_id=entity_id,
        name=str(name or entity_id.partition(".")[2].replace("_", " ")),
        state=str(state.get("state", "unknown")),
        aliases=_texts(entry.get("aliases")),
        area_id=entry.get("area_id") or registries.device_areas.get(entry.get("device_id") or ""),
        device_class=attributes.get("device_class"),
        attributes=attributes,
        exposed=_exposed(entity_id, entry, registries.exposure),
    )


def with_state(entity: Entity, state: Json) -> Entity:
    """The same entity with a newer state object."""
    attributes = state.get("attributes") or {}
    return replace(
        entity,
        state=str(state.get("state", "unknown")),
        attributes=attributes,
        name=str(attributes.get("friendly_name") or entity.name),
        device_class=attributes.get("device_class"),
    )


def _exposed(entity_id: str, entry: Json, exposure: Mapping[str, bool]) -> bool:
    """Said by hand, else seen unless hidden or a device's inner working.

    Where nothing was said the answer errs towards "seen": the policy must not overlook an entity.
    """
    if entity_id in exposure:
        return exposure[entity_id]
    return not (entry.get("hidden_by") or entry.get("disabled_by") or entry.get("entity_category"))


def _texts(values: Any) -> tuple[str, ...]:
    """Aliases as plain texts; newer releases put null in the list for "the name itself"."""
    return tuple(value for value in values or () if isinstance(value, str) and value)
