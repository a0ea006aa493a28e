"""The known names that are nearest to one that is not known."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import Any

from assistant.tools.resolve import MAX_NAMES as KEPT_NAMES
from assistant.tools.resolve import is_called, is_wildcard, same
from integrations.gemini.declarations import Declaration
from integrations.gemini.subset import as_json
from integrations.home_assistant.house import Area, Floor, House

MAX_NAMES = 3
_LONGEST = 80  # characters compared; a longer name is not a name
_LIKE = 0.6  # of difflib's measure; below, names only share letters by chance
# Names that are compared letter by letter, 60 µs each: those that share most pairs of letters. The
# rest of a house of 5,000 things would take 0.1 s, in which nothing else is done.
_COMPARED = 150
_BITS = 251  # a prime: pairs are spread well


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three of `known`, the nearest first, as they are written; case does not count."""
    written = {one[:_LONGEST].casefold(): one for one in known}
    wanted = name[:_LONGEST].casefold()
    likely: Iterable[str] = written
    if len(written) > _COMPARED:
        pairs = _pairs(wanted)
        likely = nlargest(_COMPARED, written, lambda one: _shared(pairs, _pairs(one)))
    found = get_close_matches(wanted, likely, MAX_NAMES, _LIKE)
    return tuple(written[match] for match in found)


@lru_cache(KEPT_NAMES)
def _pairs(name: str) -> int:
    """Its letters two by two (" k", "ki", "it", …), as bits; a few pairs share one."""
    bits = 0
    for one, other in pairwise(map(ord, f" {name} ")):
        bits |= 1 << (one * 31 + other) % _BITS
    return bits


def _shared(one: int, other: int) -> float:
    """0 to 1: how much of the two is the same (Dice)."""
    return 2 * (one & other).bit_count() / (one.bit_count() + other.bit_count())


def nearest_in_house(arguments: Mapping[str, Any], house: House) -> tuple[str, ...]:
    """For the first name, area or floor of a call that the house does not have: what it has.

    Empty where all of them exist, or nothing is near. Only exposed things are named.
    """
    name = _text(arguments, "name")
    if name and not is_wildcard(name):
        exposed = house.exposed()
        if not any(is_called(entity, name) for entity in exposed):
            return nearest(name, (one for entity in exposed for one in entity.names))
    places: dict[str, Mapping[str, Area] | Mapping[str, Floor]] = {
        "area": house.areas,
        "floor": house.floors,
    }
    for kind, known in places.items():
        wanted = _text(arguments, kind)
        names = [one for place in known.values() for one in (place.name, *place.aliases)]
        if wanted and wanted not in known and not same(wanted, names):
            return nearest(wanted, names)
    return ()


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


# How much of a menu a model is shown.


MAX_TOOLS = 512  # declarations of one Tool, as google-genai says of `function_declarations`
MAX_TOKENS = 16_000
"""Of all declarations together. They are billed anew with every turn: so many cost some 0.012 USD a
turn with gemini-3.8-live (0.75 USD per million). A full house with all of its 50 tools takes 7,000,
and the more tools there are, the more often a model takes the wrong one
(google-gemini/gemini-live-api-examples #46)."""
PORTION = 2_000  # tokens of one server that come before the next server's; some 15 tools
_CHARACTERS_A_TOKEN = 4  # a usual estimate for English text and JSON

_TOO_MANY = f"there are more than {MAX_TOOLS} tools, and others come first"
_TOO_LONG = (
    f"all tools would take more than {MAX_TOKENS:,} tokens of every turn, and others come first"
)


def tokens(declaration: Declaration) -> int:
    """About how many tokens the model reads for a tool."""
    said = len(declaration.name) + len(declaration.description)
    return 1 + (said + len(as_json(declaration.parameters))) // _CHARACTERS_A_TOKEN


def in_turns(servers: Sequence[str], ranked: Sequence[Declaration]) -> list[int]:
    """For each tool in how many-th portion of its server it is, from 0.

    `servers`: whose each tool is, as they stand in `ranked`. So no server takes all the room.
    """
    so_far: dict[str, int] = {}
    portions = []
    for server, declaration in zip(servers, ranked, strict=True):
        portions.append(so_far.get(server, 0) // PORTION)
        so_far[server] = so_far.get(server, 0) + tokens(declaration)
    return portions


def left_out(ranked: Sequence[Declaration]) -> dict[str, str]:
    """What is not shown, by name, and why. `ranked`: the most useful first.

    A tool too large for the room that is left makes way for smaller ones behind it.
    """
    reasons: dict[str, str] = {}
    shown, room = 0, MAX_TOKENS
    for declaration in ranked:
        size = tokens(declaration)
        if shown >= MAX_TOOLS:
            reasons[declaration.name] = _TOO_MANY
        elif size > room:
            reasons[declaration.name] = _TOO_LONG
        else:
            shown, room = shown + 1, room - size
    return reasons
