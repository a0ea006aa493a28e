"""Facts that answer a question about the house.

`facts` sorts the entities that a question is about by their answer, and `answers` puts the facts
into words. An unreachable sensor never counts as a closed door, and a closed contact never counts
as a locked door. All functions in this module are pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache

from assistant.tools.house.names import UNKNOWN, plain_state
from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions
from integrations.home_assistant.house import Entity, House

EVERYTHING = "everything"  # device class of a question about the whole house
OPENNESS = frozenset({"open", "closed"})
LOCKING = frozenset({"locked", "unlocked"})
MOVING = frozenset({"opening", "closing", "locking", "unlocking"})
LOW_BATTERY = 20  # percent; the limit of Home Assistant's own battery alerts


class Shows(Enum):
    YES = "yes"
    NO = "no"
    MOVING = "moving"  # moving or jammed: neither open nor closed
    UNKNOWN = "unknown"  # unreachable, or without a reading
    MUTE = "mute"  # can't tell: a lock doesn't know whether its door is closed


@dataclass(frozen=True, slots=True)
class Question:
    kind: str  # "one" (its state), "is", "any", "all", "which" or "how_many"
    state: str = ""  # the state in question: "open", "locked", "on"; "" for any
    entity_ids: tuple[str, ...] = ()  # entities that were named
    domain: str = ""
    classes: frozenset[str] = frozenset()  # device classes
    area_id: str = ""
    floor_id: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The entities that a question is about, sorted by their answer."""

    kind: str
    wanted: str  # the plain state in question; "" for any
    yes: tuple[Entity, ...] = ()
    no: tuple[Entity, ...] = ()
    moving: tuple[Entity, ...] = ()
    unknown: tuple[Entity, ...] = ()
    mute: tuple[Entity, ...] = ()  # reachable, but of a kind that can't tell
    ajar: tuple[Entity, ...] = ()  # contacts that show the same door open
    sensed: bool = False  # the question is about sensors: smoke, leaks, motion

    @property
    def asked(self) -> tuple[Entity, ...]:
        return (*self.yes, *self.no, *self.moving, *self.unknown, *self.mute)

    @property
    def sure(self) -> bool:
        return not (self.moving or self.unknown or self.mute)


def facts(question: Question, house: House) -> Facts:
    """Return the facts that answer a question. `Facts.asked` is empty if no entity matches."""
    if question.entity_ids:
        named = [house.entities[one] for one in question.entity_ids if one in house.entities]
        return _of_named(question, named, house)
    if question.state in LOCKING:
        return _of_locks(question, house)
    return _sorted(question, _members(question, house))


def shows(entity: Entity, wanted: str) -> Shows:
    """Return whether an entity is in the wanted state, as far as its kind of entity can show it."""
    if entity.state in UNKNOWN:
        return Shows.UNKNOWN
    state, wanted = plain_state(entity), plain_state(entity, wanted)
    if wanted in LOCKING:
        if not is_lock(entity):
            return Shows.MUTE
        if state in ("locking", "unlocking", "jammed"):
            return Shows.MOVING
        return Shows.YES if (state == "locked") is (wanted == "locked") else Shows.NO
    if wanted in OPENNESS and (is_of_a_door(entity) or entity.domain in ("cover", "valve")):
        if is_lock(entity):  # a lock knows only whether it is unlatched
            unlatched = state in ("open", "opening")
            if not unlatched:
                return Shows.MUTE
            return Shows.YES if wanted == "open" else Shows.NO
        if state in MOVING:
            return Shows.MOVING
    if entity.domain == "sensor" and entity.device_class == "battery":
        return Shows.YES if _is_low(state) is (wanted == "low") else Shows.NO
    return Shows.YES if state == wanted else Shows.NO


def _of_named(question: Question, named: list[Entity], house: House) -> Facts:
    if not named:
        return Facts(question.kind, question.state)
    parts = list({one.entity_id: one for each in named for one in door_of(each, house)}.values())
    if not question.state:
        found = _sorted(question, named)
        return replace(found, ajar=() if found.unknown else _ajar(parts, named))
    wanted = plain_state(named[0], question.state)
    if not is_of_a_door(named[0]) or wanted not in OPENNESS | LOCKING:
        return _sorted(replace(question, kind="is"), named)
    locks = [one for one in parts if is_lock(one)]
    contacts = [one for one in parts if is_contact(one)]
    asked = replace(question, kind="is", state=wanted)
    if wanted in LOCKING:
        found = _sorted(asked, locks or contacts)
        return replace(found, ajar=_ajar(contacts) if locks else ())
    found = _sorted(asked, contacts or locks)
    # A door may have a drive and a contact; if either knows the state, it is known.
    return found if len(found.unknown) == len(found.asked) else replace(found, unknown=())


