"""The risk of switching one entity in one direction: its tier, and the rule that explains it.

An oven or a portable heater is an ordinary switch in Home Assistant, so Hearth recognises such
devices by name, with the words of `vocabulary`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from assistant.domain.tool_call import Tier
from assistant.tools.house.intents import Action
from assistant.tools.house.names import celsius
from assistant.tools.house.targets import NEVER_OFF, all_members, consequences, domain_of
from assistant.tools.policy.openers import (
    FROST_RULE,
    Opening,
    is_called_to_open,
    keeps_running,
    opening_of,
)
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.runs import SWITCHED

HEATING_LIMIT_C = 25.0
# Domains in which a name may show that the entity is costly.
_NAMED = frozenset(
    {
        *("climate", "input_boolean", "input_number", "input_select", "number", "select"),
        "switch",
    }
)
_STARTING = frozenset({Action.ON, Action.TOGGLE, Action.START})
# Topics and their rules. They don't apply to thermostats, which are judged by temperature.
_OTHERS = (("portable_heaters", "oven"), ("water_users", "water"), ("unattended", "runs-on"))
_COOLING = frozenset({"cool", "dry", "fan_only"})  # states of a thermostat that does not heat


def cost(
    entity: Entity, action: Action, arguments: Mapping[str, Any], unit: str = ""
) -> str | None:
    """Return the rule that makes this action costly, or None. `unit` is that of the house's
    temperatures."""
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
        return "heat" if celsius(entity, float(degrees), unit) > HEATING_LIMIT_C else None
    return None


def _by_name(entity: Entity) -> str | None:
    for name in (entity.device_class or "", entity.entity_id.partition(".")[2], *entity.names):
        if rule := _rule_of(name, entity.domain == "climate"):
            return rule
    return None


@lru_cache(4_096)
def _rule_of(name: str, thermostat: bool) -> str:
    if mentions("beside_costly", name):
        return ""
    if mentions("ovens", name):
        return "oven"
    found = (rule for topic, rule in _OTHERS if mentions(topic, name))
    return "" if thermostat else next(found, "")


_OPENING = frozenset({Action.ON, Action.TOGGLE})
_MOVES_NOTHING = frozenset({Action.NOTE, Action.READ, Action.STOP})
_GATED = frozenset({"lock", "valve", "cover", "alarm_control_panel", "siren", "scene"})
# Rules for entities whose name, place or history suggests that they open something, and for
# entities that can't be excluded as openers.
_MAY = {
    Opening.UNKNOWN: "may_open",
    Opening.OPENS: "may_open",
    Opening.SEEN: "may_open",
    Opening.SILENCES: "may_silence",
}
# Domains that only report, so that a group of them doesn't show what it acts on.
_ONLY_TELL = frozenset(
    {
        *("air_quality", "binary_sensor", "calendar", "conversation", "device_tracker", "event"),
        *("geo_location", "image_processing", "person", "schedule", "sensor", "stt", "sun"),
        *("wake_word", "weather", "zone"),
    }
)
# Domains whose effect is unknown unless Home Assistant reports what they touch.
UNKNOWN_EFFECTS = {
    "script": "script",
    "button": "button",
    "input_button": "button",
    "automation": "automation",
    "scene": "scene",
}
# Rule for an entity whose effect Home Assistant hasn't reported (yet).
UNREAD = "unread"
# Domains in which switching has at most tier comfort or no effect.
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
    """Return the rule that requires a confirmation for this action, or None.

    The members of groups and the entities in scenes and scripts are not considered (see
    `targets.consequences`).
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
        # A pulse in either direction may make a relay release a door.
        return None if action in _MOVES_NOTHING else _MAY.get(opening_of(entity, house))
    return None if domain in _HARMLESS else "unknown_thing"


def _unknown_effect(entity: Entity, house: House) -> str | None:
    if is_called_to_open(entity):
        return "open"
    opening = _MAY.get(opening_of(entity, house))
    if entity.entity_id in house.unread or entity.entity_id in house.untold:
        return opening or UNREAD
    if _is_known(entity.entity_id, house):
        return opening if entity.domain in SWITCHED else None
    return opening or UNKNOWN_EFFECTS[entity.domain]


def is_settled(entity: Entity, rule: str, house: House) -> bool:
    """Return True if the owner's rating can't lower this rule of `gate`, as for locks, alarms,
    garage doors and sirens."""
    if rule in (*UNKNOWN_EFFECTS.values(), UNREAD, "may_open", "may_silence"):
        return False
    return rule != "open" or opening_of(entity, house) is not Opening.UNKNOWN


def _is_known(entity_id: str, house: House) -> bool:
    """Return True if all effects of the entity are known."""
    holds = all_members(entity_id, house)
    return entity_id in house.ways or any(domain_of(name) not in _ONLY_TELL for name in holds)


def is_safe_to_guess(entity_id: str, house: House) -> bool:
    """Return True if a name can be corrected to this entity, because nothing that it switches would
    need a confirmation."""
    return all(
        gate(entity_or_guess(name, house), Action.TOGGLE, {}, house) is None
        for name, _ in consequences([entity_id], Action.TOGGLE, house)
    )


