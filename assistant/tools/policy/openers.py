"""Entities that could let someone in or silence an alarm, and entities that do harm when they are
switched off.

Home Assistant rarely knows what an entity opens: a gate is a cover without a device class, and a
door relay is an ordinary switch. Hearth therefore also considers names, devices, rooms and history.
All functions are pure.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from assistant.tools.house.intents import Action
from assistant.tools.house.names import celsius
from assistant.tools.vocabulary import mentions, mentions_one_of, without
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.runs import SWITCHED

# Device classes of covers (2026.11). A class in neither set is an opener.
OPENERS = frozenset({"door", "garage", "gate"})
INSIDE = frozenset({"awning", "blind", "curtain", "damper", "shade", "shutter"})
# Domains of door relays and of the helpers that drive them. Only the name shows what they do.
RELAYS = frozenset(
    {
        *("input_boolean", "input_number", "input_select", "number", "remote", "select", "switch"),
    }
)
_PRESSED = frozenset({"button", "input_button"})
_RUNS = frozenset({"automation", "scene", "script"})
# Some relays use these domains, but so do lamps at a door, so names count for less.
_LAMPS = frozenset({"fan", "light"})
# Integrations whose entities run actions, commands or requests that their owner wrote, which Home
# Assistant does not report (2026.11). "" is an entity without a registry entry, as made by YAML of
# one of these. MQTT is left out, because most of its entities are devices that describe themselves.
_RUNS_ANYTHING = frozenset(
    {
        *("", "command_line", "netdaemon", "nodered", "rest", "snmp", "telnet", "template"),
        "wake_on_lan",  # switching it off runs an action that the owner wrote
    }
)
# Domains of these integrations that don't show what is switched. An owner who declares a lamp,
# lock or blind has thereby said what it is; helpers have integrations of their own.
_SAY_NOTHING = frozenset({"button", "fan", "number", "remote", "select", "switch"})
_ONLY_RESTARTS = frozenset({"identify", "restart", "update"})  # device classes of buttons
# Device classes of binary sensors. If the device also has a relay, it probably moves a door.
_DOOR_CONTACTS = frozenset({"door", "garage_door", "lock"})
# A name without a word of these topics does not mention a door or an alarm.
_TELLING = (*("opens", "gates", "windows", "entrances", "garages", "releases", "unlocks", "alarm"),)
_SEAMS = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


class Opening(StrEnum):
    """The reason why an entity could open something or silence an alarm, or NONE if it can't."""

    NONE = ""
    KNOWN = "known"  # by its class
    UNKNOWN = "unknown"  # the class says too little; counts as an opener until the owner rates it
    OPENS = "opens"  # by its name, place or device
    SILENCES = "silences"  # silences an alarm, by its name or device
    SEEN = "seen"  # was seen to open something


def opening_of(entity: Entity, house: House) -> Opening:
    """Return what the entity itself could open or silence. The members of a group and the entities
    in a script aren't considered."""
    domain = entity.domain
    if domain == "cover":
        return _cover(entity)
    if domain == "valve":
        return Opening.KNOWN if entity.device_class == "gas" else Opening.UNKNOWN
    if domain in SWITCHED and was_seen_to_open(entity.entity_id, house):
        return Opening.SEEN
    if domain in _LAMPS:
        telling = any(mentions_one_of(_TELLING, text) for text in _own_texts(entity))
        released = telling and is_called_to_open(entity) and not _is_beside(entity.name)
        return Opening.OPENS if released else _by_maker(entity)
    if domain in RELAYS | _PRESSED:
        return _relay(entity, house)
    return _named(entity) if domain in _RUNS else Opening.NONE


def is_opener(entity: Entity) -> bool:
    """Return True if this cover is or could be an opener, by its device class and its names."""
    return _cover(entity) is not Opening.NONE


def was_seen_to_open(entity_id: str, house: House) -> bool:
    """Return True if Hearth saw a door, gate or similar entity open after this entity was switched.
    Blinds don't count, because they don't let anybody in."""
    seen = house.seen_opening.get(entity_id, ())
    things = (house.entities.get(name) or Entity(name, name, "unknown") for name in seen)
    return any(one.domain != "cover" or is_opener(one) for one in things)


