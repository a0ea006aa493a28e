"""Tests of the device in the real Home Assistant, with a token without administrator's rights."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from assistant.announcements.service import AnnouncementService
from assistant.announcements.speaking import Announcements
from assistant.cli.main import main
from assistant.config.schema import Settings
from assistant.domain.clock import Clock, SystemClock
from assistant.interfaces.device.inbox import Commander, Inbox
from assistant.interfaces.device.interface import DeviceKeeper
from assistant.interfaces.device.registration import (
    META_KEY,
    DeviceFile,
    DeviceRecord,
    HouseDevice,
    address_of,
    appearance,
    ensure_registered,
)
from assistant.interfaces.device.sensors import DeviceEvents
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import PLAIN, Manner
from integrations.errors import Misconfigured
from integrations.home_assistant import mobile_app
from integrations.home_assistant.client import HomeAssistant
from tests.fakes.small_values import FakeValues
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, Power, real_only
from tests.unit.assistant.interfaces.device.doubles import Fired, Heard, Pressed

pytestmark = real_only

LIMIT_S = 20.0
STEP_S = 0.05
TIMERS = {"Start", "Cancel", "Increase", "Decrease", "Pause", "Unpause"}


class Listener:
    """Records announcements."""

    ending = False

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.rung: list[str] = []

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        self.rung.append(manner.sound)
        self.heard.put_nowait((text, language))

    async def rest(self) -> None:
        return None

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None: ...

    async def next(self) -> tuple[str, str]:
        async with asyncio.timeout(LIMIT_S):
            return await self.heard.get()


@pytest.fixture
def settings(house: Address, tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"name": "Voice", "area": "Test room", "data": str(tmp_path / "data")},
            "home_assistant": {"url": house.url, "token": house.token},
        }
    )


@pytest.fixture
async def home(house: Address) -> AsyncIterator[HomeAssistant]:
    async with HomeAssistant(house.url, house.token) as home:
        assert home.connected
        yield home


@pytest.fixture
async def registered(
    settings: Settings, home: HomeAssistant, admin: Admin
) -> AsyncIterator[Callable[[], Awaitable[DeviceRecord]]]:
    """Yield a function that registers; nothing of it remains in the house afterwards."""
    file = DeviceFile(settings.data_folder, SystemClock())

    async def register() -> DeviceRecord:
        return await ensure_registered(file, home, address_of(settings), appearance(settings))

    yield register
    record = file.read()
    for device in await devices(admin, record.identifier if record else ""):
        await admin.delete(f"/api/config/config_entries/entry/{device['config_entries'][0]}")


async def devices(admin: Admin, identifier: str) -> list[dict[str, Any]]:
    rows = await admin.ask("config/device_registry/list")
    return [row for row in rows if ["mobile_app", identifier] in row["identifiers"]]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(STEP_S)


Serve = Callable[[], Any]


@pytest.fixture
def box() -> Pressed:
    return Pressed()


@pytest.fixture
def serve(settings: Settings, home: HomeAssistant, listener: Listener, box: Pressed) -> Serve:
    """Return the daemon's part of it, without a microphone."""

    @asynccontextmanager
    async def running() -> AsyncIterator[HouseDevice]:
        clock = SystemClock()
        device = HouseDevice(settings, clock)
        async with (
            Store(settings.database, clock) as store,
            Announcements(store, listener, lambda text: "en") as announcements,
            _inbox(announcements, box, clock) as inbox,
            DeviceKeeper(device, settings, home, inbox.take, clock),
        ):
            yield device

    return running


def _inbox(announcements: Announcements, box: Pressed, clock: Clock) -> Inbox:
    """Return an inbox that only speaks; the rest is tested in test_device_face.py."""
    heard = Heard()
    desk = AnnouncementService(announcements, None, clock)
    commander = Commander(box, heard.bus, FakeValues(), clock)
    fired = cast(DeviceEvents, Fired())
    return Inbox(desk, announcements, box, commander, fired, Catalogue(), clock, ("en",))


@pytest.fixture
def listener() -> Listener:
    return Listener()


async def heard_through(admin: Admin, listener: Listener, action: str, **data: Any) -> str:
    """Return what an action makes us say. The channel may not be open at once."""

    async def sent() -> bool:
        try:
            await admin.call(action, **data)
        except httpx.HTTPStatusError:
            return False
        return True

    await until(sent)
    return (await listener.next())[0]


