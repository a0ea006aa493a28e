"""Interpretation of what the person said: kinds of entities, rooms, "all" and exceptions. All
functions are pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from assistant.tools.policy.openers import is_opener
from assistant.tools.vocabulary import entries, find, fold, mentions, mentions_one_of
from assistant.tools.vocabulary.exceptions import exception_last
from integrations.home_assistant.house import Area, Entity, Floor, House

# Topics of appliances that have a lamp, which "the lights" doesn't include.
_APPLIANCES = ("cooking", "keeps_running")
_PLAIN = frozenset({"input_boolean", "switch"})  # only the name shows what they switch


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity that people refer to with the words of one topic of the vocabulary."""

    topic: str
    domains: frozenset[str]
    # Domains in which only entities with a matching name, alias or device class count.
    named: frozenset[str] = frozenset()
    opener: bool | None = None  # for covers: True for openers only, False for all others

    def holds(self, entity: Entity) -> bool:
        if entity.domain in self.named and self._is_called(entity):
            return True
        if entity.domain not in self.domains:
            return False
        if entity.domain != "cover" or self.opener is None:
            return True
        window = entity.device_class == "window"
        return self.opener is is_opener(entity) and not window

    def _is_called(self, entity: Entity) -> bool:
        if self.topic == "lights" and any(mentions(one, *entity.names) for one in _APPLIANCES):
            return False
        return mentions(self.topic, entity.device_class or "", *entity.names)


def _kind(
    topic: str, domains: str = "", *, named: Iterable[str] = (), opener: bool | None = None
) -> Kind:
    return Kind(topic, frozenset(domains.split()), frozenset(named), opener)


LIGHTS = _kind("lights", "light", named=_PLAIN)
# These can be named explicitly even if they must run.
HEATING = _kind("heating", "climate", named=_PLAIN)
BOILERS = _kind("boilers", "water_heater", named=(*_PLAIN, "climate"))
KINDS = (
    LIGHTS,
    _kind("kind_blinds", "cover", opener=False),
    _kind("kind_windows", named=["cover"]),
    _kind("locks", "lock"),
    _kind("doors", "lock cover", opener=True),
    _kind("outer_gates", named=["cover", "lock", *_PLAIN]),
    _kind("kind_garages", named=["cover", "lock", *_PLAIN]),
    _kind("switches", "switch input_boolean"),
    _kind("plugs", "switch"),
    _kind("cooking", named=(*_PLAIN, "climate")),
    _kind("irrigation", "valve", named=_PLAIN),
    _kind("fans", "fan", named=_PLAIN),
    HEATING,
    _kind("players", "media_player", named=(*_PLAIN, "remote")),
    _kind("valves", "valve", named=_PLAIN),
    _kind("alarms", "alarm_control_panel siren"),
    _kind("sirens", "siren"),
    _kind("scripts", "script"),
    _kind("scenes", "scene"),
    _kind("buttons", "button input_button"),
    _kind("automations", "automation"),
    _kind("vacuums", "vacuum", named=_PLAIN),
    _kind("mowers", "lawn_mower", named=_PLAIN),
    BOILERS,
    _kind("humidity", "humidifier", named=_PLAIN),
)


@lru_cache(64)
def kinds_in(heard: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS if mentions(kind.topic, heard))


def wants_open(heard: str) -> bool:
    """Return True if the text asks to open, unlock or disarm something."""
    return mentions_one_of(("opening", "unlocks", "asks_to_open"), heard)


# Topics of the vocabulary for rooms; a house may use any name.
_ROOMS = (
    *("room_attic", "room_bath", "room_bed", "room_cellar", "room_child", "room_dining"),
    *("room_garage", "room_garden", "room_hall", "room_kitchen", "room_laundry", "room_living"),
    *("room_outbuilding", "room_stairs", "room_terrace", "room_toilet", "room_work"),
)
_FLOORS = ("floor_down", "floor_up")
_TAKEN = "qq"  # replaces words that were used already; not in any vocabulary
# Words beside the names in an exception.
_SMALL = frozenset("the my our and one ones el la los las de y e o a os as do da em na no".split())
_VIETNAMESE = re.compile("[đăơư\u1ea0-\u1ef9]")
_SHORTEST = 3  # fewest letters of a room name at the start of a compound: "Badlicht"


@dataclass(frozen=True, slots=True)
class NamedPlace:
    kind: Literal["area", "floor"]
    found: Area | Floor

    def holds(self, entity: Entity, house: House) -> bool:
        if isinstance(self.found, Area):
            return entity.area_id == self.found.area_id
        area = house.areas.get(entity.area_id or "")
        return area is not None and area.floor_id == self.found.floor_id


