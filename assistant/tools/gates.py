"""What is at stake when a thing is switched one way: closing is free, opening is not."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from assistant.tools.intents import Action
from assistant.tools.resolve import NEVER_OFF, consequences, domain_of, members
from integrations.home_assistant.house import Entity, House

OPENERS = frozenset({"garage", "door", "gate"})  # device classes of covers
# A cover without a device class is taken for an opener if its name says so; one of class "shutter"
# if it names a gate: some relays call all that they move so (such as Shelly's, 2026.11).
_GATE_WORDS = ("cancela", "cochera", "garage", "garaje", "gate", "porton", "verja")
_OPENER_WORDS = (*_GATE_WORDS, "door", "puerta")
_OPENING = frozenset({Action.ON, Action.TOGGLE})
# What a script, scene or button is called tells more than Home Assistant does of some of them: a
# script that is called by another one, or a template, is in no answer of `search/related`.
_UNLOCKS = re.compile(r"\b(unlock|disarm|desbloque|desarm)")
_OPENS = re.compile(r"\b(open|abr[eia])")
# A relay behind a door is often a plain switch; only its name tells.
_RELAYS = frozenset({"switch", "input_boolean"})
_RELEASES = re.compile(
    r"\b((door|gate|garage) (opener|release|strike)|abrepuertas|portero automatico)\b"
)
_GATED = frozenset({"lock", "valve", "cover", "alarm_control_panel", "siren", "scene"})
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
    """Why this may not simply happen: unlock, open, disarm, siren, or an unknown effect.

    What a group, scene or script reaches is not looked at here (`resolve.consequences` lists it).
    """
    domain = entity.domain
    if domain == "lock":
        return "unlock" if action in (Action.OFF, Action.TOGGLE) else None
    if domain == "valve" or (domain == "cover" and is_opener(entity)):
        return "open" if _opens(entity, action, arguments) else None
    if domain == "alarm_control_panel":
        return "disarm" if action in (Action.OFF, Action.TOGGLE) else None
    if domain == "siren":
        return "siren" if action in _OPENING else None
    if domain in _RELAYS:
        return "open" if action in _OPENING and _is_called_an_opener(entity) else None
    if domain in NEVER_OFF and action is Action.OFF:
        return None
    if domain in UNKNOWN_EFFECTS:
        if _is_called_an_opener(entity):
            return "open"
        acts = any(domain_of(name) not in _ONLY_TELL for name in members(entity.entity_id, house))
        return None if acts else UNKNOWN_EFFECTS[domain]
    return None if domain in _HARMLESS else "unknown_thing"


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
    """Nothing of this domain is ever gated, whatever its class or state."""
    return domain in _HARMLESS - _GATED - {"group"}


def is_opener(entity: Entity) -> bool:
    """A cover that lets someone in, unlike a blind or an awning."""
    if entity.device_class and entity.device_class != "shutter":
        return entity.device_class in OPENERS
    names = _without_accents(" ".join((entity.entity_id, *entity.names)))
    words = _GATE_WORDS if entity.device_class else _OPENER_WORDS
    return any(word in names for word in words)


def _is_called_an_opener(entity: Entity) -> bool:
    """ "Unlock everything", "Open the garage", "Abrir portón"."""
    names = _without_accents(" ".join((entity.entity_id.replace("_", " "), *entity.names)))
    opens = _OPENS.search(names) and any(word in names for word in (*_OPENER_WORDS, "lock"))
    return bool(_UNLOCKS.search(names) or opens or _RELEASES.search(names))


def _without_accents(text: str) -> str:
    signs = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


def _opens(entity: Entity, action: Action, arguments: Mapping[str, Any]) -> bool:
    """Whether the way goes towards open. Stopping opens nothing and may save someone."""
    if action is not Action.POSITION:
        return action in _OPENING
    wanted, now = arguments.get("position"), entity.attributes.get("current_position")
    if not isinstance(wanted, int | float):
        return True
    return wanted > (now if isinstance(now, int | float) else 0)


def directions(
    entity: Entity, action: Action, arguments: Mapping[str, Any]
) -> frozenset[Literal["open", "close"]]:
    """Which way a lock, cover, valve or alarm may go by this; empty for whatever has no way."""
    domain = entity.domain
    named = domain in (*_RELAYS, *UNKNOWN_EFFECTS) and _is_called_an_opener(entity)
    if domain not in ("lock", "cover", "valve", "alarm_control_panel") and not named:
        return frozenset()
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
