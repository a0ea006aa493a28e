"""The contents of the simulated house: floors, areas, and entities with their initial states."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from integrations.demo_home.house import Thing
from integrations.home_assistant.house import Area, Floor

# Feature bits of each domain, as in Home Assistant 2026.11.
COVER_BASIC = 1 | 2 | 8  # open, close, stop
COVER_FULL = COVER_BASIC | 4  # set position
CLIMATE = 1 | 128 | 256  # target temperature, turn off, turn on
FAN = 1 | 16 | 32  # set speed, turn off, turn on
PAUSE, PLAY = 1, 16384
PLAYER = PAUSE | 4 | 8 | 16 | 32 | 128 | 256 | 1024 | PLAY
TODO = 1 | 2 | 4  # create, delete, update
VACUUM = 4 | 8 | 16 | 4096 | 8192  # pause, stop, return home, state, start

FLOORS = (
    Floor("ground", "Ground", ("ground floor", "downstairs", "planta baja")),
    Floor("upper", "Upper", ("upper floor", "upstairs", "planta alta")),
)

AREAS = (
    Area("kitchen", "Kitchen", ("cocina",), "ground"),
    Area("living_room", "Living Room", ("lounge", "salón"), "ground"),
    Area("dining_room", "Dining Room", ("comedor",), "ground"),
    Area("bedroom", "Bedroom", ("dormitorio",), "upper"),
    Area("office", "Office", ("study", "oficina"), "upper"),
    Area("hall", "Hall", ("hallway", "entrada"), "ground"),
    Area("garage", "Garage", ("garaje",), "ground"),
)


def _light(*modes: str, brightness: int | None = None) -> dict[str, Any]:
    """Return a light's attributes. `brightness` is 1 to 255, or None if the light is off."""
    attributes: dict[str, Any] = {"supported_color_modes": list(modes), "color_mode": None}
    if modes != ("onoff",):
        attributes["brightness"] = brightness
    if "color_temp" in modes:
        attributes |= {
            "min_color_temp_kelvin": 2000,
            "max_color_temp_kelvin": 6535,
            "color_temp_kelvin": None,
        }
    if "rgb" in modes:
        attributes["rgb_color"] = None
    return {**attributes, "supported_features": 0}


def _thermostat(current: float, target: float) -> dict[str, Any]:
    return {
        "hvac_modes": ["heat", "off"],
        "min_temp": 7,
        "max_temp": 35,
        "target_temp_step": 0.5,
        "current_temperature": current,
        "temperature": target,
        "supported_features": CLIMATE,
    }


def _cover(device_class: str, position: int | None = None) -> dict[str, Any]:
    """Return a cover's attributes. `position` says how far it is open, in percent, and is None if
    it can't stop halfway."""
    if position is None:
        return {"device_class": device_class, "supported_features": COVER_BASIC}
    return {
        "current_position": position,
        "device_class": device_class,
        "supported_features": COVER_FULL,
    }


def _player(volume: float, title: str) -> dict[str, Any]:
    return {
        "volume_level": volume,
        "is_volume_muted": False,
        "media_title": title,
        "device_class": "speaker",
        "supported_features": PLAYER,
    }


def _sensor(device_class: str, unit: str) -> dict[str, Any]:
    return {"state_class": "measurement", "unit_of_measurement": unit, "device_class": device_class}


_FAN: Mapping[str, Any] = {
    "percentage": 0,
    "percentage_step": 1.0,
    "preset_mode": None,
    "preset_modes": None,
    "supported_features": FAN,
}


def _thing(
    entity_id: str,
    name: str,
    state: str,
    attributes: Mapping[str, Any],
    *aliases: str,
    on_device: bool = False,
    exposed: bool = True,
) -> Thing:
    return Thing(
        entity_id,
        name,
        state,
        attributes,
        aliases=aliases,
        exposed=exposed,
        area_on_device=on_device,
    )


_ONOFF = _light("onoff")
_C = _sensor("temperature", "°C")
_HUMIDITY = _sensor("humidity", "%")
_HUMIDIFIER = {
    "min_humidity": 30,
    "max_humidity": 80,
    "humidity": 50,
    "current_humidity": 41,
    "device_class": "humidifier",
    "supported_features": 0,
}
_SCRIPT = {"mode": "single", "current": 0}
_GOOD_NIGHT = ("light.kitchen", "light.living_room", "light.dining_room")
_WEATHER = {
    "temperature": 12.5,
    "temperature_unit": "°C",
    "humidity": 81,
    "precipitation_unit": "mm",
    "supported_features": 1 | 2,  # daily, hourly
}

