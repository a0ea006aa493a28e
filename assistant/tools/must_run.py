"""What does harm when it is switched off: cold stores, servers, medical devices, heating in frost.

Home Assistant has no class for them, so names, aliases, labels and rooms tell, in every shipped
language. What only belongs to such a thing, such as the lamp of a fridge, is none.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from assistant.tools.costly import celsius
from assistant.tools.intents import Action
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House

RULE = "keeps-running"
FROST_RULE = "frost"
RULES = frozenset({RULE, FROST_RULE})
FROST_C = 5.0  # outside, by day: the night may bring frost
LOWEST_C = 7.0  # a thermostat that is set lower keeps no pipe from freezing
# Domains of which the name may say that it must run.
_NAMED = frozenset({"climate", "fan", "humidifier", "input_boolean", "switch"})
_RELAYS = frozenset({"input_boolean", "switch"})
_HEATS = frozenset({"auto", "heat", "heat_cool"})  # modes of a thermostat
_COOLS = frozenset({"cool", "dry", "fan_only", "off"})
_UNKNOWN = frozenset({"unavailable", "unknown"})
_OFF = frozenset({Action.OFF, Action.TOGGLE})


def keeps_running(
    entity: Entity, action: Action, arguments: Mapping[str, Any], house: House
) -> str | None:
    """Return the rule by which this thing should go on, if the call would stop it."""
    if action in _OFF and must_run(entity, house):
        return RULE
    if _stops_heating(entity, action, arguments) and may_freeze(house):
        return FROST_RULE
    return None


def must_run(entity: Entity, house: House) -> bool:
    """Return whether it does harm to switch this off, whatever the weather."""
    if entity.domain == "camera":
        return True
    if entity.domain not in _NAMED:
        return False
    area = house.areas.get(entity.area_id or "")
    names = (entity.entity_id.partition(".")[2], *entity.names)
    places = (area.name, *area.aliases) if area is not None else ()
    return _is_named(names, places, entity.labels)


def may_freeze(house: House) -> bool:
    """Return whether it may freeze outside: also where nothing tells how warm it is there."""
    outside = outside_c(house)
    return outside is None or outside < FROST_C


def outside_c(house: House) -> float | None:
    """The temperature outside in °C: the lowest of the house's own sensors, else of its weather."""
    sensors = [
        _degrees(one.state, one.attributes.get("unit_of_measurement"))
        for one in house.entities.values()
        if one.device_class == "temperature" and one.domain == "sensor" and _is_outside(one, house)
    ]
    weather = [
        _degrees(one.attributes.get("temperature"), one.attributes.get("temperature_unit"))
        for one in house.entities.values()
        if one.domain == "weather" and one.state not in _UNKNOWN
    ]
    for told in (sensors, weather):
        known = [degrees for degrees in told if degrees is not None]
        if known:
            return min(known)
    return None


@lru_cache(8_192)
def _is_named(names: tuple[str, ...], places: tuple[str, ...], labels: tuple[str, ...]) -> bool:
    if mentions("keeps_running", *labels):
        return True
    if mentions("beside", *names):
        return False
    return mentions("keeps_running", *names, *places)


def _stops_heating(entity: Entity, action: Action, arguments: Mapping[str, Any]) -> bool:
    """Whether the call leaves a part of the house without heating."""
    if entity.domain == "climate":
        modes = entity.attributes.get("hvac_modes")
        if isinstance(modes, list | tuple) and not _HEATS & set(modes):
            return False
        if entity.state in _COOLS:
            return False
        wanted = arguments.get("temperature")
        if action is Action.SET and isinstance(wanted, int | float):
            return celsius(entity, float(wanted)) < LOWEST_C
        return action in _OFF
    if action not in _OFF:
        return False
    if entity.domain == "water_heater":
        return entity.state != "off"
    return entity.domain in _RELAYS and _heats_the_house(entity.names)


@lru_cache(4_096)
def _heats_the_house(names: tuple[str, ...]) -> bool:
    return mentions("central_heating", *names) and not mentions("beside", *names)


def _is_outside(entity: Entity, house: House) -> bool:
    area = house.areas.get(entity.area_id or "")
    return mentions("outdoors", entity.entity_id, *entity.names, area.name if area else "")


def _degrees(value: Any, unit: Any) -> float | None:
    """In °C; None where the thing does not tell."""
    try:
        degrees = float(value)
    except (TypeError, ValueError):
        return None
    return (degrees - 32) / 1.8 if str(unit).endswith("F") else degrees
