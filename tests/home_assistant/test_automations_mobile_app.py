"""Tests of automations of a real house that use Hearth without a broker.

Only address and token are set.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.automated_box import hears_of_the_office, shows_timers, shuts_the_blinds
from tests.home_assistant.automations import BLINDS, automation, until, when
from tests.home_assistant.conftest import Address, Power, real_only
from tests.home_assistant.names import (
    ACTION,
    NOTIFY,
    STATE,
    entities,
)
from tests.home_assistant.open_box import OpenBox, forget, greets, open_box, settings_of

pytestmark = [real_only, pytest.mark.since(2026, 11)]

MUTED = "binary_sensor.hearth_kitchen_microphone_muted"
BACK_S = 10.0  # after Home Assistant has started again
DIAGNOSTIC = "diagnostic"
# What a person expects of each entity: device class and category.
ENTITIES: dict[str, tuple[str | None, str | None]] = {
    "sensor.hearth_kitchen_state": ("enum", None),
    "binary_sensor.hearth_kitchen_speaking": ("running", None),
    "binary_sensor.hearth_kitchen_microphone_muted": (None, None),
    "sensor.hearth_kitchen_microphone": ("enum", DIAGNOSTIC),
    "sensor.hearth_kitchen_last_heard": (None, None),
    "sensor.hearth_kitchen_last_answer": (None, None),
    "sensor.hearth_kitchen_last_wake_word": (None, None),
    "sensor.hearth_kitchen_brain": (None, DIAGNOSTIC),
    "sensor.hearth_kitchen_response_time": ("duration", DIAGNOSTIC),
    "sensor.hearth_kitchen_cost_today": ("monetary", DIAGNOSTIC),
    "sensor.hearth_kitchen_next_timer": ("timestamp", None),
    "sensor.hearth_kitchen_timers": (None, None),
    "binary_sensor.hearth_kitchen_problem": ("problem", DIAGNOSTIC),
}

Box = Callable[[], Any]


@pytest.fixture
async def box_of(house: Address, admin: Admin, tmp_path: Path) -> AsyncIterator[Box]:
    """Yield a function that opens the box with one folder; nothing of it remains afterwards."""
    settings = settings_of(house, tmp_path, privacy={"share_heard": True})

    @asynccontextmanager
    async def opened() -> AsyncIterator[OpenBox]:
        async with open_box(settings, tmp_path) as box:
            await greets(admin, box)
            await until(lambda: _known(admin))  # they come a moment after the first message
            yield box

    yield opened
    await forget(admin, settings)


def tells(message: str, **data: Any) -> dict[str, Any]:
    """Return the action that exists without any configuration."""
    return {"action": ACTION, "data": {"message": message, **({"data": data} if data else {})}}


async def test_the_entities_are_those_that_a_person_expects(box_of: Box, admin: Admin) -> None:
    async with box_of():
        rows = {row["entity_id"]: row for row in await entities(admin, "mobile_app")}
        rows.pop(NOTIFY)
        tracker = [name for name in rows if name.startswith("device_tracker.")]
        for name in tracker:  # Home Assistant makes it of every device that registers
            rows.pop(name)
        assert {
            name: (row["original_device_class"], row["entity_category"])
            for name, row in rows.items()
        } == ENTITIES
        assert all(row["original_name"] and row["original_icon"] for row in rows.values())


async def _known(admin: Admin) -> bool:
    return ENTITIES.keys() <= (await admin.states()).keys()


async def test_announce_ask_mute_and_hear(box_of: Box, admin: Admin, tmp_path: Path) -> None:
    async with box_of() as box:
        async with automation(admin, when("test_washed", tells("The washing is done."))):
            await admin.fire("test_washed")
            await box.says("The washing is done.")
        await admin.call("notify.send_message", entity_id=NOTIFY, message="Dinner is ready.")
        await box.says("Dinner is ready.")

        muting = tells("Quiet.", hearth_command="mute")
        async with automation(admin, when("test_ten", muting)):
            await admin.fire("test_ten")
            assert await admin.settles(MUTED, "on") == "on"
        await admin.call(ACTION, message="Ears.", data={"hearth_command": "unmute"})
        assert box.daemon.mute.on  # a person opens it again
        await box.daemon.mute.set(False)
        assert box.said[-1] == "Dinner is ready."  # an order is not spoken

        await asks_and_acts(box, admin)
        await hears(box, admin, tmp_path)


async def asks_and_acts(box: OpenBox, admin: Admin) -> None:
    """Check that a spoken yes closes the blinds."""
    actions = [{"action": "CLOSE", "title": "Yes"}, {"action": "LEAVE", "title": "No"}]
    wait = {
        "wait_for_trigger": [
            {
                "trigger": "event",
                "event_type": "mobile_app_notification_action",
                "event_data": {"action": "CLOSE"},
            }
        ],
        "timeout": {"seconds": 60},
        "continue_on_timeout": False,
    }
    close = {"action": "cover.close_cover", "target": {"entity_id": BLINDS}}
    asking = when("test_dusk", tells("Shall I close the blinds?", actions=actions), wait, close)
    await shuts_the_blinds(box, admin, asking)


async def hears(box: OpenBox, admin: Admin, folder: Path) -> None:
    """Check that a sentence triggers an automation, and that the sensors show the turn."""
    trigger = {
        "triggers": [{"trigger": "event", "event_type": "hearth_heard"}],
        "conditions": ["{{ 'office' in trigger.event.data.get('heard', '') }}"],
        "actions": [tells("I heard of the office.")],
    }
    await hears_of_the_office(box, admin, trigger, folder)


async def test_timers_show(box_of: Box, admin: Admin) -> None:
    async with box_of() as box:
        await shows_timers(box, admin)


async def test_home_assistant_is_started_again_and_refuses_while_the_box_is_away(
    box_of: Box, admin: Admin, power: Power
) -> None:
    async with box_of() as box:
        assert await admin.settles(STATE, "idle", limit_s=10.0) == "idle"
        await power.off()
        await power.on()
        assert await admin.settles(STATE, "idle", limit_s=BACK_S) == "idle"
        before = len(box.said)
        await admin.again()
        await greets(admin, box)
        assert len(box.said) == before + 1
    assert await admin.settles(STATE, "unavailable") == "unavailable"
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await admin.call(ACTION, message="Who hears that?")
    assert refused.value.response.is_server_error
    async with box_of() as box:
        await admin.call(ACTION, message="I am back.")
        await box.says("I am back.")
        assert "Who hears that?" not in box.said
