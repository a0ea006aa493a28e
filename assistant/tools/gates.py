"""What is at stake when a thing is switched one way: closing is free, opening is not."""

from collections.abc import Mapping
from typing import Any, Literal

from assistant.tools.intents import Action
from assistant.tools.openers import Opening, is_called_to_open, opening_of
from assistant.tools.resolve import NEVER_OFF, all_members, consequences, domain_of
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.runs import SWITCHED

_OPENING = frozenset({Action.ON, Action.TOGGLE})
_MOVES_NOTHING = frozenset({Action.NOTE, Action.READ, Action.STOP})
_GATED = frozenset({"lock", "valve", "cover", "alarm_control_panel", "siren", "scene"})
# Why a thing is asked about of which the name, the place or what was seen of it says what it does,
# or of which nothing says that it opens nothing.
_MAY = {
    Opening.UNKNOWN: "may_open",
    Opening.OPENS: "may_open",
    Opening.SEEN: "may_open",
    Opening.SILENCES: "may_silence",
}
# Domains that only tell something: whoever reads one of them has not said what it acts on.
_ONLY_TELL = frozenset(
    {
        *("air_quality", "binary_sensor", "calendar", "conversation", "device_tracker", "event"),
        *("geo_location", "image_processing", "person", "schedule", "sensor", "stt", "sun"),
        *("wake_word", "weather", "zone"),
    }
)
# Their effect is unknown unless the house tells what they touch.
UNKNOWN_EFFECTS = {
    "script": "script",
    "button": "button",
    "input_button": "button",
    "automation": "automation",
    "scene": "scene",
}
# The rule of a thing whose effect Home Assistant has not told, or not told yet.
UNREAD = "unread"
# Domains that a switching call may reach without more than comfort at stake, or that ignore it.
_HARMLESS = frozenset(
    {
        *("air_quality", "assist_satellite", "binary_sensor", "calendar", "camera", "climate"),
        *("conversation", "counter", "cover", "date", "datetime", "device_tracker", "event", "fan"),
        *("geo_location", "group", "humidifier", "image", "image_processing", "input_boolean"),
        *("input_datetime", "input_number", "input_select", "input_text", "lawn_mower", "light"),
        *("media_player", "notify", "number", "person", "remote", "schedule", "select", "sensor"),
        *("stt", "sun", "switch", "text", "time", "timer", "todo", "tts", "update", "vacuum"),
        *("wake_word", "water_heater", "weather", "zone"),
    }
)


def gate(entity: Entity, action: Action, arguments: Mapping[str, Any], house: House) -> str | None:
    """Why this may not simply happen: unlock, open, disarm, siren, what it may open or silence by
    its name, or an unknown effect.

    What a group, scene or script reaches is not looked at here (`resolve.consequences` lists it).
    """
    domain = entity.domain
    if domain == "lock":
        return "unlock" if action in (Action.OFF, Action.TOGGLE) else None
    if domain in ("valve", "cover"):
        opens = opening_of(entity, house) is not Opening.NONE
        return "open" if opens and _opens(entity, action, arguments) else None
    if domain == "alarm_control_panel":
        return "disarm" if action in (Action.OFF, Action.TOGGLE) else None
    if domain == "siren":
        silences = "may_silence" if action is Action.OFF else None
        return "siren" if action in _OPENING else silences
    if domain in NEVER_OFF and action is Action.OFF:
        return None
    if domain in UNKNOWN_EFFECTS:
        return _unknown_effect(entity, house)
    if domain in SWITCHED:
        # A relay may release a door by a pulse of either kind.
        return None if action in _MOVES_NOTHING else _MAY.get(opening_of(entity, house))
    return None if domain in _HARMLESS else "unknown_thing"


def _unknown_effect(entity: Entity, house: House) -> str | None:
    """Of a script, scene, button or automation."""
    if is_called_to_open(entity):
        return "open"
    opening = _MAY.get(opening_of(entity, house))
    if entity.entity_id in house.unread or entity.entity_id in house.untold:
        return opening or UNREAD
    if _is_known(entity.entity_id, house):
        return opening if entity.domain in SWITCHED else None
    return opening or UNKNOWN_EFFECTS[entity.domain]


def is_settled(entity: Entity, rule: str, house: House) -> bool:
    """Return whether a rating of the owner's cannot lower what this rule of `gate` asks about.

    What is known by its class or by a name that says "unlock" is settled: a lock, an alarm, a
    garage door, a siren that is to sound. A cover of which nobody knows what it is, a water valve,
    a relay that is only called like a door, and what a switch was seen to do are the owner's.
    """
    if rule in (*UNKNOWN_EFFECTS.values(), UNREAD, "may_open", "may_silence"):
        return False
    return rule != "open" or opening_of(entity, house) is not Opening.UNKNOWN


def _is_known(entity_id: str, house: House) -> bool:
    """Whether all that it does is known: its configuration was read, or it acts on nothing but
    what it holds. Known in part is unknown."""
    holds = all_members(entity_id, house)
    return entity_id in house.ways or any(domain_of(name) not in _ONLY_TELL for name in holds)


def is_safe_to_guess(entity_id: str, house: House) -> bool:
    """Nothing gated is in it, however it is switched: a name may be mended towards it."""
    return all(
        gate(entity_or_guess(name, house), Action.TOGGLE, {}, house) is None
        for name, _ in consequences([entity_id], Action.TOGGLE, house)
    )


def entity_or_guess(entity_id: str, house: House) -> Entity:
    """The entity, or for an id that the house lacks (it may come back) one of that id."""
    return house.entities.get(entity_id) or Entity(entity_id, entity_id, "unknown")


def is_harmless(domain: str) -> bool:
    """Nothing of this domain is ever gated, whatever its class or state; of relays only the name
    or what was seen of them tells otherwise."""
    return domain in _HARMLESS - _GATED - {"group"}


def _opens(entity: Entity, action: Action, arguments: Mapping[str, Any]) -> bool:
    """Whether the way goes towards open. Stopping opens nothing and may save someone."""
    if action is not Action.POSITION:
        return action in _OPENING
    wanted, now = arguments.get("position"), entity.attributes.get("current_position")
    if not isinstance(wanted, int | float):
        return True
    return wanted > (now if isinstance(now, int | float) else 0)


def directions(
    entity: Entity, action: Action, arguments: Mapping[str, Any], house: House
) -> frozenset[Literal["open", "close"]]:
    """Which way a lock, cover, valve or alarm may go by this; empty for whatever has no way."""
    domain = entity.domain
    if domain not in ("lock", "cover", "valve", "alarm_control_panel"):
        # Which way a relay or a script goes is not told by how it is switched.
        may = gate(entity, action, arguments, house) in ("open", "may_open", "may_silence")
        return frozenset({"open", "close"}) if may else frozenset()
    if action is Action.TOGGLE:
        return frozenset({"open", "close"})
    if action is Action.POSITION:
        return frozenset({"open" if _opens(entity, action, arguments) else "close"})
    # Locks and alarms are opened by switching them off, all the others by switching them on.
    opening = Action.OFF if domain in ("lock", "alarm_control_panel") else Action.ON
    ways: dict[Action, Literal["open", "close"]] = {
        opening: "open",
        Action.ON if opening is Action.OFF else Action.OFF: "close",
    }
    return frozenset({ways[action]}) if action in ways else frozenset()
