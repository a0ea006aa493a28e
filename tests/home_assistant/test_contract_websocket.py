"""Tests of the websocket of both houses, for a user without administrator's rights."""

import json

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.line import Failed
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import area_called, called, dimming_script, look, put_back

ANY_AREA = {"area_id": "kitchen"}


async def test_who_asks(person: Talk, admin: Admin) -> None:
    assert (await person.told("auth/current_user"))["is_admin"] is False
    assert (await admin.ask("auth/current_user"))["is_admin"] is True


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("homeassistant/expose_entity/list", {}),
        ("automation/config", {"entity_id": "automation.x"}),
        ("script/config", {"entity_id": "script.x"}),
        (
            "homeassistant/expose_entity",
            {"assistants": ["conversation"], "entity_ids": ["light.x"], "should_expose": True},
        ),
        ("config/area_registry/update", ANY_AREA),
        ("config/floor_registry/update", {"floor_id": "ground"}),
        ("config/device_registry/update", {"device_id": "x", **ANY_AREA}),
        ("config/entity_registry/update", {"entity_id": "light.x", **ANY_AREA}),
        ("subscribe_events", {}),
        ("subscribe_events", {"event_type": "call_service"}),
        ("subscribe_events", {"event_type": "hearth_contract"}),
        ("subscribe_events", {"event_type": "mobile_app_notification_action"}),
    ],
)
async def test_what_only_an_administrator_may(
    person: Talk, kind: str, fields: dict[str, object]
) -> None:
    assert await person.refused(kind, **fields) == "unauthorized"


@pytest.mark.parametrize(
    "event",
    [
        *("state_changed", "area_registry_updated", "floor_registry_updated"),
        *("device_registry_updated", "entity_registry_updated", "service_registered"),
    ],
)
async def test_what_anybody_may_hear(person: Talk, event: str) -> None:
    await person.told("subscribe_events", event_type=event)
    subscription = person.last_id
    await person.told("unsubscribe_events", subscription=subscription)
    assert await person.refused("unsubscribe_events", subscription=subscription) == "not_found"


async def test_messages_that_are_none(person: Talk) -> None:
    assert await person.refused("no/such/command") == "unknown_command"
    answer = await person.raw(json.dumps({"type": "ping"}))
    assert answer["error"]["code"] == "invalid_format"
    answer = await person.raw(json.dumps({"id": 50}))
    assert (answer["id"], answer["error"]["code"]) == (50, "invalid_format")
    assert await person.raw(json.dumps({"id": 60, "type": "ping"})) == {"id": 60, "type": "pong"}
    answer = await person.raw(json.dumps({"id": 60, "type": "ping"}))
    assert answer["error"]["code"] == "id_reuse"


