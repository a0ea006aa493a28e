"""The daemon's part of being a device: registered, listening, messages safe before confirmed."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.announcements import Announcements
from assistant.clock import VirtualClock
from assistant.config.schema import Settings
from assistant.device.record import DeviceFile, DeviceRecord
from assistant.house_device import META_KEY, DeviceKeeper, HouseDevice
from assistant.journal.records import AnnouncementRecord, StoreError
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.manner import Manner
from assistant.tools.moment import Mode
from tests.unit.assistant.device.doubles import TakesDevices


class Silent:
    """Somebody who never gets to speak: what is kept stays to be looked at."""

    def announce(self, text: str, language: str, manner: Manner) -> None:
        raise AssertionError("the conversation never rests")

    async def rest(self) -> None:
        await asyncio.Event().wait()

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None: ...


class Daemon:
    """A keeper at work, with what the test looks at."""

    def __init__(
        self, home: TakesDevices, store: Store, device: HouseDevice, clock: VirtualClock
    ) -> None:
        self.home, self.store, self.device, self.clock = home, store, device, clock
        self.modes: list[tuple[Mode, datetime | None]] = []  # that were asked for
        self.registered: list[str] = []  # webhooks, at each connection

    async def send(self, message: str, confirm_id: str = "1", **more: Any) -> None:
        """As an automation does, into the channel that is open."""
        await self.until(lambda: self.home.send is not None)
        assert self.home.send is not None
        self.home.send({"message": message, "hass_confirm_id": confirm_id, **more})

    async def kept(self, count: int) -> list[AnnouncementRecord]:
        for _ in range(100):
            pending = await self.store.pending_announcements()
            if len(pending) >= count:
                return pending
            await self.clock.settle()
        raise AssertionError(f"fewer than {count} were kept")

    async def until(self, condition: Callable[[], bool], seconds: float = 2.5) -> None:
        """Let time pass until it is so, but none while a disk is at work."""
        for _ in range(100):
            if condition():
                return
            await self.disks()
            await self.clock.run(seconds)
        raise AssertionError("it never came to that")

    async def disks(self) -> None:
        """Return when what was asked of the files and the store is done; each has one thread."""
        await asyncio.to_thread(lambda: None)
        await self.store.pending_announcements()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def home() -> TakesDevices:
    return TakesDevices()


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
    nobody = Silent()
    modes: list[tuple[Mode, datetime | None]] = []

    registered: list[str] = []

    async def set_mode(mode: Mode, until: datetime | None) -> None:
        modes.append((mode, until))

    async with (
        Store(settings.database, clock) as store,
        Announcements(store, nobody, lambda text: "en") as announcements,
        DeviceKeeper(
            device,
            settings,
            home,
            announcements,
            Catalogue(),
            clock,
            lambda text: "es" if "ñ" in text else None,
            home.register,
            set_mode,
            registered.append,
        ),
    ):
        daemon = Daemon(home, store, device, clock)
        daemon.modes = modes
        daemon.registered = registered
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


async def test_a_message_is_kept_before_it_is_confirmed(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = daemon.store.add_announcement

    async def watched(record: AnnouncementRecord) -> None:
        assert daemon.home.confirmed == []
        await add(record)
        assert daemon.home.confirmed == []

    monkeypatch.setattr(daemon.store, "add_announcement", watched)
    await daemon.send("Mañana.", "abc")
    (record,) = await daemon.kept(1)
    assert (record.id, record.text) == ("abc", "Mañana.")
    assert record.options == {"language": "es", "sound": "announce"}
    assert record.expires_at is not None
    assert (record.expires_at - record.created_at).total_seconds() == 600
    await daemon.until(lambda: daemon.home.confirmed == ["abc"])


async def test_a_timer_is_kept_with_its_sound(daemon: Daemon) -> None:
    await daemon.send("tea finished", data={"group": "timers", "channel": "Timers"})
    (record,) = await daemon.kept(1)
    assert record.text == "The timer tea is over."
    assert record.options == {"language": "en", "sound": "timer", "alarm": True}


async def test_what_is_not_for_ears_is_confirmed_and_not_kept(daemon: Daemon) -> None:
    for number, message in enumerate(("command_mute", "clear_notification", "")):
        await daemon.send(message, str(number))
    await daemon.until(lambda: daemon.home.confirmed == ["0", "1", "2"])
    assert await daemon.store.pending_announcements() == []


async def test_an_order_switches_the_mode_and_is_confirmed(daemon: Daemon) -> None:
    await daemon.send("command_mode", "a", data={"mode": "guest", "minutes": 60})
    await daemon.send("command_mode", "b", data={"mode": "normal"})
    await daemon.send("command_mode", "c", data={"mode": "party"})
    await daemon.until(lambda: len(daemon.home.confirmed) == 3)
    (guest, until), normal = daemon.modes
    assert (guest, normal) == (Mode.GUEST, (Mode.NORMAL, None))
    assert until is not None
    assert timedelta(0) < until - daemon.clock.now() <= timedelta(hours=1)
    assert await daemon.store.pending_announcements() == []


async def test_odd_messages_do_not_break_the_channel(daemon: Daemon) -> None:
    await daemon.until(lambda: daemon.home.send is not None)
    assert daemon.home.send is not None
    odd: list[Any] = [
        {},
        {"message": None, "hass_confirm_id": 7},
        {"message": ["x"], "data": "y", "title": {}},
        {"message": "TTS", "data": {"tts_text": {"a": 1}}, "hass_confirm_id": "odd"},
        {"message": "x" * 2_000_000, "hass_confirm_id": "huge"},
    ]
    for event in odd:
        daemon.home.send(event)
    await daemon.send("Still here.", "last")
    await daemon.until(lambda: daemon.home.confirmed == ["odd", "huge", "last"])
    assert [record.id for record in await daemon.kept(2)][-1] == "last"


async def test_the_same_message_is_not_kept_twice(daemon: Daemon) -> None:
    await daemon.send("Once.", "same")
    await daemon.kept(1)
    assert await daemon.store.start_announcement("same")
    await daemon.send("Once.", "same")
    await daemon.send("Else.", "else")
    assert [record.id for record in await daemon.kept(1)] == ["else"]


async def test_what_cannot_be_kept_is_not_confirmed_and_the_channel_is_renewed(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def full(record: AnnouncementRecord) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(daemon.store, "add_announcement", full)
        await daemon.send("Lost.", "lost")
        await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert "The disk is full." in caplog.text
    await daemon.send("Kept.", "kept")
    await daemon.kept(1)
    await daemon.until(lambda: daemon.home.confirmed == ["kept"])
    assert len(daemon.home.registered) == 1


async def test_a_refused_confirmation_renews_the_channel(daemon: Daemon) -> None:
    """Home Assistant says so where it has ended the channel."""
    daemon.home.refuses_confirm = True
    await daemon.send("Late.", "late")
    await daemon.until(lambda: len(daemon.home.channels) == 2)
    assert [record.id for record in await daemon.kept(1)] == ["late"]


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
    caplog.clear()  # of what the registration has told, where the tests before have let it be told
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


def test_a_short_command_reads_what_is_kept(settings: Settings, clock: VirtualClock) -> None:
    file = DeviceFile(settings.data_folder, clock)
    assert HouseDevice(settings, clock).meta() is None
    file.write(DeviceRecord("ours", "http://ha:8123", "hook", "device-9"))
    assert HouseDevice(settings, clock).meta() == {META_KEY: "device-9"}
    file.write(DeviceRecord("ours", "http://another", "hook", "device-9"))
    assert HouseDevice(settings, clock).meta() is None


def test_a_damaged_file_costs_the_device_alone(
    settings: Settings, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    DeviceFile(settings.data_folder, clock).path.write_text(json.dumps([]))
    assert HouseDevice(settings, clock).meta() is None
    assert "damaged" in caplog.text
