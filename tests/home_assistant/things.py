"""Things of a house from its registries, and choices of what a contract test needs."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.talk import Talk

_AWAY = ("unavailable", "unknown")


@dataclass(frozen=True, slots=True)
class Thing:
    """One entity."""

    entity_id: str
    name: str
    area_id: str
    state: str
    attributes: dict[str, Any]
    exposed: bool

    @property
    def domain(self) -> str:
        """Return the part of the id before the dot."""
        return self.entity_id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Things:
    """All entities of a house, and their places."""

    all: tuple[Thing, ...]
    areas: dict[str, dict[str, Any]]
    floors: dict[str, dict[str, Any]]

    def find(self, domain: str, fits: Callable[[Thing], bool] = lambda thing: True) -> Thing:
        """Return an available exposed entity with a unique name; skip the test if there is none."""
        names = Counter(thing.name.casefold() for thing in self.all)
        for thing in self.all:
            alone = names[thing.name.casefold()] == 1
            if thing.domain == domain and thing.exposed and alone and fits(thing):
                return thing
        pytest.skip(f"no such {domain} in this house")

    def light(self) -> Thing:
        """Return a lamp in an area that can be made brighter."""
        return self.find(
            "light",
            lambda thing: (
                thing.state not in _AWAY
                and bool(thing.area_id)
                and "onoff" not in thing.attributes["supported_color_modes"]
                and "entity_id" not in thing.attributes
            ),
        )

    def namesakes(self) -> tuple[Thing, Thing]:
        """Return two lamps of one name in different areas."""
        lamps = [t for t in self.all if t.domain == "light" and t.exposed and t.area_id]
        for first in lamps:
            for other in lamps:
                same = first.name.casefold() == other.name.casefold()
                if same and first.area_id != other.area_id:
                    return first, other
        pytest.skip("no two lamps of one name in this house")

    def hidden_light(self) -> Thing:
        """Return a lamp that is not exposed."""
        for thing in self.all:
            if thing.domain == "light" and not thing.exposed:
                return thing
        pytest.skip("no hidden light in this house")

    def lights_in(self, area_id: str) -> set[str]:
        """Return the exposed lights of an area."""
        return {
            t.entity_id
            for t in self.all
            if t.domain == "light" and t.exposed and t.area_id == area_id
        }


@dataclass(frozen=True, slots=True)
class DimmingScript:
    """A script that sets one light to the percentage of a required field."""

    entity_id: str
    name: str
    light: Thing
    percent: str  # its fields: a number
    mood: str  # one of some words
    rooms: str  # areas

    @property
    def action(self) -> str:
        """Return its name as an action and as a tool."""
        return self.entity_id.partition(".")[2]


async def dimming_script(person: Talk, things: Things) -> DimmingScript:
    """Return such a script of the house; skip the test if there is none."""
    services = (await person.told("get_services"))["script"]
    for thing in things.all:
        fields = services.get(thing.entity_id.partition(".")[2], {}).get("fields", {})
        by_kind = {next(iter(field["selector"])): name for name, field in fields.items()}
        if thing.domain == "script" and {"number", "select", "area"} <= set(by_kind):
            found = await person.told("search/related", item_type="script", item_id=thing.entity_id)
            light = next(t for t in things.all if [t.entity_id] == found["entity"])
            number, select, area = (by_kind[kind] for kind in ("number", "select", "area"))
            return DimmingScript(thing.entity_id, thing.name, light, number, select, area)
    pytest.skip("no such script in this house")


async def look(person: Talk, admin: Admin) -> Things:
    """Return the present house. The administrator reports what is exposed without an entry."""
    entries = {row["entity_id"]: row for row in await person.told("config/entity_registry/list")}
    devices = {row["id"]: row for row in await person.told("config/device_registry/list")}
    areas = {row["area_id"]: row for row in await person.told("config/area_registry/list")}
    floors = {row["floor_id"]: row for row in await person.told("config/floor_registry/list")}
    shown = await admin.exposed()
    things = []
    for state in await person.told("get_states"):
        entry = entries.get(state["entity_id"], {})
        device = devices.get(entry.get("device_id") or "", {})
        things.append(
            Thing(
                state["entity_id"],
                str(state["attributes"].get("friendly_name", "")),
                entry.get("area_id") or device.get("area_id") or "",
                state["state"],
                state["attributes"],
                state["entity_id"] in shown,
            )
        )
    return Things(tuple(things), areas, floors)


@asynccontextmanager
async def put_back(admin: Admin, *things: Thing) -> AsyncIterator[None]:
    """Restore these things afterwards."""
    entity_ids = [thing.entity_id for thing in things]
    await admin.call("scene.create", scene_id="contract", snapshot_entities=entity_ids)
    try:
        yield
    finally:
        await admin.call("scene.turn_on", entity_id="scene.contract")
        for thing in things:
            await admin.settles(thing.entity_id, thing.state)
        await admin.call("scene.delete", entity_id="scene.contract")


@asynccontextmanager
async def called(admin: Admin, thing: Thing, *aliases: str | None) -> AsyncIterator[None]:
    """Give the entity these aliases meanwhile; None stands for its own name."""
    entry = await admin.ask("config/entity_registry/get", entity_id=thing.entity_id)
    update = "config/entity_registry/update"
    await admin.ask(update, entity_id=thing.entity_id, aliases=list(aliases))
    try:
        yield
    finally:
        await admin.ask(update, entity_id=thing.entity_id, aliases=entry["aliases"])


@asynccontextmanager
async def area_called(
    admin: Admin, things: Things, area_id: str, *more: str
) -> AsyncIterator[None]:
    """Give the area these further aliases meanwhile."""
    before = things.areas[area_id]["aliases"]
    update = "config/area_registry/update"
    await admin.ask(update, area_id=area_id, aliases=[*before, *more])
    try:
        yield
    finally:
        await admin.ask(update, area_id=area_id, aliases=before)
