"""Tests of the timers of a registered device in both houses."""

from collections.abc import AsyncIterator

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.box import Box, channel, forget, place, register
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import look

TIMER_TOOLS = {
    *("HassStartTimer", "HassCancelTimer", "HassIncreaseTimer", "HassDecreaseTimer"),
    *("HassPauseTimer", "HassUnpauseTimer", "HassTimerStatus"),
}


@pytest.fixture
async def box(person: Talk, admin: Admin) -> AsyncIterator[Box]:
    box = await register(person)
    await place(admin, box, None)
    yield box
    await box.call("HassCancelAllTimers")
    await forget(admin, box)


async def test_timer_tools_are_there_for_this_device_alone(box: Box) -> None:
    assert not TIMER_TOOLS & set(await box.person.tools())
    menu = await box.person.tools(box.id)
    assert set(menu) >= TIMER_TOOLS | {"HassCancelAllTimers"}
    names = [name for name in menu if name in TIMER_TOOLS | {"HassCancelAllTimers"}]
    assert names[:3] == ["HassStartTimer", "HassCancelTimer", "HassCancelAllTimers"]
    properties = menu["HassStartTimer"]["inputSchema"]["properties"]
    assert set(properties) == {"hours", "minutes", "seconds", "name", "conversation_command"}
    assert "not able to start timers" in await box.person.prompt()
    assert "not able to start timers" not in await box.person.prompt(box.id)
    assert "not found" in (await box.person.call("intent__HassStartTimer", minutes=1)).text


async def test_a_timer_rings_at_its_device(box: Box) -> None:
    pushes = await channel(box)
    told = await box.call("HassStartTimer", seconds=1, name="tea")
    assert told.answer == {
        "speech": {},
        "response_type": "action_done",
        "data": {"success": [], "failed": []},
    }
    (row,) = await box.timers()
    assert (row["name"], row["device_id"], row["is_active"]) == ("tea", box.id, True)
    assert row["total_seconds_left"] <= 1
    push = await box.person.event(pushes)
    assert push["message"] == "tea finished"
    assert push["data"]["channel"] == "Timers"
    assert await box.timers() == []


async def test_a_timer_without_a_name_rings_with_its_length(box: Box) -> None:
    pushes = await channel(box)
    await box.call("HassStartTimer", seconds=1)
    assert (await box.person.event(pushes))["message"] == "0:00:01 timer finished"


async def test_timers_are_changed_by_name_and_by_start(box: Box) -> None:
    await box.call("HassStartTimer", minutes=5)
    await box.call("HassStartTimer", minutes=10, name="Pizza")
    told = await box.call("HassIncreaseTimer", minutes=1)
    assert told.text == "Error calling tool: Multiple timers matched"
    assert not (await box.call("HassIncreaseTimer", minutes=1, name=" pizza")).is_error
    assert not (await box.call("HassDecreaseTimer", minutes=2, start_minutes=5)).is_error
    left = [row["total_seconds_left"] for row in await box.timers()]
    assert left[0] in range(170, 181)
    assert left[1] in range(650, 661)
    told = await box.call("HassCancelTimer", name="nope")
    assert told.text == "Error calling tool: Timer not found"
    assert not (await box.call("HassCancelTimer", name="PIZZA")).is_error
    assert [row["start_minutes"] for row in await box.timers()] == [5]
    # the only one needs no description
    assert not (await box.call("HassCancelTimer")).is_error
    assert (await box.call("HassCancelTimer")).text == "Error calling tool: Timer not found"


async def test_a_timer_stands_and_goes_on(box: Box) -> None:
    await box.call("HassStartTimer", hours=1, minutes=2, seconds=3, name="bread")
    await box.call("HassPauseTimer", name="bread")
    (row,) = await box.timers(name="BREAD")
    assert row["is_active"] is False
    assert (row["start_hours"], row["start_minutes"], row["start_seconds"]) == (1, 2, 3)
    assert (row["hours_left"], row["minutes_left"]) == (1, 2)
    assert (await box.call("HassPauseTimer", name="bread")).text.endswith("Timer not found")
    await box.call("HassUnpauseTimer", name="bread")
    (row,) = await box.timers()
    assert row["is_active"] is True


async def test_who_runs_is_looked_at_before_names(box: Box) -> None:
    """ "Pause the pizza", which is already paused, pauses the other one."""
    await box.call("HassStartTimer", minutes=5)
    await box.call("HassStartTimer", minutes=10, name="pizza")
    await box.call("HassPauseTimer", name="pizza")
    assert not (await box.call("HassPauseTimer", name="pizza")).is_error
    assert [row["is_active"] for row in await box.timers()] == [False, False]


async def test_timers_of_an_area(box: Box, person: Talk, admin: Admin) -> None:
    things = await look(person, admin)
    here, elsewhere = (lamp.area_id for lamp in things.namesakes())
    await place(admin, box, here)
    await box.call("HassStartTimer", minutes=5)
    assert len(await box.timers(area=things.areas[here]["name"])) == 1
    assert await box.timers(area=things.areas[elsewhere]["name"]) == []
    assert await box.timers(area="Moon") == []
    told = await box.call("HassCancelAllTimers", area="Moon")
    assert told.answer["speech_slots"] == {"canceled": 0, "area": "Moon"}
    told = await box.call("HassCancelAllTimers")
    assert told.answer["speech_slots"] == {"canceled": 1}


@pytest.mark.parametrize("wrong", [{}, {"seconds": -1}, {"seconds": "soon"}, {"name": "tea"}])
async def test_a_timer_needs_a_length(box: Box, wrong: dict[str, object]) -> None:
    told = await box.call("HassStartTimer", **wrong)
    assert told.text == "Error calling tool: Received invalid slot info for HassStartTimer"
