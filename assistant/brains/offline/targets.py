"""Find the devices and rooms that a loosely worded sentence is about."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.brains.offline.lexicon import Piece
from assistant.tools.house.names import stemmed
from integrations.home_assistant.house import Entity, House

TARGET_TAGS = frozenset("thing area floor kind here all rest else both it one called".split())
# Covers that let people in. Only the strict templates open them.
_ENTRANCES = frozenset({"door", "garage", "gate", "window"})
_CLASSES = {"kind_garages": frozenset({"garage"}), "outer_gates": frozenset({"gate"})}


# A house has few of these, so one in another room can be meant.
FEW = frozenset({"climate", "fan", "humidifier", "lawn_mower", "vacuum", "water_heater"})

# "The thermostats" leave out a floor heating.
NAMED_KINDS = frozenset(map(stemmed, "thermostat termostato".split()))
# Kinds that stand only for devices that are called so.
_RARE = frozenset(map(stemmed, ("fairy lights", "nightlight", "lantern", "lanterns", "chandelier")))
_PLURAL = frozenset({"them", "these", "those", "enclíticas", "enclíticos"})
_TELEVISIONS = frozenset(map(stemmed, "tv television telly tele televisor televisión".split()))


@dataclass(frozen=True, slots=True)
class Target:
    """A device, or all devices of a kind in a place or in the whole house."""

    ids: tuple[str, ...] = ()  # several if they share the name
    domain: str = ""
    area_id: str = ""
    floor_id: str = ""
    topic: str = ""  # the kind as the vocabulary calls it
    word: str = ""  # the kind as the person said it
    everywhere: bool = False
    place: str = ""  # as the person said it
    sure: float = 1.0

    @property
    def placed(self) -> bool:
        return bool(self.area_id or self.floor_id)


@dataclass(frozen=True, slots=True)
class Scene:
    """The house, this device's area and the devices of the conversation's last command."""

    house: House
    here: str = ""  # area id
    recent: tuple[str, ...] = ()  # entity ids
    before: tuple[str, ...] = ()  # entity ids of the command before
    single: bool = False  # the last command named a single device


class NoTarget(Exception):
    """Raised if the words select nothing that this action works with."""


def targets_of(
    pieces: Sequence[Sequence[Piece]], domains: Collection[str], scene: Scene, default: str = ""
) -> list[Target]:
    """Return the targets among these domains that the pieces select. Raises NoTarget.

    `pieces` are the parts of the sentence that name devices and places, each with its possible
    meanings. A place without a kind of device stands for its devices of the domain `default`.
    """
    things, kinds, places = _sorted(pieces, domains, scene)
    words = {piece.tag for options in pieces for piece in options}
    found = things or kinds or places or ("all" in words and not scene.recent)
    if words & {"it", "one", "both"} and not found:
        them = any(one.text in _PLURAL for options in pieces for one in options)
        both = ("both" in words and len(scene.recent) == 1) or (them and scene.single)
        return _recent(domains, (*scene.before, *scene.recent) if both else scene.recent, scene)
    if not kinds and not things and default and (places or "all" in words):
        kinds = [Target(domain=default)]
    chosen = [_in_place(thing, places, scene) for thing in things]
    for number, kind in enumerate(kinds):
        chosen += _placed(kind, _places_of(kinds, places, number), words, scene)
    if not chosen:
        raise NoTarget
    return chosen


@dataclass(frozen=True, slots=True)
class _Place:
    area_id: str
    floor_id: str
    text: str
    at: int


def _sorted(
    pieces: Sequence[Sequence[Piece]], domains: Collection[str], scene: Scene
) -> tuple[list[Target], list[Target], list[_Place]]:
    things: list[Target] = []
    kinds: list[Target] = []
    places: list[_Place] = []
    kinds_said = [one for options in pieces for one in options if one.tag == "kind"]
    last_thing = last_kind = after_all = -9
    for options in pieces:
        at = options[0].at
        kind = next((o for o in options if o.tag == "kind" and o.value[1] in domains), None)
        place = next((o for o in options if o.tag in ("area", "floor")), None)
        found = [o for o in options if o.tag == "thing"]
        ids = tuple(
            dict.fromkeys(i for o in found for i in o.value if i.partition(".")[0] in domains)
        )
        other_kinds = [one for one in kinds_said if one.at != at]
        if place is not None and kind is not None and not other_kinds:
            place = None  # "open the garage"
        noun = any(o.tag == "kind" for o in options)
        if noun and things and things[-1].sure < 1.0 and at - last_thing <= 1:
            continue  # "salt lamp", of which "salt" is the name
        if place is not None and (kinds_said or not ids):
            area, floor = (place.value[0], "") if place.tag == "area" else ("", place.value[0])
            places.append(_Place(area, floor, place.text, at))
        elif ids and not (kind and len(ids) > 1 and (kind.text.endswith("s") or at == after_all)):
            sure = max(o.sure for o in found)
            domain = ids[0].partition(".")[0]
            if kinds and kinds[-1].domain == domain and at - last_kind <= 1:
                kinds.pop()  # "the fan Zephyra", "the fan called Zephyra"
            if things and len(things[-1].ids) > 1 and at - last_thing <= 1:
                things.pop()  # "the lamp Yelmar", where others are called "Lamp"
            things.append(_named(ids, kind, sure))
            last_thing = at
        elif every := next((o for o in options if o.tag == "all"), None):  # "every lamp"
            after_all = at + len(every.text.split())
        elif any(o.tag == "called" for o in options):
            last_kind, last_thing = last_kind + 1, last_thing + 1
        elif kind is not None:
            topic, domain = kind.value
            if at - last_thing <= 1 and things:
                continue
            kinds.append(Target(domain=domain, topic=topic, word=kind.text, sure=kind.sure))
            last_kind = at
        elif found or any(o.tag == "kind" for o in options):
            raise NoTarget
        elif any(o.tag == "here" for o in options) and scene.here:
            places.append(_Place(scene.here, "", "", at))
    return things, kinds, places


def _named(ids: tuple[str, ...], kind: Piece | None, sure: float) -> Target:
    # Lamps are the only kind for which a name such as "Lamp" stands if it isn't in that room.
    domain = ids[0].partition(".")[0]
    lamps = kind is not None and domain == "light"
    return Target(ids, domain, word=kind.text if kind is not None and lamps else "", sure=sure)


def _places_of(kinds: Sequence[Target], places: list[_Place], number: int) -> list[_Place]:
    # With several kinds, each has its own place if there are as many.
    if len(kinds) > 1 and len(places) == len(kinds):
        return [places[number]]
    return places


def _in_place(thing: Target, places: Sequence[_Place], scene: Scene) -> Target:
    if not places:
        return thing
    house = scene.house
    there = tuple(
        one for one in thing.ids if any(_is_in(house.entities[one], p, house) for p in places)
    )
    if not there and not thing.word:
        raise NoTarget
    if not there:
        one = places[0]
        return replace(thing, ids=(), area_id=one.area_id, floor_id=one.floor_id, place=one.text)
    return replace(thing, ids=there)


def _placed(
    kind: Target, places: Sequence[_Place], words: Collection[str], scene: Scene
) -> list[Target]:
    if "both" in words and len(places) == 2 and (pair := _one_each(kind, places, scene)):
        return pair
    if places:
        return [
            replace(kind, area_id=one.area_id, floor_id=one.floor_id, place=one.text)
            for one in places
        ]
    if "all" in words:
        return [replace(kind, everywhere=True)]
    called = [one for one in members(kind, scene.house) if _is_called(one, kind.word)]
    if "both" in words and len(called) == 2:  # "both lamps"
        return [replace(kind, ids=(one.entity_id,)) for one in called]
    near = members(replace(kind, area_id=scene.here), scene.house) if scene.here else []
    of_word = [one for one in members(kind, scene.house) if _is_a(one, kind.word)]
    if kind.domain == "cover" and of_word and near and not any(one in near for one in of_word):
        # "The shade" is the only one in the house, and not a blind of this room.
        return [replace(kind, ids=tuple(one.entity_id for one in of_word))]
    if near and not ("both" in words and len(near) == 1):
        return [replace(kind, area_id=scene.here)]
    every = members(kind, scene.house)
    if len(every) == 1:
        return [replace(kind, ids=(every[0].entity_id,))]
    if not every:
        raise NoTarget
    if kind.domain in FEW or "both" in words:
        both = "both" in words or kind.word.endswith("s")
        ids = tuple(one.entity_id for one in every)
        return [replace(kind, ids=(one,)) for one in ids] if both else [replace(kind, ids=ids)]
    return [kind]


def _one_each(kind: Target, places: Sequence[_Place], scene: Scene) -> list[Target]:
    """Return "both lamps in the bedroom and the hall", if each room has one that is called so."""
    found = [
        [
            one
            for one in members(replace(kind, area_id=p.area_id, floor_id=p.floor_id), scene.house)
            if _is_called(one, kind.word)
        ]
        for p in places
    ]
    if any(len(some) != 1 for some in found):
        return []
    return [replace(kind, ids=(some[0].entity_id,)) for some in found]


def _recent(domains: Collection[str], recent: Sequence[str], scene: Scene) -> list[Target]:
    ids = [one for one in recent if one.partition(".")[0] in domains]
    ids = [one for one in ids if one in scene.house.entities]
    if not ids:
        raise NoTarget
    return [Target((one,), one.partition(".")[0]) for one in ids]


def members(target: Target, house: House) -> list[Entity]:
    """Return the exposed entities of a target."""
    if target.ids:
        return [house.entities[one] for one in target.ids]
    place = _Place(target.area_id, target.floor_id, "", 0)
    found = [
        one
        for one in house.of_domain(target.domain)
        if _is_of(one, target) and (not target.placed or _is_in(one, place, house))
    ]
    if stemmed(target.word) in _TELEVISIONS:
        return [one for one in found if _is_television(one)]
    if stemmed(target.word) in _RARE:
        return [one for one in found if _is_called(one, target.word) or _has_word(one, target.word)]
    # "the speaker" leaves out the television if something there is called so.
    named = named_so(found, target.word)
    exact = target.domain == "media_player" or stemmed(target.word) in NAMED_KINDS
    return named if named and exact else found


def named_so(things: Iterable[Entity], word: str) -> list[Entity]:
    """Return the devices that have a word in a name."""
    return [one for one in things if word and _has_word(one, word)]


def _is_a(cover: Entity, word: str) -> bool:
    return _has_word(cover, word) or cover.device_class == stemmed(word)


def _is_television(entity: Entity) -> bool:
    return entity.device_class == "tv" or any(_has_word(entity, word) for word in _TELEVISIONS)


def _is_called(entity: Entity, word: str) -> bool:
    return any(stemmed(name.casefold()) == stemmed(word) for name in entity.names)


def _has_word(entity: Entity, word: str) -> bool:
    return any(stemmed(word) in map(stemmed, name.split()) for name in entity.names)


def _is_of(entity: Entity, target: Target) -> bool:
    if target.domain != "cover":
        return True
    classes = _CLASSES.get(target.topic)
    if classes is not None:
        return entity.device_class in classes
    return entity.device_class not in _ENTRANCES


def _is_in(entity: Entity, place: _Place, house: House) -> bool:
    if place.area_id:
        return entity.area_id == place.area_id
    area = house.areas.get(entity.area_id or "")
    return area is not None and area.floor_id == place.floor_id


def entities_of(targets: Iterable[Target], house: House) -> list[Entity]:
    """Return the entities of all targets, without duplicates."""
    return list({one.entity_id: one for t in targets for one in members(t, house)}.values())
