"""Which entities a call would reach, matched as Home Assistant matches (2026.11).

Case and outer spaces do not count; accents, apostrophes and inner spaces do. A name is an entity's
name, alias or id; an area or floor its name, alias or id. The name "all" is a wildcard.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from assistant.tools.intents import Intent
from integrations.home_assistant.house import Area, Entity, Floor, House


def resolve(intent: Intent, arguments: Mapping[str, Any], house: House) -> list[str]:
    """Ids of the exposed entities that the call selects; in doubt rather more than fewer."""
    found: Iterable[Entity] = house.exposed()
    domains = listed(arguments.get("domain"))
    if intent.domains is not None:
        found = [entity for entity in found if entity.domain in intent.domains]
    if domains:
        found = [entity for entity in found if entity.domain in domains]
    classes = listed(arguments.get("device_class"))
    if classes:
        found = [entity for entity in found if (entity.device_class or "").casefold() in classes]
    name = arguments.get("name")
    if isinstance(name, str) and name and not is_wildcard(name):
        found = [entity for entity in found if is_called(entity, name)]
    return [entity.entity_id for entity in found if _is_in(entity, arguments, house)]


def with_members(entity_ids: Iterable[str], house: House) -> list[str]:
    """The entities and, for groups and scenes, what they hold, each once."""
    reached: dict[str, None] = {}
    level = list(entity_ids)
    while level:
        fresh = list(dict.fromkeys(name for name in level if name not in reached))
        reached |= dict.fromkeys(fresh)
        level = [
            member
            for entity_id in fresh
            if entity_id in house.entities
            for member in members(house.entities[entity_id])
        ]
    return list(reached)


def members(entity: Entity) -> list[str]:
    """What a group or scene says it holds (`entity_id` in its attributes)."""
    held = entity.attributes.get("entity_id")
    return (
        [item for item in held if isinstance(item, str)] if isinstance(held, list | tuple) else []
    )


def is_wildcard(name: str) -> bool:
    """Home Assistant takes the plain word for everything, even where an entity has that name."""
    return name.strip() == "all"


def is_called(entity: Entity, name: str) -> bool:
    """Whether this is one of the entity's names."""
    return entity.entity_id == name or same(name, entity.names)


def find_area(house: House, name: str) -> Area | None:
    """The first area of that name, alias or id."""
    return next(iter(_areas(house, name)), None)


def same(name: str, names: Iterable[str]) -> bool:
    """Equal but for case and outer spaces."""
    wanted = name.strip().casefold()
    return any(wanted == other.strip().casefold() for other in names)


def _is_in(entity: Entity, arguments: Mapping[str, Any], house: House) -> bool:
    """Whether the entity stands in the area and on the floor that the call names."""
    area, floor = arguments.get("area"), arguments.get("floor")
    if not area and not floor:
        return True
    own = house.areas.get(entity.area_id or "")
    if area and (own is None or own not in _areas(house, str(area))):
        return False
    if not floor:
        return True
    return own is not None and any(
        own.floor_id == level.floor_id for level in _floors(house, str(floor))
    )


def _areas(house: House, name: str) -> list[Area]:
    """Aliases may be shared: then all of them are meant."""
    return [
        area
        for area in house.areas.values()
        if area.area_id == name or same(name, (area.name, *area.aliases))
    ]


def _floors(house: House, name: str) -> list[Floor]:
    return [
        floor
        for floor in house.floors.values()
        if floor.floor_id == name or same(name, (floor.name, *floor.aliases))
    ]


def listed(value: Any) -> list[str]:
    """`domain` and `device_class` come as a list or a single text."""
    values = value if isinstance(value, list | tuple) else [value]
    return [item.casefold() for item in values if isinstance(item, str) and item]
