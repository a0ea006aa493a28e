"""The list of exposed things in the home server's own text, and who of the house is meant by it.

Home Assistant's prompt and its live context hold one YAML list (2025.4 to 2026.11: `names`,
`domain`, `areas`, texts joined by ", "; in the live context `state` and `attributes` too). Scripts
and calendars are never in it. Names are what people and devices gave: they may hold line breaks,
quotes, commas and anything else.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import yaml

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.house import Area, Entity
from integrations.home_assistant.registry import (
    Registries,
    read_area_labels,
    read_areas,
    read_devices,
    read_entries,
    read_floors,
    read_label_names,
    read_listed,
)
from integrations.home_assistant.shapes import mapping
from integrations.home_assistant.websocket import UNKNOWN_FORM, Connection

log = logging.getLogger(__name__)

MAX_TEXT = 4_000_000  # characters; 5,000 exposed entities take some 330,000
MAX_ROW = 20_000  # characters of one row
UNLISTED = frozenset({"script", "calendar"})  # domains that the list leaves out

_FIRST = "- names:"
# A line whose value YAML takes as it stands: quoted and folded ones go to the YAML reader.
_PLAIN_LINE = re.compile(r"(?:- |  )(names|domain|areas): ([^'\"|>&*!%@`\[{\s][^\n]*)")
_PARTS = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Shown:
    """One row of the list. A name that holds a comma counts as several."""

    names: tuple[str, ...]
    domain: str
    areas: tuple[str, ...] = ()  # its area's name and aliases


@dataclass(frozen=True, slots=True)
class Listing:
    """A server's text, split where its list stands."""

    before: str
    rows: tuple[str, ...]  # each as it stands there, in order; none: there is no list
    after: str


def find_list(text: str) -> Listing:
    """Split the text at its list, which begins at the first line "- names: ...".

    A row goes on over indented lines, and over empty ones that an indented line follows.
    """
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
    """The rows of the list in the server's text, in order; what cannot be read is left out."""
    if len(text) > MAX_TEXT:
        log.warning("The home's prompt is too long to be read: %d characters.", len(text))
        return []
    rows = (read_row(row) for row in find_list(text).rows)
    return [row for row in rows if row is not None]


@lru_cache(maxsize=8_192)  # the same rows come with every conversation
def read_row(row: str) -> Shown | None:
    """One row of the list; None where it is no such row."""
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
    """Which of `entities` the list means, by id; those that it cannot tell have no row.

    `said`: what is known for certain, by id. Several entities may look the same: where the list has
    fewer rows than there are such entities, nobody knows which of them are meant.
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
    """The row's values where each stands on one line, unquoted: most do, and YAML is slow."""
    content: dict[str, str] = {}
    for line in row.splitlines():
        found = _PLAIN_LINE.fullmatch(line.rstrip())
        if found is None:
            return None
        content[found[1]] = found[2]
    return content


def _by_yaml(row: str) -> Mapping[str, Any]:
    """The row read as YAML, never trusted; empty where it is something else."""
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
    """What the `areas` of a row in this area hold, whatever their order."""
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
    """What stands between the commas, without line breaks and double spaces."""
    return tuple(part for part in _PARTS.split(" ".join(text.split())) if part)


# Asks Home Assistant's registries over the websocket: all of it, or what an event named.


# A user who is no admin may subscribe to these (`auth/permissions/events.py`, 2025.4 to 2026.11).
REGISTRY_EVENTS = (
    "area_registry_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
    "label_registry_updated",
)
MAX_NAMED = 500  # entities asked for by name; beyond, all are read anew


@dataclass(slots=True)
class Stale:
    """What is known to have changed in the registries since they were read."""

    entity_ids: set[str] = field(default_factory=set)
    places: bool = False  # areas, floors, devices or labels
    everything: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one of REGISTRY_EVENTS."""
        data = mapping(event.get("data"))
        if kind == "entity_registry_updated":
            for key in ("entity_id", "old_entity_id"):
                if isinstance(data.get(key), str):
                    self.entity_ids.add(data[key])
        else:
            self.places = True
        self.came.set()

    def note_everything(self) -> None:
        """Everything is to be read anew, states too."""
        self.everything = True
        self.came.set()

    def take(self) -> "Stale":
        """What has come so far; from now on it is collected anew."""
        taken = replace(self, entity_ids=set(self.entity_ids))
        self.entity_ids.clear()
        self.places = self.everything = False
        self.came.clear()
        return taken


async def read_registries(connection: Connection) -> Registries:
    """All registries. Raises Refused or Unavailable."""
    try:
        listed = await connection.command("config/entity_registry/list")
        entries = read_entries(listed)
        entries |= await _extended(connection, list(entries)) or {}
        places = await _places(connection, Registries())
        admin = await _is_admin(connection)
        listed = await _listed(connection) if admin else {}
        return replace(places, entities=entries, listed=listed, admin=admin)
    except (AttributeError, KeyError, TypeError) as error:
        raise Unavailable(UNKNOWN_FORM) from error


async def refreshed(connection: Connection, known: Registries, stale: Stale) -> Registries | None:
    """The registries with what was stale read anew; None: all of it must be read.

    Raises Refused or Unavailable.
    """
    if stale.everything or len(stale.entity_ids) > MAX_NAMED:
        return None
    try:
        registries = await _places(connection, known) if stale.places else known
        if not stale.entity_ids:
            return registries
        found = await _extended(connection, sorted(stale.entity_ids))
    except (AttributeError, KeyError, TypeError) as error:
        raise Unavailable(UNKNOWN_FORM) from error
    if found is None:
        return None
    kept = {name: row for name, row in known.entities.items() if name not in stale.entity_ids}
    return replace(registries, entities=kept | found)


async def _places(connection: Connection, known: Registries) -> Registries:
    """`known` with floors, areas, devices and labels as they are now."""
    floors = await connection.command("config/floor_registry/list")
    areas = await connection.command("config/area_registry/list")
    devices = await connection.command("config/device_registry/list")
    return replace(
        known,
        floors=read_floors(floors),
        areas=read_areas(areas),
        area_labels=read_area_labels(areas),
        devices=read_devices(devices),
        labels=await _label_names(connection),
    )


async def _label_names(connection: Connection) -> dict[str, str]:
    """What labels are called; an older Home Assistant has none."""
    try:
        return read_label_names(await connection.command("config/label_registry/list"))
    except (Refused, TypeError) as error:
        log.info("The names of labels are not known: %s", error)
        return {}


async def _extended(
    connection: Connection, entity_ids: Collection[str]
) -> dict[str, Mapping[str, Any]] | None:
    """Registry entries with their aliases; None where this user may not read them."""
    try:
        found = await connection.command(
            "config/entity_registry/get_entries", entity_ids=list(entity_ids)
        )
    except Refused as error:
        log.info("Aliases are not known: %s", error)
        return None
    return {name: entry for name, entry in found.items() if entry and isinstance(entry, Mapping)}


async def _is_admin(connection: Connection) -> bool:
    """Whether this user is an administrator.

    Others do not ask for what only administrators may read: Home Assistant (2026.11) logs every
    refusal as an error.
    """
    try:
        user = mapping(await connection.command("auth/current_user"))
    except Refused:
        return False
    return user.get("is_admin") is True


async def _listed(connection: Connection) -> dict[str, bool]:
    """The list of exposed entities, which only administrators may read."""
    try:
        answer: Mapping[str, Any] = await connection.command("homeassistant/expose_entity/list")
    except Refused:
        return {}
    return read_listed(answer)
