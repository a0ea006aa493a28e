"""Tests of undo's snapshots in a real house: none is visible, and none remains."""

from collections.abc import AsyncIterator

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Status, ToolCall
from assistant.tools.undo.stack import UndoStack
from integrations.home_assistant.services import Snapshots, is_snapshot
from integrations.mcp.servers import HOME_ASSISTANT
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.undoing import (
    BED,
    FAN,
    KITCHEN,
    PUMP,
    RGBW,
    SWITCH,
    WINDOW,
    Room,
    gone,
    restored,
    room,
)

pytestmark = real_only


@pytest.fixture
async def at_home(house: Address, admin: Admin) -> AsyncIterator[Room]:
    async with restored(house, admin) as at:
        yield at


async def test_leftovers_are_deleted_at_the_start(house: Address, admin: Admin) -> None:
    for number in (1, 7, 4007):
        await admin.call(
            "scene.create", scene_id=f"hearth_undo_{number}", snapshot_entities=[KITCHEN]
        )
    async with room(house, admin) as at:
        await gone(at)
        await at.do("HassTurnOn", name="Bed Light")
        assert len(await at.snapshots()) == 1
    assert not [name for name in await admin.states() if is_snapshot(name)]


async def test_a_second_process_leaves_young_snapshots_alone(house: Address, admin: Admin) -> None:
    async with room(house, admin) as at:
        await at.do("HassTurnOn", name="Bed Light")
        mine = await at.snapshots()
        other = UndoStack(at.home, Snapshots(at.home), at.services, SystemClock(), alone=False)
        async with other:
            await other.before("key", [KITCHEN], "turn")
            assert len(await at.snapshots()) == 2
        assert await at.snapshots() == mine


async def test_nobody_sees_a_snapshot(at_home: Room, admin: Admin) -> None:
    before = await at_home.hub.prompt(HOME_ASSISTANT)
    await at_home.do("HassTurnOn", name="Bed Light")
    (snapshot,) = await at_home.snapshots()
    assert snapshot in await admin.exposed()  # Home Assistant exposes each new scene
    assert snapshot not in at_home.home.house.entities
    prompt = await at_home.hub.prompt(HOME_ASSISTANT)
    assert prompt == before
    assert prompt is not None
    assert "hearth_undo" not in prompt
    outcome = await at_home.tools.call(
        ToolCall("c1", "HassTurnOn", {"name": snapshot.partition(".")[2]}), "x", "turn it on"
    )
    assert outcome.status is Status.NOT_RUN


async def test_a_snapshot_takes_no_time_to_speak_of(at_home: Room) -> None:
    entities = [KITCHEN, BED, RGBW, PUMP, WINDOW, FAN, SWITCH]
    clock, times = SystemClock(), []
    for number in range(8):
        began = clock.monotonic()
        await at_home.stack.before(f"k{number}", entities, f"t{number}")
        times.append((clock.monotonic() - began) * 1000)
    print(f"a snapshot of {len(entities)} things: {min(times):.0f} to {max(times):.0f} ms")
    assert sorted(times)[4] < 300
