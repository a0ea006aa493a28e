"""Read Home Assistant's registries, fully or partly, and combine them with states.

`read_registries` and `refreshed` send requests; the other `read_*` functions only parse results.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.house import Area, Entity, Floor, keyed, mapping, text, texts
from integrations.home_assistant.websocket import UNKNOWN_FORM, Connection

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DeviceRow:
    area_id: str | None  # its own, or else its parent device's
    labels: frozenset[str] = frozenset()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Registries:
    floors: Mapping[str, Floor] = field(default_factory=dict)
    areas: Mapping[str, Area] = field(default_factory=dict)
    area_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by area id
    devices: Mapping[str, DeviceRow] = field(default_factory=dict)
    entities: Mapping[str, Json] = field(default_factory=dict)  # entity id -> registry entry
    labels: Mapping[str, str] = field(default_factory=dict)  # names by label id
    # exposure by entity id; only administrators can read it
    listed: Mapping[str, bool] = field(default_factory=dict)
    learned: Mapping[str, bool] = field(default_factory=dict)  # exposure, from the server's prompt
    admin: bool = False  # True: this user is an administrator


def read_floors(rows: Iterable[Json]) -> dict[str, Floor]:
    """Parse the result of `config/floor_registry/list` and return the floors by id."""
    return {
        floor_id: Floor(floor_id, text(row.get("name")) or floor_id, texts(row.get("aliases")))
        for floor_id, row in keyed(rows, "floor_id").items()
    }


def read_areas(rows: Iterable[Json]) -> dict[str, Area]:
    """Parse the result of `config/area_registry/list` and return the areas by id."""
    return {
        area_id: Area(
            area_id,
            text(row.get("name")) or area_id,
            texts(row.get("aliases")),
            text(row.get("floor_id")) or None,
            text(row.get("temperature_entity_id")) or None,
            text(row.get("humidity_entity_id")) or None,
        )
        for area_id, row in keyed(rows, "area_id").items()
    }


def read_area_labels(rows: Iterable[Json]) -> dict[str, frozenset[str]]:
    """Return the label ids by area id from the result of `config/area_registry/list`."""
    labels = {area_id: read_labels(row) for area_id, row in keyed(rows, "area_id").items()}
    return {area_id: has for area_id, has in labels.items() if has}


def read_devices(rows: Iterable[Json]) -> dict[str, DeviceRow]:
    """Parse the result of `config/device_registry/list` and return the devices by id."""
    known = keyed(rows, "id")
    places = {device_id: text(row.get("area_id")) for device_id, row in known.items()}
    return {
        device_id: DeviceRow(
            places[device_id] or places.get(text(row.get("parent_device_id"))) or None,
            read_labels(row),
            text(row.get("name_by_user")) or text(row.get("name")),
        )
        for device_id, row in known.items()
    }


def read_entries(rows: Iterable[Json]) -> dict[str, Json]:
    """Parse the result of `config/entity_registry/list` and return the entries by entity id."""
    return keyed(rows, "entity_id")


def read_listed(answer: Json) -> dict[str, bool]:
    """Return each entity's exposure to the `conversation` assistant from the result of
    `homeassistant/expose_entity/list`."""
    said = mapping(mapping(answer).get("exposed_entities"))
    return {
        entity_id: bool(mapping(assistants)["conversation"])
        for entity_id, assistants in said.items()
        if "conversation" in mapping(assistants)
    }


def read_label_names(rows: Iterable[Json]) -> dict[str, str]:
    """Parse the result of `config/label_registry/list` and return the names by label id."""
    return {
        label_id: text(row.get("name")) or label_id
        for label_id, row in keyed(rows, "label_id").items()
    }


def read_labels(row: Json) -> frozenset[str]:
    return frozenset(texts(row.get("labels")))


def read_entity(state: Json, registries: Registries) -> Entity:
    """Build an entity from its state (`get_states`, `state_changed`) and the registries."""
    entity_id = str(state["entity_id"])
    entry = registries.entities.get(entity_id, {})
    attributes = mapping(state.get("attributes"))
    name = attributes.get("friendly_name") or entry.get("name") or entry.get("original_name")
    device_id = text(entry.get("device_id"))
    device = registries.devices.get(device_id)
    area_id = text(entry.get("area_id")) or (device.area_id if device else None)
    return Entity(
        entity_id=entity_id,
        name=str(name or entity_id.partition(".")[2].replace("_", " ")),
        state=str(state.get("state", "unknown")),
        aliases=texts(entry.get("aliases")),
        area_id=area_id,
        device_class=text(attributes.get("device_class")) or None,
        attributes=attributes,
        exposed=_exposed(entity_id, entry, registries),
        device_id=device_id or None,
        features=_features(attributes),
        precision=_precision(entry),
        labels=_labels(entry, device, area_id, registries),
        device_name=device.name if device else "",
        last_changed=text(state.get("last_changed")),
        platform=_platform(entry),
    )


def with_state(entity: Entity, state: Json) -> Entity:
    attributes = mapping(state.get("attributes"))
    return replace(
        entity,
        state=str(state.get("state", "unknown")),
        attributes=attributes,
        name=str(attributes.get("friendly_name") or entity.name),
        device_class=text(attributes.get("device_class")) or None,
        features=_features(attributes),
        last_changed=text(state.get("last_changed")),
    )


def with_registries(entity: Entity, registries: Registries) -> Entity:
    state = {
        "entity_id": entity.entity_id,
        "state": entity.state,
        "attributes": entity.attributes,
        "last_changed": entity.last_changed,
    }
    return read_entity(state, registries)


def said_exposed(entity_id: str, registries: Registries) -> bool | None:
    """Return the registry entry's exposure to `conversation`, or None if it is not set."""
    options = mapping(registries.entities.get(entity_id, {}).get("options"))
    said = mapping(options.get("conversation")).get("should_expose")
    return None if said is None else bool(said)


