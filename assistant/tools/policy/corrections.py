"""Correction of names that Home Assistant wouldn't find.

A correction of a name counts only if it leaves exactly one meaning. First, accents, apostrophes and
Unicode forms are ignored; then inner spaces, articles and plurals; then small typos. Only the first
step can choose an entity that needs a confirmation.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from assistant.speech.catalogue import is_plural
from assistant.tools.house.intents import Intent
from assistant.tools.house.names import are_near, folded, nearest, stemmed
from assistant.tools.house.targets import (
    UNTOLD,
    Miss,
    can,
    domain_of,
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
from assistant.tools.vocabulary import LANGUAGES, entries
from integrations.home_assistant.house import Area, Entity, Floor, House

_KIND = ("domain", "device_class")
_PLACE = ("area", "floor")
_MISSED = frozenset(
    {Miss.AREA, Miss.DEVICE_CLASS, Miss.DOMAIN, Miss.FEATURE, Miss.FLOOR, Miss.NAME}
)


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
    more: tuple[tuple[str, Any], ...] = ()  # further arguments that the name contains


def mend(
    intent: Intent,
    arguments: Mapping[str, Any],
    house: House,
    device_area: str | None = None,
    said_places: Collection[str] = (),
) -> Mended:
    """Correct the floor, the area, the name and the domain, in this order.

    `device_area` is the id of this device's area, which decides between entities with the same
    name. `said_places` are the names of the places that the person said, which are never dropped.
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
    mended = _found_alone(intent, mended, house, said_places)
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
        readings = _as_kind(intent, mended.arguments, name)
    if not readings and intent.places and not any(mended.arguments.get(key) for key in _PLACE):
        readings = _in_rooms(intent, pool, name, house)
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


def _found_alone(
    intent: Intent, mended: Mended, house: House, said_places: Collection[str]
) -> Mended:
    """Correct the domain and the place if a single entity has this name, or several of one kind in
    one room. For example, a model may think that the helper "Desk light" is a light, or that every
    device is in this room."""
    arguments, name = mended.arguments, mended.arguments.get("name")
    if not isinstance(name, str) or reach(intent, arguments, house).reason not in _MISSED:
        return mended
    kinds = _KIND if intent.selective and intent.domains is None else ()
    said = any(same(str(arguments.get(key)), said_places) for key in _PLACE)
    places = _PLACE if intent.places and not said else ()
    for dropped in (kinds, places, (*kinds, *places)):
        wrong = [key for key in dropped if arguments.get(key)]
        kept = {key: value for key, value in arguments.items() if key not in wrong}
        found = _same_or_alone(intent, kept, house) if wrong else ()
        if not found or not all(is_safe_to_guess(one, house) for one in found):
            continue
        domain = domain_of(found[0])
        changes = tuple(
            MendedArgument(key, ", ".join(listed(arguments[key])), new, key)
            for key in wrong
            if (new := domain if key == "domain" else "") or key in _PLACE
        )
        if set(wrong) & set(_KIND):
            kept["domain"] = [domain]
        return replace(mended, arguments=kept, changes=(*mended.changes, *changes))
    return mended


def _same_or_alone(intent: Intent, arguments: Mapping[str, Any], house: House) -> tuple[str, ...]:
    """Return the only entity that a call would reach, or all of them if they are of one kind and
    in one room. Otherwise, return ()."""
    seen = reach(intent, arguments, house)
    found = seen.candidates if seen.reason is Miss.SEVERAL else seen.touched
    kinds = {(house.entities[one].area_id, domain_of(one)) for one in found}
    alike = len(kinds) == 1 and all(area for area, _ in kinds)
    return found if len(found) == 1 or alike else ()


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


def _as_kind(intent: Intent, arguments: Mapping[str, Any], name: str) -> list[_Reading]:
    """Return the place of the arguments if the name is only a word for what the tool sets: the
    "heating" of a room."""
    if not _is_heating(intent, name):
        return []
    given = [key for key in ("area", "floor") if arguments.get(key)]
    return [_Reading(key, str(arguments[key])) for key in given[:1]]


def _is_heating(intent: Intent, name: str) -> bool:
    return intent.domains == frozenset({"climate"}) and stemmed(name) in _stems("heating")


def _in_rooms(intent: Intent, pool: Sequence[Entity], name: str, house: House) -> list[_Reading]:
    """Return the readings of a name that begins or ends with a room: an entity there ("bedroom
    overhead light"), or the lights or the heating of the room."""
    readings = []
    for area in house.areas.values():
        rests = {rest for one in (area.name, *area.aliases) for rest in _rests(name, one)}
        there = [one for one in pool if one.area_id == area.area_id]
        found = [
            replace(one, more=(("area", area.name),))
            for rest in rests
            for one in _things(there, rest, lambda one, known: stemmed(one) == stemmed(known))
        ]
        lamps = [rest for rest in rests if stemmed(rest) in _stems("lights")]
        # "The den lights" are all of them, even if one of them is called "Lights".
        if any(map(is_plural, lamps)) or (lamps and not found):
            kind = () if intent.domains else (("domain", ["light"]),)
            found = [_Reading("area", area.name, more=kind)]
        if there and not found and any(_is_heating(intent, rest) for rest in rests):
            found = [_Reading("area", area.name)]
        readings += found
    return readings


def _rests(name: str, place: str) -> list[str]:
    """Return the rest of a name that begins or ends with a place, without the place."""
    words, part = folded(name).split(), folded(place).split()
    size = len(part)
    if not 0 < size < len(words):
        return []
    ends = ((words[:size], words[size:]), (words[-size:], words[:-size]))
    return [_without_joints(rest) for found, rest in ends if found == part]


def _without_joints(words: list[str]) -> str:
    while len(words) > 1 and words[-1] in _JOINTS:
        words = words[:-1]
    return " ".join(words)


# Words between a thing and its room, in the languages that Hearth speaks.
_JOINTS = frozenset(
    "a au aux da das de del dem der des do dos du el im in la las le les los na no of the".split()
)


@cache
def _stems(topic: str) -> frozenset[str]:
    return frozenset(stemmed(word) for code in LANGUAGES for word in entries(topic, code))


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
    arguments |= {reading.key: reading.text, **dict(reading.more)}
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
    # If a group and a scene share a name, only the group can be switched off. Otherwise the name
    # is that of the group, because a scene is chosen by its domain.
    able = [name for name in seen.candidates if can(house.entities[name], intent.action)]
    things = [name for name in able if domain_of(name) not in UNTOLD]
    for chosen in (able, things):
        if len(chosen) == 1 and all(is_safe_to_guess(name, house) for name in able):
            return replace(mended, arguments={**arguments, "name": chosen[0]})
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
