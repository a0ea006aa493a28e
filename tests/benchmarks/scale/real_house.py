"""A real Home Assistant with as many things as a plan has, made of its template integration.

Thermostats and players, which no template makes, are switches there. Everything else is as in the
simulated house: rooms, floors, names, aliases, and everything is exposed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from integrations.demo_home.house import Thing
from tests.benchmarks.scale.houses import Plan, plan
from tests.home_assistant.admin import Admin
from tests.home_assistant.real import instances
from tests.home_assistant.real.places import Instance, Places
from tests.home_assistant.real.releases import NEWEST

_FLOORS, _ROOMS = "config/floor_registry/", "config/area_registry/"
_HOUSE = "english"  # what else is in it: the rooms and things that the tests have
_NOTHING: list[object] = []  # what an action does
_ACTIONS: Mapping[str, Mapping[str, Any]] = {
    "light": {"turn_on": _NOTHING, "turn_off": _NOTHING},
    "switch": {"turn_on": _NOTHING, "turn_off": _NOTHING},
    "cover": {"open_cover": _NOTHING, "close_cover": _NOTHING, "set_cover_position": _NOTHING},
    "fan": {"turn_on": _NOTHING, "turn_off": _NOTHING},
    "lock": {"lock": _NOTHING, "unlock": _NOTHING},
    "sensor": {},
    "binary_sensor": {},
}


@asynccontextmanager
async def real_house(size: int, say: instances.Say) -> AsyncIterator[Instance]:
    """Yield one with `size` things beside its own, which is deleted afterwards. Raises Refused."""
    places, name = Places.of_environment(), f"scale-{size}"
    instances.reset(places, name, say)
    wanted = Instance(name=name, house=_HOUSE, version=NEWEST, port=0, log="")
    house = plan(size)
    try:
        instance = await instances.start(places, wanted, say)
        await asyncio.to_thread(instances.stop, places, name, say)
        file = places.folder(name) / "config" / "packages" / "scale.yaml"
        file.write_text(json.dumps(package(house)))  # which is YAML too
        instance = await instances.start(places, instance, say)
        async with Admin(instance.url, instance.admin_token) as admin:
            await _furnish(admin, house)
        say(f"a real house with {size:,} things more")
        yield instance
    finally:
        await asyncio.to_thread(instances.reset, places, name, say)


def package(house: Plan) -> dict[str, Any]:
    """Return the part of Home Assistant's configuration that makes the things."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for thing in house.things:
        kinds.setdefault(_kind(thing), []).append(_entity(thing))
    return {"template": [{kind: entities} for kind, entities in kinds.items()]}


def _kind(thing: Thing) -> str:
    return thing.domain if thing.domain in _ACTIONS else "switch"


def _entity(thing: Thing) -> dict[str, Any]:
    made = {"name": thing.name, "unique_id": thing.entity_id, **_ACTIONS[_kind(thing)]}
    if thing.domain in ("sensor", "binary_sensor"):
        made["state"] = thing.state
        known = ("device_class", "unit_of_measurement")
        made |= {key: thing.attributes[key] for key in known if key in thing.attributes}
    return made


async def _furnish(admin: Admin, house: Plan) -> None:
    """Set rooms, aliases and exposure."""
    floors = {floor["name"]: floor["floor_id"] for floor in await admin.ask(_FLOORS + "list")}
    for floor in house.floors:
        made = await admin.ask(_FLOORS + "create", name=floor.name)
        floors[floor.floor_id] = made["floor_id"]
    rooms = {area["name"]: area["area_id"] for area in await admin.ask(_ROOMS + "list")}
    for area in house.areas:
        level = floors[area.floor_id or ""]
        if area.name in rooms:
            known = rooms[area.name]
            await admin.ask(_ROOMS + "update", area_id=known, floor_id=level)
        else:
            made = await admin.ask(_ROOMS + "create", name=area.name, floor_id=level)
            known = made["area_id"]
        rooms[area.area_id] = known
    listed = await admin.ask("config/entity_registry/list")
    ids = {row["unique_id"]: row["entity_id"] for row in listed if row["platform"] == "template"}
    for thing in house.things:
        aliases = {"aliases": [None, *thing.aliases]} if thing.aliases else {}
        await admin.ask(
            "config/entity_registry/update",
            entity_id=ids[thing.entity_id],
            area_id=rooms[thing.area_id or ""],
            **aliases,
        )
    await admin.expose((ids[thing.entity_id] for thing in house.things), True)
