"""Correction of names that Home Assistant wouldn't find, and of selections that it can't express.

A correction of a name counts only if it leaves exactly one reading. First, accents, apostrophes and
Unicode forms are ignored; then inner spaces, articles and plurals; then small typos. Only the first
step may choose an entity that needs a confirmation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.tools.house.intents import Action, Intent
from assistant.tools.house.names import are_near, folded, nearest, stemmed
from assistant.tools.house.targets import (
    Miss,
    can,
    find_areas,
    find_floors,
    is_called,
    is_wildcard,
    listed,
    reach,
    same,
    selection,
)
from assistant.tools.policy.risk import is_safe_to_guess
from integrations.home_assistant.house import Area, Entity, Floor, House

_KIND = ("domain", "device_class")


@dataclass(frozen=True, slots=True)
class MendedArgument:
    key: str  # as given: "name", "area", "floor"
    given: str
    meant: str  # the house's own name, or an entity id if the name is shared
    as_key: str  # key under which it is sent


@dataclass(frozen=True, slots=True)
class Mended:
    """Arguments after correction. `options` are the possible readings if none was chosen."""

    arguments: Mapping[str, Any]
    changes: tuple[MendedArgument, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reading:
    key: str  # key of the argument that it would become
    text: str
    entity_id: str = ""


def mend(
    intent: Intent, arguments: Mapping[str, Any], house: House, device_area: str | None = None
) -> Mended:
    """Correct the floor, the area, the name and the domain, in this order.

    `device_area` is the id of this device's area, which decides between entities with the same
    name.
    """
    mended = Mended(_lowered(intent, arguments))
    for key in ("floor", "area"):
        text = mended.arguments.get(key)
        if isinstance(text, str) and text.strip():
            mended = _mend_place(intent, mended, key, text, house)
            if mended.options:
                return mended
    name = mended.arguments.get("name")
    if not isinstance(name, str) or not name.strip() or is_wildcard(name):
        return mended
    if not any(is_called(one, name) for one in house.entities.values()):
        mended = _apart(mended, name, house)
        if mended.arguments["name"] == name:
            mended = _mend_name(intent, mended, name, house, device_area)
    mended = _of_its_kind(intent, mended, house)
    return _settle(intent, mended, house, device_area)


def _lowered(intent: Intent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(arguments)
    for key in ("domain", "device_class") if intent.selective else ():
        value = result.get(key)
        if isinstance(value, str):
            result[key] = value.strip().lower()
        elif isinstance(value, list):
            result[key] = [one.strip().lower() if isinstance(one, str) else one for one in value]
    return result


def _mend_place(intent: Intent, mended: Mended, key: str, text: str, house: House) -> Mended:
    if find_areas(house, text) if key == "area" else find_floors(house, text):
        return mended
    other = "floor" if key == "area" else "area"
    # A room to clean is never a floor, and a second place is left as it is.
    both = intent.places and not mended.arguments.get(other)
    kinds = (key, other) if both else (key,)
    steps: list[tuple[Callable[[str, str], bool], Sequence[str]]] = [
        (lambda one, two: folded(one) == folded(two), (key,)),
        (lambda one, two: stemmed(one) == stemmed(two), kinds),
        (are_near, (key,)),
    ]
    for step, (alike, looked_at) in enumerate(steps):
        readings = [one for kind in looked_at for one in _places(house, kind, text, alike)]
        if not readings:
            continue
        if len(readings) > 1:
            return replace(mended, options=tuple(one.text for one in readings))
        changed = _changed(mended, key, text, readings[0])
        if step and not _is_safe(intent, changed.arguments, house):
            return replace(mended, options=(readings[0].text,))
        return changed
    known = house.areas if key == "area" else house.floors
    return replace(mended, options=nearest(text, _names_of(known.values())))


def _mend_name(
    intent: Intent, mended: Mended, name: str, house: House, device_area: str | None
) -> Mended:
    pool = _pool(intent, mended.arguments, house)
    exact = _things(pool, name, lambda one, two: folded(one) == folded(two))
    if exact:
        one = _chosen(exact, house, device_area)
        return _changed(mended, "name", name, one) if one else _asked(mended, exact, house)
    readings = _things(pool, name, lambda one, two: stemmed(one) == stemmed(two))
    readings += _as_place(intent, mended.arguments, name, house)
    if not readings:
        readings = _things(pool, name, are_near)
    one = _chosen(readings, house, device_area)
    if one is None:
        options = nearest(name, (known for entity in pool for known in entity.names))
        return _asked(mended, readings, house) if readings else replace(mended, options=options)
    changed = _changed(mended, "name", name, one)
    if one.entity_id and is_safe_to_guess(one.entity_id, house):
        return changed
    if not one.entity_id and _is_safe(intent, changed.arguments, house):
        return changed
    return replace(mended, options=(one.text,))


def _apart(mended: Mended, name: str, house: House) -> Mended:
    """Replace a list of names with the entity's id if all names belong to the same entity. The
    prompt lists an entity's names that way, and models sometimes copy the list."""
    names = [part.strip() for part in name.split(",")]
    if len(names) < 2 or not all(names):
        return mended
    found = [one for one in house.exposed() if all(is_called(one, part) for part in names)]
    if len(found) != 1:
        return mended
    return _changed(mended, "name", name, _Reading("name", found[0].entity_id, found[0].entity_id))


