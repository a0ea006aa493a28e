"""Actions of the simulated house: their descriptions (`get_services`), validation and execution."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from integrations.demo_home import scenes, services
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scenes import SCRIPTS, Script, run_script
from integrations.demo_home.services import DataError, ServiceError, UnfitError, UnknownServiceError
from integrations.demo_home.surroundings import FEATURES

Json = dict[str, Any]
TARGETS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")


@dataclass(frozen=True, slots=True)
class Offer:
    """The description of an action.

    `response` is "none" if the action never returns data, "optional" if it does on request, and
    "only" if the data must be requested.
    """

    fields: Mapping[str, Json] = field(default_factory=dict)
    on: str | None = None  # domain of the targets; None if the action has no targets
    response: Literal["none", "optional", "only"] = "none"
    free: bool = False  # True if other fields than these are accepted

    def is_misasked(self, wants_answer: bool) -> bool:
        """Return True if response data is requested but not available, or required but not
        requested."""
        return self.response == ("none" if wants_answer else "only")


def _number(low: float, high: float, unit: str = "%", *, required: bool = False) -> Json:
    selector = {"number": {"min": low, "max": high, "unit_of_measurement": unit}}
    return {"selector": selector, **({"required": True} if required else {})}


def _text(*, required: bool = False) -> Json:
    return {"selector": {"text": {}}, **({"required": True} if required else {})}


def _on(domain: str, *action_list: str, **fields: Json) -> dict[tuple[str, str], Offer]:
    return {(domain, service): Offer(fields, on=domain) for service in action_list}


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
    **_on("humidifier", "turn_on", "turn_off", "toggle"),
    **_on("humidifier", "set_humidity", humidity=_number(0, 100, required=True)),
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
    ("calendar", "get_events"): Offer(
        {
            "start_date_time": {"selector": {"datetime": {}}},
            "end_date_time": {"selector": {"datetime": {}}},
            "duration": {"selector": {"duration": {}}},
        },
        on="calendar",
        response="only",
    ),
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
    """Return the description of an action, or None if the house has no such action."""
    if domain == "script" and (script := SCRIPTS.get(f"script.{service}")):
        return Offer(_script_fields(script), response="optional", free=True)
    if domain == "notify" and service in house.notifiers():
        fields = {"message": _text(required=True), "title": _text(), "data": _OBJECT}
        return Offer({**fields, "target": _OBJECT})
    return _OFFERS.get((domain, service))


def action_list(house: DemoHouse) -> dict[str, dict[str, Json]]:
    """Return all actions and their fields by domain, as `get_services` does."""
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


Data = Mapping[str, Any]
_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def offered(house: DemoHouse, domain: str, service: str) -> Offer:
    """Return the description of an action. Raises UnknownServiceError."""
    found = offer(house, domain, service)
    if found is None:
        raise UnknownServiceError(f"Service {domain}.{service} not found.")
    return found


def run(house: DemoHouse, domain: str, service: str, data: Data) -> Data:
    """Run an action and return its response data, or {}. Targets can be given in the data itself or
    under `target`. Raises ServiceError."""
    known = offered(house, domain, service)
    where = {**data, **(data.get("target") or {})}
    own = {key: value for key, value in data.items() if key not in (*TARGETS, "target")}
    _check(known, own)
    if known.on is None:
        return _without_target(house, domain, service, own)
    if not any(key in where for key in TARGETS):
        raise DataError(f"at least one of {list(TARGETS)} is required")
    return _on_targets(house, domain, service, where, own)


def _check(known: Offer, data: Data) -> None:
    for name in data:
        if name not in known.fields and not known.free:
            raise DataError(f"not a valid option at '{name}'")
    if known.free and known.on is None and "message" not in known.fields:
        return  # a script's fields are not enforced
    for name, about in known.fields.items():
        if about.get("required") and name not in data:
            raise DataError(f"required key not provided at '{name}'")


def _without_target(house: DemoHouse, domain: str, service: str, data: Data) -> Data:
    if domain == "script":
        return run_script(house, f"script.{service}", data, services.call) or {}
    if domain == "scene":
        _create_scene(house, data)
        return {}
    if not isinstance(data.get("data", {}), dict):
        raise DataError("expected dict for dictionary value @ data['data']")
    house.notify(service, data)
    return {}


def _create_scene(house: DemoHouse, data: Data) -> None:
    if "entities" not in data and "snapshot_entities" not in data:
        raise DataError("at least one of ['entities', 'snapshot_entities'] is required")
    given, kept = data.get("entities", {}), _listed(data.get("snapshot_entities"))
    if set(given) & set(kept):
        raise DataError("entities and snapshot_entities must not overlap")
    scene_id = str(data["scene_id"])
    if not scenes.SLUG.fullmatch(scene_id):
        raise DataError(f"invalid slug {scene_id} at 'scene_id'")
    for entity_id, wanted in given.items():
        if not isinstance(wanted.get("state") if isinstance(wanted, Mapping) else wanted, str):
            raise DataError(f"State for {entity_id} should be a string at 'entities'")
    for entity_id in (*given, *kept):
        if not _ENTITY_ID.fullmatch(entity_id):
            raise DataError(f"Entity ID {entity_id} is an invalid entity ID")
    scenes.create(house, scene_id, kept, given)


def _delete_scene(house: DemoHouse, entity_id: str) -> None:
    if entity_id not in house.things or not entity_id.startswith("scene."):
        raise UnfitError(f"{entity_id} is not a valid entity ID of a scene")
    if entity_id not in house.scenes:
        raise UnfitError(f"The scene {entity_id} is not created with action `scene.create`")
    scenes.delete(house, entity_id)


def _on_targets(house: DemoHouse, domain: str, service: str, where: Data, own: Data) -> Data:
    answers: dict[str, Any] = {}
    if (domain, service) == ("scene", "delete"):
        for entity_id in _listed(where.get("entity_id")):
            _delete_scene(house, entity_id)
        return answers
    reached = 0
    for entity_id in _targets(house, domain, where):
        reached += 1
        answers |= services.call(house, domain, service, entity_id, own) or {}
    if offered(house, domain, service).response == "only" and not reached:
        raise ServiceError("Service call requested response data but did not match any entities")
    return answers


def _targets(house: DemoHouse, domain: str, where: Data) -> list[str]:
    areas = set(_listed(where.get("area_id")))
    floors = set(_listed(where.get("floor_id")))
    devices = set(_listed(where.get("device_id")))
    found = [
        entity_id for entity_id in _listed(where.get("entity_id")) if entity_id in house.things
    ]
    for thing in house.things.values():
        area = house.area_of(thing.entity_id)
        inside = area is not None and (area.area_id in areas or area.floor_id in floors)
        if (inside or thing.device_id in devices) and thing.entity_id not in found:
            found.append(thing.entity_id)
    anything = domain == "homeassistant"
    return [entity_id for entity_id in found if anything or entity_id.startswith(f"{domain}.")]


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
