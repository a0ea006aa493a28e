"""Tests of a device that registers itself in both houses: its room, and its messages."""

from collections.abc import AsyncIterator

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.box import REGISTRATION, Box, channel, forget, place, register
from tests.home_assistant.conftest import Address
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import look, put_back


@pytest.fixture
async def box(person: Talk, admin: Admin) -> AsyncIterator[Box]:
    box = await register(person)
    await place(admin, box, None)
    yield box
    await box.call("HassCancelAllTimers")
    await forget(admin, box)


async def test_registration_tells_a_webhook_and_no_more(person: Talk, admin: Admin) -> None:
    answer = await person.http.post("/api/mobile_app/registrations", json=REGISTRATION)
    assert answer.status_code == 201
    told = answer.json()
    assert set(told) == {"cloudhook_url", "remote_ui_url", "secret", "webhook_id"}
    assert len(told["webhook_id"]) == 64
    box = Box(person, told["webhook_id"], "")
    box.id = (await box.hook("get_config"))["hass_device_id"]
    await forget(admin, box)


@pytest.mark.since(2026, 11)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Invalid JSON."),
        ("[]", "Message format incorrect: expected a mapping"),
        ('{"app_id": "x"}', "Message format incorrect: required key not provided at 'app_name'"),
    ],
)
async def test_a_registration_must_be_whole(person: Talk, content: str, message: str) -> None:
    answer = await person.http.post(
        "/api/mobile_app/registrations",
        content=content,
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status_code, answer.json()) == (400, {"message": message})


@pytest.mark.since(2026, 11)
async def test_the_device_and_its_entity_are_in_the_registries(box: Box) -> None:
    devices = {row["id"]: row for row in await box.person.told("config/device_registry/list")}
    device = devices[box.id]
    assert device["name"] == "Contract box"
    assert device["identifiers"] == [["mobile_app", "contract-box"]]
    assert device["area_id"] is None
    entries = await box.person.told("config/entity_registry/list")
    own = {row["entity_id"]: row for row in entries if row["device_id"] == box.id}
    assert "notify.contract_box" in own
    assert own["notify.contract_box"]["platform"] == "mobile_app"
    assert own["notify.contract_box"]["options"]["conversation"]["should_expose"] is False
    services = (await box.person.told("get_services"))["notify"]
    assert {"send_message", "mobile_app_contract_box"} <= set(services)


@pytest.mark.since(2026, 11)
async def test_registering_again_makes_another_device_without_a_room(
    box: Box, person: Talk, admin: Admin
) -> None:
    area = next(iter((await look(person, admin)).areas))
    await place(admin, box, area)
    old = Box(person, box.webhook_id, box.id)
    again = await register(person)
    box.webhook_id, box.id = again.webhook_id, again.id
    assert again.id != old.id
    assert again.webhook_id != old.webhook_id
    rows = {row["id"]: row for row in await person.told("config/device_registry/list")}
    assert old.id not in rows
    assert rows[again.id]["area_id"] is None
    answer = await person.http.post(f"/api/webhook/{old.webhook_id}", json={"type": "get_config"})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.since(2026, 2)
async def test_a_forgotten_device_comes_back_with_its_room(
    box: Box, person: Talk, admin: Admin
) -> None:
    area = next(iter((await look(person, admin)).areas))
    await place(admin, box, area)
    await forget(admin, box)
    again = await register(person)
    box.webhook_id = again.webhook_id
    assert again.id == box.id
    rows = {row["id"]: row for row in await person.told("config/device_registry/list")}
    assert rows[again.id]["area_id"] == area


async def test_a_webhook_needs_no_token_and_tells_a_stranger_nothing(
    box: Box, person: Talk
) -> None:
    assert await box.hook("no_such_type") == {}
    answer = await person.http.post("/api/webhook/nobodys", json={"type": "get_config"})
    assert (answer.status_code, answer.content) == (200, b"")


async def test_a_registration_is_updated(box: Box) -> None:
    told = await box.hook(
        "update_registration",
        device_name="Contract lamp",
        app_version="2",
        manufacturer="Hearth",
        model="test",
    )
    assert (told["device_name"], told["app_version"]) == ("Contract lamp", "2")
    await box.hook(
        "update_registration",
        device_name="Contract box",
        app_version="2",
        manufacturer="Hearth",
        model="test",
    )


