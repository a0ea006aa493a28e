"""Tests of the live picture of the house for a user without administrator's rights."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
import yaml

from assistant.domain.clock import SystemClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin import house as module
from assistant.tools.builtin.house import find_devices, live_context
from assistant.tools.builtin.protocol import BuiltInRequest
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.context import read_context
from integrations.home_assistant.house import House
from integrations.home_assistant.services import is_snapshot, without_snapshots
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, Power, real_only
from tests.home_assistant.talk import Talk

LIMIT_S = 15.0
STEP_S = 0.02
REQUEST = BuiltInRequest("t-a", "t", None, "en")


@asynccontextmanager
async def picture(house: Address) -> AsyncIterator[HomeAssistant]:
    """Yield the house as Hearth sees it."""
    async with HomeAssistant(house.url, house.token, pause_s=(0.1, 0.5)) as home:
        assert home.connected, home.problem
        yield home


async def until(home: HomeAssistant, look: Callable[[House], bool]) -> None:
    """Wait until it is connected and looks like this."""
    async with asyncio.timeout(LIMIT_S):
        while not home.connected or not look(home.house):  # noqa: ASYNC110 (it has no event)
            await asyncio.sleep(STEP_S)


async def test_the_exposed_are_those_that_the_administrator_sees(
    house: Address, person: Talk, admin: Admin
) -> None:
    async with picture(house) as home:
        home.learn_exposure(read_context(await person.prompt()))
        left = {name for name in await admin.exposed() if is_snapshot(name)}  # by earlier tests
        seen = {one.entity_id for one in home.house.exposed()}
        assert seen == await admin.exposed() - left


@real_only
async def test_an_entity_without_an_entry_is_hidden_and_shown_again(
    house: Address, person: Talk, admin: Admin
) -> None:
    entries = {row["entity_id"] for row in await admin.ask("config/entity_registry/list")}
    scripts = ("script.", "calendar.")
    bare = sorted(
        one for one in await admin.exposed() if one not in entries and not one.startswith(scripts)
    )
    if not bare:
        pytest.skip("every exposed entity of this house has a registry entry")
    async with picture(house) as home:
        try:
            for exposed in (False, True):
                await admin.expose(bare[:1], exposed)
                home.learn_exposure(read_context(await person.prompt()))
                assert home.house.entities[bare[0]].exposed is exposed
        finally:  # a release without the prompt skips in the middle
            await admin.expose(bare[:1], True)


@real_only
async def test_names_rooms_and_exposure_change_while_running(house: Address, admin: Admin) -> None:
    lamp = "light.bed_light"
    async with picture(house) as home:
        area = await admin.ask("config/area_registry/create", name="Passage")
        area_id = area["area_id"]
        try:
            await until(home, lambda now: area_id in now.areas)
            await admin.ask("config/area_registry/update", area_id=area_id, aliases=["Corridor"])
            await until(home, lambda now: now.areas[area_id].aliases == ("Corridor",))
            before = home.house.entities[lamp].area_id
            await admin.place(lamp, area_id)
            await until(home, lambda now: now.entities[lamp].area_id == area_id)
            await admin.place(lamp, before)
            await until(home, lambda now: now.entities[lamp].area_id == before)
            await admin.expose([lamp], False)
            await until(home, lambda now: not now.entities[lamp].exposed)
            await admin.expose([lamp], True)
            await until(home, lambda now: now.entities[lamp].exposed)
        finally:
            await admin.ask("config/area_registry/delete", area_id=area_id)


@real_only
async def test_an_alias_while_running(house: Address, admin: Admin) -> None:
    lamp = "light.bed_light"
    entry = await admin.ask("config/entity_registry/get", entity_id=lamp)
    async with picture(house) as home:
        aliases = [*entry["aliases"], "Night lamp"]
        update = {"entity_id": lamp, "aliases": aliases}
        await admin.ask("config/entity_registry/update", **update)
        await until(home, lambda now: "Night lamp" in now.entities[lamp].aliases)
        update["aliases"] = entry["aliases"]
        await admin.ask("config/entity_registry/update", **update)
        await until(home, lambda now: "Night lamp" not in now.entities[lamp].aliases)


@real_only
async def test_what_automations_touch(house: Address, admin: Admin) -> None:
    lamp = "light.bed_light"
    device = (await admin.ask("config/entity_registry/get", entity_id=lamp))["device_id"]
    area = await admin.ask("config/area_registry/create", name="Passage")
    targets: dict[str, dict[str, Any]] = {
        "entity": {"entity_id": lamp},
        "device": {"device_id": device},
        "area": {"area_id": area["area_id"]},
        "template": {"entity_id": "{{ 'light.bed_light' }}"},
    }
    switch = "light.kitchen_lights"
    async with picture(house) as home:
        kitchen = home.house.entities[switch].area_id
    await admin.place(switch, area["area_id"])
    try:
        for name, target in targets.items():
            await _automate(admin, name, target)
        async with picture(house) as home:
            ids = {name: f"automation.passage_{name}" for name in targets}
            await until(home, lambda now: not now.unread)
            assert not known(home.house, ids.values())  # no administrator's token
            touches = home.house.partly
            assert touches[ids["entity"]] == {lamp}
            assert lamp in touches[ids["device"]]
            assert touches[ids["area"]] == {switch}
            assert ids["template"] not in touches
            await _automate(admin, "entity", {"entity_id": switch})
            await until(home, lambda now: now.partly.get(ids["entity"], frozenset()) == {switch})
        async with picture(replace(house, token=house.admin_token)) as home:
            await until(home, lambda now: not now.unread)
            assert home.house.ways[ids["entity"]] == {switch: "off"}
            assert home.house.ways[ids["area"]] == {switch: "off"}
            assert home.house.ways[ids["device"]] == {lamp: "off"}
            assert not known(home.house, [ids["template"]])
    finally:
        for name in targets:
            await admin.delete(f"/api/config/automation/config/passage_{name}")
        await admin.place(switch, kitchen)
        await admin.ask("config/area_registry/delete", area_id=area["area_id"])


def known(house: House, entity_ids: Iterable[str]) -> set[str]:
    """Return those whose effects are fully known."""
    return set(entity_ids) & (house.touches.keys() | house.ways.keys())


async def _automate(admin: Admin, name: str, target: dict[str, Any]) -> None:
    action = {"action": "light.turn_off", "target": target}
    body = {"alias": f"Passage {name}", "triggers": [], "actions": [action]}
    await admin.post(f"/api/config/automation/config/passage_{name}", body)


FILTERS: list[dict[str, Any]] = [
    {},
    {"domain": "light"},
    {"domain": ["climate", "Cover"]},
    {"area": "kitchen"},
    {"area": "Bedroom", "domain": "light"},
    {"name": "lamp"},
    {"area": "Moon"},
    {"name": "no such thing"},
    {"domain": "nonsense"},
    {"area": "Kitchen", "domain": "vacuum"},
]


@real_only
@pytest.mark.parametrize("filters", FILTERS, ids=str)
async def test_the_live_context_is_that_of_home_assistant(
    house: Address, person: Talk, filters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RESULT", 1_000_000)
    if house.version and house.version < "2026":
        pytest.skip("an older release has no filters and orders them otherwise")
    theirs = (await person.call("GetLiveContext", **filters)).answer
    async with picture(house) as home:
        home.learn_exposure(read_context(await person.prompt()))
        tool = live_context(home, Catalogue(), SystemClock())
        ours = json.loads((await tool.run(filters, REQUEST)).data)
    assert ours.get("error") == theirs.get("error")
    if "error" not in theirs:
        # Without what earlier tests have left to be undone.
        assert _rows(ours["result"]) == _rows(without_snapshots(theirs["result"]))


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the rows, with times without their zone, because each clock has its own."""
    head, _, listed = text.partition("\n")
    assert head == module.OVERVIEW
    rows: list[dict[str, Any]] = yaml.safe_load(listed)
    for row in rows:
        if (row.get("attributes") or {}).get("device_class") == "timestamp":
            row["state"] = _moment(row["state"])
    return rows


