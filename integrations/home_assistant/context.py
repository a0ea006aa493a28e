"""Parse the list of exposed entities in the MCP server's prompt and match it with the house.

Both Home Assistant's prompt and its live context contain a YAML list (2025.4 to 2026.11). Each row
has `names`, `domain` and `areas`. Several names or areas are joined by ", ". Scripts and calendars
are never listed. Names come from people and devices and can contain anything, including line
breaks, quotes and commas.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from integrations.home_assistant.house import Area, Entity

log = logging.getLogger(__name__)

MAX_TEXT = 4_000_000  # characters; 5,000 exposed entities take about 330,000
MAX_ROW = 20_000  # characters of one row
UNLISTED = frozenset({"script", "calendar"})  # domains that are not in the list

_FIRST = "- names:"
# A line whose value is plain YAML; quoted and folded values need the YAML reader.
_PLAIN_LINE = re.compile(r"(?:- |  )(names|domain|areas): ([^'\"|>&*!%@`\[{\s][^\n]*)")
_PARTS = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the list. A name that contains a comma becomes several names."""

    names: tuple[str, ...]
    domain: str
    areas: tuple[str, ...] = ()  # name and aliases of the entity's area


@dataclass(frozen=True, slots=True)
class Listing:
    """The MCP server's prompt or live context, split into the list and the text around it."""

    before: str
    rows: tuple[str, ...]  # in order and unchanged; empty if there is no list
    after: str


def find_list(text: str) -> Listing:
    """Split the text into the list, which begins at the first line "- names: ...", and the text
    around it."""
    lines = text.splitlines(keepends=True)
    begin = next((at for at, line in enumerate(lines) if line.startswith(_FIRST)), None)
    if begin is None:
        return Listing(text, (), "")
    rows: list[list[str]] = []
    gap: list[str] = []
    at = begin
    for at in range(begin, len(lines) + 1):
        line = lines[at] if at < len(lines) else "."
        if line.startswith(_FIRST):
            rows.append([line])
        elif not line.strip():
            gap.append(line)
            continue
        elif line.startswith(" "):
            rows[-1] += [*gap, line]
        else:
            break
        gap = []
    rest = "".join([*gap, *lines[at:]])
    return Listing("".join(lines[:begin]), tuple("".join(row) for row in rows), rest)


def read_context(text: str) -> list[Shown]:
    """Return the list's rows in order, skipping unreadable ones. Returns [] if the text is too
    long."""
    if len(text) > MAX_TEXT:
        log.warning("The home's prompt is too long to read: %d characters.", len(text))
        return []
    rows = (read_row(row) for row in find_list(text).rows)
    return [row for row in rows if row is not None]


@lru_cache(maxsize=8_192)  # every conversation repeats the same rows
def read_row(row: str) -> Shown | None:
    """Parse a row of the list. Returns None for an invalid row."""
    plain = _plainly(row)
    content: Mapping[str, Any] = _by_yaml(row) if plain is None else plain
    names, domain, areas = (str(content.get(key) or "") for key in ("names", "domain", "areas"))
    if not domain:
        return None
    return Shown(_parts(names), domain, _parts(areas))


def exposed_by(
    shown: Sequence[Shown],
    entities: Iterable[Entity],
    areas: Mapping[str, Area],
    said: Mapping[str, bool],
) -> dict[str, bool]:
    """Return, by entity id, whether each entity is in the list.

    `said` contains the exposure that is already known. Several entities can have identical rows, so
    that the exposure of some of them is unclear. Entities in `said` and unclear ones are left out.
    """
    if not shown:
        return {}
    left = Counter((frozenset(row.names), row.domain, frozenset(row.areas)) for row in shown)
    unknown: dict[Any, list[str]] = {}
    for entity in entities:
        if entity.domain in UNLISTED:
            continue
        key = _key_of(entity, areas)
        if entity.entity_id not in said:
            unknown.setdefault(key, []).append(entity.entity_id)
        elif said[entity.entity_id]:
            left[key] -= 1
    told: dict[str, bool] = {}
    for key, entity_ids in unknown.items():
        if left[key] <= 0 or left[key] >= len(entity_ids):
            told |= dict.fromkeys(entity_ids, left[key] > 0)
    return told


def _plainly(row: str) -> dict[str, str] | None:
    """Parse a row of plain one-line values without the YAML parser, which is much slower."""
    content: dict[str, str] = {}
    for line in row.splitlines():
        found = _PLAIN_LINE.fullmatch(line.rstrip())
        if found is None:
            return None
        content[found[1]] = found[2]
    return content


def _by_yaml(row: str) -> Mapping[str, Any]:
    if len(row) > MAX_ROW:
        return {}
    try:
        rows = yaml.safe_load(row)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        log.debug("A row of the home's list cannot be read: %s", error)
        return {}
    first = rows[0] if isinstance(rows, list) and rows else None
    return first if isinstance(first, dict) else {}


def area_key(area: Area | None) -> frozenset[str]:
    """Return the area's name and aliases, split at commas like `areas` in a row."""
    return frozenset(_all_parts((area.name, *area.aliases))) if area else frozenset()


def _key_of(
    entity: Entity, areas: Mapping[str, Area]
) -> tuple[frozenset[str], str, frozenset[str]]:
    area = areas.get(entity.area_id or "")
    return frozenset(_all_parts(entity.names)), entity.domain, area_key(area)


def _all_parts(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from _parts(text)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in _PARTS.split(" ".join(text.split())) if part)
