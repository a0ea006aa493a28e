"""Find arguments that reach exactly the wanted entities, in several calls if one call can't."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.tools.house.intents import Intent
from assistant.tools.house.targets import reach
from integrations.home_assistant.house import Area, Entity, House

MOST_CALLS = 100  # most calls in place of one; no more are sent
_CHOOSING = ("name", "area", "floor", "domain", "device_class")


@dataclass(frozen=True, slots=True)
class Choice:
    """The arguments of a call, or of several calls that are sent in its place."""

    arguments: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...] = ()


def arguments_for(
    intent: Intent,
    arguments: Mapping[str, Any],
    wanted: Sequence[Entity],
    unwanted: Sequence[Entity],
    house: House,
    schema: Mapping[str, Any],
) -> Choice | None:
    """Return arguments that reach every entity in `wanted` and none in `unwanted`.

    Returns None if there are none, or if more than MOST_CALLS calls would be necessary.
    """
    ids = {one.entity_id for one in wanted}
    chosen = by_kind(intent, wanted, unwanted, schema) if takes(schema, "domain") else None
    if chosen is not None:
        cut = {**arguments, **chosen}
        if set(reach(intent, cut, house).touched) == ids:
            return Choice(cut)
    if not takes(schema, "name"):
        return None
    rest = {key: value for key, value in arguments.items() if key not in _CHOOSING}
    parts: list[Mapping[str, Any]] = []
    by_area = intent.selective and intent.places
    for area, things in _by_area(wanted, house):
        left = things
        shut = {one.domain for one in unwanted if area is not None and one.area_id == area.area_id}
        clear = [one for one in things if one.domain not in shut]
        if by_area and area is not None and len(clear) > 1:
            whole = {**rest, "area": area.name, "domain": sorted({one.domain for one in clear})}
            here = {one.entity_id for one in clear}
            if set(reach(intent, whole, house).touched) == here:
                parts.append(whole)
                left = [one for one in things if one.entity_id not in here]
        parts += [{**rest, "name": one.entity_id} for one in left]
    return Choice(arguments, tuple(parts)) if len(parts) <= MOST_CALLS else None


def by_kind(
    intent: Intent,
    wanted: Sequence[Entity],
    unwanted: Sequence[Entity],
    schema: Mapping[str, Any],
) -> dict[str, list[str]] | None:
    """Return the domains and device classes that select as many wanted entities as possible and no
    unwanted entity, or None."""
    shut_out = {one.domain for one in unwanted}
    free = {one.domain for one in wanted} - shut_out
    if free:
        return {"domain": sorted(free)}
    domains = {one.domain for one in wanted}
    if len(domains) != 1 or not takes(schema, "device_class"):
        return None
    classes = {one.device_class for one in wanted if one.device_class}
    classes -= {one.device_class for one in unwanted}
    if intent.classes:
        classes &= intent.classes
    return {"domain": sorted(domains), "device_class": sorted(classes)} if classes else None


def takes(schema: Mapping[str, Any], key: str) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and key in properties


def _by_area(things: Iterable[Entity], house: House) -> Iterable[tuple[Area | None, list[Entity]]]:
    rooms: dict[str, list[Entity]] = {}
    for one in things:
        rooms.setdefault(one.area_id or "", []).append(one)
    return [(house.areas.get(area_id), found) for area_id, found in rooms.items()]