async def test_a_forgotten_device_is_gone(person: Talk, admin: Admin) -> None:
    box = await register(person)
    await forget(admin, box)
    rows = await person.told("config/device_registry/list")
    assert box.id not in {row["id"] for row in rows}
    assert "notify.contract_box" not in await admin.states()
    assert (await person.http.delete("/api/config/config_entries/entry/any")).status_code == 401
    answer = await person.http.post(f"/api/webhook/{box.webhook_id}", json={"type": "get_config"})
    assert answer.status_code in (200, 410)
    assert not answer.content


async def test_only_an_administrator_puts_it_into_a_room(
    box: Box, person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    area = things.areas[things.light().area_id]
    assert "You are in area" not in await person.prompt(box.id)
    update = {"device_id": box.id, "area_id": area["area_id"]}
    assert await person.refused("config/device_registry/update", **update) == "unauthorized"
    await place(admin, box, area["area_id"])
    floor = things.floors[area["floor_id"]]["name"]
    text = await person.prompt(box.id)
    assert (
        f"You are in area {area['name']} (floor {floor}) and all generic commands like"
        " 'turn on the lights' should target this area." in text
    )


async def test_its_room_settles_equal_names_and_narrows_nothing(
    box: Box, person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    lights = [t for t in things.all if t.domain == "light" and t.exposed]
    for lamp in things.namesakes():
        await place(admin, box, lamp.area_id)
        async with put_back(admin, lamp):
            assert (await box.call("HassTurnOn", name=lamp.name)).reached == [lamp.entity_id]
    async with put_back(admin, *lights):
        told = await box.call("HassTurnOff", domain=["light"])
    assert set(told.reached) | set(told.failed) == {t.entity_id for t in lights}


async def test_a_room_on_another_floor_finds_none_of_equal_names(
    box: Box, person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    lamps = things.namesakes()
    rooms = {lamp.area_id for lamp in lamps}
    floors = {things.areas[area_id]["floor_id"] for area_id in rooms}
    if len(floors) < 2:
        pytest.skip("both stand on one floor")
    floor = things.areas[lamps[0].area_id]["floor_id"]
    # another room of the same floor: the floor settles it, before the area is looked at
    other = next(
        a for a, row in things.areas.items() if row["floor_id"] == floor and a not in rooms
    )
    await place(admin, box, other)
    async with put_back(admin, lamps[0]):
        assert (await box.call("HassTurnOn", name=lamps[0].name)).reached == [lamps[0].entity_id]


@pytest.mark.since(2026, 11)
async def test_messages_come_through_the_channel(box: Box) -> None:
    pushes = await channel(box)
    say = {"domain": "notify", "service": "send_message"}
    await box.person.told(
        "call_service",
        **say,
        target={"entity_id": "notify.contract_box"},
        service_data={"message": "hello", "title": "t"},
    )
    assert await box.person.event(pushes) == {"message": "hello", "title": "t"}
    data = {"tag": "x", "actions": [{"action": "YES", "title": "Yes"}]}
    await box.person.told(
        "call_service",
        domain="notify",
        service="mobile_app_contract_box",
        service_data={"message": "hello", "data": data},
    )
    assert await box.person.event(pushes) == {"message": "hello", "data": data}


@pytest.mark.since(2026, 11)
async def test_a_push_is_confirmed_once(box: Box) -> None:
    pushes = await channel(box, confirms=True)
    await box.person.told(
        "call_service",
        domain="notify",
        service="send_message",
        target={"entity_id": "notify.contract_box"},
        service_data={"message": "hello"},
    )
    confirm_id = (await box.person.event(pushes))["hass_confirm_id"]
    confirm = {"webhook_id": box.webhook_id, "confirm_id": confirm_id}
    await box.person.told("mobile_app/push_notification_confirm", **confirm)
    kind = "mobile_app/push_notification_confirm"
    assert await box.person.refused(kind, **confirm) == "not_found"


@pytest.mark.since(2026, 11)
async def test_the_newest_channel_gets_the_pushes(box: Box) -> None:
    await channel(box)
    second = await channel(box)
    say = {
        "domain": "notify",
        "service": "send_message",
        "target": {"entity_id": "notify.contract_box"},
    }
    await box.person.told("call_service", **say, service_data={"message": "second"})
    assert await box.person.event(second) == {"message": "second"}
    await box.person.told("unsubscribe_events", subscription=second)
    refused = await box.person.refused("call_service", **say, service_data={"message": "none"})
    assert refused == "home_assistant_error"


async def test_a_channel_is_its_owners_alone(box: Box, house: Address) -> None:
    kind = "mobile_app/push_notification_channel"
    assert await box.person.refused(kind, webhook_id="nobodys") == "not_found"
    async with Talk(house.url, house.admin_token) as chief:
        assert await chief.refused(kind, webhook_id=box.webhook_id) == "unauthorized"
