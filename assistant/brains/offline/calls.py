"""Choose the tool and arguments for a parsed command."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import (
    ALARM_DAYS,
    ALARM_TOOLS,
    CALENDAR,
    CANCEL_ALARM,
    CLEAR_LIST,
    LIST_ALARMS,
    LIST_ITEMS,
    MEMORY_TOOLS,
    OWN_TOOLS,
    PROFILE_INTENT,
    SNOOZE_ALARM,
    TIMER_TOOLS,
    TOMORROW,
    VALUE,
    WHEN,
)
from assistant.brains.offline.settle import Problem
from assistant.timers.later import DO_LATER
from assistant.timers.recurrence import WEEKDAYS
from assistant.timers.tools import SNOOZE
from assistant.tools.builtin.box_settings import named
from assistant.tools.builtin.date_and_weather import TODAY, WEATHER_FORECAST
from assistant.tools.builtin.protocol import REMEMBER, SWITCH_PROFILE
from assistant.tools.catalog.menu import Menu
from assistant.tools.house.intents import INTENTS, LATER, LISTING
from integrations.home_assistant.house import Entity, House


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: dict[str, Any]


_INTEGERS = ("brightness", "position", "percentage", "volume_level", "temperature", "volume_step")
_CLIMATE = "HassClimateSetTemperature"
# Home Assistant's tools have the names of their intents, except for these intents.
_SAME_TOOL = {
    "HassGetWeather": WEATHER_FORECAST,
    "HassShoppingListAddItem": "HassListAddItem",
    "HassShoppingListCompleteItem": "HassListCompleteItem",
}


def make_call(command: ParsedCommand, house: House, menu: Menu, now: datetime) -> Call | Problem:
    """Return the tool call for a command with a single target (see `settle_target`).

    `now` is the house's local time.
    """
    if _wants_command(command):
        return _later_call(command, house, menu, now)
    if command.intent in TIMER_TOOLS:
        return _own_call(TIMER_TOOLS[command.intent][0], _timer_arguments(command), menu)
    if command.intent in ALARM_TOOLS:
        return _own_call(ALARM_TOOLS[command.intent], _alarm_arguments(command, now), menu)
    if command.intent in MEMORY_TOOLS:
        return _own_call(MEMORY_TOOLS[command.intent], dict(command.slots), menu)
    if command.intent == PROFILE_INTENT:
        return _profile_call(str(command.slots.get("profile", "")), menu)
    if command.slots.get("domain") == "script" and (call := _script_call(command, house, menu)):
        return call
    if command.intent == CALENDAR:
        return _calendar_call(command, menu)
    if command.intent in (LIST_ITEMS, CLEAR_LIST):
        return _list_call(command, house, menu)
    tool, given = OWN_TOOLS.get(command.intent, (command.intent, {}))
    tool = _SAME_TOOL.get(tool, tool)
    entry = menu.find(tool)
    if entry is None:
        reason = _reason(tool, command, house) if menu.has_home else "offline.no_tool"
        return Problem(reason, {})
    wanted = _target(command, house) | _values(command) | dict(given)
    if command.intent == "HassGetWeather":
        wanted = {"when": TODAY} | wanted
    elif command.intent in _SAME_TOOL or (command.intent in LISTING and "name" not in wanted):
        name = _shopping_list(house, command.text)
        if name is None:
            return Problem("offline.no_list", {})
        wanted["name"] = name
    if command.intent in LISTING or command.intent in _SAME_TOOL:
        wanted["item"] = separated(str(wanted.get("item", "")))
    takes = entry.tool.input_schema.get("properties", {})
    return Call(
        entry.declaration.name, {key: value for key, value in wanted.items() if key in takes}
    )


# Templates such as "pon {search_query}" accept any words.
_PLAYS = re.compile(r"\b(play|listen|reproduc\w*|toca|escucha\w*)\b", re.IGNORECASE)


def _reason(tool: str, command: ParsedCommand, house: House) -> str:
    """Return the catalogue key that says why Home Assistant doesn't offer a tool."""
    if tool == "HassMediaSearchAndPlay":
        return f"offline.{'no_search' if _PLAYS.search(command.text) else 'no_tool'}"
    intent = INTENTS.get(tool)
    domains = intent.domains if intent is not None and intent.domains else None
    if domains is None or any(one.domain in domains for one in house.exposed()):
        return "offline.no_tool"
    return "offline.none_there"


