"""Tests of the observed effects and reports of calls, with the embedded house over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Status
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_weather import date_and_time
from integrations.mcp.servers import McpResult
from tests.unit.assistant.tools.embedded import House, living


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with living() as living_house:
        yield living_house


async def test_what_was_sent_is_told_to_whoever_watches(house: House) -> None:
    told: list[tuple[str, str]] = []
    house.box.tell(lambda outcome, language: told.append((outcome.name, language)))
    await house.do("HassTurnOn", {"name": "Kitchen light"}, language="es")
    await house.do("HassTurnOff", {"name": "Front door"})  # refused, so never sent
    assert told == [("intent__HassTurnOn", "es")]


async def test_the_menu_is_the_very_same_while_nothing_changes(house: House) -> None:
    assert await house.box.menu() is await house.box.menu()


async def test_a_tool_that_this_house_has_no_use_for_is_not_offered(house: House) -> None:
    here = False
    tool = date_and_time(SystemClock(), Catalogue())
    house.box.offer(replace(tool, name="look_at_camera", needed=lambda: here))
    assert (await house.box.menu()).find("look_at_camera") is None
    here = True
    assert (await house.box.menu()).find("look_at_camera") is not None


async def show(house: House, entity_id: str, state: str) -> None:
    """Make the house and its live picture show this state."""
    house.demo.house.write(entity_id, state)
    assert await house.home.wait_for(
        [entity_id], lambda now: now.entities[entity_id].state == state, 1
    )


async def test_what_cannot_be_reached_is_named(house: House) -> None:
    await show(house, "light.desk_lamp", "unavailable")
    alone = await house.do("HassTurnOn", {"name": "Desk lamp"})
    late = "I tried, but I can't reach the desk lamp."
    assert (alone.status, alone.sentence) == (Status.NOT_OBSERVED, late)
    mixed = await house.do("HassTurnOn", {"area": "Office", "domain": ["light"]})
    assert mixed.status is Status.NOT_OBSERVED
    assert mixed.sentence == f"The office light is on at 100 %. {late}"


async def test_a_lock_that_jams_at_once_is_not_called_locked(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(house, "lock.front_door", "unlocked")

    async def jam(*_: Any, **__: Any) -> McpResult:
        house.demo.house.write("lock.front_door", "jammed")
        success = '[{"name": "Front door", "type": "entity", "id": "lock.front_door"}]'
        return McpResult(f'{{"data": {{"success": {success}, "failed": []}}}}', False)

    monkeypatch.setattr(house.hub, "call", jam)
    outcome = await house.do("HassTurnOn", {"name": "Front door"})
    assert outcome.status is Status.NOT_OBSERVED
    assert outcome.sentence == "I tried, but the front door is jammed."


async def test_stopping_a_garage_that_stands_still_tells_how_it_stands(house: House) -> None:
    outcome = await house.do("HassStopMoving", {"name": "Garage door"})
    assert (outcome.status, outcome.sentence) == (Status.DONE, "Done. The garage door is closed.")


async def test_three_things_in_one_breath_are_three_items(house: House) -> None:
    before = int(house.state("todo.shopping_list"))
    outcome = await house.do(
        "HassListAddItem", {"item": "milk, eggs and bread", "name": "Shopping list"}
    )
    assert outcome.status is Status.DONE
    assert int(house.state("todo.shopping_list")) == before + 3


async def test_a_broadcast_that_nobody_took_is_not_called_done(
    house: House,
) -> None:
    assert (await house.box.menu()).find("HassBroadcast") is not None
    outcome = await house.do("HassBroadcast", {"message": "dinner"})
    assert outcome.status is Status.NOT_OBSERVED
    assert "nobody heard it" in outcome.sentence
