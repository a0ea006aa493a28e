"""One step kinder than Home Assistant: a name that it would miss is mended to the one it must mean.

Three steps, each taken only where exactly one reading is left: the same letters but for accents,
apostrophes and Unicode form; then also but for inner spaces, an article or a plural, or a name that
is really a place; then a near miss. Beyond the first step nothing gated is ever guessed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from assistant.tools.gates import is_safe_to_guess
from assistant.tools.intents import Action, Intent
from assistant.tools.nearest import nearest
from assistant.tools.resolve import (
    MAX_NAMES,
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
from integrations.home_assistant.house import Area, Entity, Floor, House

_APOSTROPHES = dict.fromkeys(map(ord, "'’‘`´ʼ′"))
_ARTICLES = frozenset(
    {"the", "a", "an", "my", "our", "el", "la", "los", "las", "un", "una", "mi", "mis"}
)
_KIND = ("domain", "device_class")
_LONGEST = 80  # characters compared; a longer name is not a name


@dataclass(frozen=True, slots=True)
class MendedArgument:
    """One argument that was mended."""

    key: str  # as given: "name", "area", "floor"
    given: str
    meant: str  # the house's own name, or an entity id where names are shared
    as_key: str  # where it stands now


@dataclass(frozen=True, slots=True)
class Mended:
    """Arguments as to be sent. `options`: what may have been meant where nothing was mended."""

    arguments: Mapping[str, Any]
    changes: tuple[MendedArgument, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """One thing that a text may mean."""

    key: str  # of the argument that it would be
    text: str
    entity_id: str = ""


def mend(
    intent: Intent, arguments: Mapping[str, Any], house: House, device_area: str | None = None
) -> Mended:
    """Mend domain, floor, area and name, in that order. Pure; the house must be up to date.

    `device_area`: id of this box's area; it settles which of two things of one name is meant.
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


@lru_cache(MAX_NAMES)
def folded(text: str) -> str:
    """Without case, accents, apostrophes, Unicode forms and invisible signs."""
    signs = unicodedata.normalize("NFKD", text[:_LONGEST]).translate(_APOSTROPHES).casefold()
    plain = unicodedata.normalize("NFKD", signs)
    return "".join(one for one in plain if unicodedata.category(one) not in ("Mn", "Cf")).strip()


@lru_cache(MAX_NAMES)
def stemmed(text: str) -> str:
    """Folded, and without spaces, hyphens, a leading article and the marks of a plural."""
    words = [word for word in re.split(r"[\s\-_]+", folded(text)) if word]
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return "".join(map(_stem, words))


def are_near(one: str, other: str) -> bool:
    """One or two slips apart by length; the first letter and all numbers are the same."""
    first, second = stemmed(one), stemmed(other)
    shortest = min(len(first), len(second))
    allowed = 0 if shortest < 5 else 1 if shortest < 9 else 2
    if first[:1] != second[:1] or abs(len(first) - len(second)) > allowed:
        return False
    if re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return False
    return slips(first, second) <= allowed


def slips(one: str, other: str) -> int:
    """Letters to add, drop, change or swap with the next (optimal string alignment distance)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, sign in enumerate(other, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != sign))
            swapped = (
                row > 1 and column > 1 and letter == other[column - 2] and sign == one[row - 2]
            )
            line.append(min(cost, before[column - 2] + 1) if swapped else cost)
        before, last = last, line
    return last[-1]


def _stem(word: str) -> str:
    """The same for "light" and "lights", "luz" and "luces", "story" and "stories"."""
    if len(word) < 3:
        return word
    word = word.removesuffix("s") if len(word) > 3 else word
    word = word.removesuffix("e") if len(word) > 3 else word
    return word[:-1] + {"z": "c", "y": "i"}.get(word[-1], word[-1])


def _lowered(intent: Intent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Domains and device classes are written small."""
    result = dict(arguments)
    for key in ("domain", "device_class") if intent.selective else ():
        value = result.get(key)
        if isinstance(value, str):
            result[key] = value.strip().lower()
        elif isinstance(value, list):
            result[key] = [one.strip().lower() if isinstance(one, str) else one for one in value]
    return result