# Pairs that are one thing on a list.
_PAIRS = re.compile(
    r"salt and pepper|(mac|macaroni) and cheese|fish and chips|gin and tonic|sal y pimienta"
)
_AND = re.compile(r"\s+(?:and|y|e|und|et|và)\s+")
_THE = re.compile(r"(^|, )(?:the|some|any|my|our|el|la|los|las|unos|unas) (?=\w)", re.IGNORECASE)


def separated(item: str) -> str:
    """Return "milk, eggs" for "milk and the eggs", because a list tool accepts one item at a
    time."""
    return _THE.sub(r"\1", item if _PAIRS.search(item.lower()) else _AND.sub(", ", item))


def _calendar_call(command: ParsedCommand, menu: Menu) -> Call | Problem:
    if not command.name:
        return Problem("offline.no_calendar", {})
    entry = next(filter(None, map(menu.find, _READS_CALENDAR)), None)
    if entry is None:
        return Problem("offline.no_tool", {})
    days = "today" if command.slots[WHEN] == "today" else "week"
    return Call(entry.declaration.name, {"calendar": command.name, "range": days})


_READS_CALENDAR = ("get_events", "calendar_get_events")  # before Home Assistant 2026.9, the second


def _list_call(command: ParsedCommand, house: House, menu: Menu) -> Call | Problem:
    name = command.name if command.entity_ids else _shopping_list(house, command.text)
    entry = next(filter(None, map(menu.find, _READS_LIST)), None)
    if name is None or entry is None:
        return Problem("offline.no_list" if name is None else "offline.no_tool", {})
    return Call(entry.declaration.name, {"todo_list": name})


_READS_LIST = ("get_items", "todo_get_items")  # before Home Assistant 2026.9, the second


def _script_call(command: ParsedCommand, house: House, menu: Menu) -> Call | Problem | None:
    """Return the call of a script's own tool, if the script needs values."""
    if command.intent != "HassTurnOn" or len(command.entity_ids) != 1:
        return None
    entry = menu.find(command.entity_ids[0].partition(".")[2])
    schema = {} if entry is None else entry.tool.input_schema
    needed = [key for key in schema.get("required", ()) if key not in command.slots]
    fields = schema.get("properties", {})
    given = {key: command.slots[key] for key in fields if key in command.slots}
    numbers = [key for key in needed if fields.get(key, {}).get("type") in ("number", "integer")]
    if len(numbers) == 1 and VALUE in command.slots:
        given[numbers[0]] = command.slots[VALUE]
        needed.remove(numbers[0])
    given |= {key: fields[key]["default"] for key in needed if "default" in fields.get(key, {})}
    lacking = [key for key in needed if key not in given]
    if entry is None or not (given or lacking):
        return None
    if lacking:
        name = house.entities[command.entity_ids[0]].name
        return Problem("offline.needs_value", {"field": lacking[0], "name": name})
    return Call(entry.declaration.name, given)


def _own_call(tool: str, arguments: dict[str, Any], menu: Menu) -> Call | Problem:
    entry = menu.find(tool)
    if entry is None:
        return Problem("offline.no_tool", {})
    return Call(entry.declaration.name, arguments)


def _profile_call(said: str, menu: Menu) -> Call | Problem:
    entry = menu.find(SWITCH_PROFILE)
    if entry is None:
        return Problem("profiles.unknown", {"name": said})
    offered = entry.tool.input_schema["properties"]["profile"]["enum"]
    name = said if said in offered else named(said, offered)
    if name is None:
        return Problem("profiles.unknown", {"name": said})
    return Call(entry.declaration.name, {"profile": name})


def call_remember(arguments: Mapping[str, Any], menu: Menu) -> Call | None:
    """Return the call that adds the owner's name to a remembered fact, or None if
    there is no such tool."""
    call = _own_call(REMEMBER, dict(arguments), menu)
    return call if isinstance(call, Call) else None


def _later_call(command: ParsedCommand, house: House, menu: Menu, now: datetime) -> Call | Problem:
    wanted = command.later
    if wanted is None or _wants_command(wanted):
        return Problem("later.not_such", {})
    call = make_call(wanted, house, menu, now)
    if isinstance(call, Problem):
        return call
    given = {"tool": call.tool, "arguments": call.arguments, "what": wanted.text}
    if "time" in command.slots:
        given["time"] = _time(command, now)
    return _own_call(DO_LATER, _length_arguments(command) | given, menu)


_TIMER_LENGTHS = ("hours", "minutes", "seconds", "start_hours", "start_minutes", "start_seconds")


def _wants_command(command: ParsedCommand) -> bool:
    return LATER in command.slots


def _length_arguments(command: ParsedCommand) -> dict[str, int]:
    return {key: int(command.slots[key]) for key in _TIMER_LENGTHS if key in command.slots}


