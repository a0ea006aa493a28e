"""What the person's own words say about the place of a call that names none."""

import re
import unicodedata

from assistant.tools.resolve import find_area
from integrations.home_assistant.house import Area, Floor, House

ALL_WORDS = frozenset(
    {
        *("all", "every", "everything", "everywhere", "whole", "entire", "house"),
        *("todo", "toda", "todos", "todas", "casa", "entera", "entero"),
    }
)


def place(house: House, heard: str | None, area: str) -> dict[str, str] | None:
    """What to add to a boundless call: a place, nothing (all was said), or None (ask)."""
    words = _words(heard or "")
    if ALL_WORDS & set(words):
        return {}
    places = _places_in(house, words)
    if len(places) > 1:
        return {}
    if places:
        kind, found = places[0]
        return {kind: found.name}
    own = find_area(house, area) if area and heard is not None else None
    return {"area": own.name} if own is not None else None


def _places_in(house: House, words: list[str]) -> list[tuple[str, Area | Floor]]:
    """Rooms and floors that are named in the text."""
    text = f" {' '.join(words)} "
    places: list[tuple[str, Area | Floor]] = [
        *(("area", area) for area in house.areas.values()),
        *(("floor", floor) for floor in house.floors.values()),
    ]
    return [
        (kind, found)
        for kind, found in places
        if any(f" {' '.join(_words(name))} " in text for name in (found.name, *found.aliases))
    ]


def _words(text: str) -> list[str]:
    """Lower-case words without accents."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)))
