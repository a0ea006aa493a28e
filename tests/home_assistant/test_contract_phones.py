"""Tests of phones in both houses: found by name, notified, and asked for a yes or no."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.outside import SendToPhone
from assistant.tools.builtin.protocol import BuiltInRequest
from integrations.errors import Refused
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.phones import AnswersHidden, Phone, Phones
from tests.home_assistant.admin import Admin
from tests.home_assistant.box import REGISTRATION, Box, channel, forget
from tests.home_assistant.conftest import Address
from tests.home_assistant.talk import Talk

NAME = "Ána’s Contract Phone"
SERVICE = "mobile_app_anas_contract_phone"
LIMIT_S = 20.0
REQUEST = BuiltInRequest("a", "t", None, "en")


@pytest.fixture
async def phone(person: Talk, admin: Admin) -> AsyncIterator[Box]:
    """Yield a phone beside a box like ours, which is not one."""
    boxes = []
    for told in (
        {"device_name": NAME, "device_id": "contract-phone", "manufacturer": "Example"},
        {"device_name": "Contract box", "device_id": "contract-box"},
    ):
        answer = await person.http.post(
            "/api/mobile_app/registrations", json={**REGISTRATION, **told}
        )
        assert answer.status_code == 201
        box = Box(person, answer.json()["webhook_id"], "")
        box.id = (await box.hook("get_config"))["hass_device_id"]
        boxes.append(box)
    yield boxes[0]
    for box in boxes:
        await forget(admin, box)


@pytest.fixture
async def home(house: Address, phone: Box) -> AsyncIterator[HomeAssistant]:
    async with HomeAssistant(house.url, house.token) as home:
        yield home


async def found(phones: Phones) -> Phone:
    (one,) = [one for one in await phones.all() if one.service == SERVICE]
    return one


async def test_a_phone_is_found_and_a_box_is_none(home: HomeAssistant) -> None:
    phones = Phones(home)
    one = await found(phones)
    assert one.name == NAME
    assert "mobile_app_contract_box" not in {other.service for other in await phones.all()}


async def test_one_that_is_not_there_is_an_error(home: HomeAssistant) -> None:
    phones = Phones(home)
    with pytest.raises(Refused, match="not connected"):
        await phones.send(await found(phones), "Hello")


async def test_a_message_arrives_as_it_was_said(home: HomeAssistant, phone: Box) -> None:
    pushes = await channel(phone)
    tool = SendToPhone(Phones(home), lambda: home.house, Catalogue()).tool()
    assert tool.needed()
    result = await tool.run({"message": "- milk\n- bread", "to": "ana", "title": "Buy"}, REQUEST)
    assert result.sentence == f"I've sent it to {NAME}."
    assert await phone.person.event(pushes) == {"message": "- milk\n- bread", "title": "Buy"}
    await tool.run({"message": "clear_notification", "to": "Ana's phone"}, REQUEST)
    assert await phone.person.event(pushes) == {"message": "clear_notification."}


async def test_a_plain_user_may_not_hear_what_is_pressed(home: HomeAssistant) -> None:
    phones = Phones(home)
    with pytest.raises(AnswersHidden):
        await phones.ask(await found(phones), "Hearth", "Unlock?", LIMIT_S)


@pytest.mark.parametrize(("button", "answer"), [("Yes", "yes"), ("No", "no"), ("", None)])
async def test_a_button_is_the_answer(
    house: Address, phone: Box, button: str, answer: str | None
) -> None:
    pushes = await channel(phone)
    async with HomeAssistant(house.url, house.admin_token) as home, asyncio.TaskGroup() as group:
        phones = Phones(home)
        limit_s = LIMIT_S if button else 0.3
        asking = group.create_task(phones.ask(await found(phones), "Hearth", "Unlock?", limit_s))
        asked = await phone.person.event(pushes)
        assert (asked["title"], asked["message"]) == ("Hearth", "Unlock?")
        actions = {one["title"]: one["action"] for one in asked["data"]["actions"]}
        if button:
            await _press(phone, actions[button])
        assert await asking == answer
    cleared = await phone.person.event(pushes)
    assert cleared == {"message": "clear_notification", "data": {"tag": asked["data"]["tag"]}}


async def _press(phone: Box, action: str) -> None:
    """Report a pressed button, as the companion app does."""
    data: dict[str, Any] = {"action": action, "device_id": "contract-phone"}
    await phone.hook("fire_event", event_type="mobile_app_notification_action", event_data=data)
