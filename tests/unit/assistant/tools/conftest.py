"""A house with a thing of every kind that the policy knows."""

import pytest

from integrations.home_assistant.house import Area, Entity, Floor, House

FLOORS = [Floor("ground", "Ground floor", ("downstairs",)), Floor("first", "First floor")]
AREAS = [
    Area("kitchen", "Kitchen", ("cocina",), "ground"),
    Area("living_room", "Living Room", ("lounge",), "ground"),
    Area("bedroom", "Bedroom", (), "first"),
    Area("hall", "Hall", (), "ground"),
    Area("garage", "Garage", (), "ground"),
]
DIMMABLE = {"supported_color_modes": ["brightness"], "brightness": 128}
ENTITIES = [
    Entity(
        "light.kitchen", "Kitchen Light", "on", ("luz de la cocina",), "kitchen", None, DIMMABLE
    ),
    Entity("light.lamp_living", "Lamp", "off", (), "living_room", None, DIMMABLE),
    Entity(
        "light.lamp_bed", "Lamp", "off", (), "bedroom", None, {"supported_color_modes": ["onoff"]}
    ),
    Entity("light.hidden", "Secret Light", "off", (), "kitchen", exposed=False),
    Entity("switch.kettle", "Kettle", "off", (), "kitchen", "outlet"),
    Entity(
        "climate.living",
        "Thermostat",
        "heat",
        (),
        "living_room",
        None,
        {"temperature": 20.0, "max_temp": 35.0},
    ),
    Entity(
        "climate.us", "Heater", "heat", (), "bedroom", None, {"temperature": 68, "max_temp": 95}
    ),
    Entity("cover.blinds", "Blinds", "open", (), "living_room", "blind", {"current_position": 60}),
    Entity(
        "cover.garage", "Garage Door", "closed", (), "garage", "garage", {"current_position": 0}
    ),
    Entity("cover.half", "Back Gate", "open", (), "garage", "gate", {"current_position": 50}),
    Entity("cover.plain", "Puerta del jardín", "closed", (), None),
    Entity("cover.relay", "Porton", "closed", (), None),
    Entity("cover.roller", "Garage shutter", "closed", (), None, "shutter"),
    Entity("cover.patio", "Patio door shutter", "closed", (), None, "shutter"),
    Entity("cover.roof", "Pergola Roof", "closed", (), None),
    Entity(
        "lock.front", "Front Door", "locked", ("main door",), "hall", device_id="front-door-device"
    ),
    Entity("light.hall", "Hall Light", "on", (), "hall"),
    Entity("valve.garden", "Garden Valve", "closed", (), None, "water"),
    Entity("siren.alarm", "Siren", "off", (), None),
    Entity("alarm_control_panel.home", "Alarm", "armed_home", (), None),
    Entity("script.movie_night", "Movie Night", "off", (), "living_room"),
    Entity("button.opener", "Opener", "unknown", (), None),
    Entity("automation.night", "Night", "on", (), None),
    Entity("scene.cosy", "Cosy", "unknown", (), None, None, {"entity_id": ["light.lamp_living"]}),
    Entity(
        "scene.leave",
        "Leave",
        "unknown",
        (),
        None,
        None,
        {"entity_id": ["light.kitchen", "lock.front"]},
    ),
    Entity("scene.blank", "Blank", "unknown", (), None),
    Entity("group.doors", "Doors", "on", (), None, None, {"entity_id": ["lock.front"]}),
    Entity("group.outer", "Outer", "on", (), None, None, {"entity_id": ["group.doors"]}),
    Entity("scene.group", "Grouped", "unknown", (), None, None, {"entity_id": ["group.doors"]}),
    Entity("media_player.kitchen", "Radio", "playing", (), "kitchen", None, {"volume_level": 0.5}),
    Entity(
        "media_player.living", "Speaker", "idle", (), "living_room", None, {"volume_level": 0.3}
    ),
    Entity("vacuum.robbie", "Robbie", "docked", (), "hall"),
    Entity("lawn_mower.goat", "Goat", "docked", (), None),
    Entity("todo.shopping", "Shopping list", "0", (), None),
    Entity("fan.bed", "Fan", "off", (), "bedroom"),
    Entity("strange.thing", "Thing", "off", (), None),
    Entity("weather.home", "Home", "sunny", (), None, None, {"temperature": 18.0}, exposed=False),
]


@pytest.fixture
def house() -> House:
    return House(
        {floor.floor_id: floor for floor in FLOORS},
        {area.area_id: area for area in AREAS},
        {entity.entity_id: entity for entity in ENTITIES},
    )
