"""A command becomes a call of the menu's tool: which tool, which arguments."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from assistant.brains.offline.alarms import TOOLS as ALARM_TOOLS
from assistant.brains.offline.alarms import alarm_arguments
from assistant.brains.offline.memory_sentences import TOOLS as MEMORY_TOOLS
from assistant.brains.offline.own import OWN_ARGUMENTS, OWN_TOOLS
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.profile_sentences import INTENT as PROFILE
from assistant.brains.offline.profile_sentences import profile_of
from assistant.brains.offline.timers import TOOLS as TIMER_TOOLS
from assistant.brains.offline.timers import length_arguments, timer_arguments, wants_command
from assistant.brains.offline.undoing import TOOLS as UNDO_TOOLS
from assistant.timers.later_tool import DO_LATER
from assistant.tools.builtin.protocol import REMEMBER
from assistant.tools.builtin.weather import TODAY, WEATHER_FORECAST
from assistant.tools.catalog.menu import Menu
from assistant.tools.house.names import stemmed
from assistant.tools.policy.choices import SWITCH_PROFILE
from assistant.tools.vocabulary import LANGUAGES, entries, fold
from integrations.home_assistant.house import Entity, House


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a command makes no call: a key of the catalogue and its values."""

    key: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Call:
    """What the toolbox is to run."""

    tool: str
    arguments: dict[str, Any]


_INTEGERS = ("brightness", "position", "percentage", "volume_level", "temperature", "volume_step")
_CLIMATE = "HassClimateSetTemperature"
# Home Assistant names its tools after the intents; these sentences lead to another tool.
_SAME_TOOL = {
    "HassGetWeather": WEATHER_FORECAST,
    "HassShoppingListAddItem": "HassListAddItem",
    "HassShoppingListCompleteItem": "HassListCompleteItem",
}


def settle_target(command: ParsedCommand, house: House, here: str) -> ParsedCommand | Problem:
    """The command with one meaning of its name, or the question that the person must answer.

    `here` is the area in which the assistant stands, "" where none is set.
    """
    if command.later is not None:
        later = settle_target(command.later, house, here)
        return later if isinstance(later, Problem) else replace(command, later=later)
    if (place := command.area_id if command.area_said else here) and _says_a_kind(command):
        # One lamp is called "Lights", but people who say "the lights" mean all of the room.
        return replace(command, entity_ids=(), name="", called="", area_id=place)
    if len(command.entity_ids) < 2 and not (command.entity_ids and command.area_said):
        return command
    entities = [house.entities[entity_id] for entity_id in command.entity_ids]
    area_id = command.area_id or here
    there = [entity for entity in entities if entity.area_id == area_id]
    if len(there) == 1:
        return replace(command, entity_ids=(there[0].entity_id,), area_id=area_id)
    if command.area_said and not there:
        area = house.areas[command.area_id].name
        return Problem("offline.not_there", {"name": command.name, "area": area})
    return Problem("offline.ambiguous", {"name": command.name, "count": len(there or entities)})


def _says_a_kind(command: ParsedCommand) -> bool:
    """Whether the name that was said is the plain word for lamps, and not one lamp's own name."""
    if command.slots.get("domain") != "light" or command.intent not in _OF_LIGHTS:
        return False
    return fold(command.name) in _lamp_words()


@cache
def _lamp_words() -> frozenset[str]:
    """Those for several: of two words with one stem the longer one ("lights", "luces")."""
    return frozenset(
        fold(word)
        for words in (entries("lights", code) for code in LANGUAGES)
        for word in words
        if any(stemmed(one) == stemmed(word) and len(one) < len(word) for one in words)
    )


_OF_LIGHTS = ("HassLightSet", "HassTurnOff", "HassTurnOn")


def make_call(command: ParsedCommand, house: House, menu: Menu, now: datetime) -> Call | Problem:
    """The call for a command whose target is settled. `now`: on the clock of the house."""
    if wants_command(command):
        return _later_call(command, house, menu, now)
    if command.intent in TIMER_TOOLS:
        return _own_call(TIMER_TOOLS[command.intent][0], timer_arguments(command), menu)
    if command.intent in ALARM_TOOLS:
        return _own_call(ALARM_TOOLS[command.intent], alarm_arguments(command, now), menu)
    if command.intent in MEMORY_TOOLS:
        return _own_call(MEMORY_TOOLS[command.intent], dict(command.slots), menu)
    if command.intent == PROFILE:
        return _profile_call(str(command.slots.get("profile", "")), menu)
    tool = {**_SAME_TOOL, **OWN_TOOLS, **UNDO_TOOLS}.get(command.intent, command.intent)
    entry = menu.find(tool)
    if entry is None:
        return Problem("offline.no_tool", {})
    wanted = _target(command, house) | _values(command)
    wanted |= OWN_ARGUMENTS.get(command.intent, {})
    if command.intent == "HassGetWeather":
        wanted = {"when": TODAY} | wanted
    elif command.intent in _SAME_TOOL:
        name = _shopping_list(house, command.text)
        if name is None:
            return Problem("offline.no_list", {})
        wanted["name"] = name
    takes = entry.tool.input_schema.get("properties", {})
    return Call(
        entry.declaration.name, {key: value for key, value in wanted.items() if key in takes}
    )


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
    name = profile_of(said, offered)
    if name is None:
        return Problem("profiles.unknown", {"name": said})
    return Call(entry.declaration.name, {"profile": name})