def _of_its_kind(intent: Intent, mended: Mended, house: House) -> Mended:
    """Correct the domain if the only entity with this name is in a different domain. For example, a
    model may think that the helper "Desk light" is a light."""
    arguments, name = mended.arguments, mended.arguments.get("name")
    given = arguments.get("domain")
    if not intent.selective or intent.domains is not None or not given or not isinstance(name, str):
        return mended
    if reach(intent, arguments, house).reason not in (Miss.NAME, Miss.DOMAIN, Miss.AREA):
        return mended
    kept = {key: value for key, value in arguments.items() if key not in _KIND}
    found = reach(intent, kept, house).touched
    if len(found) != 1 or not is_safe_to_guess(found[0], house):
        return mended
    domain = found[0].partition(".")[0]
    change = MendedArgument("domain", ", ".join(listed(given)), domain, "domain")
    arguments = {**kept, "domain": [domain]}
    return replace(mended, arguments=arguments, changes=(*mended.changes, change))


def _pool(intent: Intent, arguments: Mapping[str, Any], house: House) -> list[Entity]:
    chosen = selection(intent, {key: arguments[key] for key in arguments if key != "name"})
    areas = {area.area_id for area in find_areas(house, chosen.area or "")}
    floors = {floor.floor_id for floor in find_floors(house, chosen.floor or "")}
    on_floor = {area.area_id for area in house.areas.values() if area.floor_id in floors}
    return [
        one
        for one in house.exposed()
        if (chosen.domains is None or one.domain in chosen.domains)
        and (not chosen.classes or one.device_class in chosen.classes)
        and (not chosen.area or one.area_id in areas)
        and (not chosen.floor or one.area_id in on_floor)
    ]


def _things(pool: Iterable[Entity], name: str, alike: Callable[[str, str], bool]) -> list[_Reading]:
    return [
        _Reading("name", written, one.entity_id)
        for one in pool
        if (written := next((known for known in one.names if alike(name, known)), None))
    ]


def _places(house: House, key: str, text: str, alike: Callable[[str, str], bool]) -> list[_Reading]:
    known: Iterable[Area | Floor] = (house.areas if key == "area" else house.floors).values()
    return [
        _Reading(key, place.name)
        for place in known
        if any(alike(text, name) for name in (place.name, *place.aliases))
    ]


def _as_place(
    intent: Intent, arguments: Mapping[str, Any], name: str, house: House
) -> list[_Reading]:
    """Return the places with this name. For requests such as "turn off the kitchen", models pass
    the room as an entity's name."""
    if not intent.places:
        return []
    readings = [
        one
        for key in ("area", "floor")
        for one in _places(house, key, name, lambda one, two: stemmed(one) == stemmed(two))
    ]
    given = [key for key in ("area", "floor") if arguments.get(key)]
    if given:  # the place is given twice, once as the name
        readings = [one for one in readings if same(str(arguments.get(one.key)), (one.text,))]
    return readings


def _chosen(readings: Sequence[_Reading], house: House, device_area: str | None) -> _Reading | None:
    if len(readings) == 1:
        return readings[0]
    here = [
        one
        for one in readings
        if one.entity_id and device_area and house.entities[one.entity_id].area_id == device_area
    ]
    alike = all(one.entity_id and same(one.text, (readings[0].text,)) for one in readings)
    return here[0] if alike and len(here) == 1 else None


def _changed(mended: Mended, key: str, given: str, reading: _Reading) -> Mended:
    arguments = {one: value for one, value in mended.arguments.items() if one != key}
    arguments[reading.key] = reading.text
    change = MendedArgument(key, given, reading.text, reading.key)
    return replace(mended, arguments=arguments, changes=(*mended.changes, change))


def _asked(mended: Mended, readings: Iterable[_Reading], house: House) -> Mended:
    """Offer the readings by name, or entities by id if several of them share a name."""
    readings = list(readings)
    texts = {one.text for one in readings}
    shared = len(texts) < len(readings)
    options = (one.entity_id if shared and one.entity_id else one.text for one in readings)
    return replace(mended, options=tuple(dict.fromkeys(options)))


def _is_safe(intent: Intent, arguments: Mapping[str, Any], house: House) -> bool:
    found = reach(intent, arguments, house)
    return all(is_safe_to_guess(name, house) for name in (*found.touched, *found.candidates))


def _settle(intent: Intent, mended: Mended, house: House, device_area: str | None) -> Mended:
    """Choose between entities with the same name by this room or floor, as Home Assistant does."""
    arguments = mended.arguments
    seen = reach(intent, arguments, house)
    if seen.reason is not Miss.SEVERAL:
        return mended
    # If a group and a scene share a name, only the group can be switched off.
    able = [name for name in seen.candidates if can(house.entities[name], intent.action)]
    if len(able) == 1 and len(seen.candidates) > 1 and intent.action is Action.OFF:
        return replace(mended, arguments={**arguments, "name": able[0]})
    if device_area is None:
        return mended
    found = reach(intent, arguments, house, device_area).touched
    if len(found) != 1:
        return mended
    area = house.areas.get(house.entities[found[0]].area_id or "")
    if area is not None and intent.places and not arguments.get("area"):
        placed = {**arguments, "area": area.name}
        if reach(intent, placed, house).touched == found:
            return replace(mended, arguments=placed)
    return replace(mended, arguments={**arguments, "name": found[0]})


def _names_of(places: Iterable[Area | Floor]) -> list[str]:
    return [name for place in places for name in (place.name, *place.aliases)]


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
