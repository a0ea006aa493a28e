"""Home Assistant's names of the entities of the examples' box: Hearth, in the kitchen."""

from typing import Any

from tests.home_assistant.admin import Admin

DEVICE = "Hearth Kitchen"
# --- of the mobile_app device
ACTION = "notify.mobile_app_hearth_kitchen"
NOTIFY = "notify.hearth_kitchen"
# --- of the MQTT device
ANNOUNCE, ASK = "notify.hearth_kitchen_announce", "notify.hearth_kitchen_ask"
EVENTS = "event.hearth_kitchen_event"
MUTE, FOLLOW_UP = "switch.hearth_kitchen_mute", "switch.hearth_kitchen_follow_up"
VOLUME, SPEED = "number.hearth_kitchen_volume", "number.hearth_kitchen_speed"
LISTEN, STOP = "button.hearth_kitchen_listen", "button.hearth_kitchen_stop"
# --- of either
STATE, SPEAKING = "sensor.hearth_kitchen_state", "binary_sensor.hearth_kitchen_speaking"
PROBLEM = "binary_sensor.hearth_kitchen_problem"
NEXT_TIMER, TIMERS = "sensor.hearth_kitchen_next_timer", "sensor.hearth_kitchen_timers"
LAST_HEARD = "sensor.hearth_kitchen_last_heard"
TOPIC = "hearth/kitchen"  # `mqtt.topic` of the examples


async def entities(admin: Admin, platform: str) -> list[dict[str, Any]]:
    """Return registry rows of the box's active entities by that platform."""
    devices = {
        row["id"]
        for row in await admin.ask("config/device_registry/list")
        if row["name"] == DEVICE and any(found[0] == platform for found in row["identifiers"])
    }
    found = [
        row["entity_id"]
        for row in await admin.ask("config/entity_registry/list")
        if row["device_id"] in devices and row["platform"] == platform and not row["disabled_by"]
    ]
    rows = await admin.ask("config/entity_registry/get_entries", entity_ids=found)
    return list(rows.values())
