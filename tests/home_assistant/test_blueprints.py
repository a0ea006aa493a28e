"""Tests that the blueprints are imported into a real house, and that their automations run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.tools.house.intents import TRIGGER
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import automation, blueprint, until
from tests.home_assistant.conftest import Address, Broker, real_only
from tests.home_assistant.names import ACTION, DEVICE, STATE
from tests.home_assistant.open_box import OpenBox, forget, greets, mqtt_of, open_box, settings_of

pytestmark = real_only

FOLDER = Path(__file__).parents[2] / "deploy/home-assistant/blueprints/automation/hearth"
WASHER, DRYER = "sensor.washing_machine_power", "sensor.dryer"
LIGHT = "light.kitchen_lights"


@asynccontextmanager
async def opened(
    house: Address, admin: Admin, folder: Path, **sections: Any
) -> AsyncIterator[OpenBox]:
    """Yield the box, which asks no questions about the sentences of automations."""
    settings = settings_of(
        house, folder, policy={"rules": [{"tool": TRIGGER, "decide": "allow"}]}, **sections
    )
    try:
        async with open_box(settings, folder) as box:
            await greets(admin, box)
            yield box
    finally:
        await forget(admin, settings)


@pytest.fixture
async def box(house: Address, admin: Admin, tmp_path: Path) -> AsyncIterator[OpenBox]:
    """Yield a box without a broker."""
    async with opened(house, admin, tmp_path) as box:
        yield box


@pytest.fixture
async def box_at_broker(
    house: Address, admin: Admin, broker: Broker, tmp_path: Path
) -> AsyncIterator[OpenBox]:
    """Yield a box with a broker."""
    async with opened(house, admin, tmp_path, mqtt=mqtt_of(broker)) as box:
        await until(lambda: _stands(admin))
        yield box


async def _stands(admin: Admin) -> bool:
    return (await admin.states()).get(STATE, {}).get("state") == "idle"


def made_of(path: str, **given: Any) -> dict[str, Any]:
    """Return an automation's configuration."""
    return {"use_blueprint": {"path": path, "input": given}}


async def shows(admin: Admin, entity_id: str, state: object) -> None:
    await admin.post(f"/api/states/{entity_id}", {"state": str(state)})


async def test_announce_when_done(box: OpenBox, admin: Admin) -> None:
    words = "The washing is done."
    await shows(admin, WASHER, 0)
    await shows(admin, DRYER, "running")
    async with (
        blueprint(admin, FOLDER / "announce_when_done.yaml") as path,
        automation(
            admin,
            made_of(
                path,
                boxes=["notify.hearth_kitchen"],
                message=words,
                power=[WASHER],
                **{"for": {"seconds": 1}},
                thing=[DRYER],
                done="finished",
            ),
        ),
    ):
        before = len(box.said)
        for watts in (450, 3, 450, 2):  # a pause between two rinses, and the end
            await shows(admin, WASHER, watts)
        await box.says(words)
        for state in ("unavailable", "finished", "running", "finished"):
            await shows(admin, DRYER, state)
        await box.says(words, words)
        assert len(box.said) == before + 2


async def test_ask_and_act_without_a_broker(box: OpenBox, admin: Admin) -> None:
    await asks(box, admin, "mobile_app")


async def test_ask_and_act_with_a_broker(box_at_broker: OpenBox, admin: Admin) -> None:
    await asks(box_at_broker, admin, "mqtt")


async def asks(box: OpenBox, admin: Admin, platform: str) -> None:
    """Check that a yes runs its action, a no another one, and silence too."""
    await admin.call("light.turn_off", entity_id=LIGHT)
    say = {"action": ACTION, "data": {"message": "Nobody answered."}}
    async with (
        blueprint(admin, FOLDER / "ask_and_act.yaml") as path,
        automation(
            admin,
            made_of(
                path,
                triggers=[{"trigger": "event", "event_type": "test_ask"}],
                box=await device_id(admin, platform),
                question="Shall I {{ trigger.event.data.what }}?",
                on_yes=[light("on")],
                on_no=[light("off")],
                on_silence=[say],
            ),
        ) as entity_id,
    ):
        for answer, state in (("yes please", "on"), ("no", "off")):
            box.room.will_answer(answer)
            await admin.fire("test_ask", what="light the kitchen")
            assert await admin.settles(LIGHT, state, limit_s=20.0) == state
            await until(lambda: ran(admin, entity_id))
        await admin.fire("test_ask", what="light the kitchen")
        await until(lambda: box.said[-1:] == ["Nobody answered."], 30.0)


def light(state: str) -> dict[str, Any]:
    return {"action": f"light.turn_{state}", "target": {"entity_id": LIGHT}}


async def ran(admin: Admin, entity_id: str) -> bool:
    """Return whether it has finished."""
    return bool(await admin.attribute(entity_id, "current") == 0)


async def device_id(admin: Admin, platform: str) -> str:
    """Return the id of the box, as a person picks it."""
    rows = await admin.ask("config/device_registry/list")
    (found,) = [
        row["id"]
        for row in rows
        if row["name"] == DEVICE and any(one[0] == platform for one in row["identifiers"])
    ]
    return str(found)


async def test_a_spoken_sentence(house: Address, admin: Admin, tmp_path: Path) -> None:
    brain = {"order": ["home-assistant", "offline"]}
    async with opened(house, admin, tmp_path, brain=brain) as box:
        await says(box, admin)


async def says(box: OpenBox, admin: Admin) -> None:
    """Check that Home Assistant's engine knows the sentence and its answer."""
    await admin.call("light.turn_on", entity_id=LIGHT)
    async with (
        blueprint(admin, FOLDER / "spoken_sentence.yaml") as path,
        automation(
            admin,
            made_of(
                path,
                sentences=["(good night|sleep well) [everybody]", "lights out in the {room}"],
                actions=[{"action": "light.turn_off", "target": {"entity_id": LIGHT}}],
                answer="Good night{{ ', ' ~ trigger.slots.room if trigger.slots.room }}.",
            ),
        ),
    ):
        await box.app.runner.ask("Sleep well, everybody")
        assert box.turns[-1].record.answer == "Good night."
        assert await admin.settles(LIGHT, "off") == "off"
        await admin.call("light.turn_on", entity_id=LIGHT)
        await box.app.runner.ask("lights out in the kitchen")
        assert box.turns[-1].record.answer == "Good night, kitchen."
        assert await admin.settles(LIGHT, "off") == "off"