def is_called_to_open(entity: Entity) -> bool:
    """Return True if one of the entity's names says that it opens or unlocks a door ("Abrir
    portón")."""
    runs = entity.domain in _RUNS
    acts = runs or entity.platform in _RUNS_ANYTHING
    return any(
        mentions("unlocks", text)
        or (mentions("releases", text) and (runs or not _is_beside(text)))
        or (acts and mentions("opening", text) and _has_door(text))
        for text in _own_texts(entity)
    )


def _cover(entity: Entity) -> Opening:
    names = _own_texts(entity)
    if entity.device_class in OPENERS:
        return Opening.KNOWN
    gates = mentions("gates", *names) or mentions("garages", *names)
    blinds = mentions("blinds", *names)
    # Some relays use this class for everything that they move (Shelly, 2026.11).
    if entity.device_class == "shutter":
        return Opening.UNKNOWN if gates else Opening.NONE
    if entity.device_class in INSIDE:
        return Opening.UNKNOWN if gates and not blinds else Opening.NONE
    if entity.device_class is None and (_is_group(entity) or (blinds and not gates)):
        return Opening.NONE
    return Opening.UNKNOWN


def _is_group(entity: Entity) -> bool:
    held = entity.attributes.get("entity_id")
    return (
        isinstance(held, list | tuple)
        and bool(held)
        and all(isinstance(one, str) and one.startswith("cover.") for one in held)
    )


def _relay(entity: Entity, house: House) -> Opening:
    named = _named(entity)
    if named is not Opening.NONE:
        return named
    around = _by_place(entity, house) or _by_device(entity, house)
    harmless = entity.domain in _PRESSED and entity.device_class in _ONLY_RESTARTS
    if harmless or _is_beside(entity.name):
        return Opening.NONE
    return around or _by_maker(entity)


def _by_maker(entity: Entity) -> Opening:
    if entity.platform not in _RUNS_ANYTHING or entity.domain not in _SAY_NOTHING:
        return Opening.NONE
    return Opening.NONE if _is_beside(entity.name) else Opening.UNKNOWN


def _by_place(entity: Entity, house: House) -> Opening:
    area = house.areas.get(entity.area_id or "")
    for place in (area.name, *area.aliases) if area else ():
        plain = without("no_doors", _spread(place))
        if mentions_one_of(("opens", "gates"), plain):
            return Opening.OPENS
        if _is_only_garage(_spread(f"{place} {entity.name}")):
            return Opening.OPENS
    return Opening.NONE


def _by_device(entity: Entity, house: House) -> Opening:
    """Judge by the other entities of the same device, such as a lock, a gate or an alarm."""
    others = house.beside(entity)
    if any(one.domain == "alarm_control_panel" for one in others):
        return Opening.SILENCES
    if any(one.domain == "lock" or (one.domain == "cover" and is_opener(one)) for one in others):
        return Opening.OPENS
    contacts = (one for one in others if one.domain == "binary_sensor")
    # A fridge or washing machine has a door contact too.
    opens = any(one.device_class in _DOOR_CONTACTS for one in contacts) and not mentions(
        "appliances", entity.name, entity.device_name
    )
    return Opening.OPENS if opens else Opening.NONE


def _named(entity: Entity) -> Opening:
    if not any(mentions_one_of(_TELLING, text) for text in _own_texts(entity)):
        return Opening.NONE
    if is_called_to_open(entity):
        return Opening.OPENS
    # "Porch light" may belong to the device "Front door"; then only the entity's own names count.
    lamp, aside = _is_lamp(entity.name), _is_beside(entity.name)
    said = {_spread(name) for name in entity.names}
    for text in _own_texts(entity):
        if entity.domain in _RUNS and mentions("closes", text):
            continue
        if (text in said or not lamp) and _says_alarm(text):
            return Opening.SILENCES
        if (text in said or not aside) and _says_door(text):
            return Opening.OPENS
    return Opening.NONE


def _says_alarm(text: str) -> bool:
    return mentions("alarm", without("no_doors", text)) and not _is_lamp(text)