def _moment(state: str) -> float | str:
    try:
        return datetime.fromisoformat(state).timestamp()
    except ValueError:
        return state


@real_only
async def test_devices_are_found_with_their_states(house: Address, admin: Admin) -> None:
    lamp = "light.bed_light"
    async with picture(house) as home:
        name = home.house.entities[lamp].name
        tool = find_devices(home, Catalogue())
        for action, state in (("light.turn_off", "off"), ("light.turn_on", "on")):
            await admin.call(action, entity_id=lamp)
            await until(home, lambda now, state=state: now.entities[lamp].state == state)  # type: ignore[misc]
            found = await tool.run({"name": name.lower(), "domain": "lights"}, REQUEST)
            (row,) = json.loads(found.data)["devices"]
            assert row["state"].split()[0] == state


@real_only
async def test_after_a_restart_all_states_are_read_anew(
    house: Address, admin: Admin, power: Power
) -> None:
    async with picture(house) as home:
        heard = asyncio.Event()
        home.follow(lambda event: heard.set(), "subscribe_events", event_type="state_changed")
        before = steady(home.house)
        await power.off()
        await until_away(home)
        await power.on()
        await admin.again()
        await until(home, lambda now: steady(now) >= before)
        heard.clear()
        await admin.call("light.toggle", entity_id="light.bed_light")
        async with asyncio.timeout(LIMIT_S):
            await heard.wait()


def steady(house: House) -> set[str]:
    """Return all entities except the demo's disasters, which come and go by chance."""
    return {name for name in house.entities if not name.startswith("geo_location.")}


async def until_away(home: HomeAssistant) -> None:
    """Wait until the connection is known to be lost."""
    async with asyncio.timeout(LIMIT_S):
        while home.connected:  # noqa: ASYNC110 (it has no event)
            await asyncio.sleep(STEP_S)
