"""The tools `GetLiveContext` and `find_devices`, which return the states of exposed entities.

`GetLiveContext` replaces Home Assistant's tool of the same name, whose answer takes 160,000 tokens
in a home with 5,000 entities. It behaves like the tool in Home Assistant 2026.11
(`components/homeassistant/llm.py`), but limits the length.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.domain.clock import Clock
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    one_line,
    schema,
    text,
)
from assistant.tools.execution.home_errors import tell_error
from assistant.tools.house.answers import HouseAnswers
from assistant.tools.house.names import (
    UNKNOWN,
    are_near,
    brightness_percent,
    folded,
    nearest,
    plain_state,
    short_state,
    stemmed,
)
from assistant.tools.house.questions import openings
from assistant.tools.house.targets import find_areas, is_called, listed
from integrations.home_assistant.context import UNLISTED
from integrations.home_assistant.house import Area, Entity, Floor, House

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant


def staleness(age_s: float) -> str:
    """Return a warning for the model that the states are old, or "" if they are up to date."""
    if age_s == 0:
        return ""
    minutes = int(age_s // 60)
    age = f"{minutes} minutes" if minutes > 1 else "one minute" if minutes else "under a minute"
    return (
        f"NOT LIVE. Contact with Home Assistant was lost {age} ago. These states are of that time "
        "and may be wrong by now: tell them in the past tense, with their age, never as present."
    )


LIVE_CONTEXT = "GetLiveContext"
MAX_RESULT = 10_000  # characters; about 2,500 tokens
OVERVIEW = "Live Context: An overview of the areas and the devices in this smart home:"
_LEFT_OUT = "({count} more are left out: narrow it by name, domain or area.)"

_SHOWN = frozenset(
    "temperature current_temperature temperature_unit brightness humidity unit_of_measurement "
    "device_class current_position percentage volume_level media_title media_artist "
    "media_album_name".split()
)
# Strings that YAML would not read as strings.
_NOT_TEXT = re.compile(
    r"(?i)(?:|on|off|yes|no|true|false|null|~|y|n"
    r"|[-+]?[\d.][\d.:_e+-]*|\d{4}-\d\d-\d\d.*"  # numbers and dates
    r"|[-?:,\[\]{}#&*!|>'\"%@` ].*|.*(?:: | #).*|.*[: ])"  # YAML syntax
)


def live_context(home: "HomeAssistant", catalogue: Catalogue, clock: Clock) -> BuiltIn:
    """Return the tool `GetLiveContext`.

    Its data is JSON: `{"result": text}` or `{"error": reason}`, with a `warning` in front if the
    result is based on old states.
    """
    answers = HouseAnswers(catalogue)

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        age_s = await home.look()
        if age_s is None:
            sentence = catalogue.say("tools.not_live", request.language)
            return BuiltInResult(sentence, failed=True)
        house = home.house
        found, error = select(house, arguments)
        if error:
            sentence = tell_error(catalogue, request.language, error)
            return BuiltInResult(sentence, json.dumps({"error": error}), failed=True)
        content = {"result": overview(house, found, clock)}
        sentence = catalogue.say("tools.answered", request.language)
        warning = staleness(age_s)
        if warning:
            content = {"warning": warning, **content}
            sentence = answers.notice(request.language, age_s)
        told = json.dumps(content, ensure_ascii=False)
        return BuiltInResult(sentence, told, stale=bool(warning))

    return BuiltIn(
        name=LIVE_CONTEXT,
        description="The present states of devices, sensors and areas, narrowed by any of the "
        "arguments. Call it before you say how something is now, and before anything "
        "that depends on it.",
        schema=schema(
            {
                "name": {"type": "string"},
                "domain": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
                },
                "area": {"type": "string"},
            }
        ),
        tier=Tier.READ,
        run=run,
    )


def select(house: House, arguments: Mapping[str, Any]) -> tuple[list[Entity], str]:
    """Return the entities that Home Assistant's own tool would report, sorted by name. If there are
    none, the second value is its error message."""
    found = [entity for entity in house.exposed() if entity.domain not in UNLISTED]
    name, area = (str(arguments.get(key) or "") for key in ("name", "area"))
    domains = {one.strip().casefold() for one in listed(arguments.get("domain"))} - {""}
    if domains:
        found = [entity for entity in found if entity.domain in domains]
        if not found:
            return [], f"No exposed entities found in domain(s): {', '.join(sorted(domains))}"
    if name:
        found = [entity for entity in found if is_called(entity, name)]
        if not found:
            return [], f"No exposed entities matched name '{one_line(name)}'"
    if area:
        areas = {one.area_id for one in find_areas(house, area)}
        if not areas:
            return [], f"Area '{one_line(area)}' does not exist"
        found = [entity for entity in found if entity.area_id in areas]
        if not found:
            return [], f"No exposed entities found in area '{one_line(area)}'"
    if not found:
        return [], "No entities are exposed to the assistant in Home Assistant"
    return sorted(found, key=lambda entity: entity.name), ""


def overview(house: House, entities: Iterable[Entity], clock: Clock) -> str:
    """Return a YAML list of the entities under a headline, with at most MAX_RESULT characters."""
    now, things = clock.now(), list(entities)
    text, room = f"{OVERVIEW}\n", MAX_RESULT - len(_LEFT_OUT) - 10
    for number, entity in enumerate(things):
        row = _row(entity, house, now)
        if len(text) + len(row) > room:
            return text + _LEFT_OUT.format(count=len(things) - number)
        text += row
    return text


def _row(entity: Entity, house: House, now: datetime) -> str:
    lines = [
        f"- names: {_scalar(', '.join(entity.names))}",
        f"  domain: {entity.domain}",
        f"  state: {_scalar(_state(entity, now))}",
    ]
    area = house.areas.get(entity.area_id or "")
    if area is not None:
        lines.append(f"  areas: {_scalar(', '.join((area.name, *sorted(area.aliases))))}")
    attributes = {key: value for key, value in entity.attributes.items() if key in _SHOWN}
    if entity.domain == "light" and attributes.get("brightness") is not None:
        attributes["brightness_pct"] = brightness_percent(entity)
    if attributes:
        lines.append("  attributes:")
        lines += [f"    {key}: {_scalar(value)}".rstrip() for key, value in attributes.items()]
    return "\n".join(lines) + "\n"


def _state(entity: Entity, now: datetime) -> str:
    if entity.domain == "sensor" and entity.precision is not None:
        try:
            return f"{float(entity.state):.{entity.precision}f}"
        except ValueError:
            return entity.state
    if entity.device_class == "timestamp":
        try:
            return datetime.fromisoformat(entity.state).astimezone(now.tzinfo).isoformat()
        except ValueError:
            return entity.state
    return entity.state


def _scalar(value: Any) -> str:
    """Return a value as a YAML scalar on one line. Whole numbers are quoted, because Home
    Assistant's own tool turns them into strings."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    text = one_line(str(value.value if isinstance(value, Enum) else value))
    return "'" + text.replace("'", "''") + "'" if _NOT_TEXT.fullmatch(text) else text


