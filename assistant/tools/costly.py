"""What uses much or runs on unattended: ovens, strong heating, water, vacuums, mowers, washing.

Home Assistant has no device class for most of it: an oven is a switch, a number or a thermostat
that is called one, in whatever language its owner speaks. So the names decide, word by word.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from assistant.tools.intents import Action
from integrations.home_assistant.house import Entity

HEATING_LIMIT_C = 25.0
# Domains of which the name may say that they are something costly.
_NAMED = frozenset(
    {
        *("climate", "input_boolean", "input_number", "input_select", "number", "select"),
        "switch",
    }
)
_STARTING = frozenset({Action.ON, Action.TOGGLE, Action.START})
_COOLING = frozenset({"cool", "dry", "fan_only"})  # states of a thermostat that does not heat


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


_OVENS = _words(
    *("ovens?", "stoves?", "stovetop", "hobs?", "cooktops?", "cookers?", "range cooker", "kilns?"),
    *("saunas?", "grills?", "barbecue", "fryers?", "air ?fryer", "hot plate", "hornos?"),
    *("hornillos?", "vitro", "vitroceramica", "placa de (?:induccion|cocina|gas)"),
    *("cocina (?:de gas|electrica)", "fogon(?:es)?", "freidoras?", "parrillas?"),
    *("barbacoa", "plancha", "fornos?", "fogao", "backofen", "ofen", "herd"),
    *("four a? ?gaz", "four electrique", "cuisiniere", "plaque de cuisson"),
)
# Of a thermostat these say nothing: its degrees are what counts.
_HEATERS = _words("space heater", "estufas?", "braseros?", "calefactor(?:es)?", "heizlufter")
_WET = _words(
    *("irrigation", "irrigators?", "sprinklers?", "watering", "water pump", "pool pump", "hose"),
    *("taps?", "faucets?", "bathtub", "hot tub", "water heater", "hot water", "boiler"),
    *("immersion heater", "riegos?", "aspersor(?:es)?", "goteo", "bomba (?:de agua|piscina)"),
    *("bomba de (?:la )?piscina", "grifos?", "banera", "jacuzzi", "termo(?: electrico)?"),
    *("calentador", "agua caliente", "manguera", "bewasserung", "sprinkleranlage", "arrosage"),
)
_UNATTENDED = _words(
    *("vacuum(?: cleaner)?", "roomba", "robot cleaner", "mowers?", "lawnmower", "dishwashers?"),
    *("washing machine", "washers?", "tumble dryer", "clothes dryer", "dryer", "aspiradora"),
    *("robot aspirador", "cortacesped", "lavadora", "lavavajillas", "secadora"),
    *("waschmaschine", "geschirrspuler", "staubsauger", "lave linge", "lave vaisselle"),
)
# What belongs to one, and starts nothing.
_ONLY_BESIDE = _words(
    *("lights?", "lamps?", "leds?", "luz", "luces", "lamparas?", "licht", "hoods?", "campana"),
    *("extractor", "fan", "ventilador", "child lock", "bloqueo", "sounds?", "beep", "notif\\w*"),
    *("sensor", "timer", "temporizador", "clock", "reloj", "display", "pantalla", "solar"),
)


def cost(entity: Entity, action: Action, arguments: Mapping[str, Any]) -> str | None:
    """The rule by which switching this thing so is costly, or None."""
    if action is Action.START:
        return "runs-on"
    if entity.domain in ("vacuum", "lawn_mower"):
        return "runs-on" if action in _STARTING else None
    if entity.domain == "water_heater":
        return "water" if action in _STARTING else None
    wanted = arguments.get("temperature")
    degrees = wanted if isinstance(wanted, int | float) and action is Action.SET else None
    if entity.domain in _NAMED and (action in _STARTING or degrees is not None):
        rule = _by_name(entity)
        if rule is not None:
            return rule
    if entity.domain == "climate" and degrees is not None and entity.state not in _COOLING:
        return "heat" if celsius(entity, float(degrees)) > HEATING_LIMIT_C else None
    return None


def celsius(entity: Entity, degrees: float) -> float:
    """Degrees of a thermostat in its own unit; one that goes above 45 counts in Fahrenheit."""
    highest = entity.attributes.get("max_temp")
    fahrenheit = isinstance(highest, int | float) and highest > 45
    return (degrees - 32) / 1.8 if fahrenheit else degrees


def _by_name(entity: Entity) -> str | None:
    """What its device class or one of its names says that it is."""
    for name in (entity.device_class or "", entity.entity_id.partition(".")[2], *entity.names):
        if rule := _rule_of(name, entity.domain == "climate"):
            return rule
    return None


@lru_cache(4_096)
def _rule_of(name: str, thermostat: bool) -> str:
    signs = unicodedata.normalize("NFKD", name[:200].casefold())
    letters = "".join(one for one in signs if not unicodedata.combining(one))
    plain = " ".join(re.findall(r"[^\W_]+", letters))
    if _ONLY_BESIDE.search(plain):
        return ""
    if _OVENS.search(plain):
        return "oven"
    others = (("oven", _HEATERS), ("water", _WET), ("runs-on", _UNATTENDED))
    found = (rule for rule, words in others if words.search(plain))
    return "" if thermostat else next(found, "")
