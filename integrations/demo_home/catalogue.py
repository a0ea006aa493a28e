"""Contents of the simulated house: floors, areas and entities with their first states."""

from collections.abc import Mapping
from typing import Any

from integrations.demo_home.house import Thing
from integrations.home_assistant.house import Area, Floor

# Feature bits as Home Assistant 2026.11 numbers them, per domain.
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
    """Attributes of a light. `brightness` is 1 to 255 and given only for one that is on."""
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
    """Attributes of a thermostat that heats, in degrees Celsius."""
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
    """Attributes of a cover; `position` in percent open, for one that can stop anywhere."""
    if position is None:
        return {"device_class": device_class, "supported_features": COVER_BASIC}
    return {
        "current_position": position,
        "device_class": device_class,
        "supported_features": COVER_FULL,
    }


def _player(volume: float, title: str) -> dict[str, Any]:
    """Attributes of a media player; volume 0 to 1."""
    return {
        "volume_level": volume,
        "is_volume_muted": False,
        "media_title": title,
        "device_class": "speaker",
        "supported_features": PLAYER,
    }


def _sensor(device_class: str, unit: str) -> dict[str, Any]:
    return {
        "state_class": "measurement",
        "unit_of_measurement": unit,
        "device_class": device_class,
    }


_FAN: Mapping[str, Any] = {
    "percentage": 0,
    "percentage_step": 1.0,
    "preset_mode": None,
    "preset_modes": None,
    "supported_features": FAN,
}

_KITCHEN = (
    Thing(
        "light.kitchen",
        "Kitchen light",
        "off",
        _light("brightness"),
        "kitchen",
        ("luz de la cocina",),
    ),
    Thing(
        "switch.coffee_machine",
        "Coffee machine",
        "off",
        {"device_class": "outlet"},
        "kitchen",
        ("coffee maker", "cafetera"),
    ),
    Thing(
        "media_player.kitchen_speaker",
        "Kitchen speaker",
        "paused",
        _player(0.3, "Morning news"),
        "kitchen",
    ),
    Thing(
        "sensor.kitchen_humidity",
        "Kitchen humidity",
        "48",
        _sensor("humidity", "%"),
        "kitchen",
        area_on_device=True,
    ),
)

_LIVING_ROOM = (
    Thing(
        "light.living_room",
        "Living room light",
        "off",
        _light("color_temp", "rgb"),
        "living_room",
        ("luz del salón",),
    ),
    Thing(
        "light.living_room_lamp",
        "Lamp",
        "off",
        _light("onoff"),
        "living_room",
        area_on_device=True,
    ),
    Thing(
        "climate.living_room",
        "Living room thermostat",
        "heat",
        _thermostat(19.5, 20.0),
        "living_room",
        ("termostato del salón",),
        area_on_device=True,
    ),
    Thing(
        "cover.living_room_blinds",
        "Living room blinds",
        "open",
        _cover("blind", 100),
        "living_room",
        ("persianas del salón",),
    ),
    Thing(
        "media_player.living_room_speaker",
        "Living room speaker",
        "playing",
        _player(0.4, "Evening jazz"),
        "living_room",
    ),
    Thing(
        "sensor.living_room_temperature",
        "Living room temperature",
        "19.5",
        _sensor("temperature", "°C"),
        "living_room",
        area_on_device=True,
    ),
)

_DINING_ROOM = (
    Thing(
        "light.dining_room",
        "Dining room light",
        "on",
        _light("brightness", brightness=180),
        "dining_room",
        ("luz del comedor",),
    ),
    Thing("light.ikebana_lamp", "Ikebana lamp", "off", _light("onoff"), "dining_room"),
)

_BEDROOM = (
    Thing(
        "light.bedroom",
        "Bedroom light",
        "off",
        _light("color_temp"),
        "bedroom",
        ("luz del dormitorio",),
    ),
    Thing("light.bedroom_lamp", "Lamp", "off", _light("onoff"), "bedroom", area_on_device=True),
    Thing(
        "climate.bedroom",
        "Bedroom thermostat",
        "heat",
        _thermostat(18.0, 18.5),
        "bedroom",
        area_on_device=True,
    ),
    Thing("cover.bedroom_shade", "Bedroom shade", "closed", _cover("shade", 0), "bedroom"),
    Thing("fan.zephyra", "Zephyra", "off", _FAN, "bedroom"),
    Thing(
        "sensor.bedroom_temperature",
        "Bedroom temperature",
        "18.0",
        _sensor("temperature", "°C"),
        "bedroom",
        area_on_device=True,
    ),
)

_OFFICE = (
    Thing(
        "light.office",
        "Office light",
        "off",
        _light("brightness"),
        "office",
        ("luz de la oficina",),
    ),
    Thing("light.desk_lamp", "Desk lamp", "off", _light("onoff"), "office"),
    Thing("fan.ceiling_fan", "Ceiling fan", "off", _FAN, "office"),
)

_HALL = (
    Thing(
        "camera.front_door",
        "Doorbell camera",
        "idle",
        {"supported_features": 0},
        "hall",
        ("cámara de la puerta",),
        area_on_device=True,
    ),
    Thing("light.hall", "Hall light", "off", _light("onoff"), "hall", ("luz de la entrada",)),
    Thing(
        "lock.front_door",
        "Front door",
        "locked",
        {"supported_features": 0},
        "hall",
        ("puerta principal",),
        area_on_device=True,
    ),
    Thing("vacuum.robbie", "Robbie", "docked", {"supported_features": VACUUM}, "hall"),
)

_GARAGE = (
    Thing(
        "cover.garage_door",
        "Garage door",
        "closed",
        _cover("garage"),
        "garage",
        ("puerta del garaje",),
    ),
    Thing("light.garage", "Garage light", "off", _light("onoff"), "garage"),
    Thing("light.workbench", "Workbench light", "off", _light("onoff"), "garage", exposed=False),
)

_NOWHERE = (
    Thing(
        "weather.home",
        "Forecast",
        "rainy",
        {
            "temperature": 12.5,
            "temperature_unit": "°C",
            "humidity": 81,
            "precipitation_unit": "mm",
            "supported_features": 1 | 2,  # daily, hourly
        },
    ),
    Thing("sensor.outside_temperature", "Outside temperature", "8.5", _sensor("temperature", "°C")),
    Thing(
        "todo.shopping_list",
        "Shopping list",
        "0",
        {"supported_features": TODO},
        aliases=("lista de la compra",),
    ),
    Thing("script.movie_night", "Movie night", "off", {"mode": "single", "current": 0}),
    Thing("script.welcome_home", "Welcome home", "off", {"mode": "single", "current": 0}),
    Thing(
        "scene.good_night",
        "Good night",
        "unknown",
        {
            "entity_id": [
                "light.kitchen",
                "light.living_room",
                "light.dining_room",
                "cover.living_room_blinds",
            ]
        },
    ),
)

THINGS = _KITCHEN + _LIVING_ROOM + _DINING_ROOM + _BEDROOM + _OFFICE + _HALL + _GARAGE + _NOWHERE