def call_remember(arguments: Mapping[str, Any], menu: Menu) -> Call | None:
    """The call that tells a name which was asked for; None where there is no such tool."""
    call = _own_call(REMEMBER, dict(arguments), menu)
    return call if isinstance(call, Call) else None


def _later_call(command: ParsedCommand, house: House, menu: Menu, now: datetime) -> Call | Problem:
    """The call of what is to be done, given to whoever keeps it until then."""
    wanted = command.later
    if wanted is None or wants_command(wanted):
        return Problem("later.not_such", {})
    call = make_call(wanted, house, menu, now)
    if isinstance(call, Problem):
        return call
    given = {"tool": call.tool, "arguments": call.arguments, "what": wanted.text}
    return _own_call(DO_LATER, length_arguments(command) | given, menu)


def _target(command: ParsedCommand, house: House) -> dict[str, Any]:
    """Name and domain, with the area where the name alone is not enough; else area or floor."""
    target: dict[str, Any] = {}
    if command.entity_ids:
        entity = house.entities[command.entity_ids[0]]
        target["name"] = entity.name
        area = house.areas.get(entity.area_id or "")
        if area is not None and _is_shared(entity, house):
            target["area"] = area.name
    elif command.area_id in house.areas:
        target["area"] = house.areas[command.area_id].name
    elif command.floor_id in house.floors:
        target["floor"] = house.floors[command.floor_id].name
    return target


def _is_shared(entity: Entity, house: House) -> bool:
    """Does another visible entity of the domain answer to the same name?"""
    name = entity.name.casefold()
    return any(
        other.entity_id != entity.entity_id
        and other.domain == entity.domain
        and name in (text.casefold() for text in other.names)
        for other in house.exposed()
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
    """Half degrees stay as they are; everything else is a whole number of percent or kelvin."""
    return value.is_integer() or not (key == "temperature" and command.intent == _CLIMATE)


def _shopping_list(house: House, said: str) -> str | None:
    """The list that "the shopping list" means: the one whose name was said, in any language, or
    that is named so, else the only one."""
    lists = [entity for entity in house.exposed() if entity.domain == "todo"]
    for entity in lists:
        if entity.name.casefold() in said.casefold():
            return entity.name
    for entity in lists:
        if "shopping" in entity.entity_id or "shopping" in entity.name.casefold():
            return entity.name
    return lists[0].name if len(lists) == 1 else None


# Several commands in one sentence: split at "and", the verb carried over to parts that lack it.


_AND = re.compile(r"(?:\s*,\s*|\s+)(?:and then|and|then|y luego|y)\s+|\s*,\s+")
_FINAL_WORDS = ("on", "off")
_BARE_INTENTS = ("HassTurnOn",)  # a name alone reads as "turn it on"
MAX_PARTS = 8

Parse = Callable[[str], ParsedCommand | None]


def parse_all(text: str, parse: Parse) -> list[ParsedCommand]:
    """Every command of the sentence in order; empty unless all parts are complete."""
    whole = parse(text)
    if whole is not None:
        return [whole]
    parts = [part for part in _AND.split(text.strip()) if part]
    if not 1 < len(parts) <= MAX_PARTS:
        return []
    commands: list[ParsedCommand] = []
    for part in parts:
        command = _part(part, parts[-1], commands[-1] if commands else None, parse)
        if command is None:
            return []
        commands.append(command)
    return commands


def _part(part: str, last: str, before: ParsedCommand | None, parse: Parse) -> ParsedCommand | None:
    """One part by itself, or completed with what its neighbours say."""
    if before is not None:
        carried = _carried(part, before)
        alone = parse(part)
        if alone is not None and not _is_bare(part, alone):
            return alone
        for candidate in carried:
            command = parse(candidate)
            if command is not None:
                return command
        return alone if before.intent in _BARE_INTENTS else None
    command = parse(part)
    ending = last.split()[-1]
    if command is None and ending in _FINAL_WORDS:
        return parse(f"{part} {ending}")
    return command


def _carried(part: str, before: ParsedCommand) -> list[str]:
    """The part behind the words that the command before it began with, longest first.

    "turn on the kitchen light" + "the hall light" -> "turn on the hall light"; one that ends with
    its switch word gives that too: "turn the kitchen light off" + "the hall light".
    """
    words = before.text.split()
    shared = [" ".join(words[:count]) for count in range(min(3, len(words) - 1), 0, -1)]
    candidates = [f"{start} {part}" for start in shared]
    if words[-1] in _FINAL_WORDS:
        candidates.append(f"{words[0]} {part} {words[-1]}")
    return candidates


def _is_bare(part: str, command: ParsedCommand) -> bool:
    """Is the part only a name, so that its verb stands in front of another part?"""
    return command.intent in _BARE_INTENTS and command.called.strip() == part.strip().lower()
