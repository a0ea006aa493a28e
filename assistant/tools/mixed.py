"""A call by place reaches whatever is there: what was meant of it, and how to say just that.

Which is meant the person's own words tell. Where they name a kind of thing ("the lights") or a
thing, only that is left; where they name none ("turn off the kitchen"), what a person means by a
room: its lamps, players, fans and the like. What must run is left on unless it was named itself. A
call that names the thing, or one of which no words are known, is never cut.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.tools.deciding import Case, is_grave
from assistant.tools.gates import entity_or_guess
from assistant.tools.heard import HeardWords, is_called
from assistant.tools.intents import Action
from assistant.tools.kinds_heard import (
    BOILERS,
    HEATING,
    KINDS,
    LIGHTS,
    Kind,
    kinds_in,
    wants_open,
)
from assistant.tools.openers import RULES
from assistant.tools.parts import Saying, say, takes
from assistant.tools.resolve import can, consequences, reach
from assistant.tools.vocabulary import mentions
from assistant.tools.weighing import weigh
from integrations.home_assistant.house import Entity

# What goes off with a room. Covers do not close by it, and nothing that runs on by itself stops.
_GO_OFF = frozenset({"climate", "fan", "humidifier", "light", "media_player", "remote", "switch"})
_GO_ON = frozenset({"fan", "media_player", "switch"})  # of a room without lamps
_SWITCHING = frozenset({Action.ON, Action.OFF, Action.TOGGLE})
_TOLD_OFF = frozenset({"off", "unavailable", "unknown"})


@dataclass(frozen=True, slots=True)
class Meant:
    """What was meant of all that a call reaches."""

    things: tuple[Entity, ...]
    left_on: tuple[Entity, ...] = ()  # left out only because it must run
    lacking: bool = False  # a kind was named, and nothing of that kind is there
    unclear: bool = False  # something is to be left out, and nobody knows what
    options: tuple[str, ...] = ()  # names of what is there of the kind, beside what is reached


@dataclass(frozen=True, slots=True)
class Cut:
    """A call that reaches just what was meant."""

    saying: Saying
    touched: tuple[str, ...]
    judged: tuple[str, ...]


def meant(
    case: Case, arguments: Mapping[str, Any], judged: Sequence[str], heard: HeardWords
) -> Meant:
    """What the words mean of what is reached."""
    things = [entity_or_guess(name, case.house) for name in judged]
    text = heard.wanted.text
    kinds = kinds_in(text)
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


def cut_to(
    case: Case,
    arguments: Mapping[str, Any],
    touched: Sequence[str],
    judged: Sequence[str],
    things: Sequence[Entity],
    *,
    forced: bool = False,
) -> Cut | None:
    """The call that reaches these of all that it touches; None: no arguments say so.

    `forced`: as it stands it would do what was not meant, also where its tool takes no domain.
    """
    if not forced and not (case.intent.selective and takes(case.schema, "domain")):
        return None
    ids = {one.entity_id for one in things}
    wanted = [case.house.entities[name] for name in touched if name in ids]
    if not wanted:
        return None
    unwanted = [entity_or_guess(name, case.house) for name in judged if name not in ids]
    saying = say(case.intent, arguments, wanted, unwanted, case.house, case.schema)
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
    """What is meant where no kind was named: nothing that nobody need be asked about, and of a
    call that tells no kind itself only what people mean by a room."""
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
    """Whether a helper stands for a thing ("Desk light"), and not for a mode of the house."""
    return entity.domain == "input_boolean" and any(kind.holds(entity) for kind in _SWITCHED)


_SWITCHED = tuple(kind for kind in KINDS if kind.topic in ("fans", "lights", "players"))


def _must_run(case: Case, arguments: Mapping[str, Any], entity: Entity) -> bool:
    """Whether it must run, or something in it, if it is a group."""
    ratings = case.caller.moment.ratings
    return any(
        weigh(name, way, arguments, case.house, ratings, follows=name != entity.entity_id).rule
        in RULES
        for name, way in consequences([entity.entity_id], case.intent.action, case.house)
    )


def _is_left(case: Case, heard: HeardWords, entity: Entity) -> bool:
    """Whether the words leave it as it is, or something in it, if it is a group."""
    if heard.left is None:
        return False
    return any(
        heard.leaves(entity_or_guess(name, case.house), case.house)
        for name, _ in consequences([entity.entity_id], case.intent.action, case.house)
    )


def _is_meant(text: str, entity: Entity) -> bool:
    """Whether the words are about things like this one that must run: "the fridge", "heating"."""
    if any(kind.holds(entity) for kind in kinds_in(text) if kind in (HEATING, BOILERS)):
        return True
    return mentions("keeps_running", text)


def _has_kind(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("domain", "device_class"))


def _tells(heard: HeardWords) -> bool:
    """Whether the words tell what they leave out, if they leave something out."""
    left = heard.left
    if left is None or left.places or left.lacking:
        return True
    return bool(heard.left_things or kinds_in(left.text))


def _beside(case: Case, arguments: Mapping[str, Any], kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The things of these kinds that are there, where the call's own kind is another one. A call
    that names no place is for all of the house."""
    place = {key: value for key, value in arguments.items() if key not in _OWN_KIND}
    if any(place.get(key) for key in ("area", "floor")):
        found = reach(case.intent, place, case.house).touched
        there = [case.house.entities[name] for name in found]
    else:
        there = [one for one in case.house.exposed() if can(one, case.intent.action)]
    names = [one.name for one in there if any(kind.holds(one) for kind in kinds)]
    return tuple(dict.fromkeys(names))[:MOST_OFFERED]


_OWN_KIND = ("domain", "device_class")
MOST_OFFERED = 5


#
# One call that names several things for a list becomes one call for each.
#
# Home Assistant would write "milk, eggs and bread" down as one item.


LISTING = frozenset({"HassListAddItem", "HassListCompleteItem", "HassListRemoveItem"})
MAX_ITEMS = 12  # of one call; a longer text is more likely one long item than a list
_ITEM = "item"
_COMMA = re.compile(r"\s*[,;]\s+")  # "1,5 l of milk" has none
# The last two of a list, in the languages that Hearth speaks best. Only behind a comma: "salt and
# pepper" may well be one item.
_WORD = "(?:and|e|et|und|và|y)"
_AND = re.compile(rf"^{_WORD}\s+|\s+{_WORD}\s+", re.IGNORECASE)


def spread(suffix: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments of each call that is to be sent, in order: mostly one, as it came."""
    item = arguments.get(_ITEM)
    if suffix not in LISTING or not isinstance(item, str):
        return [dict(arguments)]
    items = _items(item)
    if not 1 < len(items) <= MAX_ITEMS:
        return [dict(arguments)]
    return [{**arguments, _ITEM: one} for one in items]


def as_said(item: str, sentence: str) -> str:
    """`item` as it stands in the sentence, with the commas that a parser has taken out of it."""
    words = r"\W+".join(map(re.escape, item.split()))
    found = re.search(rf"(?<!\w){words}(?!\w)", sentence, re.IGNORECASE) if words else None
    return found[0] if found else item


def _items(text: str) -> list[str]:
    *first, last = _COMMA.split(text.strip())
    if not first:
        return [text]
    return [part.strip() for part in (*first, *_AND.split(last)) if part.strip()]
