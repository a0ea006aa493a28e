"""Tests of a broker or Home Assistant that goes and comes back: everything recovers by itself.

Nothing is said twice, and what the broker kept is said.
"""

import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from tests.chaos.faults import fault
from tests.chaos.promises import Life, assert_promises, told_of
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.conftest import Address, Broker, Power, real_only
from tests.home_assistant.names import ANNOUNCE, STATE, TOPIC, entities
from tests.home_assistant.open_box import OpenBox, forget, mqtt_of, open_box, settings_of

pytestmark = real_only

BACK_S = 10.0  # after what they need is there again
ROUNDS = 5 if os.environ.get("LONG") == "1" else 1
UNAVAILABLE = "unavailable"

PROBE, PROBE_TOPIC = "sensor.test_probe", "test-probe/state"

Box = Callable[[], Any]


async def publish(broker: Broker, topic: str, payload: str, *, retain: bool = False) -> None:
    """Publish as a program of the house; a broker that has just started may not listen yet."""

    async def sent() -> bool:
        try:
            async with aiomqtt.Client("127.0.0.1", broker.port) as client:
                await client.publish(topic, payload, qos=1, retain=retain)
        except aiomqtt.MqttError:
            return False
        return True

    await until(sent)


@pytest.fixture
async def probe(admin: Admin, broker: Broker) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """Yield a check of Home Assistant's own connection to the broker, which it tries every 10 s."""
    place = "homeassistant/sensor/test_probe/config"
    config = {
        "name": "Test probe",
        "unique_id": "test_probe",
        "default_entity_id": PROBE,
        "state_topic": PROBE_TOPIC,
    }
    await publish(broker, place, json.dumps(config), retain=True)
    await publish(broker, PROBE_TOPIC, "here", retain=True)

    async def here() -> bool:
        return (await admin.states()).get(PROBE, {}).get("state") == "here"

    await until(here)
    yield here
    await broker.on()
    await publish(broker, place, "", retain=True)
    await publish(broker, PROBE_TOPIC, "", retain=True)


@pytest.fixture
async def box_of(
    house: Address, admin: Admin, broker: Broker, tmp_path: Path
) -> AsyncIterator[Box]:
    """Yield a function that opens the box with one folder; nothing of it remains afterwards."""
    settings = settings_of(house, tmp_path, mqtt=mqtt_of(broker))

    @asynccontextmanager
    async def opened() -> AsyncIterator[OpenBox]:
        async with open_box(settings, tmp_path) as box:
            yield box
        told = tuple(told_of(turn) for turn in box.turns)
        assert_promises(Life(0, (), told, None, settings.database))

    yield opened
    await broker.on()
    await forget(admin, settings)


async def states(admin: Admin) -> dict[str, str]:
    """Return the states of all entities of the MQTT device, by id."""
    shown = await admin.states()
    return {
        row["entity_id"]: shown[row["entity_id"]]["state"] if row["entity_id"] in shown else ""
        for row in await entities(admin, "mqtt")
    }


async def all_there(admin: Admin) -> bool:
    """Return whether the device is known, and nothing of it is unavailable."""
    found = await states(admin)
    return STATE in found and UNAVAILABLE not in found.values() and "" not in found.values()


async def all_gone(admin: Admin) -> bool:
    """Return whether everything is unavailable."""
    found = await states(admin)
    return bool(found) and set(found.values()) == {UNAVAILABLE}


async def back_within(limit_s: float, holds: Callable[[], Awaitable[bool]]) -> None:
    began = time.monotonic()
    await until(holds, 2 * limit_s)
    took_s = time.monotonic() - began
    print(f"everything was back after {took_s:.1f} s")
    assert took_s <= limit_s


async def tell(admin: Admin, box: OpenBox, words: str) -> None:
    """Let an automation announce, and check that it is said once."""
    await admin.call("notify.send_message", entity_id=ANNOUNCE, message=words)
    await box.says(words)
    assert box.said.count(words) == 1


@fault(
    "a real Home Assistant's broker is killed and restarted",
    hears="nothing unusual; later announcements are spoken",
    retried=(
        "the connection at least every 4 s; everything works within 10 s after the broker's return"
    ),
    kept="announcements: each is spoken once",
)
async def test_the_broker_is_killed_and_started_again(
    box_of: Box, admin: Admin, broker: Broker, probe: Callable[[], Awaitable[bool]]
) -> None:
    async with box_of() as box:
        await until(lambda: all_there(admin))
        await tell(admin, box, "One.")
        for number in range(ROUNDS):
            await broker.kill()
            await until(lambda: all_gone(admin))
            await broker.on()
            await until(probe)
            await back_within(BACK_S, lambda: all_there(admin))
            await tell(admin, box, f"{number} times.")
        assert len(box.said) == 1 + ROUNDS


@fault(
    "a real Home Assistant is restarted",
    hears="nothing unusual; later announcements are spoken",
    retried="the connection at least every 5 s; everything works within 10 s",
    kept="announcements: each is spoken once",
)
async def test_home_assistant_is_started_again(box_of: Box, admin: Admin, power: Power) -> None:
    async with box_of() as box:
        await until(lambda: all_there(admin))
        await tell(admin, box, "One.")
        for number in range(ROUNDS):
            await power.off()
            await power.on()
            await back_within(BACK_S, lambda: all_there(admin))
            await tell(admin, box, f"{number} times.")
        assert len(box.said) == 1 + ROUNDS


@fault(
    "a real Home Assistant and its broker are unreachable when Hearth starts",
    hears="nothing unusual; later announcements are spoken",
    retried=(
        "the connection at least every 4 s; everything works within 10 s after the broker's return"
    ),
    kept="announcements: each is spoken once",
)
async def test_both_are_away_at_the_start(
    box_of: Box, admin: Admin, broker: Broker, power: Power, probe: Callable[[], Awaitable[bool]]
) -> None:
    await power.off()
    await broker.kill()
    async with box_of() as box:
        await broker.on()
        await power.on()
        await until(probe)
        await back_within(BACK_S, lambda: all_there(admin))
        await tell(admin, box, "One.")


@fault(
    ("the house makes announcements while Hearth is down, and the broker is killed"),
    hears="each announcement once, when Hearth is running again",
    retried="nothing",
    kept="the messages that the broker has stored on disk, for at most four hours",
)
async def test_what_was_sent_while_it_was_away_is_said_once(
    box_of: Box, admin: Admin, broker: Broker
) -> None:
    async with box_of() as box:
        await until(lambda: all_there(admin))
        await tell(admin, box, "One.")
    await until(lambda: all_gone(admin))
    await publish(broker, f"{TOPIC}/announce", "Two.")
    await broker.keeps("Two.")
    await broker.kill()
    await broker.on()
    await publish(broker, f"{TOPIC}/announce", json.dumps({"text": "Three."}))
    async with box_of() as box:
        await until(lambda: len(box.said) >= 2)
        await until(lambda: all_there(admin))
        await tell(admin, box, "Four.")
        assert box.said == ["Two.", "Three.", "Four."]
    async with box_of() as box:
        await until(lambda: all_there(admin))
        await tell(admin, box, "Five.")
        assert box.said == ["Five."]
