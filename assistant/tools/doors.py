"""The doors, windows and gates of a house, and which things are parts of one: lock, contact, drive.

Pure. `house_questions` asks them how they are.
"""

from collections.abc import Iterable
from functools import cache

from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions
from integrations.home_assistant.house import Entity, House

# Device class -> the words by which people ask for it. A class that is not named here is no opening
# of the house: blinds and curtains are asked for by their own name.
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
# What people ask for -> the topic of its names.
NAMED = {
    "door": "asked_doors",
    "garage": "asked_garages",
    "gate": "asked_gates",
    "window": "asked_windows",
}


def openings(entity: Entity) -> frozenset[str]:
    """Return as what people ask for this opening: "door", "window", "garage", "gate"; or nothing.

    Without a device class, or with the class "opening" that fits all of them, its name decides. A
    cover of which neither tells is "other", unless its name is that of a blind: it may be a gate.
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
    """Return whether it tells if a door or window is open."""
    return bool(openings(entity))


def is_lock(entity: Entity) -> bool:
    """Return whether it tells if a door is locked."""
    return entity.domain == "lock" or (
        entity.domain == "binary_sensor" and entity.device_class == "lock"
    )


def is_of_a_door(entity: Entity) -> bool:
    """Return whether it is a door, or a part of one that tells how it is."""
    return is_lock(entity) or is_contact(entity)


def door_key(name: str) -> str:
    """The name of a door out of the name of one of its parts: "Front door contact" -> "front door".

    A word that stands twice goes once, as in Home Assistant's "Front door Door".
    """
    return " ".join(dict.fromkeys(map(fold, without_part(name).split())))


def without_part(name: str) -> str:
    """The name as it is written, without the words that tell the part: "Haustürschloss" is one."""
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
    """Whole words, and ends of compound words."""
    found = [one for code in LANGUAGES for one in entries("door_parts", code)]
    ends = tuple(fold(one) for one in found if one.startswith("*"))
    return frozenset(map(fold, found)), ends


def door_of(entity: Entity, house: House) -> list[Entity]:
    """Return the parts of the door that the entity belongs to: lock, contact, drive. Itself first.

    They have one name, apart from words such as "lock" and "sensor", and no different rooms; or
    they are the only two such parts of one device, or a garage's only drive and only contact.
    """
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
    """The other half of a garage door, where its room has one drive and one contact of that class:
    "Garage contact" and "Garage door" are not called the same."""
    classes = ("garage", "garage_door")
    if entity.area_id is None or entity.device_class not in classes:
        return []
    there = [one for one in doors if one.area_id == entity.area_id and one.device_class in classes]
    return there if len(there) == 1 and there[0].domain != entity.domain else []
