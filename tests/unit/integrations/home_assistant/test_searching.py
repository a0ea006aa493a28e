"""Effects of scripts, automations and scenes, requested from a running home."""

import asyncio
from typing import Any

import pytest

from integrations.home_assistant import client
from integrations.home_assistant.client import HomeAssistant
from tests.unit.integrations.home_assistant.fake_home import FakeHome, followed, until

LAMP = {"entity": ["light.lamp"]}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REST_S", 0.0)
    monkeypatch.setattr(client, "LOOK_AGAIN_S", 0.01)


async def test_what_a_script_touches_is_found_out_and_again_when_it_is_edited(
    fake: FakeHome,
) -> None:
    fake.script("film", {"entity": ["light.lamp", "light.gone"], "area": ["k"]})
    async with followed(fake) as home:
        await _touches(home, "script.film", {"light.lamp"})
        fake.related["script.film"] = {"entity": ["light.old"]}
        gone = {**fake.states["script.film"], "state": "unavailable"}
        await fake.tell("state_changed", entity_id="script.film", new_state=gone)
        back = fake.states["script.film"]
        await fake.tell("state_changed", entity_id="script.film", new_state=back)
        await _touches(home, "script.film", {"light.old"})


async def test_a_home_that_does_not_tell_is_not_asked_again(fake: FakeHome) -> None:
    fake.script("film")
    fake.script("other")
    async with followed(fake) as home:
        await fake.heard("search/related")
        assert home.house.touches == {}
        fake.areas[0]["name"] = "Cocina"
        await fake.tell("area_registry_updated", action="update", area_id="k")
        await until(home, lambda house: house.areas["k"].name == "Cocina")
        assert fake.count("search/related") == 1


async def test_an_item_that_home_assistant_cannot_tell_of_costs_no_other(fake: FakeHome) -> None:
    fake.script("a_broken")
    fake.script("film")
    fake.failing.add("script.a_broken")
    fake.related["script.film"] = LAMP
    async with followed(fake) as home:
        await _touches(home, "script.film", {"light.lamp"})
        assert "script.a_broken" not in home.house.partly
        assert home.house.untold == {"script.a_broken"}


ON_LAMP = {"action": "light.turn_on", "target": {"entity_id": "light.lamp"}}
SAID = {"trigger": "conversation", "command": "party"}


async def test_an_administrators_token_reads_what_scripts_do(fake: FakeHome) -> None:
    fake.is_admin = True
    for name in ("film", "event", "gone"):
        fake.script(name, LAMP)
    fake.entity("automation.party", "Party", "on", entry={})
    fake.entity("automation.lost", "Lost", "unavailable", entry={})
    fake.related |= {"automation.party": LAMP, "automation.lost": {}}
    fake.configs = {
        "script.film": {"sequence": [ON_LAMP]},
        "script.event": {"sequence": [ON_LAMP, {"event": "x"}]},
        "automation.party": {"triggers": [SAID], "actions": [ON_LAMP]},
    }
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        house = home.house
        lamp = frozenset({"light.lamp"})
        assert house.touches == {"script.film": lamp, "automation.party": lamp}
        assert house.ways == {name: {"light.lamp": "on"} for name in house.touches}
        assert house.partly == dict.fromkeys(("script.event", "script.gone"), lamp)
        assert house.sentences == {
            "script.gone": (),
            "automation.party": ("party",),
            "automation.lost": (),
        }
        searched = {one["item_id"] for one in fake.asked if one["type"] == "search/related"}
        assert "script.film" not in searched  # fully known


async def test_nobody_else_asks_for_configurations(fake: FakeHome) -> None:
    fake.script("film", LAMP)
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        assert home.house.partly == {"script.film": frozenset({"light.lamp"})}
        assert not home.house.touches
        assert fake.count("script/config") == 0


async def test_a_home_without_configurations_is_asked_for_one_alone(fake: FakeHome) -> None:
    fake.is_admin = True
    for name in ("a", "b", "c"):
        fake.script(name, LAMP)
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        assert fake.count("script/config") == 1
        assert home.house.partly.keys() == {"script.a", "script.b", "script.c"}


@pytest.mark.parametrize("odd", [None, [], "x", 5])
async def test_an_odd_answer_tells_nothing(fake: FakeHome, odd: Any) -> None:
    fake.is_admin = True
    fake.script("film")
    fake.configs["script.film"] = odd
    fake.related["script.film"] = odd
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        assert not home.house.touches
        assert not home.house.ways


