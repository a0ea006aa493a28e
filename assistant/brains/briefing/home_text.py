"""Shorten the text of Home Assistant's MCP server.

The text is billed in every turn, and takes 76,000 characters for 1,000 exposed entities. In a large
house, only nearby entities are listed, and all others are counted.
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
# The server's general instructions, which Hearth's own rules repeat (recorded from 2026.11).
_GENERAL = re.compile(
    r"(?ms)^You ARE equipped to answer questions .{0,1500}?truthfully from internal knowledge\.\n"
)
# The server's instruction if it knows no area.
_ASK_WHERE = re.compile(
    r"(?m)^When a user asks to turn on all devices of a specific type, ask [^\n]*\n?"
)


@dataclass(frozen=True, slots=True)
class Around:
    """The keys (`area_key`) of this device's area, and of the other areas on its floor."""

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
    """Remove sentences of the server that don't suit Hearth.

    If the area is `known`, the instruction to ask for an area is removed too.
    """
    told = _GENERAL.sub("", _NO_TIMERS.sub("", _THEIR_AREA.sub("", text)))
    return _ASK_WHERE.sub("", told) if known else told


def without_headings(text: str) -> str:
    """Remove the heading marks from lines that look like Hearth's own headings."""
    return _HEADING.sub("", text)


@lru_cache(maxsize=4)
def fitted(text: str, where: Around, room: int, note: str) -> str | None:
    """Return the text with its list grouped by area, shortened to `room` characters.

    If the whole list doesn't fit, only nearby entities are listed, and `note` introduces a summary
    of all others. Returns None if even that doesn't fit. The same arguments always give the same
    text, so that the service's prefix cache stays valid.
    """
    before, rows, after = _parsed(text)
    for nearest, quiet in ((2, True), (1, True), (1, False), (0, True), (0, False)):
        near: list[Shown] = []
        rest: list[Shown] = []
        for row in rows:
            # Quiet domains in this area are listed before all others on the floor.
            distance = _distance(row, where)
            told = distance < nearest or (
                distance == nearest and (quiet or row.domain not in QUIET)
            )
            (near if told else rest).append(row)
        listed = before + _grouped(near)
        for counts in (_counts(rest), _places(rest)) if rest else ("",):
            whole = f"{listed}{note}\n{counts}\n{after}" if rest else f"{listed}{after}"
            if len(whole) <= room:
                return whole
            if nearest or quiet:
                break  # listing fewer things comes before leaving out the counts
    return None


@lru_cache(maxsize=4)
def _parsed(text: str) -> tuple[str, list[Shown], str]:
    listing = find_list(text)
    read = [(row, read_row(row)) for row in listing.rows]
    # A row that can't be read becomes part of the text before the list.
    odd = "".join(f"{one_line(row, MAX_LINE)}\n" for row, shown in read if shown is None)
    before, after = map(without_headings, (listing.before + odd, listing.after))
    return before, [shown for _, shown in read if shown is not None], after


def _grouped(rows: Sequence[Shown]) -> str:
    areas: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in rows:
        # Names can contain anything, even line breaks, so each is put on one line.
        names = one_line(", ".join(row.names), MAX_LINE).replace(";", ",")
        areas.setdefault(row.areas, {}).setdefault(row.domain, []).append(names)
    return "".join(
        f"- {one_line(', '.join(area), MAX_LINE) or NOWHERE}\n"
        + "".join(
            f"  {one_line(domain, MAX_LINE)}: {'; '.join(names)}\n"
            for domain, names in domains.items()
        )
        for area, domains in sorted(areas.items(), key=lambda one: (not one[0], one[0]))
    )


def _distance(row: Shown, where: Around) -> int:
    """Return 0 for this area, 1 for this floor, and 2 for any other or unknown area."""
    if not row.areas or not where.here:
        return 2
    place = frozenset(row.areas)
    return 0 if place == where.here else 1 if place in where.floor else 2


def _counts(rows: Sequence[Shown]) -> str:
    places: dict[str, Counter[str]] = {}
    for row in rows:
        places.setdefault(_place(row), Counter())[row.domain] += 1
    return "\n".join(
        f"- {place}: {', '.join(_count(domain, number) for domain, number in _sorted(found))}"
        for place, found in sorted(places.items(), key=lambda one: (one[0] == NOWHERE, one[0]))
    )


def _places(rows: Sequence[Shown]) -> str:
    return f"- {', '.join(sorted({_place(row) for row in rows} - {NOWHERE}))}"


def _place(row: Shown) -> str:
    return one_line(row.areas[0], MAX_LINE) if row.areas else NOWHERE


def _sorted(found: "Counter[str]") -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def _count(domain: str, number: int) -> str:
    name = _NAMES.get(domain, domain.replace("_", " "))
    plural = f"{name}es" if name.endswith("ch") else f"{name}s"
    return f"{number} {name if number == 1 else plural}"
