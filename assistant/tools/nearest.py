"""The known names that are nearest to one that is not known."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from assistant.tools.resolve import is_called, is_wildcard, same
from integrations.home_assistant.house import Area, Floor, House

MAX_NAMES = 3
_LONGEST = 80  # characters compared; a longer name is not a name
_LIKE = 0.6  # of difflib's measure; below, names only share letters by chance


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three of `known`, the nearest first, as they are written; case does not count."""
    written = {one[:_LONGEST].casefold(): one for one in known}
    found = get_close_matches(name[:_LONGEST].casefold(), written, MAX_NAMES, _LIKE)
    return tuple(written[match] for match in found)


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
