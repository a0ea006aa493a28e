"""Answers from attributes: what is playing, how bright a lamp is, what a thermostat is set to."""

import json
from collections.abc import Callable, Sequence

from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.targets import Target, members
from assistant.speech.catalogue import Catalogue, counted
from assistant.tools.house.answers import reading
from assistant.tools.house.names import (
    brightness_percent,
    capitalised,
    named_thing,
    spoken_names,
    stemmed,
)
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House

_DOMAINS = {
    "playing": "media_player",
    "volume": "media_player",
    "brightness": "light",
    "target": "climate",
    "speed": "fan",
    "position": "cover",
}


OUTSIDE = "outside"  # response of questions about the temperature outside


def outside(house: House, say: Catalogue, language: str) -> str:
    """Return a sentence with the temperature of an outdoor sensor, or "" if there is no such
    sensor."""
    units = ("°C", "°F")
    sensors = [
        one
        for one in house.of_domain("sensor")
        if one.attributes.get("unit_of_measurement") in units
    ]
    for one in sensors:
        degrees = reading(one, "temperature")
        if degrees is not None and mentions("outdoors", *one.names):
            return say.say("offline.outside", language, degrees=f"{degrees:g}")
    return ""


def read_out(command: ParsedCommand, house: House, say: Catalogue, language: str) -> str:
    """Return the answer to a question about an attribute."""
    asked, domain = command.response, _DOMAINS[command.response]
    things = members(Target(command.entity_ids, domain, command.area_id, command.floor_id), house)
    told = [line for one in things if (line := _LINES[asked](one, say, language))]
    if told:
        return " ".join(told)
    return say.say(
        "offline.nothing_playing" if asked == "playing" else "offline.none_there", language
    )


def _playing(one: Entity, say: Catalogue, language: str) -> str:
    if one.state != "playing":
        return ""
    what = one.attributes.get("media_title") or one.attributes.get("app_name")
    artist = one.attributes.get("media_artist")
    title = f"{what}, {artist}" if what and artist else what
    where = named_thing(one.names, say, language)
    if not title:
        return capitalised(say.say("offline.plays", language, what=where))
    return say.say("offline.plays_title", language, title=title, what=where)


def _brightness(one: Entity, say: Catalogue, language: str) -> str:
    percent = brightness_percent(one) if one.state == "on" else 0
    return "" if percent is None else _measured("offline.is_bright", one, say, language, percent)


def _target(one: Entity, say: Catalogue, language: str) -> str:
    degrees = one.attributes.get("temperature")
    if not isinstance(degrees, int | float):
        return ""
    return _measured("offline.is_set_to", one, say, language, degrees)


def _volume(one: Entity, say: Catalogue, language: str) -> str:
    level = one.attributes.get("volume_level")
    if not isinstance(level, int | float):
        return ""
    return _measured("offline.is_loud", one, say, language, round(level * 100))


def _speed(one: Entity, say: Catalogue, language: str) -> str:
    percent = one.attributes.get("percentage") if one.state == "on" else 0
    if not isinstance(percent, int | float):
        return ""
    return _measured("offline.is_bright", one, say, language, percent)


def _position(one: Entity, say: Catalogue, language: str) -> str:
    percent = one.attributes.get("current_position")
    if not isinstance(percent, int | float):
        return ""
    return _measured("offline.is_open_to", one, say, language, percent)


def _measured(key: str, one: Entity, say: Catalogue, language: str, value: float) -> str:
    what = named_thing(one.names, say, language)
    return capitalised(say.say(key, language, what=what, value=f"{value:g}"))


_LINES: dict[str, Callable[[Entity, Catalogue, str], str]] = {
    "playing": _playing,
    "brightness": _brightness,
    "target": _target,
    "volume": _volume,
    "speed": _speed,
    "position": _position,
}


def list_items(data: str, say: Catalogue, language: str, item: str = "") -> str:
    """Return a sentence that says what is on a list, or whether an item is. `data` is the answer of
    Home Assistant's list tool."""
    items = items_of(data)
    if item:
        found = stemmed(item) in map(stemmed, items)
        return say.say("offline.list_holds" if found else "offline.list_lacks", language, item=item)
    if not items:
        return say.say("offline.list_empty", language)
    key = "offline.list_one" if len(items) == 1 else "offline.list_many"
    return say.say(key, language, count=counted(len(items)), items=spoken_names(items))


def items_of(data: str) -> Sequence[str]:
    """Return the items in the answer of Home Assistant's list tool."""
    try:
        found = json.loads(data)["items"]
        return [str(item["summary"]) for item in found]
    except (ValueError, KeyError, TypeError):
        return []
