"""Tests that the device is registered and listens, and accepts each message before confirming
it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.interfaces.device.interface import DeviceKeeper
from assistant.interfaces.device.registration import META_KEY, HouseDevice
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.mobile_app import Push
from integrations.web.box import NotKept
from tests.unit.assistant.interfaces.device.doubles import TakesDevices


class Daemon:
    """A keeper at work, with the values that the tests look at."""

    def __init__(self, home: TakesDevices, device: HouseDevice, clock: VirtualClock) -> None:
        self.home, self.device, self.clock = home, device, clock
        self.registered: list[str] = []  # webhooks, at each connection
        self.taken: list[str] = []  # messages
        self.trouble: Exception | None = None  # raised for the next one

    async def take(self, push: Push) -> None:
        assert push.confirm_id not in self.home.confirmed
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble
        self.taken.append(push.message)

    async def send(self, message: str, confirm_id: str = "1", **more: Any) -> None:
        """Send a message into the open channel, as an automation does."""
        await self.until(lambda: self.home.send is not None)
        assert self.home.send is not None
        self.home.send({"message": message, "hass_confirm_id": confirm_id, **more})

    async def until(self, condition: Callable[[], bool], seconds: float = 2.5) -> None:
        """Let time pass until `condition` holds, but none while a disk is at work."""
        for _ in range(100):
            if condition():
                return
            await self.disks()
            await self.clock.run(seconds)
        raise AssertionError("it never came to that")

    async def disks(self) -> None:
        """Return when all requests to the file, which has one thread, are done."""
        await asyncio.to_thread(lambda: None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"area": "Kitchen", "data": str(tmp_path), "languages": ["en", "es"]},
            "home_assistant": {"url": "http://ha:8123", "token": "token"},
        }
    )


@asynccontextmanager
async def at_work(
    settings: Settings, home: TakesDevices, clock: VirtualClock
) -> AsyncIterator[Daemon]:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=1))
    device = HouseDevice(settings, clock)
    daemon = Daemon(home, device, clock)
    keeper = DeviceKeeper(
        device,
        settings,
        cast(HomeAssistant, home),
        daemon.take,
        clock,
        home.register,
        daemon.registered.append,
    )
    async with keeper:
        yield daemon


@pytest.fixture
async def daemon(
    settings: Settings, home: TakesDevices, clock: VirtualClock
) -> AsyncIterator[Daemon]:
    async with at_work(settings, home, clock) as daemon:
        yield daemon


async def test_it_registers_and_opens_one_confirming_channel(daemon: Daemon) -> None:
    assert daemon.device.meta() is None
    await daemon.until(lambda: daemon.home.send is not None)
    assert daemon.home.channels == [{"webhook_id": "hook-1", "support_confirm": True}]
    assert daemon.device.meta() == {META_KEY: "device-1"}


async def test_a_message_is_taken_before_it_is_confirmed(daemon: Daemon) -> None:
    await daemon.send("Mañana.", "abc")
    await daemon.until(lambda: daemon.home.confirmed == ["abc"])
    assert daemon.taken == ["Mañana."]


async def test_odd_messages_do_not_break_the_channel(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    assert daemon.home.send is not None
    odd: list[Any] = [
        {},
        {"message": None, "hass_confirm_id": 7},
        {"message": ["x"], "data": "y", "title": {}},
        {"message": "x" * 2_000_000, "hass_confirm_id": "huge"},
    ]
    for event in odd:
        daemon.home.send(event)
    await daemon.send("Still here.", "last")
    await daemon.until(lambda: daemon.home.confirmed == ["huge", "last"])
    assert daemon.taken[-1] == "Still here."


async def test_what_comes_twice_is_taken_once_and_confirmed_again(daemon: Daemon) -> None:
    for _ in range(2):
        await daemon.send("Once.", "same")
    await daemon.send("Else.", "else")
    await daemon.until(lambda: daemon.home.confirmed == ["same", "same", "else"])
    assert daemon.taken == ["Once.", "Else."]


@pytest.mark.parametrize("kind", [StoreError, NotKept])
async def test_what_cannot_be_kept_is_not_confirmed_and_the_channel_is_renewed(
    daemon: Daemon, kind: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    daemon.trouble = kind("The disk is full.")
    with caplog.at_level(logging.ERROR):
        await daemon.send("Lost.", "lost")
        await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert "The disk is full." in caplog.text
    await daemon.send("Kept.", "kept")
    await daemon.send("Lost.", "lost")  # as new: it was not taken
    await daemon.until(lambda: daemon.home.confirmed == ["kept", "lost"])
    assert daemon.taken == ["Kept.", "Lost."]
    assert len(daemon.home.registered) == 1


async def test_a_refused_confirmation_renews_the_channel(daemon: Daemon) -> None:
    """Home Assistant refuses it once it has closed the channel."""
    daemon.home.refuses_confirm = True
    await daemon.send("Late.", "late")
    await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert daemon.taken == ["Late."]


async def test_more_than_can_wait_is_left_out(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    assert daemon.home.send is not None
    for number in range(70):
        daemon.home.send({"message": "x", "hass_confirm_id": str(number)})
    await daemon.until(lambda: len(daemon.home.confirmed) == 64, seconds=0.1)
    await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert len(daemon.home.confirmed) == 64


async def test_after_a_restart_of_the_house_the_channel_opens_when_it_is_ready(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    daemon.home.connected = False
    await daemon.until(lambda: daemon.home.send is None)
    daemon.home.connected, daemon.home.state = True, "STARTING"
    caplog.clear()  # of a possible earlier report of the registration
    with caplog.at_level(logging.WARNING):
        await daemon.clock.run(3)
    assert daemon.home.send is None
    assert caplog.text == ""
    daemon.home.state = "RUNNING"
    await daemon.until(lambda: daemon.home.send is not None)
    assert len(daemon.home.channels) == 2
    assert len(daemon.home.registered) == 1
    assert daemon.registered == ["hook-1", "hook-1"]


async def test_a_house_that_starts_slowly_has_its_channel_soon_after(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    daemon.home.connected = False
    await daemon.until(lambda: daemon.home.send is None)
    daemon.home.connected, daemon.home.state = True, "STARTING"
    for _ in range(60):  # three minutes, as on a small box
        await daemon.clock.run(3)
        await daemon.disks()
    daemon.home.state = "RUNNING"
    ready = daemon.clock.monotonic()
    await daemon.until(lambda: daemon.home.send is not None, seconds=0.5)
    assert daemon.clock.monotonic() - ready <= 6


async def test_an_entry_deleted_meanwhile_is_made_anew(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    daemon.home.delete_entry()
    await daemon.until(lambda: len(daemon.home.registered) == 2, seconds=60)
    await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert daemon.home.channels[-1]["webhook_id"] == "hook-2"
    assert daemon.device.device_id == "device-2"


async def test_while_all_is_well_the_channel_is_left_open(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    for _ in range(4):
        await daemon.clock.run(700)
        await daemon.disks()
    assert len(daemon.home.channels) == 1


async def test_a_house_without_devices_is_said_once(
    settings: Settings, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    home = TakesDevices()
    home.components = []
    with caplog.at_level(logging.WARNING):
        async with at_work(settings, home, clock) as daemon:
            await daemon.until(lambda: "mobile_app" in caplog.text)
            for _ in range(5):
                await clock.run(400)
    assert caplog.text.count("mobile_app") == 1


async def test_leaving_closes_the_channel(
    settings: Settings, home: TakesDevices, clock: VirtualClock
) -> None:
    async with at_work(settings, home, clock) as daemon:
        await daemon.until(lambda: home.send is not None)
    assert home.send is None
