"""Registered devices: who they are, and how they are told things."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from integrations.demo_home.actions import action_list, run
from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import Event
from integrations.demo_home.services import ServiceError
from tests.simulators.phone_home import PhoneHouse
from tests.simulators.phones import (
    CONFIRM_WITHIN_S,
    Channel,
    NotConnectedError,
    WrongFormError,
    add_phone,
    forget,
    press,
    register,
    webhook,
)
from tests.unit.integrations.demo_home.clocks import HandClock

REGISTRATION = {
    "app_id": "org.example.test",
    "app_name": "Test",
    "app_version": "1",
    "device_name": "Kitchen Box!",
    "device_id": "box-1",
    "manufacturer": "Hearth",
    "model": "test",
    "os_name": "Linux",
    "app_data": {"push_websocket_channel": True},
}
MAKERS = {"push_token": "t", "push_url": "https://push.example.invalid"}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def house(clock: HandClock) -> AsyncIterator[PhoneHouse]:
    async with asyncio.TaskGroup() as group:
        house = PhoneHouse(
            FLOORS, AREAS, THINGS, clock=clock, spawn=lambda j: group.create_task(j), settle_s=0
        )
        yield house
        house.stop()


async def test_a_device_comes_with_its_entities_and_goes_with_them(house: PhoneHouse) -> None:
    events: list[Event] = []
    house.listen_events(events.append)
    phone = register(house, REGISTRATION, "somebody")
    assert house.things["notify.kitchen_box"].device_id == phone.id
    assert not house.things["notify.kitchen_box"].exposed
    assert forget(house, phone.entry_id)
    assert "notify.kitchen_box" not in house.things
    assert house.phones.by_webhook(phone.webhook_id) is None
    assert not forget(house, phone.entry_id)
    actions = [(e.kind, e.data["action"]) for e in events if e.kind.startswith("device")]
    assert actions == [("device_registry_updated", "create"), ("device_registry_updated", "remove")]


async def test_one_that_was_forgotten_keeps_its_id_and_room(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    phone.area_id = "kitchen"
    forget(house, phone.entry_id)
    again = register(house, REGISTRATION, "somebody")
    assert (again.id, again.area_id) == (phone.id, "kitchen")
    assert again.webhook_id != phone.webhook_id


async def test_one_that_is_still_here_becomes_another(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    phone.area_id = "kitchen"
    again = register(house, REGISTRATION, "somebody")
    assert again.id != phone.id
    assert again.area_id is None
    assert house.phones.all() == [again]
    assert house.things["notify.kitchen_box"].device_id == again.id


@pytest.mark.parametrize("missing", sorted(set(REGISTRATION) - {"app_data", "device_id"}))
async def test_a_registration_must_be_whole(house: PhoneHouse, missing: str) -> None:
    given = {key: value for key, value in REGISTRATION.items() if key != missing}
    with pytest.raises(WrongFormError, match=f"required key not provided at '{missing}'"):
        register(house, given, "somebody")
    assert house.phones.all() == []


async def test_the_secret_of_a_device_is_not_shown(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    assert phone.webhook_id not in repr(phone)


async def test_the_webhook(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    events: list[Event] = []
    house.listen_events(events.append)
    assert webhook(house, phone, {"type": "get_config"})["hass_device_id"] == phone.id
    told = webhook(
        house, phone, {"type": "update_registration", "data": {"device_name": "Box", "app_id": "x"}}
    )
    assert (told["device_name"], told["app_id"]) == ("Box", "org.example.test")
    assert house.get("notify.kitchen_box").attributes["friendly_name"] == "Box"
    data = {"event_type": "hearth_test", "event_data": {"a": 1}}
    assert webhook(house, phone, {"type": "fire_event", "data": data}) == {}
    assert Event("hearth_test", {"a": 1}) in events
    assert webhook(house, phone, []) == {}


async def test_without_a_channel_nothing_can_be_pushed(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    with pytest.raises(NotConnectedError, match=r"Kitchen Box! is not connected"):
        house.phones.push(phone, {"message": "hello"})


async def test_an_unconfirmed_push_ends_the_channel(house: PhoneHouse, clock: HandClock) -> None:
    phone = register(house, REGISTRATION, "somebody")
    pushes: list[dict[str, Any]] = []
    house.phones.open(phone, Channel(pushes.append, True))
    house.phones.push(phone, {"message": "one"})
    await clock.go(CONFIRM_WITHIN_S - 1)
    assert house.phones.confirm(phone, pushes[0]["hass_confirm_id"])
    assert not house.phones.confirm(phone, pushes[0]["hass_confirm_id"])
    await clock.go(CONFIRM_WITHIN_S)
    house.phones.push(phone, {"message": "two"})
    await clock.go(CONFIRM_WITHIN_S)
    assert phone.channel is None


async def test_a_phone_is_reached_by_its_makers_service_too(
    house: PhoneHouse, clock: HandClock
) -> None:
    phone = register(house, {**REGISTRATION, "app_data": MAKERS}, "somebody")
    house.phones.push(phone, {"message": "one"})
    pushes: list[dict[str, Any]] = []
    house.phones.open(phone, Channel(pushes.append, True))
    house.phones.push(phone, {"message": "two"})
    assert phone.sent == [{"message": "one"}]
    await clock.go(CONFIRM_WITHIN_S)
    assert phone.sent == [{"message": "one"}, {"message": "two"}]


@pytest.mark.parametrize(
    ("app_data", "takes"),
    [
        ({"push_websocket_channel": True}, True),
        (MAKERS, True),
        ({"push_url": "x"}, False),
        ({}, False),
        (None, False),
    ],
)
async def test_only_what_takes_pushes_has_an_action(
    house: PhoneHouse, app_data: Any, takes: bool
) -> None:
    register(house, {**REGISTRATION, "app_data": app_data}, "somebody")
    assert ("mobile_app_kitchen_box" in action_list(house)["notify"]) is takes
    assert ("notify.kitchen_box" in house.things) is takes
    assert "device_tracker.kitchen_box" in house.things


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({}, r"required key not provided at 'message'"),
        ({"message": "x", "colour": "red"}, "not a valid option at 'colour'"),
        ({"message": "x", "data": []}, "expected dict"),
        ({"message": "x"}, "Device not connected to local push notifications"),
    ],
)
async def test_an_action_of_a_phone_is_strict(
    house: PhoneHouse, data: dict[str, Any], error: str
) -> None:
    register(house, REGISTRATION, "somebody")
    with pytest.raises(ServiceError, match=error):
        run(house, "notify", "mobile_app_kitchen_box", data)


async def test_a_button_is_pressed_on_a_phone_that_somebody_carries(house: PhoneHouse) -> None:
    phone = add_phone(house, "Ana's phone", "Ana", "user")
    trackers = house.get("person.ana").attributes["device_trackers"]
    assert [house.things[one].device_id for one in trackers] == [phone.id]
    events: list[Event] = []
    house.listen_events(events.append)
    actions = [{"action": "A", "title": "Yes"}, {"action": "B", "title": "No"}]
    run(house, "notify", "mobile_app_ana_s_phone", {"message": "?", "data": {"actions": actions}})
    press(house, phone, "No")
    assert (events[-1].kind, events[-1].data["action"]) == ("mobile_app_notification_action", "B")


async def test_an_old_channel_does_not_close_the_new_one(house: PhoneHouse) -> None:
    phone = register(house, REGISTRATION, "somebody")
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    old = Channel(first.append, False)
    house.phones.open(phone, old)
    house.phones.open(phone, Channel(second.append, False))
    house.phones.close(phone, old)
    house.phones.push(phone, {"message": "hello"})
    assert (first, second) == ([], [{"message": "hello"}])