def _exposed(entity_id: str, entry: Json, registries: Registries) -> bool:
    """Return True if an entity is exposed. In case of doubt, it counts as exposed, because the
    policy must not overlook an exposed entity."""
    said = said_exposed(entity_id, registries)
    if said is not None:
        return said
    for told in (registries.learned, registries.listed):
        if entity_id in told:
            return told[entity_id]
    return not (entry.get("hidden_by") or entry.get("disabled_by") or entry.get("entity_category"))


def _labels(
    entry: Json, device: DeviceRow | None, area_id: str | None, registries: Registries
) -> tuple[str, ...]:
    ids = read_labels(entry) | registries.area_labels.get(area_id or "", frozenset())
    if device is not None:
        ids |= device.labels
    names = {registries.labels[one] for one in ids if one in registries.labels}
    return tuple(sorted(ids | names))


def _platform(entry: Json) -> str | None:
    return (text(entry.get("platform")) or None) if entry else ""


def _features(attributes: Json) -> int:
    features = attributes.get("supported_features")
    return features if isinstance(features, int) else 0


def _precision(entry: Json) -> int | None:
    options = mapping(mapping(entry.get("options")).get("sensor"))
    for key in ("display_precision", "suggested_display_precision"):
        if isinstance(options.get(key), int):
            return int(options[key])
    return None


log = logging.getLogger(__name__)


# Any user may subscribe to these events (`auth/permissions/events.py`, 2025.4 to 2026.11).
REGISTRY_EVENTS = (
    "area_registry_updated",
    "core_config_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
    "label_registry_updated",
)
MAX_NAMED = 500  # entities to request by name; beyond that, all are read again


@dataclass(slots=True)
class Stale:
    entity_ids: set[str] = field(default_factory=set)
    places: bool = False  # an area, floor, device or label has changed
    everything: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, kind: str, event: Mapping[str, Any]) -> None:
        data = mapping(event.get("data"))
        if kind == "entity_registry_updated":
            for key in ("entity_id", "old_entity_id"):
                if isinstance(data.get(key), str):
                    self.entity_ids.add(data[key])
        elif kind == "core_config_updated":
            self.everything = True  # with the units, states change too
        else:
            self.places = True
        self.came.set()

    def note_everything(self) -> None:
        self.everything = True
        self.came.set()

    def take(self) -> "Stale":
        taken = replace(self, entity_ids=set(self.entity_ids))
        self.entity_ids.clear()
        self.places = self.everything = False
        self.came.clear()
        return taken


async def read_registries(connection: Connection) -> Registries:
    """Read all registries. Raises Refused or Unavailable."""
    try:
        listed = await connection.command("config/entity_registry/list")
        entries = read_entries(listed)
        entries |= await _extended(connection, list(entries)) or {}
        places = await _places(connection, Registries())
        admin = await _is_admin(connection)
        listed = await _listed(connection) if admin else {}
        return replace(places, entities=entries, listed=listed, admin=admin)
    except (AttributeError, KeyError, TypeError) as error:
        raise Unavailable(UNKNOWN_FORM) from error


async def refreshed(connection: Connection, known: Registries, stale: Stale) -> Registries | None:
    """Read the changed entries again and return the new registries, or None if everything must be
    read again. Raises Refused or Unavailable."""
    if stale.everything or len(stale.entity_ids) > MAX_NAMED:
        return None
    try:
        registries = await _places(connection, known) if stale.places else known
        if not stale.entity_ids:
            return registries
        found = await _extended(connection, sorted(stale.entity_ids))
    except (AttributeError, KeyError, TypeError) as error:
        raise Unavailable(UNKNOWN_FORM) from error
    if found is None:
        return None
    kept = {name: row for name, row in known.entities.items() if name not in stale.entity_ids}
    return replace(registries, entities=kept | found)


async def _places(connection: Connection, known: Registries) -> Registries:
    floors = await connection.command("config/floor_registry/list")
    areas = await connection.command("config/area_registry/list")
    devices = await connection.command("config/device_registry/list")
    return replace(
        known,
        floors=read_floors(floors),
        areas=read_areas(areas),
        area_labels=read_area_labels(areas),
        devices=read_devices(devices),
        labels=await _label_names(connection),
    )


async def _label_names(connection: Connection) -> dict[str, str]:
    try:
        return read_label_names(await connection.command("config/label_registry/list"))
    except (Refused, TypeError) as error:
        log.info("The names of labels cannot be read: %s", error)
        return {}


async def _extended(
    connection: Connection, entity_ids: Collection[str]
) -> dict[str, Mapping[str, Any]] | None:
    """Return the registry entries with their aliases, or None if this user may not read them."""
    try:
        found = await connection.command(
            "config/entity_registry/get_entries", entity_ids=list(entity_ids)
        )
    except Refused as error:
        log.info("Aliases cannot be read: %s", error)
        return None
    return {name: entry for name, entry in found.items() if entry and isinstance(entry, Mapping)}


async def _is_admin(connection: Connection) -> bool:
    """Return True if the token belongs to an administrator.

    For other users, Hearth skips the requests that require an administrator, because Home Assistant
    (2026.11) logs every refusal as an error.
    """
    try:
        user = mapping(await connection.command("auth/current_user"))
    except Refused:
        return False
    return user.get("is_admin") is True


async def _listed(connection: Connection) -> dict[str, bool]:
    try:
        answer: Mapping[str, Any] = await connection.command("homeassistant/expose_entity/list")
    except Refused:
        return {}
    return read_listed(answer)
