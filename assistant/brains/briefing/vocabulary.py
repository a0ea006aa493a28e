"""The names of this home, as a hint for the transcription."""

import re
from collections.abc import Iterable, Iterator

from assistant.brains.briefing.home_text import QUIET
from assistant.tools.house.targets import find_area
from integrations.cleaning import one_line
from integrations.home_assistant.house import Entity, House

MAX_NAMES = 200
MAX_CHARACTERS = 4_000  # of all names together
_LONGEST = 60  # characters; nobody says a longer name
_FIRST = ("person", "todo")  # people and lists: few, and hard to hear


def vocabulary(house: House, area: str = "") -> tuple[str, ...]:
    """Names and aliases of rooms, people, lists and devices; those of `area` come first.

    Only what the assistant may see, each once, at most MAX_NAMES with MAX_CHARACTERS.
    """
    names: dict[str, str] = {}
    room = MAX_CHARACTERS
    for written in _names(house, area):
        name = one_line(written, _LONGEST + 1)
        key = name.casefold()
        if key in names or len(name) > _LONGEST or not re.search(r"[^\W\d_]{2}", name):
            continue
        room -= len(name)
        if room < 0 or len(names) == MAX_NAMES:
            break
        names[key] = name
    return tuple(names.values())


def _names(house: House, area: str) -> Iterator[str]:
    """All names, the likeliest to be said first."""
    here = find_area(house, area) if area else None
    here_id = here.area_id if here else None
    things = sorted(house.exposed(), key=lambda entity: _rank(entity, here_id))
    if here is not None:
        yield from (here.name, *here.aliases)
    ours = [entity for entity in things if here_id and entity.area_id == here_id]
    yield from _all(entity.names for entity in ours)
    lived_in = {entity.area_id for entity in things}
    areas = [place for place in house.areas.values() if place.area_id in lived_in]
    yield from _all((place.name, *place.aliases) for place in areas)
    floors = {place.floor_id for place in areas}
    levels = [level for level in house.floors.values() if level.floor_id in floors]
    yield from _all((level.name, *level.aliases) for level in levels)
    yield from _all(entity.names for entity in things)


def _rank(entity: Entity, here_id: str | None) -> tuple[bool, bool]:
    """Sorting by it keeps Home Assistant's order among equals."""
    return entity.domain in QUIET, entity.domain not in _FIRST


def _all(groups: Iterable[Iterable[str]]) -> Iterator[str]:
    for group in groups:
        yield from group
