"""A device that registers itself in both houses: its room, its timers, and what it is told."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.talk import Json, Talk, Told
from tests.home_assistant.things import look, put_back

REGISTRATION = {
    "app_id": "org.example.contract",
    "app_name": "Contract",
    "app_version": "1",
    "device_name": "Contract box",
    "device_id": "contract-box",
    "manufacturer": "Hearth",
    "model": "test",
    "os_name": "Linux",
    "os_version": "1",
    "supports_encryption": False,
    "app_data": {"push_websocket_channel": True},
}
TIMER_TOOLS = {
    *("HassStartTimer", "HassCancelTimer", "HassIncreaseTimer", "HassDecreaseTimer"),
    *("HassPauseTimer", "HassUnpauseTimer", "HassTimerStatus"),
}


@dataclass(slots=True)
class Box:
    """The registered device."""

    person: Talk
    webhook_id: str
    id: str

    async def call(self, tool: str, /, **arguments: object) -> Told:
        """A tool as this device calls it."""
        return await self.person.call(tool, self.id, **arguments)

    async def timers(self, **arguments: object) -> list[Json]:
        """Its timers as the status tool tells them."""
        told = await self.call("HassTimerStatus", **arguments)
        rows = told.answer["speech_slots"]["timers"]
        assert isinstance(rows, list)
        return rows

    async def hook(self, kind: str, **data: object) -> Json:
        """What its webhook answers."""
        path = f"/api/webhook/{self.webhook_id}"
        answer = await self.person.http.post(path, json={"type": kind, "data": data})
        assert answer.status_code == 200
        body = answer.json()
        assert isinstance(body, dict)
        return body


async def register(person: Talk) -> Box:
    answer = await person.http.post("/api/mobile_app/registrations", json=REGISTRATION)
    assert answer.status_code == 201
    box = Box(person, answer.json()["webhook_id"], "")
    box.id = (await box.hook("get_config"))["hass_device_id"]
    return box


async def place(admin: Admin, box: Box, area_id: str | None) -> None:
    await admin.ask("config/device_registry/update", device_id=box.id, area_id=area_id)


async def forget(admin: Admin, box: Box) -> None:
    rows = await admin.ask("config/device_registry/list")
    entries = [row["primary_config_entry"] for row in rows if row["id"] == box.id]
    assert entries
    await admin.delete(f"/api/config/config_entries/entry/{entries[0]}")


@pytest.fixture
async def box(person: Talk, admin: Admin) -> AsyncIterator[Box]:
    box = await register(person)
    await place(admin, box, None)
    yield box
    await box.call("HassCancelAllTimers")
    await forget(admin, box)


async def channel(box: Box, *, confirms: bool = False) -> int:
    await box.person.told(
        "mobile_app/push_notification_channel",
        webhook_id=box.webhook_id,
        support_confirm=confirms,
    )
    return box.person.last_id


async def test_registration_tells_a_webhook_and_no_more(person: Talk, admin: Admin) -> None:
    answer = await person.http.post("/api/mobile_app/registrations", json=REGISTRATION)
    assert answer.status_code == 201
    told = answer.json()
    assert set(told) == {"cloudhook_url", "remote_ui_url", "secret", "webhook_id"}
    assert len(told["webhook_id"]) == 64
    box = Box(person, told["webhook_id"], "")
    box.id = (await box.hook("get_config"))["hass_device_id"]
    await forget(admin, box)


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


async def test_timer_tools_are_there_for_this_device_alone(box: Box) -> None:
    assert not TIMER_TOOLS & set(await box.person.tools())
    menu = await box.person.tools(box.id)
    assert set(menu) >= TIMER_TOOLS | {"HassCancelAllTimers"}
    names = [name for name in menu if name in TIMER_TOOLS | {"HassCancelAllTimers"}]
    assert names[:3] == ["HassStartTimer", "HassCancelTimer", "HassCancelAllTimers"]
    properties = menu["HassStartTimer"]["inputSchema"]["properties"]
    assert set(properties) == {"hours", "minutes", "seconds", "name", "conversation_command"}
    assert "not able to start timers" in await box.person.prompt()
    assert "not able to start timers" not in await box.person.prompt(box.id)
    assert "not found" in (await box.person.call("intent__HassStartTimer", minutes=1)).text


async def test_a_timer_rings_at_its_device(box: Box) -> None:
    pushes = await channel(box)
    told = await box.call("HassStartTimer", seconds=1, name="tea")
    assert told.answer == {
        "speech": {},
        "response_type": "action_done",
        "data": {"success": [], "failed": []},
    }
    (row,) = await box.timers()
    assert (row["name"], row["device_id"], row["is_active"]) == ("tea", box.id, True)
    assert row["total_seconds_left"] <= 1
    push = await box.person.event(pushes)
    assert push["message"] == "tea finished"
    assert push["data"]["channel"] == "Timers"
    assert await box.timers() == []


async def test_a_timer_without_a_name_rings_with_its_length(box: Box) -> None:
    pushes = await channel(box)
    await box.call("HassStartTimer", seconds=1)
    assert (await box.person.event(pushes))["message"] == "0:00:01 timer finished"


async def test_timers_are_changed_by_name_and_by_start(box: Box) -> None:
    await box.call("HassStartTimer", minutes=5)
    await box.call("HassStartTimer", minutes=10, name="Pizza")
    told = await box.call("HassIncreaseTimer", minutes=1)
    assert told.text == "Error calling tool: Multiple timers matched"
    assert not (await box.call("HassIncreaseTimer", minutes=1, name=" pizza")).is_error
    assert not (await box.call("HassDecreaseTimer", minutes=2, start_minutes=5)).is_error
    left = [row["total_seconds_left"] for row in await box.timers()]
    assert left[0] in range(170, 181)
    assert left[1] in range(650, 661)
    told = await box.call("HassCancelTimer", name="nope")
    assert told.text == "Error calling tool: Timer not found"
    assert not (await box.call("HassCancelTimer", name="PIZZA")).is_error
    assert [row["start_minutes"] for row in await box.timers()] == [5]
    # the only one needs no description
    assert not (await box.call("HassCancelTimer")).is_error
    assert (await box.call("HassCancelTimer")).text == "Error calling tool: Timer not found"


async def test_a_timer_stands_and_goes_on(box: Box) -> None:
    await box.call("HassStartTimer", hours=1, minutes=2, seconds=3, name="bread")
    await box.call("HassPauseTimer", name="bread")
    (row,) = await box.timers(name="BREAD")
    assert row["is_active"] is False
    assert (row["start_hours"], row["start_minutes"], row["start_seconds"]) == (1, 2, 3)
    assert (row["hours_left"], row["minutes_left"]) == (1, 2)
    assert (await box.call("HassPauseTimer", name="bread")).text.endswith("Timer not found")
    await box.call("HassUnpauseTimer", name="bread")
    (row,) = await box.timers()
    assert row["is_active"] is True


async def test_who_runs_is_looked_at_before_names(box: Box) -> None:
    """ "Pause the pizza", which stands already, pauses the other one."""
    await box.call("HassStartTimer", minutes=5)
    await box.call("HassStartTimer", minutes=10, name="pizza")
    await box.call("HassPauseTimer", name="pizza")
    assert not (await box.call("HassPauseTimer", name="pizza")).is_error
    assert [row["is_active"] for row in await box.timers()] == [False, False]


async def test_timers_of_an_area(box: Box, person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    here, elsewhere = (lamp.area_id for lamp in things.namesakes())
    await place(admin, box, here)
    await box.call("HassStartTimer", minutes=5)
    assert len(await box.timers(area=things.areas[here]["name"])) == 1
    assert await box.timers(area=things.areas[elsewhere]["name"]) == []
    assert await box.timers(area="Moon") == []
    told = await box.call("HassCancelAllTimers", area="Moon")
    assert told.answer["speech_slots"] == {"canceled": 0, "area": "Moon"}
    told = await box.call("HassCancelAllTimers")
    assert told.answer["speech_slots"] == {"canceled": 1}


@pytest.mark.parametrize("wrong", [{}, {"seconds": -1}, {"seconds": "soon"}, {"name": "tea"}])
async def test_a_timer_needs_a_length(box: Box, wrong: dict[str, object]) -> None:
    told = await box.call("HassStartTimer", **wrong)
    assert told.text == "Error calling tool: Received invalid slot info for HassStartTimer"


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
