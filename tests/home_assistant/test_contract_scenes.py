"""Tests of scenes made at run time in both houses, on which Hearth's undo depends."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.line import Json
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import Thing, look, put_back

NAME = "hearth_contract"
SCENE = f"scene.{NAME}"


async def act(person: Talk, action: str, target: str = "", **data: Any) -> Json:
    domain, service = action.split(".")
    fields: Json = {"domain": domain, "service": service, "service_data": data}
    if target:
        fields["target"] = {"entity_id": target}
    return await person.ask("call_service", **fields)


async def done(person: Talk, action: str, target: str = "", **data: Any) -> None:
    answer = await act(person, action, target, **data)
    assert answer["success"], answer


async def refused(person: Talk, action: str, target: str = "", **data: Any) -> str:
    answer = await act(person, action, target, **data)
    assert not answer["success"], answer
    return str(answer["error"]["code"])


@pytest.fixture
async def light(person: Talk, admin: Admin) -> AsyncIterator[Thing]:
    """Yield a lamp that is restored afterwards, with no scene of these tests before and after."""
    lamp = (await look(person, admin)).light()
    async with put_back(admin, lamp):
        yield lamp
    if SCENE in await admin.states():
        await admin.call("scene.delete", entity_id=SCENE)


async def test_a_scene_holds_what_exists_and_is_no_registered_entity(
    person: Talk, light: Thing, admin: Admin
) -> None:
    await done(
        person,
        "scene.create",
        scene_id=NAME,
        snapshot_entities=[light.entity_id, "light.no_such_light"],
    )
    state = (await admin.states())[SCENE]
    assert state["attributes"]["entity_id"] == [light.entity_id]
    assert state["attributes"]["friendly_name"] == NAME
    rows = await person.told("config/entity_registry/list")
    assert SCENE not in [row["entity_id"] for row in rows]
    kind = "config/entity_registry/get"
    assert await person.refused(kind, entity_id=SCENE) == "not_found"


async def test_assistants_see_a_new_scene(person: Talk, light: Thing) -> None:
    await done(person, "scene.create", scene_id=NAME, snapshot_entities=[light.entity_id])
    assert f"- names: {NAME}\n  domain: scene\n" in await person.prompt()


async def test_a_scene_brings_a_lamp_back(person: Talk, light: Thing, admin: Admin) -> None:
    await done(person, "light.turn_on", light.entity_id, brightness=60)
    before = (await admin.states())[light.entity_id]
    await done(person, "scene.create", scene_id=NAME, snapshot_entities=[light.entity_id])
    await done(person, "light.turn_off", light.entity_id)
    assert await admin.settles(light.entity_id, "off") == "off"
    await done(person, "scene.turn_on", SCENE)
    assert await admin.settles(light.entity_id, "on") == "on"
    after = (await admin.states())[light.entity_id]
    assert after["attributes"] == before["attributes"]
    assert datetime.fromisoformat((await admin.states())[SCENE]["state"])  # when it was last set


async def test_a_scene_made_again_holds_what_is_now(
    person: Talk, light: Thing, admin: Admin
) -> None:
    for brightness in (60, 200):
        await done(person, "light.turn_on", light.entity_id, brightness=brightness)
        await done(person, "scene.create", scene_id=NAME, snapshot_entities=[light.entity_id])
    await done(person, "light.turn_off", light.entity_id)
    await done(person, "scene.turn_on", SCENE)
    assert await admin.settles(light.entity_id, "on") == "on"
    assert await admin.attribute(light.entity_id, "brightness") == 200


async def test_a_scene_of_nothing_is_not_made(person: Talk, admin: Admin) -> None:
    await done(person, "scene.create", scene_id=NAME, snapshot_entities=["light.no_such_light"])
    await done(person, "scene.create", scene_id=NAME, snapshot_entities=[])
    assert SCENE not in await admin.states()
    await done(person, "scene.turn_on", SCENE)  # passed over without a word


async def test_a_scene_of_the_house_is_not_replaced(person: Talk, admin: Admin) -> None:
    scene = (await look(person, admin)).find("scene")
    light = (await look(person, admin)).light()
    name = scene.entity_id.partition(".")[2]
    await done(person, "scene.create", scene_id=name, snapshot_entities=[light.entity_id])
    held = (await admin.states())[scene.entity_id]["attributes"]["entity_id"]
    assert held == scene.attributes["entity_id"]
    assert await refused(person, "scene.delete", scene.entity_id) == "service_validation_error"


async def test_a_scene_is_deleted_once(person: Talk, light: Thing, admin: Admin) -> None:
    await done(person, "scene.create", scene_id=NAME, snapshot_entities=[light.entity_id])
    await done(person, "scene.delete", SCENE)
    assert SCENE not in await admin.states()
    assert await refused(person, "scene.delete", SCENE) == "service_validation_error"


@pytest.mark.parametrize("target", ["scene.no_such_scene", "light.no_such_light"])
async def test_what_is_no_scene_is_not_deleted(person: Talk, target: str) -> None:
    assert await refused(person, "scene.delete", target) == "service_validation_error"


@pytest.mark.parametrize(
    "data",
    [
        {"scene_id": NAME},
        {"snapshot_entities": ["light.no_such_light"]},
        {"scene_id": "Not a slug", "snapshot_entities": ["light.no_such_light"]},
        {"scene_id": NAME, "snapshot_entities": ["nonsense"]},
        {"scene_id": NAME, "snapshot_entities": ["light.x"], "entities": {"light.x": "on"}},
        {"scene_id": NAME, "entities": {"light.x": 5}},
        {"scene_id": NAME, "entities": {"light.x": {"brightness": 5}}},
        {"scene_id": NAME, "snapshot_entities": ["light.x"], "nonsense": 1},
    ],
)
async def test_what_a_scene_is_not_made_of(person: Talk, data: Json) -> None:
    assert await refused(person, "scene.create", **data) == "invalid_format"


async def test_states_may_be_given(person: Talk, light: Thing, admin: Admin) -> None:
    wanted = {light.entity_id: {"state": "on", "brightness": 90}}
    await done(person, "light.turn_off", light.entity_id)
    await done(person, "scene.create", scene_id=NAME, entities=wanted)
    await done(person, "scene.turn_on", SCENE)
    assert await admin.settles(light.entity_id, "on") == "on"
    assert await admin.attribute(light.entity_id, "brightness") == 90


async def test_a_player_is_paused_and_plays_on(person: Talk, admin: Admin) -> None:
    def pauses(thing: Thing) -> bool:
        return bool(thing.attributes.get("supported_features", 0) & 16385 == 16385)

    player = (await look(person, admin)).find("media_player", pauses)
    await admin.call("media_player.turn_on", entity_id=player.entity_id)
    await done(person, "media_player.media_play", player.entity_id)
    assert await admin.settles(player.entity_id, "playing") == "playing"
    await done(person, "media_player.media_pause", player.entity_id)
    assert await admin.settles(player.entity_id, "paused") == "paused"
    await done(person, "media_player.media_pause", player.entity_id)  # nothing to do
    await done(person, "media_player.media_play", player.entity_id)
    assert await admin.settles(player.entity_id, "playing") == "playing"
