"""Timers of a device by a clock that the test moves."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import CallerPlace
from integrations.demo_home.tools import ToolError, call_tool, menu
from tests.simulators.phone_home import PhoneHouse
from tests.simulators.phones import Channel, register
from tests.unit.integrations.demo_home.clocks import HandClock
from tests.unit.simulators.test_house_phones import REGISTRATION


class Kitchen:
    """A registered device in the kitchen, and all that it was told."""

    def __init__(self, house: PhoneHouse, clock: HandClock) -> None:
        self.house = house
        self.clock = clock
        self.phone = register(house, REGISTRATION, "somebody")
        self.phone.area_id = "kitchen"
        self.pushes: list[dict[str, Any]] = []
        self.place = CallerPlace("kitchen", "ground", self.phone.id)

    def listen(self) -> None:
        """Open a channel."""
        self.house.phones.open(self.phone, Channel(self.pushes.append, False))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A timer tool as this device calls it."""
        return call_tool(self.house, f"intent__{tool}", arguments, self.place)

    def left(self) -> list[int]:
        """Seconds that each timer still has."""
        rows = self.call("HassTimerStatus")["speech_slots"]["timers"]
        return [row["total_seconds_left"] for row in rows]


@pytest.fixture
async def kitchen() -> AsyncIterator[Kitchen]:
    clock = HandClock()
    async with asyncio.TaskGroup() as group:
        house = PhoneHouse(
            FLOORS, AREAS, THINGS, clock=clock, spawn=lambda j: group.create_task(j), settle_s=0
        )
        yield Kitchen(house, clock)
        house.stop()


async def test_it_rings_when_its_time_has_come(kitchen: Kitchen) -> None:
    kitchen.listen()
    kitchen.call("HassStartTimer", minutes=2, name="tea")
    await kitchen.clock.go(119)
    assert (kitchen.pushes, kitchen.left()) == ([], [1])
    await kitchen.clock.go(1)
    assert [push["message"] for push in kitchen.pushes] == ["tea finished"]
    assert kitchen.left() == []


async def test_without_a_name_it_tells_its_longest_time(kitchen: Kitchen) -> None:
    kitchen.listen()
    kitchen.call("HassStartTimer", minutes=1)
    kitchen.call("HassIncreaseTimer", minutes=1)
    kitchen.call("HassDecreaseTimer", seconds=90)
    await kitchen.clock.go(30)
    assert [push["message"] for push in kitchen.pushes] == ["0:02:00 timer finished"]


async def test_a_pause_takes_no_time(kitchen: Kitchen) -> None:
    kitchen.call("HassStartTimer", seconds=60)
    await kitchen.clock.go(20)
    kitchen.call("HassPauseTimer")
    await kitchen.clock.go(1000)
    assert kitchen.left() == [40]
    kitchen.call("HassUnpauseTimer")
    await kitchen.clock.go(39)
    assert kitchen.left() == [1]
    await kitchen.clock.go(1)
    assert kitchen.left() == []


async def test_a_cancelled_one_is_silent(kitchen: Kitchen) -> None:
    kitchen.listen()
    kitchen.call("HassStartTimer", seconds=5)
    kitchen.call("HassCancelTimer")
    await kitchen.clock.go(10)
    assert kitchen.pushes == []


async def test_nobody_listens_and_nothing_breaks(kitchen: Kitchen) -> None:
    kitchen.call("HassStartTimer", seconds=5)
    await kitchen.clock.go(5)
    assert kitchen.left() == []


async def test_the_timer_of_this_device_is_meant_before_others(kitchen: Kitchen) -> None:
    kitchen.call("HassStartTimer", minutes=5)
    elsewhere = CallerPlace("office", "upper", "another-device")
    call_tool(kitchen.house, "intent__HassStartTimer", {"minutes": 7}, elsewhere)
    kitchen.call("HassCancelTimer")
    assert kitchen.left() == [420]
    # from a third room only the floor is left to tell by
    hall = CallerPlace("hall", "ground", "a-third-device")
    kitchen.call("HassStartTimer", minutes=5)
    call_tool(kitchen.house, "intent__HassCancelTimer", {}, hall)
    assert kitchen.left() == [420]


async def test_the_tools_are_offered_to_such_a_device_alone(kitchen: Kitchen) -> None:
    names = [tool.intent for tool in menu(kitchen.house, kitchen.place)]
    assert "HassStartTimer" in names
    assert "HassStartTimer" not in [tool.intent for tool in menu(kitchen.house)]
    with pytest.raises(ToolError, match="not found"):
        call_tool(kitchen.house, "intent__HassStartTimer", {"minutes": 1}, CallerPlace("kitchen"))


async def test_no_sentence_can_be_set_off(kitchen: Kitchen) -> None:
    with pytest.raises(ToolError, match="Intent not recognized: sing"):
        kitchen.call("HassStartTimer", minutes=1, conversation_command="sing")