@pytest.mark.since(2026, 11)
async def test_registering_twice_makes_one_device(
    registered: Callable[[], Awaitable[DeviceRecord]], admin: Admin
) -> None:
    first = await registered()
    assert await registered() == first
    (device,) = await devices(admin, first.identifier)
    assert (device["id"], device["name"]) == (first.device_id, "Voice Test room")
    assert first.instance_id
    assert first.webhook_id not in repr(first)


async def test_a_deleted_entry_is_made_again_once(
    registered: Callable[[], Awaitable[DeviceRecord]], admin: Admin
) -> None:
    first = await registered()
    (device,) = await devices(admin, first.identifier)
    await admin.delete(f"/api/config/config_entries/entry/{device['config_entries'][0]}")
    assert await devices(admin, first.identifier) == []
    second = await registered()
    assert second.identifier == first.identifier
    assert second.webhook_id != first.webhook_id
    assert await registered() == second
    (device,) = await devices(admin, first.identifier)
    assert device["id"] == second.device_id


async def test_a_disabled_entry_is_left_to_the_person(
    registered: Callable[[], Awaitable[DeviceRecord]], admin: Admin
) -> None:
    first = await registered()
    (device,) = await devices(admin, first.identifier)
    entry_id = device["config_entries"][0]
    await admin.ask("config_entries/disable", entry_id=entry_id, disabled_by="user")
    with pytest.raises(Misconfigured, match="disabled"):
        await registered()
    await admin.ask("config_entries/disable", entry_id=entry_id, disabled_by=None)
    assert await registered() == first


async def test_a_new_name_is_told(
    registered: Callable[[], Awaitable[DeviceRecord]],
    settings: Settings,
    home: HomeAssistant,
    admin: Admin,
) -> None:
    first = await registered()
    file = DeviceFile(settings.data_folder, SystemClock())
    looks = mobile_app.Appearance("Voice Elsewhere", "9.9")
    renamed = await ensure_registered(file, home, address_of(settings), looks)
    assert (renamed.device_id, renamed.webhook_id) == (first.device_id, first.webhook_id)
    (device,) = await devices(admin, first.identifier)
    assert device["name"] == "Voice Elsewhere"


@pytest.mark.since(2026, 11)
async def test_with_our_device_the_timer_tools_appear(
    registered: Callable[[], Awaitable[DeviceRecord]], house: Address
) -> None:
    record = await registered()
    bare = await tools(house, None)
    with_device = await tools(house, record.device_id)
    new = {name.rpartition("__")[2] for name in with_device - bare}
    assert new == {f"Hass{verb}Timer" for verb in TIMERS} | {"HassTimerStatus"}


@pytest.mark.since(2026, 11)
async def test_a_timer_of_the_house_rings_here(
    registered: Callable[[], Awaitable[DeviceRecord]],
    serve: Serve,
    house: Address,
    admin: Admin,
    listener: Listener,
) -> None:
    await registered()
    async with serve() as device:
        await heard_through(
            admin, listener, "notify.mobile_app_voice_test_room", message="the channel is open"
        )
        start = next(
            name for name in await tools(house, device.device_id) if name.endswith("HassStartTimer")
        )
        call = {"name": start, "arguments": {"seconds": 1, "name": "tea"}}
        told = await mcp(house, "tools/call", {**call, "_meta": device.meta()})
        assert not told["isError"]
        assert await listener.next() == ("Your tea timer is done.", "en")
        assert listener.rung[-1] == "timer"


@pytest.mark.since(2026, 11)
async def test_the_notify_action_and_entity_are_spoken_stored_and_confirmed(
    registered: Callable[[], Awaitable[DeviceRecord]],
    serve: Serve,
    settings: Settings,
    admin: Admin,
    listener: Listener,
) -> None:
    await registered()
    async with serve():
        action = "notify.mobile_app_voice_test_room"
        assert await heard_through(admin, listener, action, message="One.") == "One."
        await admin.call(action, message="Quiet.", data={"hearth_command": "mute"})
        await admin.call(action, message="clear_notification", data={"tag": "x"})
        entity = {"entity_id": "notify.voice_test_room", "message": "Two."}
        assert await heard_through(admin, listener, "notify.send_message", **entity) == "Two."
        assert listener.heard.empty()
        async with Store(settings.database, SystemClock()) as store:
            await until(lambda: _none_pending(store))


