"""What uses much or runs on unattended: ovens, strong heating, water, vacuums, mowers, washing.

Home Assistant has no device class for most of it: an oven is a switch, a number or a thermostat
that is called one, in whatever language its owner speaks. So the names decide, by the vocabulary.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from assistant.tools.intents import Action
from assistant.tools.vocabulary import mentions
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
# Names that say nothing of a thermostat: its degrees count.
_OTHERS = (("portable_heaters", "oven"), ("water_users", "water"), ("unattended", "runs-on"))
_COOLING = frozenset({"cool", "dry", "fan_only"})  # states of a thermostat that does not heat


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
    if mentions("beside_costly", name):
        return ""
    if mentions("ovens", name):
        return "oven"
    found = (rule for topic, rule in _OTHERS if mentions(topic, name))
    return "" if thermostat else next(found, "")
