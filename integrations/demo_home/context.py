"""Descriptions of the house for a language model, as in Home Assistant: prompt and live context."""

import re
from collections.abc import Iterable
from typing import Any

from integrations.demo_home.house import CallerPlace, DemoHouse, Snapshot, Thing
from integrations.demo_home.matching import MatchError, Reason, Target, match

OVERVIEW = "An overview of the areas and the devices in this smart home:"

# Attributes that are shown if an entity has them.
_SHOWN = {
    *(
        "temperature",
        "current_temperature",
        "temperature_unit",
        "humidity",
        "unit_of_measurement",
        "device_class",
    ),
    *("current_position", "percentage", "volume_level", "media_title", "brightness"),
}

# Matches text that YAML would not read as a string.
_NOT_TEXT = re.compile(
    r"(?i)^(on|off|yes|no|true|false|null|~|y|n"
    r"|[-+]?[\d.][\d.:_eE+-]*|\d{4}-\d\d-\d\d.*"  # numbers and dates
    r"|[-?:,\[\]{}#&*!|>'\"%@` ].*|.*(: | #).*|.*[: ])$"  # YAML's special characters
)


def prompt(house: DemoHouse, place: CallerPlace) -> str:
    """Return the instructions for the model, which list the exposed entities except scripts
    and calendars."""
    lines = [
        "Ask for live context whenever the answer depends on the home's current state;",
        "the static context below shows which devices exist.",
        "",
        f"Static Context: {OVERVIEW}",
    ]
    for thing in _by_name(shown(house)):
        lines += _headline(house, thing)
    lines += [
        "",
        "Control the home only through the intent tools. intent__HassTurnOn locks a lock and",
        "intent__HassTurnOff unlocks it. For one device pass its name and domain, for a room its",
        "area and the domain.",
    ]
    if place.area_id is None:
        lines += ["For all devices of one kind, ask which area is meant, unless there is only one."]
    else:
        area = house.areas[place.area_id]
        floor = f" (floor {house.floors[area.floor_id].name})" if area.floor_id else ""
        lines += [
            f"You are in area {area.name}{floor} and all generic commands like"
            " 'turn on the lights' should target this area."
        ]
    if place.device_id is None:
        lines += ["This device is not able to start timers."]
    return "\n".join(lines)


def shown(house: DemoHouse) -> list[Thing]:
    """Return the exposed entities except scripts and calendars, which have tools instead."""
    return [thing for thing in house.exposed() if thing.domain not in ("script", "calendar")]


def live_context(
    house: DemoHouse, name: str | None, domains: tuple[str, ...], area: str | None
) -> dict[str, Any]:
    """Return the response of the live context tool: `result`, or `error` if nothing matches."""
    if not (name or domains or area):
        return {"result": snapshot(house, shown(house))}
    target = Target(name=name or None, area=area or None, domains=domains, duplicates=True)
    try:
        found = match(house, target, [house.get(thing.entity_id) for thing in shown(house)])
    except MatchError as error:
        return {"error": _unfound(error.reason, target)}
    return {"result": snapshot(house, [house.things[state.entity_id] for state in found.states])}


def _unfound(reason: Reason, target: Target) -> str:
    match reason:
        case Reason.INVALID_AREA:
            return f"Area '{target.area}' does not exist"
        case Reason.NAME:
            return f"No exposed entities matched name '{target.name}'"
        case Reason.AREA:
            return f"No exposed entities found in area '{target.area}'"
        case Reason.DOMAIN:
            return f"No exposed entities found in domain(s): {', '.join(target.domains)}"
        case _:
            return "No entities matched the provided filter"


def snapshot(house: DemoHouse, things: Iterable[Thing]) -> str:
    """Return the entities' states as a YAML list with an introductory line."""
    lines = [f"Live Context: {OVERVIEW}"]
    for thing in _by_name(things):
        state = house.get(thing.entity_id)
        names, domain, *areas = _headline(house, thing)
        lines += [names, domain, f"  state: {_scalar(state.state)}", *areas]
        attributes = _attributes(thing.domain, state)
        if attributes:
            lines += ["  attributes:"]
            lines += [f"    {key}: {_scalar(value)}".rstrip() for key, value in attributes.items()]
    return "\n".join(lines) + "\n"


def _by_name(things: Iterable[Thing]) -> list[Thing]:
    return sorted(things, key=lambda thing: thing.name)


def _headline(house: DemoHouse, thing: Thing) -> list[str]:
    lines = [f"- names: {_scalar(', '.join(thing.names))}", f"  domain: {thing.domain}"]
    area = house.area_of(thing.entity_id)
    if area is not None:
        lines.append(f"  areas: {_scalar(', '.join((area.name, *sorted(area.aliases))))}")
    return lines


def _attributes(domain: str, state: Snapshot) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, value in state.attributes.items():
        if key not in _SHOWN:
            continue
        shown[key] = str(value) if isinstance(value, int) else value
        if key == "brightness" and value is not None:
            shown["brightness_pct"] = str(round(value / 255 * 100))
        if domain == "climate" and key == "current_temperature":
            shown["temperature_unit"] = "°C"
    return shown


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    return "'" + value.replace("'", "''") + "'" if _NOT_TEXT.match(value) else value
