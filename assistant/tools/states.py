"""An entity's state in short words, as the journal and the model see it."""

from typing import Any

from integrations.home_assistant.house import Entity

UNKNOWN = frozenset({"unavailable", "unknown"})
# What a binary sensor of this device class says (`components/binary_sensor`, its states' names).
_OPEN, _SENSED = ("open", "closed"), ("detected", "clear")
ON_AND_OFF = {
    **dict.fromkeys(("door", "garage_door", "opening", "window"), _OPEN),
    **dict.fromkeys(("motion", "occupancy", "smoke", "gas", "carbon_monoxide", "sound"), _SENSED),
    "lock": ("unlocked", "locked"),
    "moisture": ("wet", "dry"),
    "presence": ("home", "away"),
    "battery": ("low", "normal"),
}


def plain_state(entity: Entity, state: str | None = None) -> str:
    """The state as people say it, that of the entity or another one of its kind: the "on" of a
    contact is "open"."""
    state = entity.state if state is None else state
    if entity.domain != "binary_sensor" or state not in ("on", "off"):
        return state
    on, off = ON_AND_OFF.get(entity.device_class or "", ("on", "off"))
    return on if state == "on" else off


def short_state(entity: Entity) -> str:
    """The state and the one attribute that people mean: "on 30 %", "heat 21 °C", "open 20 %"."""
    state, attributes = entity.state, entity.attributes
    if state in UNKNOWN:
        return state
    detail = ""
    if entity.domain == "light" and state == "on":
        detail = _percent(brightness_percent(entity))
    elif entity.domain in ("climate", "water_heater"):
        detail = _degrees(entity)
    elif entity.domain in ("cover", "valve") and attributes.get("current_position") not in (0, 100):
        detail = _percent(attributes.get("current_position"))
    elif entity.domain == "fan" and state == "on":
        detail = _percent(attributes.get("percentage"))
    elif entity.domain == "media_player":
        volume = attributes.get("volume_level")
        detail = _percent(round(volume * 100) if isinstance(volume, int | float) else None)
        if attributes.get("is_volume_muted"):
            detail = "muted"
    elif entity.domain == "humidifier":
        detail = _percent(attributes.get("humidity"))
    elif entity.domain == "sensor":
        detail = str(attributes.get("unit_of_measurement") or "")
    return f"{state} {detail}".strip()


def brightness_percent(entity: Entity) -> int | None:
    """A light's brightness in percent; Home Assistant keeps 0 to 255."""
    brightness = entity.attributes.get("brightness")
    return round(brightness * 100 / 255) if isinstance(brightness, int | float) else None


def _percent(value: Any) -> str:
    return f"{round(value)} %" if isinstance(value, int | float) else ""


def _degrees(entity: Entity) -> str:
    """The target temperature; a thermostat that goes above 45 counts in Fahrenheit."""
    value, highest = entity.attributes.get("temperature"), entity.attributes.get("max_temp")
    if not isinstance(value, int | float):
        return ""
    fahrenheit = isinstance(highest, int | float) and highest > 45 and entity.domain == "climate"
    return f"{value:g} °{'F' if fahrenheit else 'C'}"
