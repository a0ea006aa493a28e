"""Tests of automations of a real house that use Hearth through its broker."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.automated_box import hears_of_the_office, shows_timers, shuts_the_blinds
from tests.home_assistant.automations import BLINDS, automation, until, when
from tests.home_assistant.conftest import Address, Broker, real_only
from tests.home_assistant.names import (
    ANNOUNCE,
    ASK,
    DEVICE,
    EVENTS,
    FOLLOW_UP,
    MUTE,
    STATE,
    TOPIC,
    VOLUME,
    entities,
)
from tests.home_assistant.open_box import OpenBox, forget, greets, mqtt_of, open_box, settings_of

pytestmark = [real_only, pytest.mark.since(2026, 11)]

CONFIG, DIAGNOSTIC = "config", "diagnostic"
# What a person expects of each entity: device class and category.
ENTITIES: dict[str, tuple[str | None, str | None]] = {
    "notify.hearth_kitchen_announce": (None, None),
    "notify.hearth_kitchen_ask": (None, None),
    "event.hearth_kitchen_event": (None, None),
    "button.hearth_kitchen_listen": (None, None),
    "button.hearth_kitchen_stop": (None, None),
    "switch.hearth_kitchen_mute": ("switch", None),
    "switch.hearth_kitchen_follow_up": ("switch", CONFIG),
    "select.hearth_kitchen_sensitivity": (None, CONFIG),
    "text.hearth_kitchen_quiet_hours": (None, CONFIG),
    "select.hearth_kitchen_wake_word": (None, CONFIG),
    "number.hearth_kitchen_volume": (None, CONFIG),
    "number.hearth_kitchen_speed": (None, CONFIG),
    "sensor.hearth_kitchen_state": ("enum", None),
    "binary_sensor.hearth_kitchen_speaking": ("running", None),
    "sensor.hearth_kitchen_microphone": ("enum", DIAGNOSTIC),
    "binary_sensor.hearth_kitchen_problem": ("problem", DIAGNOSTIC),
    "sensor.hearth_kitchen_brain": (None, DIAGNOSTIC),
    "sensor.hearth_kitchen_last_wake_word": (None, DIAGNOSTIC),
    "sensor.hearth_kitchen_latency": ("duration", DIAGNOSTIC),
    "sensor.hearth_kitchen_cost_today": ("monetary", DIAGNOSTIC),
    "sensor.hearth_kitchen_last_heard": (None, None),
    "sensor.hearth_kitchen_last_answer": (None, None),
    "sensor.hearth_kitchen_next_timer": ("timestamp", None),
    "sensor.hearth_kitchen_timers": (None, None),
}


@pytest.fixture
async def box(
    house: Address, admin: Admin, broker: Broker, tmp_path: Path
) -> AsyncIterator[OpenBox]:
    settings = settings_of(house, tmp_path, mqtt=mqtt_of(broker), privacy={"share_heard": True})
    try:
        async with open_box(settings, tmp_path) as box:
            await until(lambda: _stands(admin))
            yield box
    finally:
        await forget(admin, settings)


async def _stands(admin: Admin) -> bool:
    return (await admin.states()).get(STATE, {}).get("state") == "idle"


async def test_the_entities_are_those_that_a_person_expects(box: OpenBox, admin: Admin) -> None:
    await greets(admin, box)  # the registration stays beside it
    rows = {row["entity_id"]: row for row in await entities(admin, "mqtt")}
    found = {
        name: (row["original_device_class"], row["entity_category"]) for name, row in rows.items()
    }
    assert found == ENTITIES
    for row in rows.values():
        assert row["original_name"]
        assert row["original_icon"]
        shown = await admin.attribute(row["entity_id"], "friendly_name")
        assert shown == f"{DEVICE} {row['original_name']}"
    told_twice = [
        row["entity_id"]
        for row in await entities(admin, "mobile_app")
        if row["entity_id"].partition(".")[0] in ("sensor", "binary_sensor")
    ]
    assert told_twice == []
    triggers = await admin.ask("device_automation/trigger/list", device_id=row["device_id"])
    assert len([one for one in triggers if one["domain"] == "mqtt"]) == 8


def act(action: str, entity_id: str, **data: Any) -> dict[str, Any]:
    """Return one action on one entity."""
    return {"action": action, "target": {"entity_id": entity_id}, "data": data}


async def test_announce_ask_mute_and_hear(box: OpenBox, admin: Admin, tmp_path: Path) -> None:
    says = act("notify.send_message", ANNOUNCE, message="The washing is done.")
    async with automation(admin, when("test_washed", says)):
        await admin.fire("test_washed")
        await box.says("The washing is done.")

    for turned, state in (("on", "on"), ("off", "off")):
        async with automation(admin, when("test_ten", act(f"switch.turn_{turned}", MUTE))):
            await admin.fire("test_ten")
            assert await admin.settles(MUTE, state) == state
            assert box.daemon.mute.on is (state == "on")
    assert box.said == ["The washing is done."]

    await admin.call("number.set_value", entity_id=VOLUME, value=40)
    assert await admin.settles(VOLUME, "40", "40.0") in ("40", "40.0")
    await admin.call("switch.turn_off", entity_id=FOLLOW_UP)
    assert await admin.settles(FOLLOW_UP, "off") == "off"

    await asks_and_acts(box, admin)
    await hears(box, admin, tmp_path)


async def asks_and_acts(box: OpenBox, admin: Admin) -> None:
    """Check that a spoken yes closes the blinds."""
    config = when(
        "test_dusk",
        act("notify.send_message", ASK, message="Shall I close the blinds?"),
        {
            "wait_for_trigger": [{"trigger": "mqtt", "topic": f"{TOPIC}/answer"}],
            "timeout": {"seconds": 60},
        },
        {
            "if": "{{ wait.trigger.payload_json.answer == 'yes' }}",
            "then": [act("cover.close_cover", BLINDS)],
        },
    )
    await shuts_the_blinds(box, admin, config)


async def hears(box: OpenBox, admin: Admin, folder: Path) -> None:
    """Check that a sentence triggers an automation, and that the sensors show the turn."""
    config = {
        "triggers": [{"trigger": "state", "entity_id": EVENTS, "not_from": "unavailable"}],
        "conditions": [
            "{{ trigger.to_state.attributes.event_type == 'heard' }}",
            "{{ 'office' in trigger.to_state.attributes.get('heard', '') }}",
        ],
        "actions": [act("notify.send_message", ANNOUNCE, message="I heard of the office.")],
    }
    await hears_of_the_office(box, admin, config, folder)


async def test_timers_show(box: OpenBox, admin: Admin) -> None:
    await shows_timers(box, admin)