@dataclass(frozen=True, slots=True)
class Words:
    """A person's words, or the part of them that lists exceptions."""

    text: str  # lower case, without names of places
    places: tuple[NamedPlace, ...] = ()
    lacking: tuple[str, ...] = ()  # topics of named rooms that the house does not have

    @property
    def everywhere(self) -> bool:
        return mentions("everything", self.text) or mentions("whole_house", self.text)

    @property
    def here(self) -> bool:
        return mentions("here", self.text)


@dataclass(frozen=True, slots=True)
class HeardWords:
    wanted: Words
    left: Words | None = None  # None: nothing is excluded
    left_things: frozenset[str] = frozenset()  # ids of entities excluded by name
    in_part: bool = False  # "not all the lights": unclear which

    def leaves(self, entity: Entity, house: House) -> bool:
        if self.left is None:
            return False
        if entity.entity_id in self.left_things:
            return True
        kinds, places = kinds_in(self.left.text), self.left.places
        if not (kinds or places):
            return False
        there = not places or any(place.holds(entity, house) for place in places)
        return there and (not kinds or any(kind.holds(entity) for kind in kinds))


def read(house: House, heard: str) -> HeardWords:
    """Divide a person's words into the part that is wanted and the part that is excluded."""
    words = fold(exception_last(heard), marks=True).split()
    text = " ".join(words)
    in_part = mentions("not_all", text)
    cut = find("except", text) or _before_names(house, words)
    if cut is None or mentions("the_rest", " ".join(words[cut[1] :])):
        return HeardWords(_words(house, words), in_part=in_part)
    # "All but the kitchen" is about all.
    wanted = words[: cut[1] if mentions("everything", " ".join(words[slice(*cut)])) else cut[0]]
    end = _next_command(house, words, cut[1])
    wanted = [*wanted, *words[end:]]
    if mentions("the_rest", " ".join(wanted)):  # "the rest" after an exception is all
        wanted.append("all")
    said = _words(house, wanted)
    left, things = _left(house, words[cut[1] : end], kinds_in(said.text))
    if left.places and not (said.places or said.here):  # the lights except the kitchen
        said = _words(house, [*wanted, "all"])
    return HeardWords(said, left, things, in_part)


def _next_command(house: House, words: list[str], start: int) -> int:
    """Return the position at which an exception ends because another command follows: "except the
    kitchen and close the blinds"."""
    rest, _ = _without_things(house, words[start:])
    rest, _ = _without_places(house, rest)
    for at in range(1, len(rest) - 1):
        named = rest[at + 1] == _TAKEN or rest[at + 1] in _SMALL or kinds_in(rest[at + 1])
        if any(rest[at] in entries("and", code) for code in _JOINED) and not named:
            return start + at
    return len(words)


def _left(house: House, words: list[str], wanted: Sequence[Kind]) -> tuple[Words, frozenset[str]]:
    """Return the words of an exception, and the ids of the entities that it names."""
    rest, things = _without_things(house, words, wanted)
    left = _words(house, rest)
    # In "except the lamp in the bedroom", the bedroom only says which lamp.
    around = tuple(p for p in left.places if any(p.holds(house.entities[i], house) for i in things))
    there = {i for i in things if any(place.holds(house.entities[i], house) for place in around)}
    names = {fold(name) for i in there for name in house.entities[i].names}
    others = {i for i in things - there if not names & set(map(fold, house.entities[i].names))}
    places = tuple(place for place in left.places if place not in around)
    return replace(left, places=places), frozenset(there | others)


def _before_names(house: House, words: list[str]) -> tuple[int, int] | None:
    """Return the position of a word like "but" that only names and kinds follow: "all lights but
    Zephyra"."""
    for at, word in enumerate(words[:-1], start=1):
        if at < 2 or not mentions("except_names", word):
            continue
        rest, _ = _without_things(house, words[at:])
        rest, _ = _without_places(house, rest)
        if all(word == _TAKEN or word in _SMALL or kinds_in(word) for word in rest):
            return at - 1, at
    return None


def clauses(house: House, heard: str) -> list[Words]:
    """Split a person's words into clauses at "and"."""
    words = fold(heard, marks=True).split()
    joins = {fold(word, marks=True) for code in _JOINED for word in entries("and", code)}
    parts: list[list[str]] = [[]]
    for word in words:
        if word in joins:
            parts.append([])
        else:
            parts[-1].append(word)
    return [_words(house, part) for part in parts if part]


def is_small(word: str) -> bool:
    """Return True for an article and the like, and for a word that stands for a name."""
    return word in _SMALL or word == _TAKEN


_JOINED = ("de", "en", "es", "fr", "pt", "vi")


def is_called(text: str, entity: Entity) -> bool:
    padded = f" {fold(text)} "
    return any((name := fold(one)) and f" {name} " in padded for one in entity.names)


