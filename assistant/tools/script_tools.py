"""Tools of Home Assistant that are someone's script, and what their fields name."""

from collections.abc import Mapping
from typing import Any

from assistant.tools.menu import MenuEntry, is_script
from assistant.tools.resolve import WILDCARD, find_areas, find_floors
from integrations.home_assistant.house import House


def is_script_tool(entry: MenuEntry, house: House) -> bool:
    """Whether this tool is someone's script."""
    return script_behind(entry, house) is not None


def script_behind(entry: MenuEntry, house: House) -> str | None:
    """Id of the script that this tool is; "" where it has none, None where it is no script.

    Up to Home Assistant 2026.7 the tool bears the script's bare name.
    """
    if not entry.of_home:
        return None  # another server's tool may bear any name
    name = f"script.{entry.suffix}"
    if entry.tool.name.startswith("intent_script__"):
        return ""
    bare = entry.suffix == entry.tool.name and name in house.entities
    return name if is_script(entry.tool.name) or bare else None


def named_in(arguments: Mapping[str, Any], house: House) -> list[str]:
    """The things that a script's fields name: by id, also several in one text, as Home Assistant
    takes them (`config_validation.comp_entity_ids`), by device, area, floor or label, or "all" of
    them. The script may act on them."""
    found: list[str] = []
    level = list(arguments.values())
    while level:
        value = level.pop()
        if isinstance(value, Mapping):
            level.extend(value.values())
        elif isinstance(value, list | tuple):
            level.extend(value)
        elif isinstance(value, str):
            texts = [part.strip().lower() for part in value.split(",")]
            found += house.entities if WILDCARD in texts else ()
            found += [part for part in texts if part in house.entities]
            found += [name for name, one in house.entities.items() if one.device_id == value]
            found += [name for name, one in house.entities.items() if value in one.labels]
            areas = {one.area_id for one in find_areas(house, value)}
            floors = {one.floor_id for one in find_floors(house, value)}
            areas |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
            found += [name for name, one in house.entities.items() if one.area_id in areas]
    return list(dict.fromkeys(found))