def entity_or_guess(entity_id: str, house: House) -> Entity:
    """Return the entity, or a placeholder if the house has no entity with this id."""
    return house.entities.get(entity_id) or Entity(entity_id, entity_id, "unknown")


def is_harmless(domain: str) -> bool:
    """Return True if no entity of this domain needs a confirmation because of its class or state. A
    relay can still need one because of its name or history."""
    return domain in _HARMLESS - _GATED - {"group"}


def _opens(entity: Entity, action: Action, arguments: Mapping[str, Any]) -> bool:
    """Return True if the action would open something, or open it further. Stopping never counts as
    opening, because it can prevent an injury."""
    if action is not Action.POSITION:
        return action in _OPENING
    wanted, now = arguments.get("position"), entity.attributes.get("current_position")
    if not isinstance(wanted, int | float):
        return True
    return wanted > (now if isinstance(now, int | float) else 0)


def directions(
    entity: Entity, action: Action, arguments: Mapping[str, Any], house: House
) -> frozenset[Literal["open", "close"]]:
    """Return the directions in which an action can move a lock, cover, valve, alarm or opener. The
    set is empty for other entities."""
    domain = entity.domain
    if domain not in ("lock", "cover", "valve", "alarm_control_panel"):
        # Switching a relay or script doesn't show its direction.
        may = gate(entity, action, arguments, house) in ("open", "may_open", "may_silence")
        return frozenset({"open", "close"}) if may else frozenset()
    if action is Action.TOGGLE:
        return frozenset({"open", "close"})
    if action is Action.POSITION:
        return frozenset({"open" if _opens(entity, action, arguments) else "close"})
    # Locks and alarms open by switching off, everything else by switching on.
    opening = Action.OFF if domain in ("lock", "alarm_control_panel") else Action.ON
    ways: dict[Action, Literal["open", "close"]] = {
        opening: "open",
        Action.ON if opening is Action.OFF else Action.OFF: "close",
    }
    return frozenset({ways[action]}) if action in ways else frozenset()


SECURE_RULES = frozenset({"unlock", "open", "disarm", "siren", "may_open", "may_silence"})
SENTENCE = "sentence"  # rule for a sentence whose effect is unknown
_TIERS = tuple(Tier)


@dataclass(frozen=True, slots=True)
class Risk:
    tier: Tier
    rule: str  # reason for the tier: "unlock", "runs-on", "comfort"
    rated: bool = field(default=False, compare=False)  # the tier is the owner's rating


def height(tier: Tier) -> int:
    """Return the rank of a tier, starting with 0 for READ."""
    return _TIERS.index(tier)


def weigh(
    entity_id: str,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    ratings: Mapping[str, Tier],
    *,
    follows: bool = False,
) -> Risk:
    """Return the risk of switching this entity, without its consequences.

    `follows` is True if the entity is a consequence of something else, such as a group or scene.
    The owner's rating can lower the risk of unclear entities (see `is_settled`), and raise that of
    others.
    """
    entity = entity_or_guess(entity_id, house)
    rule = gate(entity, action, arguments, house)
    rating = ratings.get(entity_id)
    if rating is not None and rule is not None and _is_the_owners(entity, rule, house):
        known_as = UNKNOWN_EFFECTS[entity.domain] if rule == UNREAD else rule
        return Risk(rating, "rated" if rating is Tier.COMFORT else known_as, rated=True)
    if rule is not None:
        stake = Risk(Tier.SECURE if rule in SECURE_RULES else Tier.COSTLY, rule)
    else:
        rule = cost(entity, action, arguments, house.settings.temperature)
        if rule is None:
            rule = _must_run(entity, action, arguments, house, ratings)
        if rule == FROST_RULE and follows and action is Action.TOGGLE:
            rule = None  # an evening scene turns the heating down, but rarely off
        stake = Risk(Tier.COSTLY, rule) if rule else Risk(Tier.COMFORT, "comfort")
    raised = rating is not None and height(rating) > height(stake.tier)
    if _secures(entity, action, arguments, house):
        return stake  # a rating doesn't keep a door from being locked
    if rating is not None and raised and action is not Action.STOP:
        return Risk(rating, UNKNOWN_EFFECTS.get(entity.domain, "raised"), rated=True)
    return stake


def _secures(entity: Entity, action: Action, arguments: Mapping[str, Any], house: House) -> bool:
    """Return True if the action closes, locks or arms something that lets people in."""
    if directions(entity, action, arguments, house) != {"close"}:
        return False
    return entity.domain not in ("cover", "valve") or opening_of(entity, house) is not Opening.NONE


def _is_the_owners(entity: Entity, rule: str, house: House) -> bool:
    return entity.entity_id not in house.unread and not is_settled(entity, rule, house)


def _must_run(
    entity: Entity,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    ratings: Mapping[str, Tier],
) -> str | None:
    if ratings.get(entity.entity_id) is Tier.COMFORT:
        return None
    return keeps_running(entity, action, arguments, house)