def _words(house: House, words: list[str]) -> Words:
    rest, places = _without_places(house, words)
    text = " ".join(rest)
    lacking = []
    for topic in _ROOMS:
        if mentions(topic, text):
            areas = _called(house.areas.values(), topic)
            known = [NamedPlace("area", area) for area in areas]
            places += known
            lacking += [] if known else [topic]
    for topic in _FLOORS:
        if mentions(topic, text):
            floors = [NamedPlace("floor", floor) for floor in _called(house.floors.values(), topic)]
            places += floors
            lacking += [] if floors else [topic]
    while (span := find("in_passing", text)) is not None:
        rest = text.split()
        text = " ".join((*rest[: span[0]], _TAKEN, *rest[span[1] :]))
    return Words(text, _innermost(places), tuple(lacking))


def _without_places(house: House, words: list[str]) -> tuple[list[str], list[NamedPlace]]:
    """Find rooms and floors by their names, the longest name first. Returns the remaining words and
    the places."""
    plain = [fold(word) for word in words]
    rest, found = list(words), []
    for name, place in _names(house):
        size = len(name)
        for at in range(len(plain) - size + 1):
            there = rest[at : at + size]
            if tuple(plain[at : at + size]) == name and not _is_other(there, place):
                rest[at : at + size] = [_TAKEN] * size
                found.append(place)
        if size == 1 and len(name[0]) >= _SHORTEST:
            found += [place for word in plain if _begins(word, name[0])]
    return rest, found


def _without_things(
    house: House, words: list[str], wanted: Sequence[Kind] = ()
) -> tuple[list[str], frozenset[str]]:
    """Find entities by their names, the longest name first. Returns the remaining words and the
    entity ids.

    A name doesn't count if it is also the name of a room or a kind of entity ("Lights"), unless
    that kind is wanted: in "the lights except the lamp", the lamp is the one with that name.
    """
    places = {name for name, _ in _names(house)}
    text = f" {fold(' '.join(words))} "
    named: dict[tuple[str, ...], set[str]] = {}
    for one in house.exposed():
        for said in filter(None, map(fold, one.names)):
            if f" {said} " in text:
                named.setdefault(tuple(said.split()), set()).add(one.entity_id)
    rest, things = list(words), set()
    for name in sorted(named, key=len, reverse=True):
        kinds = kinds_in(name[0]) if len(name) == 1 else ()
        is_one = set(kinds) & set(wanted) and not name[0].endswith("s")
        if name in places or (kinds and not is_one):
            continue
        plain = [fold(word) for word in rest]
        for at in range(len(plain) - len(name) + 1):
            if tuple(plain[at : at + len(name)]) == name:  # "desk lamp" contains no "lamp"
                rest[at : at + len(name)] = [_TAKEN] * len(name)
                things |= named[name]
    return rest, frozenset(things)


def _is_other(words: list[str], place: NamedPlace) -> bool:
    """Return True if these words already belong to another name, or if they are Vietnamese and
    match only without diacritics: "đèn" is a light, not a den."""
    if _TAKEN in words:
        return True
    if not any(_VIETNAMESE.search(word) for word in words):
        return False
    names = (place.found.name, *place.found.aliases)
    return " ".join(words) not in (fold(name, marks=True) for name in names)


def _names(house: House) -> list[tuple[tuple[str, ...], NamedPlace]]:
    places = [
        *(NamedPlace("area", area) for area in house.areas.values()),
        *(NamedPlace("floor", floor) for floor in house.floors.values()),
    ]
    named = [
        (tuple(fold(name).split()), place)
        for place in places
        for name in (place.found.name, *place.found.aliases)
    ]
    return sorted((one for one in named if one[0]), key=lambda one: -len(one[0]))


def _begins(word: str, name: str) -> bool:
    return word != name and word.startswith(name) and bool(kinds_in(word))


@lru_cache(1_024)
def _is_room(topic: str, names: tuple[str, ...]) -> bool:
    return mentions(topic, *names)


def _called(places: Iterable[Area | Floor], topic: str) -> list[Area | Floor]:
    return [place for place in places if _is_room(topic, (place.name, *place.aliases))]


def _innermost(places: Iterable[NamedPlace]) -> tuple[NamedPlace, ...]:
    once = list(dict.fromkeys(places))
    within = {one.found.floor_id for one in once if isinstance(one.found, Area)}
    return tuple(
        one for one in once if not (isinstance(one.found, Floor) and one.found.floor_id in within)
    )


@dataclass(frozen=True, slots=True)
class Scope:
    places: tuple[NamedPlace, ...] = ()  # empty: everywhere


def scope(words: Words, own: Area | None) -> Scope | None:
    """Return the places that the person means, or None if they are unclear. `own` is the current
    room."""
    if words.lacking:
        return None
    if words.places:
        return Scope(words.places)
    if words.everywhere and not words.here:
        return Scope()
    return Scope((NamedPlace("area", own),)) if own is not None else None
