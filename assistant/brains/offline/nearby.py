"""The names that a recogniser listens for: in a large house those of this room and floor first.

A grammar costs memory and time with each name, and each name is one more that another may be taken
for. All names of 5,000 things take 74 MB and 0.16 s of a core for a second of sound; as many as are
kept here take 17 MB and 0.06 s (docs/scale.md). What is left out can still be typed,
said by its room ("the lights in the attic"), and said to a brain that has no grammar.
"""

from collections.abc import Callable

from assistant.brains.offline.grammar import SAID
from assistant.brains.offline.names import Name, Names
from integrations.home_assistant.house import House

MOST_NAMES = 250  # of things
MOST_PLACES = 60  # rooms and floors with all their names; each stands in many sentences
_MOST_FLOORS = 10
_ASKED = frozenset({"sensor", "binary_sensor"})  # nobody tells them to do something


def nearby(names: Names, house: House, area_id: str) -> Names:
    """At most MOST_NAMES of things and MOST_PLACES of rooms and floors.

    `area_id`: the room of this box, "" where nobody knows. Kept are what is in it, then what has no
    room (scripts, scenes), then what is on its floor, then the rest; what can only be asked about
    comes behind all of that, but for what is in the room. Order and ties are the house's.
    """
    sayable = tuple(name for name in names.entities if name.domain in SAID)
    here = house.areas.get(area_id)
    floor_id = here.floor_id if here is not None else None

    def far(place_id: str | None) -> int:
        """Of an area: 0 this one, 1 on this floor, 2 elsewhere."""
        area = house.areas.get(place_id or "")
        if area is None or here is None:
            return 2
        return 0 if area is here else 1 if floor_id and area.floor_id == floor_id else 2

    def rank(name: Name) -> tuple[bool, int]:
        areas = [house.entities[one].area_id for one in name.ids]
        near = min(1 if one is None else 2 * far(one) for one in areas)
        return name.domain in _ASKED and near > 0, near

    floors = _first(names.floors, _MOST_FLOORS, lambda name: (floor_id not in name.ids, 0))
    areas = _first(
        names.areas, MOST_PLACES - len(floors), lambda name: (False, min(map(far, name.ids)))
    )
    things = _first(sayable, MOST_NAMES, rank)
    kept = {one for name in things for one in name.ids}
    doors = tuple(name for name in names.doors if not kept.isdisjoint(name.ids))
    return Names(things, areas, floors, doors)


def _first(
    names: tuple[Name, ...], most: int, rank: Callable[[Name], tuple[bool, int]]
) -> tuple[Name, ...]:
    """The lowest in rank, in the order in which all of them stand."""
    if len(names) <= most:
        return names
    kept = sorted(range(len(names)), key=lambda at: rank(names[at]))[:most]
    return tuple(names[at] for at in sorted(kept))