def _timer_arguments(command: ParsedCommand) -> dict[str, Any]:
    arguments = dict(TIMER_TOOLS[command.intent][1])
    arguments |= _length_arguments(command)
    # All timers of this device are in the same room, so a room in the sentence is the timer's name.
    name = (command.name or (command.place if command.area_said else "")).strip()
    if name and not arguments.get("all"):
        arguments["name"] = name
    return arguments


_LENGTHS = ("hours", "minutes", "seconds")


def _alarm_arguments(command: ParsedCommand, now: datetime) -> dict[str, Any]:
    slots = command.slots
    given: dict[str, Any] = {key: slots[key] for key in ("kind", "all") if key in slots}
    given |= {key: int(slots[key]) for key in _LENGTHS if key in slots}
    text = str(slots.get("text", "")).strip()
    if command.intent == SNOOZE_ALARM:
        return {"action": SNOOZE, **given}
    if command.intent == CANCEL_ALARM:
        at = {"at": _time(command, None)} if "time" in slots else {}
        return given | at | ({"name": text} if text else {})
    if command.intent == LIST_ALARMS:
        return given
    days = str(slots.get("days", ""))
    if "time" in slots:
        plain = not days and not slots.get("wakes")
        given["time"] = _time(command, now if plain else None)
    if days.startswith(_NEXT):
        given["dates"] = [_next(days.removeprefix(_NEXT), now).isoformat()]
    elif days == TOMORROW:
        given["dates"] = [TOMORROW]
    elif days:
        given["days"] = ALARM_DAYS.get(days, [days])
    return given | ({"text": text} if text else {})


_NEXT = "next-"  # before a weekday in the sentence files


def _next(weekday: str, now: datetime) -> date:
    ahead = (WEEKDAYS.index(weekday) - now.weekday() - 1) % 7 + 1
    return now.date() + timedelta(days=ahead)


_NAMED = {"noon": "12:00", "midnight": "00:00"}


def _time(command: ParsedCommand, now: datetime | None) -> str:
    """Return the time as HH:MM on a 24-hour clock."""
    if (named := _NAMED.get(str(command.slots["time"]))) is not None:
        return named
    hour, minute = (int(part) for part in str(command.slots["time"]).split(":"))
    half = command.slots.get("half")
    if half is not None and hour <= 12:
        hour = hour % 12 + 12 * (half == "pm")
    # Without a.m. or p.m., the next of the two times is used.
    elif now is not None and 1 <= hour <= 12:
        passed = now.hour * 60 + now.minute
        halves = (hour % 12, hour % 12 + 12)
        hour = min(halves, key=lambda one: (one * 60 + minute - passed - 1) % (24 * 60))
    return f"{hour:02}:{minute:02}"


def _target(command: ParsedCommand, house: House) -> dict[str, Any]:
    target: dict[str, Any] = {}
    if command.entity_ids:
        entity = house.entities[command.entity_ids[0]]
        target["name"] = entity.name
        # The area is added if other entities share the name.
        area = house.areas.get(entity.area_id or "")
        if area is not None and is_shared(entity, house):
            target["area"] = area.name
    elif command.area_id in house.areas:
        target["area"] = house.areas[command.area_id].name
    elif command.floor_id in house.floors:
        target["floor"] = house.floors[command.floor_id].name
    return target


def is_shared(entity: Entity, house: House) -> bool:
    """Return True if another entity of this domain has the same name."""
    name = entity.name.casefold()
    return any(
        other.entity_id != entity.entity_id and name in (text.casefold() for text in other.names)
        for other in house.of_domain(entity.domain)
    )


def _values(command: ParsedCommand) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in command.slots.items():
        if key in ("domain", "device_class"):
            values[key] = list(value) if isinstance(value, list | tuple) else [value]
        elif key in _INTEGERS and isinstance(value, float) and _is_whole(command, key, value):
            values[key] = int(value)
        else:
            values[key] = value.strip() if isinstance(value, str) else value
    return values


def _is_whole(command: ParsedCommand, key: str, value: float) -> bool:
    # Only thermostats accept half degrees.
    return value.is_integer() or not (key == "temperature" and command.intent == _CLIMATE)


def _shopping_list(house: House, said: str) -> str | None:
    lists = house.of_domain("todo")
    for entity in lists:
        if entity.name.casefold() in said.casefold():
            return entity.name
    for entity in lists:
        if "shopping" in entity.entity_id or "shopping" in entity.name.casefold():
            return entity.name
    return lists[0].name if len(lists) == 1 else None
