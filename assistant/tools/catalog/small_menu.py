"""The choice of the tools that a cloud model is sent with every turn.

Every declared tool is read and billed in every turn, delays the answer, and makes a wrong choice
more likely. `find_tools` describes the tools that are left out, and `call_tool` calls them
(docs/decisions/0079-a-small-menu.md).
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from assistant.tools.builtin.protocol import CALL_TOOL, FIND_TOOLS, HEARTH
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.house.intents import INTENTS, Intent
from integrations.gemini.declarations import Declaration
from integrations.gemini.tokens import text_tokens, tool_tokens
from integrations.home_assistant.house import Entity, House

MOST_TOOLS = 20  # including `find_tools` and `call_tool`
MOST_TOKENS = 1_250
"""Token limit for the core. With the instruction, it keeps the demo house below 2,600 tokens and a
house with 1,000 things below 4,000."""

_MOST_LISTED = 900  # characters of the list of other tools
_OFTEN = 2  # calls in the time that is counted, from which on a tool counts as used
_FIND_DEVICES = "find_devices"
_ALWAYS = ("GetDateTime", "GetLiveContext", "HassTurnOn", "HassTurnOff")
# In the order of use in a household. Home Assistant's tools count only if the house has a thing for
# them.
_USUAL = (
    *("HassLightSet", "HassClimateSetTemperature", "HassSetPosition", "start_timer"),
    *("HassListAddItem", "HassSetVolume", "HassMediaPause", "undo", "weather_forecast"),
    *("HassMediaUnpause", "cancel_timer", "correct_last", "set_alarm", "get_items", "remember"),
    *("recall", "end_conversation", "repeat"),
)

Uses = Mapping[tuple[str, str], int]  # calls by server and the server's name of the tool


def small_menu(
    offered: Sequence[MenuEntry], house: House, uses: Uses, *, large: bool
) -> tuple[Declaration, ...]:
    """Return the declarations for a model: all tools if they fit, or else a core of them with
    `find_tools` and `call_tool`.

    Without `find_tools`, all are returned even if they don't fit. `large` is True if the
    instruction doesn't list the whole house.
    """
    ways = {entry.tool.name: entry.declaration for entry in offered if entry.finds_others}
    tools = [entry for entry in offered if not entry.finds_others]
    if not ways:
        return tuple(entry.declaration for entry in tools)
    exposed = house.exposed()
    domains = frozenset(one.domain for one in exposed)
    lean = [(entry, _lean(entry, house, exposed)) for entry in tools]
    every = tuple(declaration for _, declaration in lean)
    if len(every) <= MOST_TOOLS and sum(map(tool_tokens, every)) <= MOST_TOKENS:
        return every
    find, call = ways[FIND_TOOLS], ways[CALL_TOOL]
    room = MOST_TOKENS - tool_tokens(find) - tool_tokens(call) - text_tokens(_listed(tools))
    core: set[str] = set()
    for entry, declaration in sorted(lean, key=lambda one: _rank(one[0], uses, large)):
        if len(core) == MOST_TOOLS - len(ways) or not _counts(entry, domains, uses, large):
            continue
        size = tool_tokens(declaration)
        if size <= room:
            core.add(declaration.name)
            room -= size
    others = [entry for entry in tools if entry.declaration.name not in core]
    find = replace(find, description=f"{find.description} There are: {_listed(others)}.")
    return (*(one for one in every if one.name in core), find, call)


def _rank(entry: MenuEntry, uses: Uses, large: bool) -> tuple[int, ...]:
    name = _known_as(entry)
    if large and name == _FIND_DEVICES:
        return (0,)
    if name in _ALWAYS:
        return 1, _ALWAYS.index(name)
    used = _used(entry, uses)
    if used >= _OFTEN:
        return 2, -used
    return 3, _USUAL.index(name) if name in _USUAL else len(_USUAL)


def _counts(entry: MenuEntry, present: Set[str], uses: Uses, large: bool) -> bool:
    name = _known_as(entry)
    if name in _ALWAYS or (large and name == _FIND_DEVICES) or _used(entry, uses) >= _OFTEN:
        return True
    if name not in _USUAL:
        return False
    intent = INTENTS.get(name) if entry.of_home else None
    domains = _domains(intent) if intent is not None else frozenset()
    return not domains or not domains.isdisjoint(present)


def _known_as(entry: MenuEntry) -> str:
    """Return the name of a tool of Hearth or Home Assistant. Other servers' tools get "", because a
    server could otherwise fill the core by its choice of names."""
    return entry.suffix if entry.of_home or entry.built_in is not None else ""


def _used(entry: MenuEntry, uses: Uses) -> int:
    return uses.get((entry.server, entry.tool.name), 0)


def _domains(intent: Intent) -> Set[str]:
    return intent.domains or intent.only


def _listed(others: Sequence[MenuEntry]) -> str:
    servers: dict[str, int] = {}
    names = []
    for entry in others:
        if entry.server == HEARTH or entry.of_home:
            names.append(entry.declaration.name)
        else:
            servers[entry.server] = servers.get(entry.server, 0) + 1
    names[:0] = [f"{count} of the server {server}" for server, count in servers.items()]
    text = ", ".join(names)
    return text if len(text) <= _MOST_LISTED else f"{text[:_MOST_LISTED].rpartition(', ')[0]} …"


# Home Assistant's tools list every device class and domain that it knows. The declarations leave
# out those that this house lacks; calls are checked against the server's own schema.


def _lean(entry: MenuEntry, house: House, exposed: Sequence[Entity]) -> Declaration:
    declaration = entry.declaration
    intent = INTENTS.get(entry.suffix) if entry.of_home and entry.built_in is None else None
    if intent is None or not declaration.parameters or not exposed:
        return declaration
    schema = declaration.parameters
    needed = schema.get("required", ())
    kept = {
        name: told
        for name, value in schema["properties"].items()
        if (told := value if name in needed else _narrowed(name, value, intent, house, exposed))
    }
    return replace(declaration, parameters={**schema, "properties": kept} if kept else None)


def _narrowed(
    name: str, schema: Any, intent: Intent, house: House, exposed: Sequence[Entity]
) -> Any:
    """Return the argument's schema with only the device classes that this house has, or None if the
    argument is of no use here."""
    choices = schema.get("items", {}).get("enum")
    if name == "floor" and not house.floors:
        return None
    if name == "domain" and choices and len(choices) == 1:
        return None  # the tool has no other
    if name != "device_class" or not choices:
        return schema
    domains = _domains(intent)
    reached = [one for one in exposed if not domains or one.domain in domains]
    classes = {one.device_class for one in reached if one.domain not in _SENSORS}
    here = [choice for choice in choices if choice in classes]
    if len(here) == 1 and classes == set(here):
        return None  # everything that the tool reaches is of this class
    return {**schema, "items": {**schema["items"], "enum": here}} if here else None


_SENSORS = ("binary_sensor", "sensor")
