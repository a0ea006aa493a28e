"""Which actions the house offers and with which fields, as `get_services` tells it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scripts import SCRIPTS, Script
from integrations.demo_home.weather import FEATURES

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
    if domain == "notify" and service in _phones(house):
        fields = {"message": _text(required=True), "title": _text(), "data": _OBJECT}
        return Offer({**fields, "target": _OBJECT})
    return _OFFERS.get((domain, service))


def services(house: DemoHouse) -> dict[str, dict[str, Json]]:
    """`get_services`: domain, action, and what it takes."""
    names = [
        *_OFFERS,
        *(("script", entity_id.partition(".")[2]) for entity_id in SCRIPTS),
        *(("notify", name) for name in _phones(house)),
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


def _phones(house: DemoHouse) -> Iterable[str]:
    return [f"mobile_app_{phone.slug}" for phone in house.phones.all() if phone.takes_pushes]