def _ajar(parts: Iterable[Entity], but: Iterable[Entity] = ()) -> tuple[Entity, ...]:
    return tuple(
        one
        for one in parts
        if one not in but and is_contact(one) and shows(one, "closed") in (Shows.NO, Shows.MOVING)
    )


def _of_locks(question: Question, house: House) -> Facts:
    """Return the facts about several locks. An open door doesn't count as locked, and a contact
    alone can't show that a door is locked."""
    there = _there(question, house)
    kinds = question.classes - {EVERYTHING} or frozenset({"door"})
    if EVERYTHING in question.classes:
        kinds = frozenset({*NAMED, "other"})
    locks = [one for one in there if is_lock(one)]
    if kinds == {"window"}:
        locks = [one for one in locks if mentions("asked_windows", *one.names)]
    contacts = [one for one in there if openings(one) & kinds]
    found = _sorted(question, locks)
    ajar, away = _ajar(contacts), tuple(one for one in contacts if one.state in UNKNOWN)
    found = replace(found, unknown=(*found.unknown, *away))
    if question.state == "locked":
        found = replace(found, no=(*found.no, *ajar))
    else:
        found = replace(found, yes=(*found.yes, *ajar))
    if locks:
        return found
    return replace(found, mute=tuple(one for one in contacts if one not in (*ajar, *away)))


def _members(question: Question, house: House) -> list[Entity]:
    there = _there(question, house)
    if EVERYTHING in question.classes:
        return [one for one in there if is_contact(one) or _is_unlatched(one)]
    asked = question.classes & NAMED.keys()
    if asked and question.domain in ("", "cover"):
        rest = question.classes - asked
        return [
            one
            for one in there
            if openings(one) & asked or (one.domain == "cover" and one.device_class in rest)
        ]
    if not question.domain and not question.classes:
        return []
    return [
        one
        for one in there
        if _is_of_domain(one, question)
        and (not question.classes or one.device_class in question.classes)
    ]


def _is_of_domain(entity: Entity, question: Question) -> bool:
    if question.domain == "binary_sensor" and question.classes == {"battery"}:
        return entity.domain in ("binary_sensor", "sensor")
    return not question.domain or entity.domain == question.domain


def _is_unlatched(entity: Entity) -> bool:
    return entity.domain == "lock" and entity.state in ("open", "opening")


def _there(question: Question, house: House) -> list[Entity]:
    return [
        one
        for one in house.exposed()
        if (not question.area_id or one.area_id == question.area_id)
        and (not question.floor_id or _floor(one, house) == question.floor_id)
    ]


def _floor(entity: Entity, house: House) -> str | None:
    area = house.areas.get(entity.area_id or "")
    return None if area is None else area.floor_id


def _sorted(question: Question, things: Iterable[Entity]) -> Facts:
    found: dict[Shows, list[Entity]] = {one: [] for one in Shows}
    for one in things:
        known = Shows.UNKNOWN if one.state in UNKNOWN else Shows.YES
        found[shows(one, question.state) if question.state else known].append(one)
    return Facts(
        question.kind,
        question.state,
        yes=tuple(found[Shows.YES]),
        no=tuple(found[Shows.NO]),
        moving=tuple(found[Shows.MOVING]),
        unknown=tuple(found[Shows.UNKNOWN]),
        mute=tuple(found[Shows.MUTE]),
        sensed=question.domain == "binary_sensor" and not question.entity_ids,
    )


def _is_low(state: str) -> bool:
    try:
        return float(state) < LOW_BATTERY
    except ValueError:
        return state == "low"


# Doors, windows and gates, and the lock, contact and drive that belong to one. Pure.


