"""The house that the made speech talks about: plain names, doubled names and made-up ones."""

from typing import Any

from integrations.home_assistant.house import Area, Entity, Floor, House

_AREAS = ("Kitchen", "Living Room", "Dining Room", "Bedroom", "Office", "Hall", "Garage")
_UPSTAIRS = ("Bedroom", "Office")

# entity id, name, area, state, device class, attributes. In no dictionary: Zorblax, Brivana,
# Yelmar, Fribble, Quistrel, Vexo, Tramontz, Snorbit.
_ENTITIES: tuple[tuple[str, str, str, str, str | None, dict[str, Any]], ...] = (
    ("light.kitchen", "Kitchen Light", "Kitchen", "off", None, {}),
    ("light.living_room", "Living Room Light", "Living Room", "on", None, {"brightness": 128}),
    ("light.dining_room", "Dining Room Light", "Dining Room", "on", None, {}),
    ("light.bedroom", "Bedroom Light", "Bedroom", "off", None, {}),
    ("light.office", "Office Light", "Office", "off", None, {}),
    ("light.hall", "Hall Light", "Hall", "off", None, {}),
    ("light.lamp_living_room", "Lamp", "Living Room", "off", None, {}),
    ("light.lamp_bedroom", "Lamp", "Bedroom", "on", None, {}),
    ("light.zorblax", "Zorblax", "Office", "off", None, {}),
    ("light.brivana", "Brivana Lamp", "Hall", "off", None, {}),
    ("light.yelmar", "Yelmar", "Bedroom", "off", None, {}),
    ("switch.fribble", "Fribble", "Kitchen", "off", None, {}),
    ("fan.quistrel", "Quistrel Fan", "Bedroom", "off", None, {}),
    ("fan.office", "Office Fan", "Office", "off", None, {}),
    ("media_player.vexo", "Vexo", "Living Room", "playing", "speaker", {"volume_level": 0.4}),
    ("media_player.television", "Television", "Living Room", "off", "tv", {}),
    (
        "climate.living_room",
        "Living Room Thermostat",
        "Living Room",
        "heat",
        None,
        {"current_temperature": 20.5, "temperature": 21},
    ),
    (
        "climate.bedroom",
        "Bedroom Thermostat",
        "Bedroom",
        "heat",
        None,
        {"current_temperature": 18, "temperature": 19},
    ),
    ("cover.tramontz", "Tramontz Blind", "Bedroom", "closed", "blind", {"current_position": 0}),
    ("cover.living_room", "Living Room Blinds", "Living Room", "open", "blind", {}),
    ("cover.garage_door", "Garage Door", "Garage", "closed", "garage", {}),
    ("lock.front_door", "Front Door", "Hall", "locked", None, {}),
    (
        "sensor.hall_temperature",
        "Hall Temperature",
        "Hall",
        "19.5",
        "temperature",
        {"unit_of_measurement": "°C"},
    ),
    ("binary_sensor.kitchen_window", "Kitchen Window", "Kitchen", "off", "window", {}),
    ("vacuum.snorbit", "Snorbit", "Hall", "docked", None, {}),
    ("todo.shopping_list", "Shopping List", "", "2", None, {}),
    ("script.movie_night", "Movie Night", "", "off", None, {}),
    ("scene.relax", "Relax", "Living Room", "unknown", None, {}),
)


def _id(name: str) -> str:
    return name.lower().replace(" ", "_")


def corpus_house() -> House:
    """Seven rooms on two floors with some thirty things in them."""
    floors = (Floor("ground", "Ground Floor"), Floor("upstairs", "Upstairs", ("first floor",)))
    areas = [
        Area(_id(name), name, floor_id="upstairs" if name in _UPSTAIRS else "ground")
        for name in _AREAS
    ]
    entities = [
        Entity(
            entity_id,
            name,
            state,
            aliases=("TV",) if name == "Television" else (),
            area_id=_id(area) or None,
            device_class=device_class,
            attributes=attributes,
        )
        for entity_id, name, area, state, device_class, attributes in _ENTITIES
    ]
    return House(
        {floor.floor_id: floor for floor in floors},
        {area.area_id: area for area in areas},
        {entity.entity_id: entity for entity in entities},
    )
