"""The house's names in spoken form. Duplicate names are distinguished by room."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from assistant.tools.house.questions import door_of, is_of_a_door, without_part
from integrations.home_assistant.house import Entity, House

# Conversion between numbers and English words.


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_HUNDRED = "one hundred"


def number_words(number: int) -> str:
    """Return a number in English words. Numbers above 100 are read digit by digit."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f" {_SMALL[ones]}" if ones else "")
    if number == 100:
        return _HUNDRED
    return " ".join(_SMALL[int(digit)] for digit in str(number))


_BY_WORDS = {number_words(number): str(number) for number in range(101)} | {"a hundred": "100"}
_SPOKEN = re.compile(
    r"\b(" + "|".join(sorted(_BY_WORDS, key=len, reverse=True)) + r")(?=\s+(percent|degrees?)\b)"
)


def digits_for_quantities(text: str) -> str:
    """Write numbers before "percent" and "degrees" as digits: "50 percent"."""
    return _SPOKEN.sub(lambda found: _BY_WORDS[found[1]], text)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of an entity, area, floor or door."""

    text: str  # spoken form in lower case: "lamp two"
    written: str  # Home Assistant's form: "Lamp 2"
    ids: tuple[str, ...]  # one id, or several if entities of a domain share the name
    domain: str  # "light", "area", "floor"
    derived: bool = False  # built from the entity's and the room's name: "bedroom lamp"


@dataclass(frozen=True, slots=True)
class Names:
    entities: tuple[Name, ...]
    areas: tuple[Name, ...]
    floors: tuple[Name, ...]
    doors: tuple[Name, ...] = ()  # door names, without words such as "lock"

    def of(self, *domains: str) -> list[str]:
        """Return the spoken names of all entities in these domains, without duplicates."""
        return list(dict.fromkeys(n.text for n in self.entities if n.domain in domains))


def spoken(written: str) -> str:
    """Return a name as an English speaker says it: lower-case ASCII, with numbers in words."""
    folded = unicodedata.normalize("NFKD", written).encode("ascii", "ignore").decode()
    folded = re.sub(r"\b([A-Z]{2,4})\b", lambda found: " ".join(found[1]), folded)  # TV -> T V
    words: list[str] = []
    for token in re.findall(r"[a-z']+|[0-9]+", folded.lower()):
        words.append(number_words(int(token)) if token.isdigit() else token.strip("'"))
    return " ".join(word for word in words if word)


def naming(house: House) -> tuple[object, ...]:
    """Return a value that changes whenever the result of `house_names` can change.

    Comparing it takes a tenth of the time that `house_names` takes.
    """
    things = tuple(
        (one.entity_id, one.names, one.area_id, one.device_class) for one in house.exposed()
    )
    return things, dict(house.areas), dict(house.floors)


def house_names(house: House) -> Names:
    """Return the spoken names of the house's exposed entities, areas, floors and doors."""
    by_text: dict[tuple[str, str], list[tuple[Entity, str]]] = defaultdict(list)
    for entity in house.exposed():
        for written in entity.names:
            text = spoken(written)
            if text:
                by_text[text, entity.domain].append((entity, written))
    entities = []
    for (text, domain), found in by_text.items():
        ids = tuple(dict.fromkeys(entity.entity_id for entity, _ in found))
        entities.append(Name(text, found[0][1], ids, domain))
        if len(ids) > 1:
            entities.extend(_told_apart(text, domain, found, house))
    return Names(
        tuple(entities),
        tuple(_places(((a.area_id, (a.name, *a.aliases)) for a in house.areas.values()), "area")),
        tuple(
            _places(((f.floor_id, (f.name, *f.aliases)) for f in house.floors.values()), "floor")
        ),
        tuple(_doors(house)),
    )


def without_words(names: Names, words: Collection[str]) -> Names:
    def kept(some: tuple[Name, ...]) -> tuple[Name, ...]:
        return tuple(name for name in some if not set(name.text.split()) & set(words))

    return Names(kept(names.entities), kept(names.areas), kept(names.floors), kept(names.doors))


def _told_apart(
    text: str, domain: str, found: list[tuple[Entity, str]], house: House
) -> Iterable[Name]:
    for entity, written in found:
        for room in _rooms(entity, house):
            for told in (f"{room} {text}", f"{text} in the {room}", f"{text} in {room}"):
                yield Name(told, written, (entity.entity_id,), domain, derived=True)


def _rooms(entity: Entity, house: House) -> list[str]:
    area = house.areas.get(entity.area_id or "")
    names = (area.name, *area.aliases) if area is not None else ()
    return [room for name in names if (room := spoken(name))]


def _doors(house: House) -> Iterable[Name]:
    parts = [one for one in house.exposed() if is_of_a_door(one)]
    by_text: dict[str, tuple[str, list[Entity]]] = {}
    for part in parts:
        for written in part.names:
            for text in dict.fromkeys((spoken(written), spoken(without_part(written)))):
                if text:
                    by_text.setdefault(text, (written, []))[1].append(part)
    for text, (written, found) in by_text.items():
        # Each door is represented by one of its locks, contacts and covers.
        doors: list[Entity] = []
        for entity in {one.entity_id: one for one in found}.values():
            if not any(entity in door_of(door, house) for door in doors):
                doors.append(entity)
        # A name that several doors share has several ids.
        ids = tuple(one.entity_id for one in doors)
        yield Name(text, written, ids, doors[0].domain)


def _places(places: Iterable[tuple[str, tuple[str, ...]]], kind: str) -> Iterable[Name]:
    for place_id, written_names in places:
        for written in written_names:
            text = spoken(written)
            if text:
                yield Name(text, written, (place_id,), kind)


def name_values(names: Names) -> Iterable[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield hassil's list values for entity names: spoken form, written form, context, metadata."""
    for name in names.entities:
        context = {"domain": name.domain}
        metadata = {"ids": name.ids, "domain": name.domain}
        for text in dict.fromkeys((name.text, *_plain(name))):
            yield text, name.written, context, metadata


def door_values(names: Names) -> Iterable[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield hassil's list values for doors, like `name_values`."""
    for name in names.doors:
        metadata = {"ids": name.ids, "domain": name.domain}
        for text in dict.fromkeys((name.text, *_plain(name))):
            yield text, name.written, {}, metadata


def place_values(places: Iterable[Name]) -> Iterable[tuple[str, str]]:
    """Yield the names of areas or floors, with their ids."""
    for place in places:
        for text in dict.fromkeys((place.text, *_plain(place))):
            yield text, place.ids[0]


def _plain(name: Name) -> tuple[str, ...]:
    return () if name.derived else (name.written.lower(),)
