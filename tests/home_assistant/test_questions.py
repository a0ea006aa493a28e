"""Tests of questions about the house: contacts, unreachable things, and a room's own sensor.

Also the answers after the contact with Home Assistant is lost.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.domain.tool_call import Status, ToolCall
from assistant.tools.builtin.house import FIND_DEVICES, LIVE_CONTEXT
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.conftest import Address, Power, real_only
from tests.home_assistant.open_box import TOKEN, OpenBox, forget, open_box, settings_of

pytestmark = real_only

LOST = "I lost contact with Home Assistant"
# What the house of the tests lacks; states without an integration, gone with the next start.
SENSORS: dict[str, tuple[str, dict[str, Any]]] = {
    "binary_sensor.q_study_window": (
        "on",
        {"friendly_name": "Study Window", "device_class": "window"},
    ),
    "binary_sensor.q_bath_window": (
        "unavailable",
        {"friendly_name": "Bath Window", "device_class": "window"},
    ),
    "binary_sensor.q_patio_door": ("off", {"friendly_name": "Patio Door", "device_class": "door"}),
    "binary_sensor.q_front_door_contact": (
        "on",
        {"friendly_name": "Front Door Contact", "device_class": "door"},
    ),
    "sensor.q_living_temperature": (
        "17.5",
        {
            "friendly_name": "Chosen thermometer",
            "device_class": "temperature",
            "unit_of_measurement": "°C",
        },
    ),
}
ROOM_SENSOR = "sensor.q_living_temperature"


@pytest.fixture
async def sensors(admin: Admin) -> AsyncIterator[None]:
    """Give the house these sensors during the test."""
    for entity_id, (state, attributes) in SENSORS.items():
        await admin.post(f"/api/states/{entity_id}", {"state": state, "attributes": attributes})
    yield
    for entity_id in SENSORS:
        if entity_id in await admin.states():
            await admin.delete(f"/api/states/{entity_id}")


@asynccontextmanager
async def asking(
    house: Address, admin: Admin, folder: Path, order: list[str]
) -> AsyncIterator[OpenBox]:
    """Yield a box with these brains, removed afterwards."""
    settings = settings_of(house, folder, brain={"order": order})
    async with open_box(settings, folder) as box:
        await until(lambda: ROOM_SENSOR in box.app.home.client.house.entities)
        yield box
    await forget(admin, settings)


async def ask(box: OpenBox, text: str) -> str:
    """Return the answer to one typed sentence."""
    await box.app.runner.ask(text)
    return box.turns[-1].record.answer or ""


@pytest.mark.usefixtures("sensors")
@pytest.mark.parametrize("order", [["offline"], ["home-assistant", "offline"]])
async def test_contacts_count_and_what_is_out_of_reach_is_said(
    house: Address, admin: Admin, tmp_path: Path, order: list[str]
) -> None:
    async with asking(house, admin, tmp_path, order) as box:
        windows = await ask(box, "are all windows closed")
        assert windows.startswith("No, ")
        assert "the study window" in windows
        assert windows.endswith("but I can't reach the bath window.")
        assert await ask(box, "is any door open") == "Yes, the front door contact is open."
        assert await ask(box, "is the patio door open") == "No, the patio door is closed."
        away = "I don't know: I can't reach the bath window."
        for question in ("is the bath window open", "is the bath window closed"):
            assert await ask(box, question) == away
        assert await ask(box, "is the attic light on") == (
            "I don't know: I can't reach the attic light."
        )
        # A lock and a contact of one door answer different questions.
        assert await ask(box, "is the front door closed") == "No, the front door is open."
        assert await ask(box, "is the front door locked") == (
            "Yes, the front door is locked, but the front door contact is open."
        )
        whole = await ask(box, "is the house locked up")
        assert whole.startswith("No, ")
        assert "the front door contact" in whole
        assert "the bath window" in whole
        for turn in box.turns:
            assert "unavailable" not in (turn.record.answer or "")


@pytest.mark.usefixtures("sensors")
@pytest.mark.parametrize("order", [["offline"], ["home-assistant", "offline"]])
async def test_a_room_is_as_warm_as_its_own_sensor_says(
    house: Address, admin: Admin, tmp_path: Path, order: list[str]
) -> None:
    rooms = {row["name"]: row for row in await admin.ask("config/area_registry/list")}
    room = rooms["Living Room"]["area_id"]
    async with asking(house, admin, tmp_path, order) as box:
        await admin.ask(
            "config/area_registry/update", area_id=room, temperature_entity_id=ROOM_SENSOR
        )
        try:
            home = box.app.home.client
            await until(lambda: home.house.areas[room].temperature_entity_id == ROOM_SENSOR)
            question = "what is the temperature in the living room"
            assert await ask(box, question) == "It's 17.5 degrees in the living room."
            await admin.post(
                f"/api/states/{ROOM_SENSOR}",
                {"state": "unavailable", "attributes": SENSORS[ROOM_SENSOR][1]},
            )
            await until(lambda: home.house.entities[ROOM_SENSOR].state == "unavailable")
            # Then its thermostat; never a word that is no number.
            assert await ask(box, question) == "It's 22 degrees in the living room."
        finally:
            await admin.ask("config/area_registry/update", area_id=room, temperature_entity_id=None)


@pytest.mark.usefixtures("sensors")
async def test_after_the_link_is_lost_answers_have_their_age(
    house: Address, admin: Admin, power: Power, tmp_path: Path
) -> None:
    async with asking(house, admin, tmp_path, ["home-assistant", "offline"]) as box:
        assert await ask(box, "is the garage door closed") in (
            "Yes, the garage door is closed.",
            "Yes",
        )
        home = box.app.home.client
        await power.off()
        try:
            await until(lambda: not home.connected)
            for question in (
                "is the garage door closed",
                "is the front door locked",
                "is any door open",
                "are all windows closed",
                "is everything locked",
                "which lights are on",
                "what is the temperature in the living room",
            ):
                answer = await ask(box, question)
                assert LOST in answer, (question, answer)
                assert "At that point, " in answer, (question, answer)
                assert not answer.startswith(("Yes", "No")), (question, answer)
            assert "At that point, the garage door was closed" in await ask(
                box, "is the garage door open"
            )
            assert "didn't know it then either" in await ask(box, "is the bath window open")
            await _tools_tell_it(box)
            await _a_program_is_told(box)
        finally:
            await power.on()
        await until(lambda: home.connected)
        assert LOST not in await ask(box, "is the garage door closed")


@pytest.mark.usefixtures("sensors")
async def test_a_house_that_is_frozen_is_not_told_as_live(
    house: Address, admin: Admin, power: Power, tmp_path: Path
) -> None:
    async with asking(house, admin, tmp_path, ["offline"]) as box:
        home = box.app.home.client
        await box.app.home.tools.menu()
        with power.frozen():
            assert home.connected, "nothing has told yet"
            assert await home.look() == 9.0
            answer = await ask(box, "is the garage door closed")
        assert (
            answer == f"{LOST} less than a minute ago. At that point, the garage door was closed."
        )
        await until(lambda: home.connected)
        assert await home.look() == 0.0


async def _tools_tell_it(box: OpenBox) -> None:
    """Check that the model's input has the warning, and the outcome too."""
    tools = box.app.home.tools
    await tools.menu()
    for number, (name, arguments) in enumerate(
        ((LIVE_CONTEXT, {"name": "Garage Door"}), (FIND_DEVICES, {"name": "Garage Door"}))
    ):
        call = ToolCall(f"q{number}", name, arguments)
        outcome = await tools.call(call, f"q{number}", "how is the garage door", "en")
        assert (outcome.status, outcome.stale) == (Status.DONE, True)
        assert LOST in outcome.sentence
        assert '"warning": "NOT LIVE.' in outcome.data


async def _a_program_is_told(box: OpenBox) -> None:
    """Check the same over HTTP."""
    url = f"http://127.0.0.1:{box.app.settings.http.port}/v1/ask"
    async with httpx.AsyncClient(timeout=30) as client:
        reply = await client.post(
            url,
            json={"text": "is the garage door closed"},
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
    assert reply.status_code == 200, reply.text
    assert LOST in reply.json()["answer"]
    assert "At that point, the garage door was closed" in reply.json()["answer"]
