"""What hangs together in the house, as `search/related` of Home Assistant 2026.11 tells it."""

from collections.abc import Iterable

from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scripts import SCENES, SCRIPTS

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
