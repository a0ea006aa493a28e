"""Tests of the registration: made once, found again, and repeated only when it is gone."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import (
    META_KEY,
    DeviceFile,
    DeviceRecord,
    HouseDevice,
    appearance,
    ensure_registered,
    new_record,
)
from integrations.errors import Misconfigured, Refused, SignInAgain, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.mobile_app import Address, Appearance
from tests.unit.assistant.interfaces.device.doubles import TakesDevices

ADDRESS = Address("http://ha:8123", "token")
LOOKS = Appearance("Voice Kitchen", "1.0")


async def ensure(
    file: DeviceFile, home: TakesDevices, looks: Appearance = LOOKS, address: Address = ADDRESS
) -> DeviceRecord:
    return await ensure_registered(file, home, address, looks, home.register)


async def test_it_registers_once(file: DeviceFile, home: TakesDevices) -> None:
    record = await ensure(file, home)
    assert (record.device_id, record.instance_id) == ("device-1", "this-house")
    assert (record.url, record.user_id, record.name) == (ADDRESS.url, "person", LOOKS.name)
    assert file.read() == record
    assert await ensure(file, home) == record
    assert home.registered == [LOOKS]
    assert home.updated == []


async def test_two_at_once_register_once(
    file: DeviceFile, home: TakesDevices, clock: VirtualClock
) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=1))
    other = DeviceFile(file.path.parent, clock)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ensure(one, home)) for one in (file, other)]
        while not all(task.done() for task in tasks):
            await asyncio.to_thread(lambda: None)  # behind the file's own work
            await clock.run(0.1)
    assert tasks[0].result() == tasks[1].result()
    assert len(home.registered) == 1


async def test_a_deleted_entry_is_made_anew_under_the_same_name(
    file: DeviceFile, home: TakesDevices
) -> None:
    first = await ensure(file, home)
    home.delete_entry()
    second = await ensure(file, home)
    assert second.identifier == first.identifier
    assert second.device_id == "device-2"
    assert await ensure(file, home) == second
    assert len(home.registered) == 2


async def test_an_entry_from_before_a_backup_is_replaced(
    file: DeviceFile, home: TakesDevices
) -> None:
    """The device is in the registry, but its webhook is no longer ours."""
    first = await ensure(file, home)
    file.write(replace(first, webhook_id="a-newer-one"))
    assert (await ensure(file, home)).identifier == first.identifier
    assert len([one for one in home.devices if one["id"].startswith("device")]) == 1


async def test_a_disabled_entry_is_left_alone(file: DeviceFile, home: TakesDevices) -> None:
    await ensure(file, home)
    home.disable_entry()
    with pytest.raises(Misconfigured, match="disabled"):
        await ensure(file, home)
    assert len(home.registered) == 1


async def test_a_house_that_moved_keeps_its_device(file: DeviceFile, home: TakesDevices) -> None:
    first = await ensure(file, home)
    moved = replace(ADDRESS, url="https://home.example")
    second = await ensure(file, home, address=moved)
    assert second == replace(first, url=moved.url)
    assert file.read() == second
    assert len(home.registered) == 1


async def test_another_house_gets_a_device_of_its_own(file: DeviceFile, home: TakesDevices) -> None:
    first = await ensure(file, home)
    other = TakesDevices()
    second = await ensure(file, other, address=replace(ADDRESS, url="http://other"))
    assert len(other.registered) == 1
    assert second.identifier == first.identifier


async def test_a_token_of_another_user_registers_anew(file: DeviceFile, home: TakesDevices) -> None:
    """Only the user who registered the device may open the push channel."""
    await ensure(file, home)
    home.user = {"id": "somebody else", "is_admin": False}
    assert (await ensure(file, home)).user_id == "somebody else"
    assert len(home.registered) == 2
    assert len(home.devices) == 2  # ours and a stranger


async def test_a_new_name_or_version_is_told(file: DeviceFile, home: TakesDevices) -> None:
    first = await ensure(file, home)
    for looks in (Appearance("Voice Hall", "1.0"), Appearance("Voice Hall", "1.1")):
        now = await ensure(file, home, looks)
        assert (now.name, now.version, now.webhook_id) == (
            looks.name,
            looks.version,
            first.webhook_id,
        )
        told = home.updated[-1]
        assert (told["device_name"], told["app_version"]) == (looks.name, looks.version)
        assert told["app_data"] == {"push_websocket_channel": True}
    assert len(home.updated) == 2
    assert len(home.registered) == 1


async def test_a_starting_house_is_not_judged(file: DeviceFile, home: TakesDevices) -> None:
    """Its webhooks do not exist yet, which must not pass for a deleted entry."""
    await ensure(file, home)
    home.delete_entry()
    home.state = "STARTING"
    with pytest.raises(Unavailable, match="starting"):
        await ensure(file, home)
    assert len(home.registered) == 1


async def test_a_house_without_the_integration_is_said(
    file: DeviceFile, home: TakesDevices
) -> None:
    home.components = []
    with pytest.raises(Misconfigured, match=r"configuration\.yaml"):
        await ensure(file, home)
    assert file.read() is None


async def test_a_house_that_goes_while_it_registers_is_registered_with_once(
    file: DeviceFile, home: TakesDevices
) -> None:
    async def register(address: Address, identifier: str, looks: Appearance) -> str:
        webhook_id = await home.register(address, identifier, looks)
        home.gone = True
        return webhook_id

    with pytest.raises(Unavailable):
        await ensure_registered(file, home, ADDRESS, LOOKS, register)
    home.gone = False
    assert (await ensure(file, home)).device_id == "device-1"
    assert len(home.registered) == 1


async def test_a_registration_that_fails_leaves_the_name_for_the_next(
    file: DeviceFile, home: TakesDevices
) -> None:
    async def refuse(address: Address, identifier: str, looks: Appearance) -> str:
        raise Refused("no")

    with pytest.raises(Refused):
        await ensure_registered(file, home, ADDRESS, LOOKS, refuse)
    kept = file.read()
    assert kept is not None
    assert kept.webhook_id == ""
    assert (await ensure(file, home)).identifier == kept.identifier


@pytest.mark.parametrize(
    ("area", "name"),
    [("", "Voice"), ("Salón", "Voice Salón"), ("  two  rooms ", "Voice two rooms")],
)
def test_the_name_tells_the_room(area: str, name: str) -> None:
    settings = Settings.model_validate({"assistant": {"name": "Voice", "area": area}})
    assert appearance(settings).name == name


# The registration on the disk: whole, private, one process at a time.


RECORD = DeviceRecord("ours", "http://ha", "hook", "device", "house", "person", "Voice", "1")


def test_what_is_written_is_read(file: DeviceFile) -> None:
    assert file.read() is None
    file.write(RECORD)
    assert file.read() == RECORD
    file.forget()
    assert file.read() is None
    file.forget()


def test_only_its_owner_may_read_it(file: DeviceFile) -> None:
    file.write(RECORD)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_write_that_was_cut_off_does_not_hinder_the_next(file: DeviceFile) -> None:
    file.write(RECORD)
    file.path.with_suffix(".new").write_text("{")
    assert file.read() == RECORD
    file.write(new_record())
    assert file.read() != RECORD


def test_the_secret_is_not_shown() -> None:
    assert "hook" not in repr(RECORD)


def test_no_two_boxes_are_the_same() -> None:
    assert new_record().identifier != new_record().identifier


@pytest.mark.parametrize("text", ["{", "[]", '{"unknown": 1}', "\xff"])
def test_a_damaged_file_is_said(file: DeviceFile, text: str) -> None:
    file.write(RECORD)
    file.path.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError, match="damaged"):
        file.read()


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigError, match=r"assistant\.data"):
        DeviceFile(tmp_path / "data", clock).write(RECORD)


async def test_one_process_waits_for_the_other(
    file: DeviceFile, tmp_path: Path, clock: VirtualClock
) -> None:
    other = DeviceFile(tmp_path / "data", clock)
    order = []

    async def later() -> None:
        async with other.alone():
            order.append("second")

    async with asyncio.TaskGroup() as group:
        async with file.alone():
            group.create_task(later())
            await clock.run(5)
            order.append("first")
        await clock.run(1)
    assert order == ["first", "second"]


async def test_it_does_not_wait_for_ever(
    file: DeviceFile, tmp_path: Path, clock: VirtualClock
) -> None:
    other = DeviceFile(tmp_path / "data", clock)

    async def later() -> None:
        with pytest.raises(ConfigError, match=r"device\.lock"):
            async with other.alone():
                pass

    async with file.alone(), asyncio.TaskGroup() as group:
        group.create_task(later())
        await clock.run(31)


# The device's room in Home Assistant, and its removal.


@pytest.fixture
async def record(file: DeviceFile, home: TakesDevices) -> DeviceRecord:
    looks = Appearance("Voice Kitchen", "1.0")
    return await ensure_registered(file, home, ADDRESS, looks, home.register)


@pytest.mark.parametrize("name", ["Kitchen", "kitchen", " KITCHEN ", "cocina"])
async def test_an_area_has_several_names(
    home: TakesDevices, record: DeviceRecord, name: str
) -> None:
    found = await place.look_up(home, record, name)
    assert found.wanted is not None
    assert found.wanted.area_id == "kitchen"
    assert found.present is None
    assert not found.agrees
    home.devices[-1]["area_id"] = "kitchen"
    assert (await place.look_up(home, record, name)).agrees


async def test_a_list_of_areas_that_is_none(home: TakesDevices, record: DeviceRecord) -> None:
    home.areas = None  # type: ignore[assignment]
    with pytest.raises(Unavailable):
        await place.look_up(home, record, "Kitchen")


async def test_an_area_that_is_not_there_brings_the_nearest(
    home: TakesDevices, record: DeviceRecord
) -> None:
    told = place.no_such_area("Kitchn", await place.look_up(home, record, "Kitchn"))
    assert 'set assistant.area to "Kitchen"' in told
    told = place.no_such_area("Xyz", await place.look_up(home, record, "Xyz"))
    assert "Kitchen, Living room" in told
    home.areas = []
    told = place.no_such_area("Xyz", await place.look_up(home, record, "Xyz"))
    assert "Settings" in told


async def test_an_administrator_moves_it_and_hides_the_tracker(
    home: TakesDevices, record: DeviceRecord
) -> None:
    home.user = {"id": "boss", "is_admin": True}
    mine = {"platform": "mobile_app", "unique_id": record.identifier, "disabled_by": None}
    home.entities = [
        {**mine, "entity_id": "device_tracker.voice_kitchen"},
        {**mine, "entity_id": "notify.voice_kitchen"},
        {**mine, "entity_id": "device_tracker.phone", "unique_id": "a person's phone"},
    ]
    assert await place.is_admin(home)
    found = await place.look_up(home, record, "Kitchen")
    assert found.wanted is not None
    await place.move(home, record, found.wanted)
    assert home.updated == [
        {"device_id": record.device_id, "area_id": "kitchen"},
        {"entity_id": "device_tracker.voice_kitchen", "disabled_by": "user"},
    ]


async def test_others_may_not(home: TakesDevices, record: DeviceRecord) -> None:
    assert not await place.is_admin(home)
    found = await place.look_up(home, record, "Kitchen")
    assert found.wanted is not None
    with pytest.raises(Refused):
        await place.move(home, record, found.wanted)
    assert "Voice Kitchen" in place.move_by_hand(record, "Kitchen")


async def test_removing(
    home: TakesDevices, record: DeviceRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    problem: Exception | None = None

    async def remove_entry(address: Address, entry_id: str) -> None:
        asked.append(entry_id)
        if problem:
            raise problem

    monkeypatch.setattr(mobile_app, "remove_entry", remove_entry)
    assert await place.remove(home, record, ADDRESS) == ""
    assert asked == ["entry-1"]
    for refusal in (Refused("no"), SignInAgain("no")):
        problem = refusal
        told = await place.remove(home, record, ADDRESS)
        assert "Only an administrator" in told
        assert "Mobile App > Voice Kitchen > Delete" in told
    problem = Unavailable("It is away.")
    assert (await place.remove(home, record, ADDRESS)).startswith("It is away.")
    home.delete_entry()
    assert await place.remove(home, record, ADDRESS) == ""


# Our device as every process knows it.


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"data": str(tmp_path)},
            "home_assistant": {"url": "http://ha:8123", "token": "token"},
        }
    )


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
