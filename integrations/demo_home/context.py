"""The house as text for a language model: prompt and live context, in Home Assistant's form."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from integrations.demo_home.house import CallerPlace, DemoHouse, Snapshot, Thing
from integrations.demo_home.matching import MatchError, Reason, Target, match
from integrations.demo_home.scripts import SCENES, SCRIPTS, Script
from integrations.demo_home.surroundings import FEATURES

# What hangs together in the house, as `search/related` of Home Assistant 2026.11 tells it.


# The kinds of item that may be asked for; some of them the house has none of.
KINDS = (
    *("area", "automation", "automation_blueprint", "config_entry", "device", "entity", "floor"),
    *("group", "integration", "label", "person", "scene", "script", "script_blueprint"),
)


def touched(house: DemoHouse, entity_id: str) -> tuple[str, ...]:
    """The entities that a script or scene acts on; empty for anything else."""
    if entity_id in SCRIPTS:
        return SCRIPTS[entity_id].touches
    if entity_id in house.scenes:
        return tuple(kept.entity_id for kept in house.scenes[entity_id])
    return tuple(dict.fromkeys(member for _, _, member in SCENES.get(entity_id, ())))


def related(house: DemoHouse, kind: str, item: str) -> dict[str, list[str]]:
    """Ids of what belongs to the item, by kind; kinds of which there is nothing are left out."""
    found: dict[str, list[str]] = {}
    if kind in ("script", "scene", "entity") and item in house.things:
        members = touched(house, item)
        if members:
            found["entity"] = list(members)
        places = _around(house, members or (item,))
        if kind == "entity" and not members:
            places |= _users(house, (item,))
        found |= places
    elif kind == "area" and item in house.areas:
        inside = [t.entity_id for t in house.things.values() if t.area_id == item]
        floor = house.areas[item].floor_id
        found = _around(house, inside) | _users(house, inside)
        found |= {"entity": inside, "floor": [floor] if floor else []}
        found.pop("area", None)
    elif kind == "device":
        of_it = [t.entity_id for t in house.things.values() if t.device_id == item]
        found = _around(house, of_it) | {"entity": of_it}
        found.pop("device", None)
    return {key: ids for key, ids in found.items() if ids}


def _around(house: DemoHouse, entity_ids: Iterable[str]) -> dict[str, list[str]]:
    """Devices, areas and floors of some entities."""
    known = [house.things[entity_id] for entity_id in entity_ids if entity_id in house.things]
    areas = [area for thing in known if (area := house.area_of(thing.entity_id))]
    return {
        "device": _once(thing.device_id for thing in known),
        "area": _once(area.area_id for area in areas),
        "floor": _once(area.floor_id for area in areas),
    }


def _users(house: DemoHouse, entity_ids: Iterable[str]) -> dict[str, list[str]]:
    """Scripts and scenes that act on one of the entities."""
    wanted = set(entity_ids)
    makers = [t for t in house.things if wanted & set(touched(house, t))]
    return {
        domain: [entity_id for entity_id in makers if entity_id.startswith(f"{domain}.")]
        for domain in ("script", "scene")
    }


def _once(ids: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(id_ for id_ in ids if id_ is not None))


# Which actions the house offers and with which fields, as `get_services` tells it.


Json = dict[str, Any]
TARGETS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")


@dataclass(frozen=True, slots=True)
class Offer:
    """One action. `response`: does it give an answer never, if asked to, or always."""

    fields: Mapping[str, Json] = field(default_factory=dict)
    on: str | None = None  # domain of its targets; None: it has none
    response: Literal["none", "optional", "only"] = "none"
    free: bool = False  # are other fields than these fine


def _number(low: float, high: float, unit: str = "%", *, required: bool = False) -> Json:
    selector = {"number": {"min": low, "max": high, "unit_of_measurement": unit}}
    return {"selector": selector, **({"required": True} if required else {})}


def _text(*, required: bool = False) -> Json:
    return {"selector": {"text": {}}, **({"required": True} if required else {})}


def _on(domain: str, *services: str, **fields: Json) -> dict[tuple[str, str], Offer]:
    return {(domain, service): Offer(fields, on=domain) for service in services}


_OBJECT: Json = {"selector": {"object": {}}}
_ITEM = {"item": _text(required=True)}
_KIND = {"select": {"options": ["daily", "hourly", "twice_daily"]}}

_OFFERS: dict[tuple[str, str], Offer] = {
    **_on("light", "turn_off", "toggle", transition=_number(0, 300, "s")),
    **_on(
        "light",
        "turn_on",
        brightness_pct=_number(0, 100),
        brightness=_number(0, 255, ""),
        rgb_color={"selector": {"color_rgb": {}}},
        color_name=_text(),
        color_temp_kelvin=_number(2000, 6535, "K"),
        transition=_number(0, 300, "s"),
    ),
    **_on("switch", "turn_on", "turn_off", "toggle"),
    **_on("fan", "turn_on", percentage=_number(0, 100)),
    **_on("fan", "turn_off", "toggle"),
    **_on("fan", "set_percentage", percentage=_number(0, 100, required=True)),
    **_on("cover", "open_cover", "close_cover", "stop_cover"),
    **_on("cover", "set_cover_position", position=_number(0, 100, required=True)),
    **_on("lock", "lock", "unlock", code=_text()),
    **_on("climate", "set_temperature", temperature=_number(0, 250, "°", required=True)),
    **_on("climate", "set_hvac_mode", hvac_mode=_text(required=True)),
    **_on("climate", "turn_on", "turn_off"),
    **_on("media_player", "turn_on", "turn_off", "media_play", "media_pause"),
    **_on("media_player", "media_next_track", "media_previous_track", "volume_up", "volume_down"),
    **_on("media_player", "volume_set", volume_level=_number(0, 1, "", required=True)),
    **_on("media_player", "volume_mute", is_volume_muted={"required": True}),
    **_on("vacuum", "start", "return_to_base"),
    **_on("script", "turn_on", "turn_off", variables={"selector": {"object": {}}}),
    **_on("scene", "turn_on", transition=_number(0, 300, "s")),
    ("scene", "create"): Offer(
        {
            "scene_id": _text(required=True),
            "snapshot_entities": {"selector": {"entity": {"multiple": True}}},
            "entities": {"selector": {"object": {}}},
        }
    ),
    ("scene", "delete"): Offer(on="scene"),
    ("todo", "add_item"): Offer(_ITEM, on="todo"),
    ("todo", "get_items"): Offer({"status": _text()}, on="todo", response="only"),
    ("weather", "get_forecasts"): Offer(
        {"type": {"required": True, "selector": _KIND}}, on="weather", response="only"
    ),
    ("homeassistant", "turn_on"): Offer(on="homeassistant", free=True),
    ("homeassistant", "turn_off"): Offer(on="homeassistant", free=True),
    ("notify", "send_message"): Offer(
        {"message": _text(required=True), "title": _text()}, on="notify"
    ),
}


def offer(house: DemoHouse, domain: str, service: str) -> Offer | None:
    """The action of that name, if there is one."""
    if domain == "script" and (script := SCRIPTS.get(f"script.{service}")):
        return Offer(_script_fields(script), response="optional", free=True)
    if domain == "notify" and service in house.notifiers():
        fields = {"message": _text(required=True), "title": _text(), "data": _OBJECT}
        return Offer({**fields, "target": _OBJECT})
    return _OFFERS.get((domain, service))


def services(house: DemoHouse) -> dict[str, dict[str, Json]]:
    """`get_services`: domain, action, and what it takes."""
    names = [
        *_OFFERS,
        *(("script", entity_id.partition(".")[2]) for entity_id in SCRIPTS),
        *(("notify", name) for name in house.notifiers()),
    ]
    told: dict[str, dict[str, Json]] = {}
    for domain, service in names:
        found = offer(house, domain, service)
        if found is not None:
            told.setdefault(domain, {})[service] = _row(domain, service, found)
    return told


def _row(domain: str, service: str, offered: Offer) -> Json:
    row: Json = {"fields": dict(offered.fields)}
    script = SCRIPTS.get(f"{domain}.{service}")
    if script is not None:
        row = {"description": script.description, **row}
    if offered.on == "weather":
        row["target"] = {"entity": [{"domain": ["weather"], "supported_features": _bits()}]}
    elif offered.on is not None:
        any_domain = offered.on == "homeassistant"
        row["target"] = {} if any_domain else {"entity": [{"domain": [offered.on]}]}
    if offered.response != "none":
        row["response"] = {"optional": offered.response == "optional"}
    return row


def _bits() -> list[int]:
    return sorted(FEATURES.values())


def _script_fields(script: Script) -> dict[str, Json]:
    return {
        name: {
            "description": known.description,
            "required": known.required,
            "selector": dict(known.selector),
        }
        for name, known in script.fields.items()
    }


OVERVIEW = "An overview of the areas and the devices in this smart home:"

# The attributes that are shown, where an entity has them.
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

# What a YAML reader would take for something else than text.
_NOT_TEXT = re.compile(
    r"(?i)^(on|off|yes|no|true|false|null|~|y|n"
    r"|[-+]?[\d.][\d.:_eE+-]*|\d{4}-\d\d-\d\d.*"  # numbers and dates
    r"|[-?:,\[\]{}#&*!|>'\"%@` ].*|.*(: | #).*|.*[: ])$"  # signs of YAML's own
)


def prompt(house: DemoHouse, place: CallerPlace) -> str:
    """Instructions for a model, with every exposed entity's names, domain and area."""
    lines = [
        "Ask for live context whenever the answer depends on the present state of the home;",
        "whether a device exists can be told from the static context below.",
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
    """The exposed entities, without scripts, which have tools of their own."""
    return [thing for thing in house.exposed() if thing.domain != "script"]


def live_context(
    house: DemoHouse, name: str | None, domains: tuple[str, ...], area: str | None
) -> dict[str, Any]:
    """The answer of the live context tool: `result`, or `error` if nothing is meant."""
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
    """The states of some entities, as a YAML list under a headline."""
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
    lines = [
        f"- names: {_scalar(', '.join(thing.names))}",
        f"  domain: {thing.domain}",
    ]
    area = house.area_of(thing.entity_id)
    if area is not None:
        lines.append(f"  areas: {_scalar(', '.join((area.name, *sorted(area.aliases))))}")
    return lines


def _attributes(domain: str, state: Snapshot) -> dict[str, Any]:
    """Shown attributes in their order; whole numbers as text, fractions as numbers."""
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
    """One YAML scalar: quoted only where it would not be read as text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    return "'" + value.replace("'", "''") + "'" if _NOT_TEXT.match(value) else value