def _says_door(text: str) -> bool:
    plain = without("no_doors", text)
    if _is_beside(text):
        return False
    if mentions("gates", plain) or _is_only_garage(plain):
        return True
    doors = mentions_one_of(("opens", "windows", "entrances", "releases"), plain)
    return doors and not mentions("blinds", plain)


def _is_only_garage(text: str) -> bool:
    if not mentions("garages", text):
        return False
    left = without("relays", without("garages", text))
    return not any(len(word) > 1 and not word.isdigit() for word in left.split())


def _has_door(text: str) -> bool:
    """Return True if the text mentions a door, gate, lock or garage. Use this only for names that
    also contain a verb that means "open"."""
    plain = without("no_doors", text)
    return any(mentions(topic, plain) for topic in ("opens", "gates", "garages"))


def _is_lamp(text: str) -> bool:
    return mentions("beside_doors", _spread(text))


def _is_beside(text: str) -> bool:
    return _is_lamp(text) or mentions("only_beside_doors", _spread(text))


def _own_texts(entity: Entity) -> tuple[str, ...]:
    slug = entity.entity_id.partition(".")[2]
    texts = (entity.name, *entity.aliases, slug, entity.device_name, *entity.labels)
    return tuple(dict.fromkeys(_spread(text) for text in texts if text))


@lru_cache(4_096)
def _spread(text: str) -> str:
    """Separate words that are joined by capitals or digits, as in "GarageDoor1"."""
    return _SEAMS.sub(" ", text)


# Switching off freezers, servers, medical devices or, in frost, the heating does harm. Home
# Assistant has no class for these, so names, aliases, labels and rooms decide, in all supported
# languages. Accessories, such as a fridge lamp, do not count.
RULE = "keeps-running"
FROST_RULE = "frost"
RULES = frozenset({RULE, FROST_RULE})
FROST_C = 5.0  # outside temperature below which the following night may bring frost
LOWEST_C = 7.0  # a thermostat set lower does not keep pipes from freezing
# Domains in which a name may show that the entity must run.
_NAMED = frozenset({"climate", "fan", "humidifier", "input_boolean", "switch"})
_RELAYS = frozenset({"input_boolean", "switch"})
_HEATS = frozenset({"auto", "heat", "heat_cool"})  # thermostat modes
_COOLS = frozenset({"cool", "dry", "fan_only", "off"})
_UNKNOWN = frozenset({"unavailable", "unknown"})
_OFF = frozenset({Action.OFF, Action.TOGGLE})


def keeps_running(
    entity: Entity, action: Action, arguments: Mapping[str, Any], house: House
) -> str | None:
    """Return the rule against stopping this entity, or None."""
    if action in _OFF and must_run(entity, house):
        return RULE
    if _stops_heating(entity, action, arguments, house.settings.temperature) and may_freeze(house):
        return FROST_RULE
    return None


def must_run(entity: Entity, house: House) -> bool:
    """Return True if switching this entity off causes harm in any weather."""
    if entity.domain == "camera":
        return True
    if entity.domain not in _NAMED:
        return False
    area = house.areas.get(entity.area_id or "")
    names = (entity.entity_id.partition(".")[2], *entity.names)
    places = (area.name, *area.aliases) if area is not None else ()
    return _is_named(names, places, entity.labels)


def may_freeze(house: House) -> bool:
    """Return True if it is colder than FROST_C outside, or if the temperature is unknown."""
    outside = outside_c(house)
    return outside is None or outside < FROST_C


def outside_c(house: House) -> float | None:
    """Return the outside temperature in °C, or None if it is unknown. It is the lowest reading of
    the outdoor sensors or, if there are none, of the weather entities."""
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


def _stops_heating(entity: Entity, action: Action, arguments: Mapping[str, Any], unit: str) -> bool:
    if entity.domain == "climate":
        modes = entity.attributes.get("hvac_modes")
        if isinstance(modes, list | tuple) and not _HEATS & set(modes):
            return False
        if entity.state in _COOLS:
            return False
        wanted = arguments.get("temperature")
        if action is Action.SET and isinstance(wanted, int | float):
            return celsius(entity, float(wanted), unit) < LOWEST_C
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
    try:
        degrees = float(value)
    except (TypeError, ValueError):
        return None
    return (degrees - 32) / 1.8 if str(unit).endswith("F") else degrees
