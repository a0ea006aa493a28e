"""Builders of contacts, locks, covers and sensors for tests of questions."""

from dataclasses import replace
from typing import Any

from integrations.home_assistant.house import Area, Entity, Floor, House

UNKNOWN = ("unavailable", "unknown")


def thing(
    entity_id: str,
    name: str,
    state: str,
    device_class: str | None = None,
    area_id: str | None = None,
    **more: Any,
) -> Entity:
    """Return one exposed entity; `more` are fields, or attributes in `attributes`."""
    return Entity(entity_id, name, state, area_id=area_id, device_class=device_class, **more)


def contact(key: str, name: str, state: str, device_class: str = "window", **more: Any) -> Entity:
    """Return a contact: "open" and "closed" stand for its on and off."""
    raw = {"open": "on", "closed": "off"}.get(state, state)
    return thing(f"binary_sensor.{key}", name, raw, device_class, **more)


def lock(key: str, name: str, state: str, **more: Any) -> Entity:
    return thing(f"lock.{key}", name, state, **more)


def house_of(*entities: Entity, **areas: dict[str, str | None]) -> House:
    """Return a house of these; `areas`: further fields of a room, by its id."""
    rooms = {"kitchen": "Kitchen", "hall": "Hall", "bedroom": "Bedroom", "garden": "Garden"}
    known = {
        key: Area(key, name, floor_id="upper" if key == "bedroom" else "ground")
        for key, name in rooms.items()
    }
    for key, fields in areas.items():
        known[key] = replace(known[key], **fields)  # type: ignore[arg-type]
    floors = {key: Floor(key, key.title()) for key in ("ground", "upper")}
    return House(floors, known, {one.entity_id: one for one in entities})