async def test_registries_lead_from_an_entity_to_its_floor(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    light = things.light()
    area = things.areas[light.area_id]
    assert isinstance(area["aliases"], list)
    floor = things.floors[area["floor_id"]]
    assert {"floor_id", "name", "aliases", "level"} <= set(floor)


@pytest.mark.since(2026, 11)
async def test_entries_tell_exposure_and_aliases_to_anybody(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    light, hidden = things.light(), things.hidden_light()
    async with called(admin, light, None, "Contract glow"):
        entries = await person.told(
            "config/entity_registry/get_entries",
            entity_ids=[light.entity_id, hidden.entity_id, "light.no_such_light"],
        )
    shown = {
        entity_id: entry and entry["options"]["conversation"]["should_expose"]
        for entity_id, entry in entries.items()
    }
    assert shown == {light.entity_id: True, hidden.entity_id: False, "light.no_such_light": None}
    # null stands for the entity's own name
    assert entries[light.entity_id]["aliases"] == [None, "Contract glow"]
    for row in await person.told("config/entity_registry/list"):
        assert "aliases" not in row
        assert "options" in row


async def test_entries_that_cannot_be(person: Talk) -> None:
    assert await person.refused("config/entity_registry/get_entries") == "invalid_format"
    kind = "config/entity_registry/get_entries"
    assert await person.refused(kind, entity_ids=["nonsense"]) == "invalid_format"
    kind = "config/entity_registry/get"
    assert await person.refused(kind, entity_id="light.no_such_light") == "not_found"


async def test_what_a_script_touches_is_told_to_anybody(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    found = await person.told("search/related", item_type="script", item_id=script.entity_id)
    (light,) = found["entity"]
    assert len(found["area"]) == len(found["floor"]) == 1
    back = await person.told("search/related", item_type="entity", item_id=light)
    assert script.entity_id in back["script"]
    place = await person.told("search/related", item_type="area", item_id=found["area"][0])
    assert light in place["entity"]
    assert script.entity_id in place["script"]


async def test_what_a_script_does_is_told_to_administrators(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    config = (await admin.ask("script/config", entity_id=script.entity_id))["config"]
    assert config["alias"] == script.name
    assert config["fields"]["rooms"]["selector"] == {"area": {"multiple": True}}
    assert config["sequence"][0]["action"] == "light.turn_on"
    for kind, gone in (("script", "script.no_such"), ("automation", "automation.no_such")):
        with pytest.raises(Failed, match="Entity not found"):
            await admin.ask(f"{kind}/config", entity_id=gone)


async def test_what_a_scene_touches(person: Talk, admin: Admin) -> None:
    scene = (await look(person, admin)).find("scene")
    found = await person.told("search/related", item_type="scene", item_id=scene.entity_id)
    assert set(found["entity"]) == set(scene.attributes["entity_id"])


async def test_nothing_belongs_to_what_is_not_there(person: Talk) -> None:
    for kind in ("script", "scene", "entity", "area", "device", "automation"):
        assert await person.told("search/related", item_type=kind, item_id=f"{kind}.no_such") == {}
    assert (
        await person.refused("search/related", item_type="nonsense", item_id="x")
        == "invalid_format"
    )
    assert await person.refused("search/related", item_type="script") == "invalid_format"


async def test_fields_of_a_script_have_selectors(person: Talk, admin: Admin) -> None:
    script = await dimming_script(person, await look(person, admin))
    action = (await person.told("get_services"))["script"][script.action]
    assert action["description"]
    assert action["response"] == {"optional": True}
    fields = action["fields"]
    assert fields[script.percent]["required"] is True
    assert fields[script.mood]["required"] is False
    assert fields[script.percent]["selector"]["number"]["max"] == 100
    assert len(fields[script.mood]["selector"]["select"]["options"]) == 3
    assert fields[script.rooms]["selector"]["area"]["multiple"] is True


async def test_actions_say_whether_they_answer(person: Talk) -> None:
    services = await person.told("get_services")
    assert services["weather"]["get_forecasts"]["response"] == {"optional": False}
    assert services["todo"]["get_items"]["response"] == {"optional": False}
    assert "response" not in services["light"]["turn_on"]
    assert services["lock"]["unlock"]["target"] == {"entity": [{"domain": ["lock"]}]}
    assert {"create", "delete", "turn_on"} <= set(services["scene"])


async def test_an_action_without_an_answer(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    target = {"entity_id": light.entity_id}
    async with put_back(admin, light):
        result = await person.told("call_service", domain="light", service="turn_on", target=target)
        assert set(result) == {"context"}
        user = (await person.told("auth/current_user"))["id"]
        assert result["context"]["user_id"] == user
        assert await admin.state(light.entity_id) == "on"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"domain": "light", "service": "no_such"}, "not_found"),
        ({"domain": "light", "service": "turn_on"}, "invalid_format"),
        (
            {
                "domain": "light",
                "service": "turn_on",
                "target": {"entity_id": "light.no_such"},
                "service_data": {"nonsense": 1},
            },
            "invalid_format",
        ),
        (
            {
                "domain": "light",
                "service": "turn_on",
                "target": {"entity_id": "light.no_such"},
                "return_response": True,
            },
            "service_validation_error",
        ),
        (
            {
                "domain": "weather",
                "service": "get_forecasts",
                "target": {"entity_id": "weather.no_such"},
                "service_data": {"type": "daily"},
            },
            "service_validation_error",
        ),
    ],
)
async def test_actions_that_are_refused(person: Talk, fields: dict[str, object], code: str) -> None:
    assert await person.refused("call_service", **fields) == code


async def test_a_target_that_is_not_there_is_passed_over(person: Talk) -> None:
    for target in ({"entity_id": "light.no_such"}, {"area_id": "no_such"}):
        await person.told("call_service", domain="light", service="turn_on", target=target)


async def test_actions_with_an_answer(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    weather = things.find("weather", lambda t: t.attributes["supported_features"] & 1 == 1)
    result = await person.told(
        "call_service",
        domain="weather",
        service="get_forecasts",
        target={"entity_id": weather.entity_id},
        service_data={"type": "daily"},
        return_response=True,
    )
    assert result["response"][weather.entity_id]["forecast"]
    todo = things.find("todo")
    result = await person.told(
        "call_service",
        domain="todo",
        service="get_items",
        target={"entity_id": todo.entity_id},
        return_response=True,
    )
    assert isinstance(result["response"][todo.entity_id]["items"], list)


async def test_a_picture_of_some_states_and_the_way_back(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()

    async def act(service: str, **fields: object) -> None:
        await person.told("call_service", domain="scene", service=service, **fields)

    data = {"scene_id": "contract_undo", "snapshot_entities": [light.entity_id, "light.no_such"]}
    await act("create", service_data=data)
    members = await admin.attribute("scene.contract_undo", "entity_id")
    assert list(members) == [light.entity_id]
    async with put_back(admin, light):
        other = "turn_off" if light.state == "on" else "turn_on"
        await admin.call(f"light.{other}", entity_id=light.entity_id)
        await act("turn_on", target={"entity_id": "scene.contract_undo"})
        assert await admin.settles(light.entity_id, light.state) == light.state
    await act("delete", target={"entity_id": "scene.contract_undo"})
    assert "scene.contract_undo" not in await admin.states()


async def test_a_change_is_told_with_both_states(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light):
        await admin.call("light.turn_off", entity_id=light.entity_id)
        await person.told("subscribe_events", event_type="state_changed")
        subscription = person.last_id
        await person.call("HassTurnOn", name=light.name)
        while True:
            event = await person.event(subscription)
            if event["data"]["entity_id"] == light.entity_id:
                break
    assert event["event_type"] == "state_changed"
    assert event["data"]["old_state"]["state"] == "off"
    assert event["data"]["new_state"]["state"] == "on"


async def test_subscribed_entities_come_whole_and_then_in_pieces(
    person: Talk, admin: Admin
) -> None:
    light = (await look(person, admin)).light()
    async with put_back(admin, light):
        await admin.call("light.turn_off", entity_id=light.entity_id)
        await person.told("subscribe_entities", entity_ids=[light.entity_id])
        subscription = person.last_id
        first = (await person.event(subscription))["a"][light.entity_id]
        assert (first["s"], first["a"]["friendly_name"]) == ("off", light.name)
        await person.call("HassTurnOn", name=light.name)
        diff = (await person.event(subscription))["c"][light.entity_id]["+"]
        assert diff["s"] == "on"
        assert "friendly_name" not in diff["a"]
        assert isinstance(diff["lc"], float)


async def test_an_entity_that_comes_and_goes_is_told(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    await person.told("subscribe_entities", entity_ids=["scene.contract_guest"])
    subscription = person.last_id
    assert (await person.event(subscription))["a"] == {}
    await admin.call("scene.create", scene_id="contract_guest", snapshot_entities=[light.entity_id])
    assert "scene.contract_guest" in (await person.event(subscription))["a"]
    await admin.call("scene.delete", entity_id="scene.contract_guest")
    assert (await person.event(subscription))["r"] == ["scene.contract_guest"]


@pytest.mark.since(2026, 11)
async def test_changes_of_the_registries_are_told(person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    light = things.light()
    await person.told("subscribe_events", event_type="area_registry_updated")
    areas = person.last_id
    await person.told("subscribe_events", event_type="entity_registry_updated")
    entities = person.last_id
    async with area_called(admin, things, light.area_id, "Contract room"):
        data = (await person.event(areas))["data"]
        assert (data["action"], data["area_id"]) == ("update", light.area_id)
    async with called(admin, light, None, "Contract glow"):
        data = (await person.event(entities))["data"]
        assert (data["action"], data["entity_id"]) == ("update", light.entity_id)


async def test_a_change_of_exposure_is_told(person: Talk, admin: Admin) -> None:
    light = (await look(person, admin)).light()
    await person.told("subscribe_events", event_type="entity_registry_updated")
    subscription = person.last_id
    await admin.expose([light.entity_id], exposed=False)
    try:
        data = (await person.event(subscription))["data"]
        assert (data["action"], data["entity_id"]) == ("update", light.entity_id)
    finally:
        await admin.expose([light.entity_id], exposed=True)


async def test_a_wrong_token_is_turned_away(house: Address) -> None:
    async with Talk(house.url, "wrong") as stranger:
        with pytest.raises(Failed):
            await stranger.ask("get_states")