# `find_devices` finds devices and their states. In a large home, the instruction names only the
# devices nearby, and this tool finds all others. It matches names more loosely than Home Assistant,
# because it only reads.


FIND_DEVICES = "find_devices"
MAX_ROWS = 40
_DESCRIPTION = (
    "Finds devices and sensors by any of the arguments, with exact names, areas and states. Call "
    "it before you control something whose name or area you do not know for sure, and for "
    "questions about many, such as which windows are open."
)
_ARGUMENTS = {
    "name": "Whole or in part.",
    "area": "A room.",
    "floor": "A floor.",
    "domain": "Such as light, cover, sensor.",
    "device_class": "Such as window, motion.",
    "state": "Such as on, open, unavailable.",
}
MAX_NEAR = 5  # names that are merely similar

Place = TypeVar("Place", Area, Floor)

_stem = lru_cache(maxsize=20_000)(stemmed)  # enough for the names of a large house


def find_devices(home: "HomeAssistant", catalogue: Catalogue) -> BuiltIn:
    """Return the tool `find_devices`.

    Its data is `{found, devices: [{name, domain, area, state}]}`, with further keys for old states,
    unknown states, devices that were left out, and similar names.
    """
    answers = HouseAnswers(catalogue)

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        age_s = await home.look()
        if age_s is None:
            sentence = catalogue.say("tools.not_live", request.language)
            return BuiltInResult(sentence, failed=True)
        house = home.house
        found = find(house, arguments)
        if not found:
            sentence = catalogue.say("tools.found_none", request.language)
            near = [one_line(name) for name in _nearest(house, arguments)]
            none = {"found": 0, "devices": [], "nearest_names": near}
            return answered(none, house, arguments, sentence, request, age_s)
        rows = [_find_devices_row(entity, house) for entity in found[:MAX_ROWS]]
        told: dict[str, Any] = {"found": len(found), "devices": rows}
        if len(found) > MAX_ROWS:
            told["left_out"] = len(found) - MAX_ROWS
        sentence = catalogue.say("tools.answered", request.language)
        return answered(told, house, arguments, sentence, request, age_s)

    def answered(
        told: dict[str, Any],
        house: House,
        arguments: Mapping[str, Any],
        sentence: str,
        request: BuiltInRequest,
        age_s: float,
    ) -> BuiltInResult:
        front: dict[str, Any] = {}
        if warning := staleness(age_s):
            front["warning"] = warning
            sentence = answers.notice(request.language, age_s)
        if away := _of_unknown_state(house, arguments):
            front["state_not_known"] = away
        told = {**front, **told}
        return BuiltInResult(sentence, json.dumps(told, ensure_ascii=False), stale=bool(warning))

    return BuiltIn(
        name=FIND_DEVICES,
        description=_DESCRIPTION,
        schema=schema({name: text(told) for name, told in _ARGUMENTS.items()}),
        tier=Tier.READ,
        run=run,
    )