async def _asked(box: Pressed) -> bool:
    return bool(box.asked)


async def _none_pending(store: Store) -> bool:
    return await store.pending_announcements() == []


async def test_the_channel_outlives_ten_seconds_after_a_message_and_a_question(
    registered: Callable[[], Awaitable[DeviceRecord]],
    serve: Serve,
    admin: Admin,
    listener: Listener,
    box: Pressed,
) -> None:
    """Home Assistant ends the channel if a message is not confirmed in that time; a question is
    confirmed before it is answered."""
    await registered()
    async with serve():
        action = "notify.mobile_app_voice_test_room"
        await heard_through(admin, listener, action, message="One.")
        answers = [{"action": "CLOSE", "title": "Yes"}, {"action": "LEAVE", "title": "No"}]
        await admin.call(action, message="Close the blinds?", data={"actions": answers})
        await until(lambda: _asked(box))
        await asyncio.sleep(10.5)  # Home Assistant's own limit; nothing tells that it has passed
        await admin.call(action, message="Two.")  # refused, were the channel gone
        assert (await listener.next())[0] == "Two."


async def test_a_restart_of_home_assistant_brings_the_channel_back(
    registered: Callable[[], Awaitable[DeviceRecord]],
    serve: Serve,
    admin: Admin,
    listener: Listener,
    power: Power,
) -> None:
    first = await registered()
    async with serve() as device:
        action = "notify.mobile_app_voice_test_room"
        await heard_through(admin, listener, action, message="One.")
        await power.off()
        await power.on()
        assert await heard_through(admin, listener, action, message="Two.") == "Two."
        assert device.device_id == first.device_id
        await admin.again()
        assert len(await devices(admin, first.identifier)) == 1


async def test_setup_registers_places_and_forgets(
    house: Address, admin: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    file, token, rule = tmp_path / "hearth.toml", tmp_path / "token", tmp_path / "admin"
    token.write_text(house.token)
    rule.write_text(house.admin_token)
    area = (await admin.ask("config/area_registry/list"))[0]
    given = ("--config", file, "--url", house.url, "--token-file", token, "--area", area["name"])

    async def setup(*arguments: object) -> None:
        words = ["setup", "--non-interactive", *map(str, arguments)]
        assert await asyncio.to_thread(main, words) == 0

    kept = DeviceFile(tmp_path / "state", SystemClock())
    await setup(*given)
    record = kept.read()
    assert record is not None
    (device,) = await devices(admin, record.identifier)
    assert device["area_id"] is None
    await setup(*given, "--force", "--admin-token-file", rule)
    assert kept.read() == record
    (device,) = await devices(admin, record.identifier)
    assert device["area_id"] == area["area_id"]
    entities = await admin.ask("config/entity_registry/list")
    (tracker,) = [
        entity
        for entity in entities
        if entity["device_id"] == device["id"] and entity["entity_id"].startswith("device_tracker.")
    ]
    assert tracker["disabled_by"] == "user"
    written = await asyncio.to_thread(_texts, [file.with_name("home_assistant.token"), file])
    assert house.admin_token not in written
    await setup("--forget", "--config", file)  # not an administrator: the entry stays
    left = kept.read()
    assert left is not None
    assert (left.identifier, left.webhook_id) == (record.identifier, "")
    await setup(*given, "--force")  # it is replaced
    assert len(await devices(admin, record.identifier)) == 1
    await setup("--forget", "--config", file, "--admin-token-file", rule)
    assert kept.read() is None
    assert await devices(admin, record.identifier) == []


def _texts(files: list[Path]) -> str:
    return "".join(file.read_text() for file in files)


async def tools(house: Address, device_id: str | None) -> set[str]:
    """Return the names that the home's server lists for a device, by a plain request."""
    meta = {"_meta": {META_KEY: device_id}} if device_id else {}
    listed = await mcp(house, "tools/list", meta)
    return {tool["name"] for tool in listed["tools"]}


async def mcp(house: Address, method: str, params: dict[str, Any]) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(
            f"{house.url}/api/mcp/assist",
            headers={"Authorization": f"Bearer {house.token}", "Accept": "application/json"},
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        )
    result: dict[str, Any] = json.loads(answer.text)["result"]
    return result
