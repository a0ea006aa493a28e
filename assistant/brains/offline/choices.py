"""Understand the answer to a question such as "Do you mean the zephyra or the ceiling fan?"."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.brains.offline.frames import MOST_CHOICES, Ask
from assistant.brains.offline.lexicon import NameIndex, Piece, key_of, pieces_of, tokens
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.wordings import wordings
from assistant.tools.house.names import stemmed
from integrations.home_assistant.house import Entity, House

_ORDINALS = ("first", "second", "third", "fourth")
_PLACES = frozenset({"area", "floor", "nowhere"})
# A sentence with one of these is a command of its own, unless it says "the one".
_VERBS = frozenset(
    "on off up down open close lock start stop pause play set warmer cooler dim brighten "
    "louder quieter is_it which how_many where how_warm weather timer".split()
)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a question: the chosen commands, or none if the person doesn't want any. If
    the answer leaves several choices, the question about those."""

    commands: tuple[ParsedCommand | Ask, ...]


def answered(text: str, language: str, ask: Ask, house: House, index: NameIndex) -> Answered | None:
    """Return the person's choice, or None if the sentence is not an answer."""
    options = pieces_of(text, language, index) or []
    tags = {piece.tag for some in options for piece in some}
    if "cancel" in tags and not tags & {"thing", "area", "kind"}:
        return Answered(())
    chosen = [command for _, command in ask.choices]
    said = {key for key, _ in wordings("answers", text, language)}
    if len(chosen) == 1:
        said &= {"yes", "no"}
        return Answered(tuple(chosen) if "yes" in said else ()) if said else None
    if tags & _VERBS and "one" not in tags:
        return None
    if len(chosen) > MOST_CHOICES:  # they weren't named
        return _named(text, options, tags, ask, house)
    if "any" in said:
        return Answered(tuple(chosen[:1]))
    if tags & {"both", "all"} and not tags & {"area", "thing", "floor", "not"}:
        return Answered(tuple(chosen))
    for number, tag in enumerate(_ORDINALS):
        if tag in tags and number < len(chosen):
            return Answered((chosen[number],))
    if "last" in tags:
        return Answered((chosen[-1],))
    return _named(text, options, tags, ask, house)


def _named(
    text: str, options: Sequence[Sequence[Piece]], tags: set[str], ask: Ask, house: House
) -> Answered | None:
    """Return the choices that the person described, by a room or some words of the name."""
    fitting = _fitting(text, options, ask, house)
    areas = sum(one.tag == "area" for some in options for one in some)
    if "not" in tags and areas < 2 and fitting:
        fitting = [one for one in ask.choices if one not in fitting]
    if len(fitting) == 1:
        return Answered((fitting[0][1],))
    if fitting or tags & _PLACES:  # still unclear, or there is none in that place
        return Answered((Ask(tuple(fitting) or ask.choices),))
    return None


_Choice = tuple[Entity, ParsedCommand]


def _fitting(
    text: str, options: Sequence[Sequence[Piece]], ask: Ask, house: House
) -> list[_Choice]:
    pieces = [piece for some in options for piece in some]
    # Of "not the kitchen one, the office one", the last room counts.
    areas = [one.value[0] for one in pieces if one.tag == "area"]
    if len(areas) > 1 and any(one.tag == "not" for one in pieces):
        areas = areas[-1:]
    floors = {one.value[0] for one in pieces if one.tag == "floor"}
    small = {
        word
        for one in pieces
        if one.tag not in ("area", "thing", "floor", "nowhere")
        for word in key_of(tokens(one.text))
    }
    words = set(key_of(tokens(text))) - small
    if areas or floors:
        there = [one for one in ask.choices if _is_there(one[0], areas, floors, house)]
        if len(there) < 2:
            return there
        words -= {word for one in pieces if one.tag in _PLACES for word in key_of(tokens(one.text))}
        return [one for one in there if words and _has(words, one[0], house)] or there
    found = [one for one in ask.choices if words and _has(words, one[0], house)]
    if found:
        return found
    words = set(key_of(tokens(text)))
    return [one for one in ask.choices if words and _has(words, one[0], house)]


def _is_there(
    entity: Entity, areas: Collection[str], floors: Collection[str], house: House
) -> bool:
    area = house.areas.get(entity.area_id or "")
    if areas:
        return entity.area_id in areas
    return area is not None and area.floor_id in floors


def _has(words: set[str], entity: Entity, house: House) -> bool:
    area = house.areas.get(entity.area_id or "")
    known = [*entity.names, *((area.name, *area.aliases) if area else ())]
    return words <= {stemmed(word) for name in known for word in tokens(name)}