# Words for covers by device class. Classes that aren't listed are not openings: people ask for
# blinds and curtains by name.
_COVERS = {
    "door": frozenset({"door"}),
    "garage": frozenset({"door", "garage"}),
    "gate": frozenset({"door", "gate"}),
    "window": frozenset({"window"}),
}
_CONTACTS = {
    "door": frozenset({"door"}),
    "garage_door": frozenset({"door", "garage"}),
    "window": frozenset({"window"}),
}
# Word -> topic of the names that match it.
NAMED = {
    "door": "asked_doors",
    "garage": "asked_garages",
    "gate": "asked_gates",
    "window": "asked_windows",
}


def openings(entity: Entity) -> frozenset[str]:
    """Return the kinds of opening that an entity belongs to: "door", "window", "garage", "gate" or
    "other".

    They follow from the device class and the names. A cover that may be a gate is "other", and an
    entity that is no opening has no kinds.
    """
    if entity.domain == "cover":
        kinds = _COVERS.get(entity.device_class or "", frozenset())
        unclear = entity.device_class is None
    elif entity.domain == "binary_sensor":
        kinds = _CONTACTS.get(entity.device_class or "", frozenset())
        unclear = entity.device_class == "opening"
    else:
        return frozenset()
    if not unclear and "door" not in kinds:
        return kinds
    named = frozenset(kind for kind, topic in NAMED.items() if mentions(topic, *entity.names))
    if named & {"garage", "gate"}:
        named |= {"door"}
    if not unclear:
        return kinds | (named & {"garage", "gate"})
    if named or entity.domain == "binary_sensor":
        return named or frozenset({"door", "window"})
    return frozenset() if mentions("asked_blinds", *entity.names) else frozenset({"other"})


def is_contact(entity: Entity) -> bool:
    """Return True if the entity can show that a door or window is open."""
    return bool(openings(entity))


def is_lock(entity: Entity) -> bool:
    """Return True if the entity can show that a door is locked."""
    return entity.domain == "lock" or (
        entity.domain == "binary_sensor" and entity.device_class == "lock"
    )


def is_of_a_door(entity: Entity) -> bool:
    return is_lock(entity) or is_contact(entity)


def door_key(name: str) -> str:
    """Return a key that all parts of a door share: "front door" for "Front door contact"."""
    return " ".join(dict.fromkeys(map(fold, without_part(name).split())))


def without_part(name: str) -> str:
    """Return a door part's name without words such as "lock" or "contact"."""
    words, ends = _door_parts()
    kept: list[str] = []
    for word in name.split():
        plain = fold(word)
        if plain in words:
            continue
        end = next((one for one in ends if plain.endswith(one)), "")
        kept.append(word[: len(word) - len(end)])
    return " ".join(kept)


@cache
def _door_parts() -> tuple[frozenset[str], tuple[str, ...]]:
    found = [one for code in LANGUAGES for one in entries("door_parts", code)]
    ends = tuple(fold(one) for one in found if one.startswith("*"))
    return frozenset(map(fold, found)), ends


def door_of(entity: Entity, house: House) -> list[Entity]:
    """Return the lock, contact and drive of this entity's door, with the entity itself first. They
    are recognised by their names, their device or their garage."""
    if not is_of_a_door(entity):
        return [entity]
    doors = [one for one in house.exposed() if is_of_a_door(one) and one is not entity]
    keys = {door_key(name) for name in entity.names} - {""}
    found = [
        one
        for one in doors
        if not keys.isdisjoint(door_key(name) for name in one.names)
        and (one.area_id is None or entity.area_id is None or one.area_id == entity.area_id)
    ]
    mates = [one for one in doors if one.device_id and one.device_id == entity.device_id]
    if len(mates) == 1 and is_lock(mates[0]) is not is_lock(entity) and mates[0] not in found:
        found.append(mates[0])
    found += [one for one in _of_garage(entity, doors) if one not in found]
    return [entity, *found]


def _of_garage(entity: Entity, doors: Iterable[Entity]) -> list[Entity]:
    """Return the other part of a garage door: the contact for a drive, or the drive for a contact.
    They belong together if the room has no others, even if their names differ."""
    classes = ("garage", "garage_door")
    if entity.area_id is None or entity.device_class not in classes:
        return []
    there = [one for one in doors if one.area_id == entity.area_id and one.device_class in classes]
    return there if len(there) == 1 and there[0].domain != entity.domain else []