async def test_until_it_is_told_what_scripts_touch_is_unread(fake: FakeHome) -> None:
    """At the start, after a change of the registries and at a new connection."""
    fake.script("film", LAMP)
    fake.holding = True
    film = frozenset({"script.film"})
    async with followed(fake) as home:
        assert home.house.unread == film
        waiting = asyncio.create_task(
            home.wait_for(film, lambda house: house.unread.isdisjoint(film), 20)
        )
        await fake.heard("auth/current_user")
        await fake.release()
        assert await waiting
        fake.holding = True
        fake.areas[0]["name"] = "Cocina"
        await fake.tell("area_registry_updated", action="update", area_id="k")
        await until(home, lambda house: house.unread == film)
        await until(home, lambda house: house.areas["k"].name == "Cocina")
        assert home.house.unread == film
        await fake.release()
        await until(home, lambda house: not house.unread)
        fake.holding = True
        await fake.hang_up()
        await until(home, lambda house: fake.count("get_states") == 2 and house.unread == film)
        await fake.release()
        await until(home, lambda house: not house.unread)


async def test_what_scripts_do_is_not_known_while_home_assistant_starts(fake: FakeHome) -> None:
    """The lock of the room that a script opens may not be loaded yet."""
    fake.script("film", LAMP)
    fake.config = {"state": "STARTING"}
    async with followed(fake) as home:
        await fake.heard("get_config", 4)
        assert home.house.unread == {"script.film"}
        assert fake.count("search/related") == 0
        fake.config = {"state": "RUNNING"}
        await until(home, lambda house: not house.unread)
        assert home.house.partly.keys() == {"script.film"}


async def _touches(home: HomeAssistant, item_id: str, wanted: set[str]) -> None:
    await until(home, lambda house: house.partly.get(item_id) == frozenset(wanted))


async def test_only_an_admin_asks_for_what_home_assistant_logs_as_an_error(fake: FakeHome) -> None:
    listing = "homeassistant/expose_entity/list"
    async with followed(fake):
        assert fake.count(listing) == 0
    fake.is_admin = True
    async with followed(fake):
        assert fake.count(listing) == 1


def add_scene(fake: FakeHome, key: str, states: dict[str, Any], *, read: bool = True) -> str:
    """Add a scene made in Home Assistant's UI."""
    entity_id = f"scene.{key}"
    fake.entity(entity_id, key, "unknown", entry={})
    fake.states[entity_id]["attributes"] |= {"entity_id": list(states), "id": f"id_{key}"}
    fake.related[entity_id] = {"entity": list(states)}
    if read:
        fake.scenes[f"id_{key}"] = {"id": f"id_{key}", "name": key, "entities": states}
    return entity_id


UNLOCKING = {"lock.front": "unlocked", "light.lamp": {"state": "on", "brightness": 3}}


async def test_an_administrators_token_reads_which_way_a_scene_goes(fake: FakeHome) -> None:
    fake.is_admin = True
    fake.entity("lock.front", "Front", "locked", entry={})
    add_scene(fake, "in", UNLOCKING)
    add_scene(fake, "lamps", {"light.lamp": "on"})
    add_scene(fake, "hidden", UNLOCKING, read=False)
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        house = home.house
        assert house.ways == {"scene.in": {"lock.front": "off", "light.lamp": "either"}}
        assert house.touches["scene.hidden"] == {"lock.front", "light.lamp"}
        assert not house.untold
        # lamps are harmless in either direction
        assert sorted(fake.asked_scenes) == ["id_hidden", "id_in"]


@pytest.mark.parametrize("related", [True, False])
@pytest.mark.parametrize(
    "config",
    [
        *(None, [], 5, "no JSON", {}, {"entities": []}, {"entities": {}}),
        {"entities": {"lock.front": "locked"}},  # less than the loaded scene contains
        {"entities": {**UNLOCKING, "lock.back": "locked"}},
    ],
)
async def test_a_scene_that_cannot_be_read_may_go_either_way(
    fake: FakeHome, config: Any, related: bool
) -> None:
    fake.is_admin = True
    fake.entity("lock.front", "Front", "locked", entry={})
    fake.entity("light.lamp", "Lamp", entry={})
    add_scene(fake, "in", UNLOCKING)
    fake.scenes["id_in"] = config
    if not related:
        fake.related.clear()
    async with followed(fake) as home:
        await until(home, lambda house: not house.unread)
        assert not home.house.ways
        assert not home.house.untold  # the scene lists its members
        told = {**home.house.touches, **home.house.partly}.get("scene.in")
        assert told == (set(UNLOCKING) if related else None)


async def test_nobody_else_asks_for_the_states_of_a_scene(fake: FakeHome) -> None:
    fake.entity("lock.front", "Front", "locked", entry={})
    add_scene(fake, "in", UNLOCKING)
    async with followed(fake) as home:
        assert not home.house.unread
        assert not home.house.ways
        assert fake.asked_scenes == []
