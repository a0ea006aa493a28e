"""Asks Home Assistant's registries over the websocket: all of it, or what an event named."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.registry import (
    Registries,
    read_area_labels,
    read_areas,
    read_devices,
    read_entries,
    read_floors,
    read_label_names,
    read_listed,
)
from integrations.home_assistant.shapes import mapping
from integrations.home_assistant.websocket import UNKNOWN_FORM, Connection

log = logging.getLogger(__name__)

# A user who is no admin may subscribe to these (`auth/permissions/events.py`, 2025.4 to 2026.11).
REGISTRY_EVENTS = (
    "area_registry_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
    "label_registry_updated",
)
MAX_NAMED = 500  # entities asked for by name; beyond, all are read anew


@dataclass(slots=True)
class Stale:
    """What is known to have changed in the registries since they were read."""

    entity_ids: set[str] = field(default_factory=set)
    places: bool = False  # areas, floors, devices or labels
    everything: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one of REGISTRY_EVENTS."""
        data = mapping(event.get("data"))
        if kind == "entity_registry_updated":
            for key in ("entity_id", "old_entity_id"):
                if isinstance(data.get(key), str):
                    self.entity_ids.add(data[key])
        else:
            self.places = True
        self.came.set()

    def note_everything(self) -> None:
        """Everything is to be read anew, states too."""
        self.everything = True
        self.came.set()

    def take(self) -> "Stale":
        """What has come so far; from now on it is collected anew."""
        taken = replace(self, entity_ids=set(self.entity_ids))
        self.entity_ids.clear()
        self.places = self.everything = False
        self.came.clear()
        return taken


async def read_registries(connection: Connection) -> Registries:
    """All registries. Raises Refused or Unavailable."""
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
    """The registries with what was stale read anew; None: all of it must be read.

    Raises Refused or Unavailable.
    """
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
    """`known` with floors, areas, devices and labels as they are now."""
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
    """What labels are called; an older Home Assistant has none."""
    try:
        return read_label_names(await connection.command("config/label_registry/list"))
    except (Refused, TypeError) as error:
        log.info("The names of labels are not known: %s", error)
        return {}


async def _extended(
    connection: Connection, entity_ids: Collection[str]
) -> dict[str, Mapping[str, Any]] | None:
    """Registry entries with their aliases; None where this user may not read them."""
    try:
        found = await connection.command(
            "config/entity_registry/get_entries", entity_ids=list(entity_ids)
        )
    except Refused as error:
        log.info("Aliases are not known: %s", error)
        return None
    return {name: entry for name, entry in found.items() if entry and isinstance(entry, Mapping)}


async def _is_admin(connection: Connection) -> bool:
    """Whether this user is an administrator.

    Others do not ask for what only administrators may read: Home Assistant (2026.11) logs every
    refusal as an error.
    """
    try:
        user = mapping(await connection.command("auth/current_user"))
    except Refused:
        return False
    return user.get("is_admin") is True


async def _listed(connection: Connection) -> dict[str, bool]:
    """The list of exposed entities, which only administrators may read."""
    try:
        answer: Mapping[str, Any] = await connection.command("homeassistant/expose_entity/list")
    except Refused:
        return {}
    return read_listed(answer)