def _mend_place(intent: Intent, mended: Mended, key: str, text: str, house: House) -> Mended:
    """An area or floor that the house does not have by that name."""
    if find_areas(house, text) if key == "area" else find_floors(house, text):
        return mended
    other = "floor" if key == "area" else "area"
    # A room to be cleaned is never a floor; a place that is given twice is left as it is.
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
    """A name that no entity has."""
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
    """All names of one thing in a row, as the prompt lists them: "Plug 2, Salt lamp"."""
    names = [part.strip() for part in name.split(",")]
    if len(names) < 2 or not all(names):
        return mended
    found = [one for one in house.exposed() if all(is_called(one, part) for part in names)]
    if len(found) != 1:
        return mended
    return _changed(mended, "name", name, _Reading("name", found[0].entity_id, found[0].entity_id))


def _of_its_kind(intent: Intent, mended: Mended, house: House) -> Mended:
    """The domain of the one thing of that name, where none of that name is of the given domain.

    A model takes the helper "Desk light" for a light. What lets somebody in is never taken so.
    """
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
    """The exposed things of the kind and the place that the call gives."""
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
    """The things whose name is alike, each once, with the name that is."""
    return [
        _Reading("name", written, one.entity_id)
        for one in pool
        if (written := next((known for known in one.names if alike(name, known)), None))
    ]


def _places(house: House, key: str, text: str, alike: Callable[[str, str], bool]) -> list[_Reading]:
    """The areas or floors whose name is alike, each once, by its own name."""
    known: Iterable[Area | Floor] = (house.areas if key == "area" else house.floors).values()
    return [
        _Reading(key, place.name)
        for place in known
        if any(alike(text, name) for name in (place.name, *place.aliases))
    ]


def _as_place(
    intent: Intent, arguments: Mapping[str, Any], name: str, house: House
) -> list[_Reading]:
    """The places that are called so, for "turn off the kitchen" with the room as the name."""
    if not intent.places:
        return []
    readings = [
        one
        for key in ("area", "floor")
        for one in _places(house, key, name, lambda one, two: stemmed(one) == stemmed(two))
    ]
    given = [key for key in ("area", "floor") if arguments.get(key)]
    if given:  # said twice: as the name too
        readings = [one for one in readings if same(str(arguments.get(one.key)), (one.text,))]
    return readings


def _chosen(readings: Sequence[_Reading], house: House, device_area: str | None) -> _Reading | None:
    """The only reading; of several things of one name the one that stands in this room."""
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
    """With one argument as it was meant."""
    arguments = {one: value for one, value in mended.arguments.items() if one != key}
    arguments[reading.key] = reading.text
    change = MendedArgument(key, given, reading.text, reading.key)
    return replace(mended, arguments=arguments, changes=(*mended.changes, change))


def _asked(mended: Mended, readings: Iterable[_Reading], house: House) -> Mended:
    """Not mended: what it may have been, by name, or by id where the names are the same."""
    readings = list(readings)
    texts = {one.text for one in readings}
    shared = len(texts) < len(readings)
    options = (one.entity_id if shared and one.entity_id else one.text for one in readings)
    return replace(mended, options=tuple(dict.fromkeys(options)))


def _is_safe(intent: Intent, arguments: Mapping[str, Any], house: House) -> bool:
    """Whether nothing that the call would reach is gated either way."""
    found = reach(intent, arguments, house)
    return all(is_safe_to_guess(name, house) for name in (*found.touched, *found.candidates))


def _settle(intent: Intent, mended: Mended, house: House, device_area: str | None) -> Mended:
    """Of several things that share the name, the one of this room or floor, as Home Assistant does.

    It is then named so that nothing else can be meant, whatever room Home Assistant thinks we are
    in.
    """
    arguments = mended.arguments
    seen = reach(intent, arguments, house)
    if seen.reason is not Miss.SEVERAL:
        return mended
    # Of a group and a scene of one name only the group can be switched off.
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
