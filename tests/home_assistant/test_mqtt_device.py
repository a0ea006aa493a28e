"""Tests of the device that Hearth describes to a real Home Assistant's broker."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.config.sections import Mqtt
from assistant.conversation.rules.state import State
from assistant.domain.clock import SystemClock
from assistant.interfaces.entities import TRIGGERS
from assistant.interfaces.mqtt.interface import MqttInterface, take_away
from assistant.speech.catalogue import Catalogue
from integrations.web.requests import LiveRequest, QuestionAnswer
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import automation, until
from tests.home_assistant.conftest import Broker as HouseBroker
from tests.home_assistant.conftest import real_only
from tests.unit.assistant.interfaces.mqtt.doubles import House

pytestmark = [real_only, pytest.mark.since(2026, 11)]

IDENTIFIER = "5eed5eed5eed5eed"
NAME = "Probe Office"
TOPIC = "hearth/probe"


@asynccontextmanager
async def shown(
    broker: HouseBroker, house_: House, *, words: bool = False
) -> AsyncIterator[Settings]:
    """Show the device while the block runs."""
    mqtt = Mqtt(host="127.0.0.1", port=broker.port, topic=TOPIC, may_unmute=True)
    settings = Settings.model_validate(
        {
            "assistant": {"name": "Probe", "area": "Office"},
            "privacy": {"share_heard": words},
            "mqtt": mqtt.model_dump(),
        }
    )
    async with MqttInterface(settings, IDENTIFIER, house_.parts, Catalogue(), SystemClock()):
        yield settings


@pytest.fixture
async def forgotten(broker: HouseBroker) -> AsyncIterator[None]:
    """Remove everything of the device afterwards."""
    yield
    await take_away(Mqtt(host="127.0.0.1", port=broker.port, topic=TOPIC), IDENTIFIER)


async def rows(admin: Admin) -> dict[str, dict[str, Any]]:
    """Return the entities of the device, by their keys here."""
    start = f"hearth_{IDENTIFIER}_"
    return {
        row["unique_id"].removeprefix(start): row
        for row in await admin.ask("config/entity_registry/list")
        if str(row["unique_id"]).startswith(start)
    }


async def device(admin: Admin) -> dict[str, Any] | None:
    for row in await admin.ask("config/device_registry/list"):
        if ["mqtt", f"hearth_{IDENTIFIER}"] in row["identifiers"]:
            return dict(row)
    return None


def entity(platform: str, key: str) -> str:
    return f"{platform}.probe_office_{key}"


async def here(admin: Admin) -> bool:
    return (await admin.states()).get(entity("sensor", "state"), {}).get("state") == "idle"


async def test_the_device_and_its_entities(
    admin: Admin, broker: HouseBroker, forgotten: None
) -> None:
    async with shown(broker, House(), words=True):
        await until(lambda: here(admin))
        found = await device(admin)
        assert found is not None
        assert (found["name"], found["manufacturer"], found["area_id"]) == (
            NAME,
            "Hearth",
            "office",
        )
        made = await rows(admin)
        assert len(made) == 24  # all but the profile: there is none to choose
        for key, row in made.items():
            assert row["entity_id"] == entity(row["entity_id"].partition(".")[0], key)
        states = await admin.states()
        told = {key: states[row["entity_id"]] for key, row in made.items()}
        for key, state in told.items():
            assert state["attributes"]["icon"].startswith("mdi:"), key
            assert state["attributes"]["friendly_name"].startswith(f"{NAME} "), key
        assert told["last_heard"]["state"] == "lights on"
        assert told["next_timer"]["state"] == "unknown"
        assert float(told["cost_today"]["state"]) == 0.01
        assert told["cost_today"]["attributes"]["last_reset"].startswith("2026-01-01T00:00:00")
        assert float(told["latency"]["state"]) == 512.3
        assert told["problem"]["state"] == "off"
        assert told["wake_word"]["attributes"]["options"] == ["okay_nabu", "alexa"]
        assert float(told["volume"]["state"]) == 50
        triggers = await admin.ask("device_automation/trigger/list", device_id=found["id"])
        assert {
            (one["type"], one["subtype"]) for one in triggers if one["domain"] == "mqtt"
        } == set(TRIGGERS.values())
    assert await admin.settles(entity("sensor", "state"), "unavailable") == "unavailable"


async def test_each_entity_does_what_it_is_for(
    admin: Admin, broker: HouseBroker, forgotten: None
) -> None:
    house_ = House()
    box = house_.box

    async def done(*things: Any) -> None:
        await until(lambda: box.done == list(things))
        box.done.clear()

    async with shown(broker, house_):
        await until(lambda: here(admin))
        announce, ask = entity("notify", "announce"), entity("notify", "ask")
        await admin.call("notify.send_message", entity_id=announce, message="Dinner!")
        await until(lambda: len(box.done) == 1)
        text, name, caller = box.done.pop()
        assert (text, caller) == ("Dinner!", "mqtt")
        assert name.startswith("mqtt:")
        box.answers = [QuestionAnswer(result="answered", id="yes", sentence="yes please")]
        await admin.call("notify.send_message", entity_id=ask, message="Close the blinds?")
        await done(("Close the blinds?", "mqtt"))
        event = entity("event", "event")
        await until(lambda: _attribute(admin, event, "answer", "yes"))
        assert await admin.attribute(event, "event_type") == "answered"

        for action, platform, key, data, thing in (
            ("switch.turn_on", "switch", "mute", {}, ("mute", True, "mqtt")),
            ("switch.turn_off", "switch", "mute", {}, ("mute", False, "mqtt")),
            ("switch.turn_off", "switch", "follow_up", {}, LiveRequest(follow_up="never")),
            ("switch.turn_on", "switch", "follow_up", {}, LiveRequest(follow_up="question")),
            ("number.set_value", "number", "volume", {"value": 30}, LiveRequest(volume=0.3)),
            ("number.set_value", "number", "speed", {"value": 1.25}, LiveRequest(speed=1.25)),
            (
                "select.select_option",
                "select",
                "wake_word",
                {"option": "alexa"},
                LiveRequest(wake_word="alexa"),
            ),
            (
                "select.select_option",
                "select",
                "sensitivity",
                {"option": "high"},
                LiveRequest(sensitivity="high"),
            ),
            (
                "text.set_value",
                "text",
                "quiet_hours",
                {"value": "22:30-07:00"},
                LiveRequest(quiet_hours="22:30-07:00"),
            ),
            ("button.press", "button", "listen", {}, ("listen", "mqtt")),
            ("button.press", "button", "stop", {}, ("stop", "mqtt")),
        ):
            await admin.call(action, entity_id=entity(platform, key), **data)
            await done(thing)


async def _attribute(admin: Admin, entity_id: str, name: str, value: Any) -> bool:
    state = (await admin.states()).get(entity_id, {})
    return bool(state.get("attributes", {}).get(name) == value)


async def test_states_follow(admin: Admin, broker: HouseBroker, forgotten: None) -> None:
    house_ = House()
    async with shown(broker, house_):
        await until(lambda: here(admin))
        house_.conversation.stand(state=State.SPEAKING, muted=True)
        for platform, key, state in (
            ("sensor", "state", "speaking"),
            ("binary_sensor", "speaking", "on"),
            ("switch", "mute", "on"),
        ):
            assert await admin.settles(entity(platform, key), state) == state
        house_.troubles.sentences = ("The microphone is gone.",)
        house_.troubles.tell()
        problem = entity("binary_sensor", "problem")
        assert await admin.settles(problem, "on") == "on"
        assert await admin.attribute(problem, "problems") == ["The microphone is gone."]


async def test_a_device_trigger_sets_an_automation_off(
    admin: Admin, broker: HouseBroker, forgotten: None
) -> None:
    house_ = House()
    async with shown(broker, house_):
        await until(lambda: here(admin))
        found = await device(admin)
        assert found is not None
        kind, what = TRIGGERS["wake"]
        trigger = {
            "trigger": "device",
            "domain": "mqtt",
            "device_id": found["id"],
            "type": kind,
            "subtype": what,
        }
        says = {
            "action": "notify.send_message",
            "target": {"entity_id": entity("notify", "announce")},
            "data": {"message": "{{ trigger.payload_json.word }}"},
        }
        async with automation(admin, {"triggers": [trigger], "actions": [says]}):
            house_.bus.publish("heard", "turn1")
            house_.bus.publish("wake", "turn1", word="okay_nabu")
            await until(lambda: [done[0] for done in house_.box.done] == ["okay_nabu"])


async def test_words_that_may_not_go_out_any_more_take_their_sensors_with_them(
    admin: Admin, broker: HouseBroker, forgotten: None
) -> None:
    async with shown(broker, House(), words=True):
        await until(lambda: here(admin))
        assert "last_heard" in await rows(admin)
    async with shown(broker, House()):
        await until(lambda: here(admin))
        await until(lambda: _gone(admin, "last_heard", "last_answer"))
    # As with a new release, what is there already stays as it is.
    async with shown(broker, House()):
        await until(lambda: here(admin))
        assert len(await rows(admin)) == 22


async def _gone(admin: Admin, *keys: str) -> bool:
    return not set(keys) & set(await rows(admin))


async def test_nothing_stays_of_a_box_that_is_forgotten(admin: Admin, broker: HouseBroker) -> None:
    async with shown(broker, House()) as settings:
        await until(lambda: here(admin))
    await take_away(settings.mqtt, IDENTIFIER)

    async def gone() -> bool:
        return await device(admin) is None and await rows(admin) == {}

    await until(gone)
    assert entity("sensor", "state") not in await admin.states()


async def test_other_programs_may_send_options(
    admin: Admin, broker: HouseBroker, forgotten: None
) -> None:
    """By Home Assistant's `mqtt.publish`, and within the message of its action."""
    house_ = House()
    async with shown(broker, house_):
        await until(lambda: here(admin))
        options = {"text": "Psst.", "volume": 0.2, "id": "washer"}
        await admin.call("mqtt.publish", topic=f"{TOPIC}/announce", payload=json.dumps(options))
        await until(lambda: house_.box.done == [("Psst.", "mqtt:washer", "mqtt")])
        message = json.dumps({**options, "id": "dryer"})
        await admin.call(
            "notify.send_message", entity_id=entity("notify", "announce"), message=message
        )
        await until(lambda: len(house_.box.done) == 2)
        assert house_.box.done[1] == ("Psst.", "mqtt:dryer", "mqtt")
