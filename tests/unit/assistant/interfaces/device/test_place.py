"""The device's room in Home Assistant, and its removal."""

import pytest

from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord, ensure_registered
from integrations.errors import Refused, SignInAgain, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.mobile_app import Address, Appearance
from tests.unit.assistant.interfaces.device.doubles import TakesDevices

ADDRESS = Address("http://ha:8123", "token")


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
