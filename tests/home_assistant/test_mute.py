"""Tests that a real Home Assistant sees whether the microphone is closed, and its state."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import SystemClock
from assistant.domain.events import Listeners
from assistant.interfaces.device.interface import DeviceKeeper
from assistant.interfaces.device.registration import DeviceFile, HouseDevice
from assistant.interfaces.device.sensors import DeviceSensors
from assistant.interfaces.status import StatusSnapshot
from assistant.journal.store import Store
from assistant.sound.mute import Mute
from assistant.speech.catalogue import Catalogue
from audio.device_status import MicrophoneStatus
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.mobile_app import Push
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, Power, real_only

pytestmark = real_only

BOX = "Voice Mute room"
MUTED, MICROPHONE = (
    "binary_sensor.voice_mute_room_microphone_muted",
    "sensor.voice_mute_room_microphone",
)
LIMIT_S, STEP_S = 30.0, 0.02


class Box:
    """Conversation, microphone and loudspeaker in one."""

    def __init__(self) -> None:
        self.observers: Listeners[[Standing]] = Listeners("the box")
        self.standing = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)

    def mute(self, on: bool) -> None:
        status = MicrophoneStatus.CLOSED if on else MicrophoneStatus.LISTENING
        self.stand(Standing(State.IDLE, on, status))

    def stand(self, standing: Standing) -> None:
        self.standing = standing
        self.observers.tell(standing)

    def pause(self, on: bool) -> None:
        pass


async def no_message(push: Push) -> None:
    raise AssertionError("nothing is sent")


@pytest.fixture
def settings(house: Address, tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"name": "Voice", "area": "Mute room", "data": str(tmp_path / "data")},
            "home_assistant": {"url": house.url, "token": house.token},
        }
    )


Daemon = Callable[[], Any]


@pytest.fixture
async def daemon(settings: Settings, house: Address, admin: Admin) -> AsyncIterator[Daemon]:
    """Yield the daemon's part of it; nothing of it remains in the house afterwards."""

    @asynccontextmanager
    async def running() -> AsyncIterator[tuple[Box, Mute]]:
        clock, box, catalogue = SystemClock(), Box(), Catalogue()
        async with (
            HomeAssistant(house.url, house.token) as home,
            Store(settings.database, clock) as store,
            DeviceSensors(
                home, catalogue, "en", clock, lambda: StatusSnapshot(box.standing), words=False
            ) as sensors,
            DeviceKeeper(
                HouseDevice(settings, clock),
                settings,
                home,
                no_message,
                clock,
                registered=sensors.registered,
            ),
        ):
            box.observers.add(lambda standing: sensors.changed())
            mute = Mute(store, box.mute)
            await mute.load()
            mute.attach(box.pause)
            yield box, mute

    yield running
    record = DeviceFile(settings.data_folder, SystemClock()).read()
    assert record is not None
    for row in await admin.ask("config/device_registry/list"):
        if ["mobile_app", record.identifier] in row["identifiers"]:
            await admin.delete(f"/api/config/config_entries/entry/{row['config_entries'][0]}")


async def shows(admin: Admin, entity_id: str, wanted: str) -> None:
    """Wait until it is there and in that state."""
    deadline = time.monotonic() + LIMIT_S
    while (await admin.states()).get(entity_id, {}).get("state") != wanted:
        assert time.monotonic() < deadline, wanted
        await asyncio.sleep(STEP_S)


async def test_home_assistant_sees_it_and_follows(daemon: Daemon, admin: Admin) -> None:
    async with daemon() as (box, mute):
        await shows(admin, MUTED, "off")
        await shows(admin, MICROPHONE, "listening")
        assert await admin.attribute(MUTED, "friendly_name") == f"{BOX} Microphone muted"
        for _ in range(3):
            began = time.monotonic()
            await mute.set(True)
            await shows(admin, MUTED, "on")
            print(f"seen {1000 * (time.monotonic() - began):.0f} ms after it was asked for")
            await shows(admin, MICROPHONE, "closed")
            await mute.set(False)
            await shows(admin, MUTED, "off")
        for status in MicrophoneStatus:
            box.stand(Standing(State.FAULT, False, status))
            await shows(admin, MICROPHONE, status.name.lower())
        assert await admin.attribute(MUTED, "icon") == "mdi:microphone"
    await shows(admin, MUTED, "unavailable")


async def test_it_survives_a_restart_of_either(daemon: Daemon, admin: Admin, power: Power) -> None:
    async with daemon() as (_, mute):
        await shows(admin, MUTED, "off")
        await mute.set(True)
        await shows(admin, MUTED, "on")
    await shows(admin, MUTED, "unavailable")
    async with daemon() as (_, mute):
        assert mute.on
        await shows(admin, MUTED, "on")
        await shows(admin, MICROPHONE, "closed")
        await power.off()
        await mute.set(False)  # Home Assistant still has it as muted
        await power.on()
        await shows(admin, MUTED, "off")
        await shows(admin, MICROPHONE, "listening")