# Entities by area id; None for those without an area.
_ROOMS: Mapping[str | None, tuple[Thing, ...]] = {
    "kitchen": (
        _thing("light.kitchen", "Kitchen light", "off", _light("brightness"), "luz de la cocina"),
        _thing(
            "switch.coffee_machine",
            "Coffee machine",
            "off",
            {"device_class": "outlet"},
            *("coffee maker", "cafetera"),
        ),
        _thing(
            "media_player.kitchen_speaker",
            "Kitchen speaker",
            "paused",
            _player(0.3, "Morning news"),
        ),
        _thing("sensor.kitchen_humidity", "Kitchen humidity", "48", _HUMIDITY, on_device=True),
        _thing(
            "binary_sensor.kitchen_window",
            "Kitchen window",
            "off",
            {"device_class": "window"},
            "ventana de la cocina",
        ),
    ),
    "living_room": (
        _thing(
            "light.living_room",
            "Living room light",
            "off",
            _light("color_temp", "rgb"),
            "luz del salón",
        ),
        _thing("light.living_room_lamp", "Lamp", "off", _ONOFF, on_device=True),
        _thing(
            "climate.living_room",
            "Living room thermostat",
            "heat",
            _thermostat(19.5, 20.0),
            "termostato del salón",
            on_device=True,
        ),
        _thing(
            "cover.living_room_blinds",
            "Living room blinds",
            "open",
            _cover("blind", 100),
            "persianas del salón",
        ),
        _thing(
            "media_player.living_room_speaker",
            "Living room speaker",
            "playing",
            _player(0.4, "Evening jazz"),
        ),
        _thing(
            "sensor.living_room_temperature", "Living room temperature", "19.5", _C, on_device=True
        ),
        _thing(
            "binary_sensor.terrace_door",
            "Terrace door",
            "off",
            {"device_class": "door"},
            "puerta de la terraza",
        ),
    ),
    "dining_room": (
        _thing(
            "light.dining_room",
            "Dining room light",
            "on",
            _light("brightness", brightness=180),
            "luz del comedor",
        ),
        _thing("light.ikebana_lamp", "Ikebana lamp", "off", _ONOFF),
    ),
    "bedroom": (
        _thing("light.bedroom", "Bedroom light", "off", _light("color_temp"), "luz del dormitorio"),
        _thing("light.bedroom_lamp", "Lamp", "off", _ONOFF, on_device=True),
        _thing(
            "climate.bedroom", "Bedroom thermostat", "heat", _thermostat(18.0, 18.5), on_device=True
        ),
        _thing("cover.bedroom_shade", "Bedroom shade", "closed", _cover("shade", 0)),
        _thing("fan.zephyra", "Zephyra", "off", _FAN),
        _thing("sensor.bedroom_temperature", "Bedroom temperature", "18.0", _C, on_device=True),
        _thing(
            "binary_sensor.bedroom_window",
            "Bedroom window",
            "off",
            {"device_class": "window"},
            "ventana del dormitorio",
        ),
        _thing("humidifier.bedroom", "Humidifier", "off", _HUMIDIFIER, "humidificador"),
    ),
    "office": (
        _thing("light.office", "Office light", "off", _light("brightness"), "luz de la oficina"),
        _thing("light.desk_lamp", "Desk lamp", "off", _ONOFF),
        _thing("fan.ceiling_fan", "Ceiling fan", "off", _FAN),
        _thing(
            "climate.office_radiator",
            "Office radiator",
            "off",
            _thermostat(19.0, 19.5),
            "radiador de la oficina",
        ),
        _thing(
            "climate.office_floor",
            "Office floor heating",
            "off",
            _thermostat(19.0, 19.0),
            "suelo radiante de la oficina",
        ),
    ),
    "hall": (
        _thing(
            "camera.front_door",
            "Doorbell camera",
            "idle",
            {"supported_features": 0},
            "cámara de la puerta",
            on_device=True,
        ),
        _thing("light.hall", "Hall light", "off", _ONOFF, "luz de la entrada"),
        _thing(
            "lock.front_door",
            "Front door",
            "locked",
            {"supported_features": 0},
            "puerta principal",
            on_device=True,
        ),
        _thing("vacuum.robbie", "Robbie", "docked", {"supported_features": VACUUM}),
    ),
    "garage": (
        _thing("cover.garage_door", "Garage door", "closed", _cover("garage"), "puerta del garaje"),
        _thing("light.garage", "Garage light", "off", _ONOFF),
        _thing("light.workbench", "Workbench light", "off", _ONOFF, exposed=False),
    ),
    None: (
        _thing("weather.home", "Forecast", "rainy", _WEATHER),
        _thing("sensor.outside_temperature", "Outside temperature", "8.5", _C),
        Thing("sun.sun", "Sun", "unknown", exposed=False, registered=False),
        _thing("calendar.family", "Family", "off", {}, "familia"),
        _thing(
            "todo.shopping_list",
            "Shopping list",
            "0",
            {"supported_features": TODO},
            "lista de la compra",
        ),
        _thing("script.movie_night", "Movie night", "off", _SCRIPT),
        _thing("script.welcome_home", "Welcome home", "off", _SCRIPT),
        _thing(
            "scene.good_night",
            "Good night",
            "unknown",
            {"entity_id": [*_GOOD_NIGHT, "cover.living_room_blinds"]},
        ),
    ),
}

THINGS = tuple(
    replace(thing, area_id=area_id) for area_id, things in _ROOMS.items() for thing in things
)
