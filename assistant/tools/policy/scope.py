"""Scope: reduce a call's targets to those that the person meant.

A call without a place is limited to the place that the person mentioned, and a call with a place to
what they meant there, such as "the lights". A call that names an entity is never limited.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from assistant.tools.house.intents import Action
from assistant.tools.house.targets import Reach, can, consequences, reach
from assistant.tools.policy.decisions import Case, is_grave
from assistant.tools.policy.openers import RULES, is_opener
from assistant.tools.policy.risk import entity_or_guess, weigh
from assistant.tools.policy.selections import Choice, arguments_for, takes
from assistant.tools.policy.words import (
    BOILERS,
    HEATING,
    KINDS,
    LIGHTS,
    HeardWords,
    Kind,
    NamedPlace,
    Scope,
    Words,
    clauses,
    is_called,
    is_small,
    kinds_in,
    scope,
    wants_open,
)
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Area, Entity, House

# A house has few of these, so one in another room may be meant. Lamps are not among them: in a
# hall without lamps, "turn on the light" does not mean the light in the attic.
_FEW = frozenset(
    {"climate", "fan", "humidifier", "lawn_mower", "lock", "vacuum", "valve", "water_heater"}
)
MOST_OFFERED = 5
_TOGETHER = timedelta(seconds=5)  # players paused by one sentence


@dataclass(frozen=True, slots=True)
class Scoped:
    arguments: Mapping[str, Any]
    seen: Reach
    narrowed: bool = False
    several: bool = False  # in more places than the arguments can express
    denial: str = ""  # rule against the call; "" if there is none
    place: tuple[str, ...] = ()  # names of a place that has no matching entity
    offered: tuple[str, ...] = ()  # names of matching entities elsewhere


def bounded(
    case: Case, arguments: Mapping[str, Any], seen: Reach, heard: HeardWords, own: Area | None
) -> Scoped:
    """Limit a call without a place to the places that the person mentioned."""
    words, house = heard.wanted, case.house
    judged = (*seen.touched, *seen.candidates)
    if words.lacking and case.live:
        called = [name for name in judged if is_of_room(house.entities[name], words.lacking)]
        if not called:
            return Scoped(arguments, seen, denial="which_room")
        cut = _kept(seen, called)
        return Scoped(arguments, cut, True, several=len(called) < len(judged))
    if case.live and len(judged) < 2:
        return Scoped(arguments, seen)
    if _says_everything(case, judged) or (words.everywhere and _is_apart(case, judged)):
        return Scoped(arguments, seen)
    where = scope(words, own)
    if where is None:
        return Scoped(arguments, seen, denial="which_room")
    scoped = _within(case, arguments, seen, where)
    if not scoped.denial or not words.everywhere:
        return scoped
    # In "turn off all the fans, and the lights in here" the room applies only to the lights.
    if _is_everywhere(case, judged):
        return Scoped(arguments, seen)
    return scoped


def widened(case: Case, arguments: Mapping[str, Any], heard: HeardWords) -> Mapping[str, Any]:
    """Remove the call's room or floor if the person said "all" and didn't mention a place.
    Otherwise a model would switch off the lights in one room and report that all lights are off."""
    rest = {key: value for key, value in arguments.items() if key not in ("area", "floor")}
    kind = arguments.get("domain") or arguments.get("device_class")
    if len(rest) == len(arguments) or not kind or heard.left is not None or heard.in_part:
        return arguments
    if not heard.wanted.everywhere:
        return arguments
    there = reach(case.intent, arguments, case.house)
    said = _is_everywhere(case, (*there.touched, *there.candidates))
    return rest if said else arguments


def resumed(
    house: House, arguments: Mapping[str, Any], heard: HeardWords | None, own: Area | None
) -> list[str]:
    """Return the ids of the players that were paused most recently, preferably in this room.

    Returns an empty list if the person named a place, or if the call selects anything but this
    room.
    """
    words = heard.wanted if heard is not None else Words("")
    if arguments.get("name") or arguments.get("floor") or words.places or words.everywhere:
        return []
    if (area := arguments.get("area")) and (own is None or area not in (own.name, own.area_id)):
        return []
    paused = [
        one for one in house.exposed() if one.domain == "media_player" and one.state == "paused"
    ]
    here = [one for one in paused if own is not None and one.area_id == own.area_id]
    last = max(here or paused, key=_when, default=None)
    if last is None or (area and not here and heard is None):
        return []
    together = [one for one in here if heard and _when(last) - _when(one) <= _TOGETHER]
    return [one.entity_id for one in together or [last]]


def _within(case: Case, arguments: Mapping[str, Any], seen: Reach, where: Scope) -> Scoped:
    house, places = case.house, where.places
    if not places:
        return Scoped(arguments, seen)
    if len(places) == 1:
        place = places[0]
        placed = {**arguments, place.kind: place.found.name}
        there = reach(case.intent, placed, house)
        if there.touched or there.candidates or not case.live:
            return Scoped(placed, there, True)
        offered = _offered(seen, house)
        return Scoped(placed, there, True, False, "none_here", _names_of(place), offered)
    if not case.live:
        return Scoped(arguments, seen, denial="which_room")
    judged = (*seen.touched, *seen.candidates)
    there = _kept(seen, [name for name in judged if is_in(house.entities[name], places, house)])
    if there.touched or there.candidates:
        return Scoped(arguments, there, True, several=True)
    return Scoped(arguments, there, True, False, "none_here", _names_of(places[0]))


def _is_everywhere(case: Case, judged: Sequence[str]) -> bool:
    things = [case.house.entities[name] for name in judged]
    for part in clauses(case.house, case.heard or ""):
        kinds = kinds_in(part.text)
        if any(kind.holds(one) for kind in kinds for one in things):
            return part.everywhere and not (part.places or part.here or part.lacking)
    return False


def _is_apart(case: Case, judged: Sequence[str]) -> bool:
    """Return True for "turn off all the lights and close the kitchen blinds", where the room
    belongs to another command. In "all the lights and the fan in the kitchen" it belongs to both.
    """
    placed = [one for one in clauses(case.house, case.heard or "") if one.places]
    verbs = (one.text.split()[:1] for one in placed)
    begin = all(word and not (is_small(word[0]) or kinds_in(word[0])) for word in verbs)
    return bool(placed) and begin and _is_everywhere(case, judged)


def _offered(seen: Reach, house: House) -> tuple[str, ...]:
    """Return the names of the matching entities in other rooms, because the person may mean one of
    them, or () if they are not of a kind that a house has only few of."""
    things = [house.entities[name] for name in (*seen.touched, *seen.candidates)]
    if not all(one.domain in _FEW or (one.domain == "cover" and is_opener(one)) for one in things):
        return ()
    return tuple(dict.fromkeys(one.name for one in things))[:MOST_OFFERED]


def is_of_room(entity: Entity, topics: Sequence[str]) -> bool:
    """Return True if the entity is named after one of these rooms. Lamps that aren't assigned to an
    area often have such names."""
    return any(mentions(topic, entity.device_class or "", *entity.names) for topic in topics)


def _names_of(place: NamedPlace) -> tuple[str, ...]:
    return place.found.name, *place.found.aliases


def is_in(entity: Entity, places: Sequence[NamedPlace], house: House) -> bool:
    return any(place.holds(entity, house) for place in places)


def _kept(seen: Reach, names: Sequence[str]) -> Reach:
    kept = frozenset(names)
    return replace(
        seen,
        touched=tuple(name for name in seen.touched if name in kept),
        candidates=tuple(name for name in seen.candidates if name in kept),
    )


def _when(entity: Entity) -> datetime:
    try:
        return datetime.fromisoformat(entity.last_changed)
    except ValueError:
        return datetime.fromisoformat("1970-01-01T00:00:00+00:00")


# Domains that "turn off the kitchen" includes. Covers stay open and unattended machines run on.
_GO_OFF = frozenset({"climate", "fan", "humidifier", "light", "media_player", "remote", "switch"})
_GO_ON = frozenset({"fan", "media_player", "switch"})  # in a room without lamps
_SWITCHING = frozenset({Action.ON, Action.OFF, Action.TOGGLE})
_TOLD_OFF = frozenset({"off", "unavailable", "unknown"})


@dataclass(frozen=True, slots=True)
class Meant:
    """The targets that the person meant, out of all the targets of a call."""

    things: tuple[Entity, ...]
    left_on: tuple[Entity, ...] = ()  # left out only because they must run
    lacking: bool = False  # a kind was named, but the place has none of it
    unclear: bool = False  # something is excluded, but it is unclear what
    options: tuple[str, ...] = ()  # names of entities of the named kind that the call misses


@dataclass(frozen=True, slots=True)
class Cut:
    """A call that reaches exactly the targets that the person meant."""

    saying: Choice
    touched: tuple[str, ...]
    judged: tuple[str, ...]


def meant(
    case: Case, arguments: Mapping[str, Any], judged: Sequence[str], heard: HeardWords
) -> Meant:
    """Return the targets of a call that the person actually meant."""
    things = [entity_or_guess(name, case.house) for name in judged]
    text = heard.wanted.text
    kinds = () if _says_everything(case, judged) else kinds_in(text)
    if heard.in_part or (heard.wanted.everywhere and not _tells(heard)):
        return Meant((), unclear=True)
    named = [one for one in things if is_called(text, one)]
    of_kind = [one for one in things if any(kind.holds(one) for kind in kinds)]
    meant_ids = {one.entity_id for one in (*named, *of_kind)}
    chosen = [one for one in things if one.entity_id in meant_ids]
    if not chosen:
        broad = case.intent.domains is None and case.intent.action in _SWITCHING
        if kinds and broad and not _has_kind(arguments):
            return Meant((), lacking=True)
        if kinds and broad and (beside := _beside(case, arguments, kinds)):
            return Meant((), options=beside)
        chosen = _plain(case, arguments, things, text)
    chosen = [one for one in chosen if not _is_left(case, heard, one)]
    named_ids = {one.entity_id for one in named}
    stops = case.intent.action in (Action.OFF, Action.TOGGLE)
    keep = [
        one
        for one in chosen
        if stops
        and one.entity_id not in named_ids
        and _must_run(case, arguments, one)
        and not _is_meant(text, one)
    ]
    kept_ids = {one.entity_id for one in keep}
    left_on = [one for one in keep if one.state not in _TOLD_OFF]
    return Meant(tuple(one for one in chosen if one.entity_id not in kept_ids), tuple(left_on))


def _says_everything(case: Case, judged: Sequence[str]) -> bool:
    """Return True for "close the kitchen blinds and turn everything off", where the kind and the
    room only say what the other command is about."""
    things = [entity_or_guess(name, case.house) for name in judged]
    parts = clauses(case.house, case.heard or "")
    whole = False
    for part in parts:
        kinds = kinds_in(part.text)
        if any(kind.holds(one) for kind in kinds for one in things):
            return False
        placed = part.places or part.here or part.lacking
        whole = whole or (part.everywhere and not (kinds or placed))
    return whole and len(parts) > 1


def cut_to(
    case: Case,
    arguments: Mapping[str, Any],
    touched: Sequence[str],
    judged: Sequence[str],
    things: Sequence[Entity],
    *,
    forced: bool = False,
) -> Cut | None:
    """Return a call that reaches only `things`, or None if no arguments can express that.

    `forced` is True if the unchanged call would do something unintended. The call is then limited
    even if its tool has no `domain` argument.
    """
    if not forced and not (case.intent.selective and takes(case.schema, "domain")):
        return None
    ids = {one.entity_id for one in things}
    wanted = [case.house.entities[name] for name in touched if name in ids]
    if not wanted:
        return None
    unwanted = [entity_or_guess(name, case.house) for name in judged if name not in ids]
    saying = arguments_for(case.intent, arguments, wanted, unwanted, case.house, case.schema)
    if saying is None:
        return None
    if saying.parts:
        names = tuple(one.entity_id for one in wanted)
        return Cut(saying, names, names)
    seen = reach(case.intent, saying.arguments, case.house)
    left = (*seen.touched, *seen.candidates)
    return Cut(saying, seen.touched, left) if set(left) <= set(judged) else None


def _plain(
    case: Case, arguments: Mapping[str, Any], things: list[Entity], text: str
) -> list[Entity]:
    """Return the targets that the person meant if they named no kind of entity.

    Entities that need a confirmation are left out, unless the person asked to open something or no
    other targets are left.
    """
    if wants_open(text):
        return things
    grave = [
        one
        for one in things
        if is_grave(case, arguments, one.entity_id) and not _must_run(case, arguments, one)
    ]
    grave_ids = {one.entity_id for one in grave}
    free = [one for one in things if one.entity_id not in grave_ids]
    if _has_kind(arguments) or case.intent.domains is not None:
        return free or things
    if case.intent.action in (Action.ON, Action.TOGGLE):
        lamps = [one for one in free if LIGHTS.holds(one)]
        if lamps:
            return lamps
    if case.intent.action is Action.ON:
        return [one for one in free if one.domain in _GO_ON] or free or things
    plain = [one for one in free if one.domain in _GO_OFF or _is_thing(one)]
    return plain or ([] if free else things)


def _is_thing(entity: Entity) -> bool:
    return entity.domain == "input_boolean" and any(kind.holds(entity) for kind in _SWITCHED)


_SWITCHED = tuple(kind for kind in KINDS if kind.topic in ("fans", "lights", "players"))


def _must_run(case: Case, arguments: Mapping[str, Any], entity: Entity) -> bool:
    ratings = case.caller.moment.ratings
    return any(
        weigh(name, way, arguments, case.house, ratings, follows=name != entity.entity_id).rule
        in RULES
        for name, way in consequences([entity.entity_id], case.intent.action, case.house)
    )


def _is_left(case: Case, heard: HeardWords, entity: Entity) -> bool:
    if heard.left is None:
        return False
    return any(
        heard.leaves(entity_or_guess(name, case.house), case.house)
        for name, _ in consequences([entity.entity_id], case.intent.action, case.house)
    )


def _is_meant(text: str, entity: Entity) -> bool:
    if any(kind.holds(entity) for kind in kinds_in(text) if kind in (HEATING, BOILERS)):
        return True
    return mentions("keeps_running", text)


def _has_kind(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("domain", "device_class"))


def _tells(heard: HeardWords) -> bool:
    """Return False if the person excluded something that Hearth can't identify."""
    left = heard.left
    if left is None or left.places or left.lacking:
        return True
    return bool(heard.left_things or kinds_in(left.text))


def _beside(case: Case, arguments: Mapping[str, Any], kinds: Sequence[Kind]) -> tuple[str, ...]:
    """Return the names of entities of these kinds in the call's place, or in the whole house if it
    has none."""
    place = {key: value for key, value in arguments.items() if key not in _OWN_KIND}
    if any(place.get(key) for key in ("area", "floor")):
        found = reach(case.intent, place, case.house).touched
        there = [case.house.entities[name] for name in found]
    else:
        there = [one for one in case.house.exposed() if can(one, case.intent.action)]
    names = [one.name for one in there if any(kind.holds(one) for kind in kinds)]
    return tuple(dict.fromkeys(names))[:MOST_OFFERED]


_OWN_KIND = ("domain", "device_class")