def find(house: House, arguments: Mapping[str, Any]) -> list[Entity]:
    """Return the exposed entities that match all arguments. If no name matches exactly, partial and
    then similar names are tried."""
    found = house.exposed()
    for key, value in (("domain", _domain_of), ("device_class", _class_of), ("state", _state_of)):
        wanted = {_stem(one) for one in listed(arguments.get(key))}
        if wanted:
            found = [entity for entity in found if any(_stem(v) in wanted for v in value(entity))]
    areas = _areas(house, arguments)
    if areas is not None:
        found = [entity for entity in found if entity.area_id in areas]
    name = _text(arguments, "name")
    return _called(found, name) if name else found


def _of_unknown_state(house: House, arguments: Mapping[str, Any]) -> list[str]:
    if not {_stem(one) for one in listed(arguments.get("state"))} - {_stem(one) for one in UNKNOWN}:
        return []
    others = {key: value for key, value in arguments.items() if key != "state"}
    away = [one for one in find(house, others) if one.state in UNKNOWN]
    return [one_line(", ".join(one.names)) for one in away[:MAX_ROWS]]


def _called(entities: list[Entity], name: str) -> list[Entity]:
    whole = _stem(name)
    words = folded(name).split()
    ways: tuple[Callable[[str], bool], ...] = (
        lambda known: _stem(known) == whole,
        lambda known: all(word in folded(known) for word in words),
        lambda known: all(_stem(word) in _stem(known) for word in words if len(word) > 2),
    )
    for way in ways:
        found = [entity for entity in entities if any(way(known) for known in entity.names)]
        if found:
            return found
    begins = whole[:1]  # people rarely get the first letter wrong
    near = (
        entity
        for entity in entities
        if any(_stem(known)[:1] == begins and are_near(known, name) for known in entity.names)
    )
    return [entity for entity, _ in zip(near, range(MAX_NEAR), strict=False)]


def _nearest(house: House, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    name = _text(arguments, "name")
    return (
        nearest(name, (one for entity in house.exposed() for one in entity.names)) if name else ()
    )


def _areas(house: House, arguments: Mapping[str, Any]) -> set[str] | None:
    area, floor = _text(arguments, "area"), _text(arguments, "floor")
    if not area and not floor:
        return None
    places = {one.area_id: one for one in house.areas.values()}
    if floor:
        levels = {one.floor_id for one in _meant(floor, house.floors)}
        places = {name: one for name, one in places.items() if one.floor_id in levels}
    return {one.area_id for one in _meant(area, places)} if area else set(places)


def _meant(name: str, places: Mapping[str, Place]) -> list[Place]:
    whole = _stem(name)
    same = [one for key, one in places.items() if key == name or whole in map(_stem, _names(one))]
    return same or [
        one for one in places.values() if any(are_near(known, name) for known in _names(one))
    ]


def _names(place: Area | Floor) -> tuple[str, ...]:
    return place.name, *place.aliases


def _domain_of(entity: Entity) -> Iterable[str]:
    return (entity.domain,)


def _class_of(entity: Entity) -> Iterable[str]:
    return filter(None, (entity.device_class, *openings(entity)))


def _state_of(entity: Entity) -> Iterable[str]:
    return filter(None, (entity.state, _meaning(entity)))


def _meaning(entity: Entity) -> str:
    plain = plain_state(entity)
    return plain if plain != entity.state else ""


def _find_devices_row(entity: Entity, house: House) -> dict[str, str]:
    row = {"name": one_line(", ".join(entity.names)), "domain": entity.domain}
    area = house.areas.get(entity.area_id or "")
    if area is not None:
        row["area"] = one_line(area.name)
    return {**row, "state": one_line(_meaning(entity) or short_state(entity))}


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value.strip() if isinstance(value, str) else ""
