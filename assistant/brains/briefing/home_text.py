"""Shorten the text of Home Assistant's MCP server: list nearby entities and count all others.

The text takes 76,000 characters for 1,000 exposed entities and 328,000 for 5,000, and is billed in
every turn. The server's instructions are always kept.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from integrations.cleaning import one_line
from integrations.home_assistant.context import Shown, area_key, find_list, read_row
from integrations.home_assistant.house import Area, House

# Numerous entities that people ask for by room or type, and hardly ever by name.
QUIET = frozenset(
    "automation binary_sensor button device_tracker event number select sensor update".split()
)
NOWHERE = "Without an area"
MAX_LINE = 400  # characters of one value in a row
_KEYS = ("- names:", "  domain:", "  areas:")
_HEADING = re.compile(r"(?m)^[^\S\n]*#+[^\S\n]*")
_NAMES = {  # domains whose ids aren't plain English words
    "climate": "climate device",
    "todo": "to-do list",
    "weather": "weather report",
}

# The server's sentence about the area that it assumes for Hearth (2025.4 to 2026.11,
# `async_get_tools` of the intent integration).
_THEIR_AREA = re.compile(r"(?ms)^You are in area .{0,400}?should target this area\.[^\S\n]*\n?")
# Hearth has its own timers, so this sentence is misleading (2026.11, same function).
_NO_TIMERS = re.compile(r"(?m)^This device is not able to start timers\.[^\S\n]*\n?")
# The server's instruction if it knows no area.
_ASK_WHERE = re.compile(
    r"(?m)^When a user asks to turn on all devices of a specific type, ask [^\n]*\n?"
)


@dataclass(frozen=True, slots=True)
class Around:
    """The area keys (`area_key`) of this device's area and of the other areas on its floor."""

    here: frozenset[str] = frozenset()  # empty if unknown
    floor: frozenset[frozenset[str]] = frozenset()  # the other areas of the same floor


NOT_KNOWN = Around()


def around(house: House, area: Area | None) -> Around:
    if area is None:
        return NOT_KNOWN
    level = area.floor_id
    others = (one for one in house.areas.values() if level and one.floor_id == level)
    keys = frozenset(area_key(one) for one in others if one.area_id != area.area_id)
    return Around(area_key(area), keys)


def without_place(text: str, *, known: bool) -> str:
    """Remove the area that the server assumes for Hearth, because only `assistant.area` counts.

    If the area is `known`, also remove the server's instruction to ask for one.
    """
    told = _NO_TIMERS.sub("", _THEIR_AREA.sub("", text))
    return _ASK_WHERE.sub("", told) if known else told


@lru_cache(maxsize=4)
def tidied(text: str) -> str:
    """Return the text with one line per name, and without lines that look like Hearth's headings.

    Names can contain line breaks, which the server copies into its text.
    """
    listing = find_list(text)
    rows = "".join(map(_tidy, listing.rows))
    return f"{_HEADING.sub('', listing.before)}{rows}{_HEADING.sub('', listing.after)}"


@lru_cache(maxsize=4)
def fitted(text: str, where: Around, room: int, note: str) -> str | None:
    """Return the text shortened to `room` characters, or None if that isn't possible.

    A text that fits is returned unchanged. Otherwise only nearby entities are listed, as many as
    fit, and all others are counted by area and domain after `note`. The same arguments always give
    the same text, so that the service's prefix cache stays valid.
    """
    if len(text) <= room:
        return text
    listing = find_list(text)
    read = [(row, read_row(row)) for row in listing.rows]
    rows = [(row, shown, _distance(shown, where)) for row, shown in read if shown is not None]
    if not rows:
        return None
    for nearest, quiet in ((1, True), (1, False), (0, True), (0, False)):
        whole, rest = "", []
        for row, shown, distance in rows:
            # Quiet domains in this area are listed before all others on the floor.
            if distance < nearest or (distance == nearest and (quiet or shown.domain not in QUIET)):
                whole += row
            else:
                rest.append(shown)
        told = f"{listing.before}{whole}{note}\n{_counts(rest)}\n{listing.after}"
        if len(told) <= room:
            return told
    return None


def _tidy(row: str) -> str:
    """Return the row, rewritten if a value is too long or spans several lines."""
    lines = row.splitlines()
    if all(line.startswith(_KEYS) and len(line) <= MAX_LINE for line in lines):
        return row
    shown = read_row(row)
    if shown is None:
        return f"{one_line(row, MAX_LINE)}\n"
    values = {"- names": shown.names, "  domain": (shown.domain,), "  areas": shown.areas}
    told = (f"{key}: {one_line(', '.join(value), MAX_LINE)}" for key, value in values.items())
    return "".join(f"{line}\n" for line in told if not line.endswith(": "))


def _distance(row: Shown, where: Around) -> int:
    """Return 0 for this area, 1 for this floor, and 2 for any other or unknown area."""
    if not row.areas or not where.here:
        return 2
    place = frozenset(row.areas)
    return 0 if place == where.here else 1 if place in where.floor else 2


def _counts(rows: Sequence[Shown]) -> str:
    """Return lines such as "Kitchen: 12 lights, 3 covers".

    Areas are sorted by name, and domains by number, largest first.
    """
    places: dict[str, Counter[str]] = {}
    for row in rows:
        place = row.areas[0] if row.areas else NOWHERE
        places.setdefault(place, Counter())[row.domain] += 1
    return "\n".join(
        f"{place}: {', '.join(_count(domain, number) for domain, number in _sorted(found))}"
        for place, found in sorted(places.items(), key=lambda one: (one[0] == NOWHERE, one[0]))
    )


def _sorted(found: "Counter[str]") -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def _count(domain: str, number: int) -> str:
    name = _NAMES.get(domain, domain.replace("_", " "))
    plural = f"{name}es" if name.endswith("ch") else f"{name}s"
    return f"{number} {name if number == 1 else plural}"
