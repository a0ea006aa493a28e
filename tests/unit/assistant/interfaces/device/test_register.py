"""One registration: made once, found again, made anew only where it is gone."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.registration import (
    DeviceFile,
    DeviceRecord,
    appearance,
    ensure_registered,
)
from integrations.errors import Misconfigured, Refused, Unavailable
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
    """The device stands in the registry, but under a webhook that is not ours any more."""
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
    """Only the user who registered may open the push channel."""
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
    """Its webhooks are not there yet: that must not pass for a deleted entry."""
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
