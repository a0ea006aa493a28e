"""What measures the temperature and humidity of a room's air, and what it reads."""

from math import isfinite

from assistant.tools.states import UNKNOWN
from assistant.tools.vocabulary import fold, mentions
from integrations.home_assistant.house import Area, Entity, House

# What measures its own warmth, too.
_DEVICES = frozenset({"camera", "light", "lock", "media_player", "switch", "vacuum"})


def room_sensors(house: House, area_id: str, device_class: str) -> list[Entity]:
    """Return what measures the temperature or humidity of a room's air, the best first.

    That is the sensor which the room has in Home Assistant, then its thermostats, then its other
    sensors of the class. A freezer, a device's chip and water are measured there too, but are not
    the room's air. Those that are out of reach stay in the list.
    """
    area = house.areas.get(area_id)
    if area is None:
        return []
    chosen = {"temperature": area.temperature_entity_id, "humidity": area.humidity_entity_id}
    first = house.entities.get(chosen.get(device_class) or "")
    there = [
        one
        for one in house.exposed()
        if one.area_id == area_id and one is not first and _measures_air(one, area, house)
    ]
    thermostats = [one for one in there if one.domain == "climate"]
    sensors = [one for one in there if one.domain == "sensor" and one.device_class == device_class]
    room = set(fold(area.name).split())
    sensors.sort(key=lambda one: len(set(fold(one.name).split()) - room))  # "Kitchen temperature"
    return [*([first] if first is not None else []), *thermostats, *sensors]


def reading(entity: Entity, device_class: str) -> float | None:
    """Return the temperature or humidity that a sensor or thermostat measures, if it does."""
    if (entity.state in UNKNOWN and entity.domain != "climate") or entity.state == "unavailable":
        return None
    key = f"current_{device_class}"
    value = entity.attributes.get(key) if entity.domain == "climate" else entity.state
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _measures_air(entity: Entity, area: Area, house: House) -> bool:
    """Not what measures a freezer, water, the garden, or the inside of a plug or lamp.

    Words of the room's own name count for nothing: the sauna's sensor is called after it.
    """
    room = area.name.casefold()
    names = [name.casefold().replace(room, " ") for name in entity.names]
    if mentions("not_room_air", *names):
        return False
    if mentions("outdoors", *names) and not mentions("outdoors", area.name):
        return False
    return entity.domain == "climate" or not any(
        one.device_id == entity.device_id and one.domain in _DEVICES
        for one in house.entities.values()
        if entity.device_id
    )
