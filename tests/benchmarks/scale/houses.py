"""Houses of any size, for the simulated house and for a real one: the same things by the same rule.

The mix is that of a house whose owner has exposed everything: mostly sensors and lights, a lock and
a thermostat here and there. A room has some 25 things, a floor ten rooms, and every third lamp has
the same name as one in another room. Nothing is random, so that two runs measure the same house.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from integrations.demo_home.catalogue import CLIMATE, COVER_FULL, FAN, PLAYER
from integrations.demo_home.house import Thing
from integrations.home_assistant.house import Area, Entity, Floor, House

SIZES = (10, 100, 1_000, 5_000)
A_ROOM = 25  # things
A_FLOOR = 10  # rooms
THE_LIGHT = "Reading light"  # one in every house, in its first room: what a turn is about

# Of 25 things in a room, in this order: kind, what it is called, its alias.
_ROOM = (
    ("light", THE_LIGHT, ""),
    ("sensor", "temperature", ""),
    ("light", "ceiling light", "luz del techo"),
    ("switch", "socket", "enchufe"),
    ("cover", "blinds", "persianas"),
    ("sensor", "humidity", ""),
    ("climate", "thermostat", "termostato"),
    ("binary_sensor", "window", ""),
    ("media_player", "speaker", "altavoz"),
    ("light", "lamp", "lámpara"),
    ("sensor", "power", ""),
    ("binary_sensor", "motion", ""),
    ("light", "wall light", "aplique"),
    ("switch", "charger", ""),
    ("sensor", "energy", ""),
    ("binary_sensor", "door", ""),
    ("fan", "fan", "ventilador"),
    ("light", "shelf light", ""),
    ("sensor", "battery", ""),
    ("switch", "outlet", ""),
    ("lock", "lock", "cerradura"),
    ("light", "cabinet light", ""),
    ("sensor", "brightness", ""),
    ("binary_sensor", "smoke", ""),
    ("light", "spotlight", "foco"),
)
_ROOMS = (
    *("Kitchen", "Living Room", "Bedroom", "Office", "Hall", "Bathroom", "Dining Room", "Garage"),
    *("Attic", "Cellar", "Library", "Studio", "Nursery", "Pantry", "Laundry", "Workshop"),
    *("Veranda", "Gallery", "Guest Room", "Music Room"),
)
_WINGS = ("", "North", "South", "East", "West", "Upper", "Lower", "Inner", "Outer", "Old")
_SENSORS = {  # name of a sensor -> device class, unit, state
    "temperature": ("temperature", "°C", "20.5"),
    "humidity": ("humidity", "%", "48"),
    "power": ("power", "W", "12"),
    "energy": ("energy", "kWh", "310.5"),
    "battery": ("battery", "%", "87"),
    "brightness": ("illuminance", "lx", "120"),
}
_STATES = {
    "light": "off",
    "switch": "off",
    "cover": "open",
    "climate": "heat",
    "binary_sensor": "off",
    "media_player": "paused",
    "fan": "off",
    "lock": "locked",
}
_ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "light": {"supported_color_modes": ["brightness"], "color_mode": None, "brightness": None},
    "switch": {"device_class": "outlet"},
    "cover": {"current_position": 100, "device_class": "blind", "supported_features": COVER_FULL},
    "climate": {
        "hvac_modes": ["heat", "off"],
        "min_temp": 7,
        "max_temp": 35,
        "current_temperature": 19.5,
        "temperature": 20.0,
        "supported_features": CLIMATE,
    },
    "media_player": {
        "volume_level": 0.3,
        "is_volume_muted": False,
        "device_class": "speaker",
        "supported_features": PLAYER,
    },
    "fan": {"percentage": 0, "supported_features": FAN},
    "lock": {"supported_features": 0},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A house on paper."""

    floors: tuple[Floor, ...]
    areas: tuple[Area, ...]
    things: tuple[Thing, ...]


def plan(size: int) -> Plan:
    """Return a house of 1 to 5,000 things; the first room always has `THE_LIGHT`.

    Raises ValueError for other sizes.
    """
    most = A_ROOM * len(_ROOMS) * len(_WINGS)
    if not 1 <= size <= most:
        raise ValueError(f"a house has 1 to {most:,} things, not {size:,}")
    rooms = -(-size // A_ROOM)
    floors = tuple(Floor(f"floor_{at}", f"Floor {at}") for at in range(1 + (rooms - 1) // A_FLOOR))
    areas = tuple(_area(at) for at in range(rooms))
    return Plan(floors, areas, tuple(_thing(at, areas[at // A_ROOM]) for at in range(size)))


def picture(size: int) -> House:
    """Return the house as Hearth pictures it, without asking a server."""
    house = plan(size)
    entities = [
        Entity(
            thing.entity_id,
            thing.name,
            thing.state,
            thing.aliases,
            thing.area_id,
            thing.attributes.get("device_class"),
            thing.attributes,
            features=thing.attributes.get("supported_features", 0),
        )
        for thing in house.things
    ]
    return House(
        {floor.floor_id: floor for floor in house.floors},
        {area.area_id: area for area in house.areas},
        {entity.entity_id: entity for entity in entities},
    )


def _area(at: int) -> Area:
    wing, name = _WINGS[at // len(_ROOMS)], _ROOMS[at % len(_ROOMS)]
    whole = f"{wing} {name}".strip()
    return Area(whole.lower().replace(" ", "_"), whole, (), f"floor_{at // A_FLOOR}")


def _thing(at: int, area: Area) -> Thing:
    kind, called, alias = _ROOM[at % A_ROOM]
    room = at // A_ROOM
    if called == THE_LIGHT:
        name = THE_LIGHT if room == 0 else f"{area.name} reading light"
    elif called == "lamp" and room % 3 == 0:
        name = "Lamp"  # of which there are several
    else:
        name = f"{area.name} {called}"
    aliases = (f"{alias} {area.name}",) if alias and room % 2 == 0 else ()
    attributes = dict(_ATTRIBUTES.get(kind, {}))
    state = _STATES.get(kind, "")
    if kind == "sensor":
        device_class, unit, state = _SENSORS[called]
        attributes = {"device_class": device_class, "unit_of_measurement": unit}
    elif kind == "binary_sensor":
        attributes = {"device_class": called}
    entity_id = f"{kind}.{area.area_id}_{called.lower().replace(' ', '_')}"
    return Thing(entity_id, name, state, attributes, area.area_id, aliases, area_on_device=True)
