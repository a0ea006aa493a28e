"""Tests of undo levels: kept before a call, dropped if nothing ran, restored newest first."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Observed, Status, Tier
from assistant.tools.undo.stack import LIFE_S, MAX_LEVELS, UndoStack
from assistant.tools.undo.step import (
    WHY_MEDIA,
    WHY_NEVER,
    WHY_NOT_KEPT,
    WHY_NOT_REACHED,
    WHY_OPENER,
    WHY_OTHERWISE,
    WHY_UNKNOWN,
    WHY_WAS_AWAY,
    NotPutBack,
    UndoneReport,
    UndoStep,
)
from assistant.tools.undo.storage import AGAIN_S
from tests.unit.assistant.tools.undo.doubles import PLAYER, FakeHome, light, outcome, thing

LAMP, SHELF, HALL = "light.lamp", "light.shelf", "light.hall"


@dataclass
class Table:
    home: FakeHome
    clock: VirtualClock
    stack: UndoStack
    count: int = 0

    async def change(self, *entity_ids: str, turn: str = "", state: str = "off") -> str:
        """Make a call that switches these, and return its key."""
        self.count += 1
        key = f"k{self.count}"
        await self.stack.before(key, entity_ids, turn or key)
        for entity_id in entity_ids:
            self.home.write(entity_id, state)
        self.stack.after(key, outcome(entities=entity_ids))
        return key

    async def undo(self, steps: int = 1) -> UndoneReport:
        return (await self.stack.undo(steps)).report

    def state(self, entity_id: str) -> str:
        return self.home.house.entities[entity_id].state


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    home = FakeHome(
        light("lamp"),
        light("shelf"),
        light("hall"),
        thing("lock.front", "unlocked"),
        thing("cover.garage", "open", device_class="garage", current_position=100),
        thing("cover.blind", "open", device_class="blind", current_position=70),
        thing("media_player.radio", "playing", volume_level=0.3, supported_features=PLAYER),
        thing("light.away", "unavailable"),
        thing("sensor.warmth", "21"),
    )
    clock = VirtualClock()
    async with UndoStack(home, home, home, clock, alone=True) as stack:
        await clock.settle()
        home.done.clear()
        yield Table(home, clock, stack)


async def test_a_change_is_put_back(table: Table) -> None:
    await table.change(LAMP)
    assert await table.undo() == UndoneReport(put_back=("Lamp",))
    assert table.state(LAMP) == "on"
    await table.clock.settle()
    assert table.home.done == ["create 1 light.lamp", "restore 1", "delete 1"]


async def test_nothing_to_undo(table: Table) -> None:
    undone = await table.stack.undo()
    assert (undone.levels, undone.away, undone.report) == (0, False, UndoneReport())
    assert table.home.done == []


async def test_the_newest_is_first_and_once(table: Table) -> None:
    for lamp in (LAMP, SHELF, HALL):
        await table.change(lamp)
    assert (await table.undo()).put_back == ("Hall",)
    assert (await table.undo(5)).put_back == ("Shelf", "Lamp")
    assert (await table.stack.undo()).levels == 0


async def test_the_calls_of_a_turn_are_one_level(table: Table) -> None:
    await table.change(LAMP, turn="one")
    await table.change(SHELF, LAMP, turn="one")
    await table.change(HALL, turn="two")
    assert table.home.done[:2] == ["create 1 light.lamp", "create 2 light.shelf"]
    assert (await table.undo()).put_back == ("Hall",)
    assert (await table.undo()).put_back == ("Shelf", "Lamp")


async def test_two_changes_of_one_thing_in_a_turn_end_at_the_first(table: Table) -> None:
    await table.change(LAMP, turn="one")
    await table.change(LAMP, turn="one", state="unavailable")
    table.home.write(LAMP, "off")
    assert (await table.undo()).put_back == ("Lamp",)
    assert table.state(LAMP) == "on"
    assert table.home.done.count("restore 1") == 1


@pytest.mark.parametrize("status", [Status.NOT_RUN, Status.FAILED])
async def test_what_has_not_run_leaves_nothing(table: Table, status: Status) -> None:
    await table.change(SHELF)
    await table.stack.before("key", [LAMP], "turn")
    table.stack.after("key", outcome(status))
    await table.clock.settle()
    assert "delete 2" in table.home.done
    assert (await table.undo()).put_back == ("Shelf",)


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        (Status.FAILED, (Observed(LAMP, "on", "off"),)),
        (Status.FAILED, ()),  # the house shows that part of it was done
        (Status.TIMEOUT, ()),
        (Status.UNKNOWN, ()),
        (Status.NOT_OBSERVED, ()),
    ],
)
async def test_what_may_have_run_is_kept(
    table: Table, status: Status, seen: tuple[Observed, ...]
) -> None:
    await table.stack.before("key", [LAMP], "turn")
    table.home.write(LAMP, "off")
    table.stack.after("key", outcome(status, observed=seen))
    assert (await table.undo()).put_back == ("Lamp",)


async def test_a_call_that_leans_on_an_earlier_snapshot_keeps_it(table: Table) -> None:
    await table.stack.before("first", [LAMP], "turn")
    await table.stack.before("second", [LAMP], "turn")
    table.stack.after("first", outcome(Status.NOT_RUN))
    table.home.write(LAMP, "off")
    table.stack.after("second", outcome())
    assert (await table.undo()).put_back == ("Lamp",)


async def test_what_is_never_put_back_is_a_level_of_its_own(table: Table) -> None:
    await table.change(LAMP)
    await table.change("lock.front", state="locked")
    await table.change("cover.garage", state="closed")
    assert table.home.done == ["create 1 light.lamp"]
    assert (await table.undo()).not_put_back == (NotPutBack("Garage", WHY_NEVER),)
    assert (await table.undo()).not_put_back == (NotPutBack("Front", WHY_NEVER),)
    assert (await table.undo()).put_back == ("Lamp",)
    assert (table.state("lock.front"), table.state("cover.garage")) == ("locked", "closed")


async def test_a_mixed_call_is_put_back_as_far_as_may_be(table: Table) -> None:
    await table.change(LAMP, "lock.front", "light.away", "sensor.warmth")
    assert table.home.done == ["create 1 light.lamp"]
    assert await table.undo() == UndoneReport(
        put_back=("Lamp",),
        not_put_back=(NotPutBack("Front", WHY_NEVER), NotPutBack("Away", WHY_WAS_AWAY)),
    )


async def test_what_was_so_already_is_told_as_unchanged(table: Table) -> None:
    await table.change(LAMP, state="on")
    assert await table.undo() == UndoneReport(unchanged=("Lamp",))
    assert "restore 1" not in table.home.done


async def test_what_does_not_come_back_is_named(table: Table) -> None:
    await table.change(LAMP, SHELF, HALL)
    table.home.stuck = {SHELF, HALL}
    table.home.write(HALL, "unavailable")
    assert await table.undo() == UndoneReport(
        put_back=("Lamp",),
        not_put_back=(NotPutBack("Shelf", WHY_OTHERWISE), NotPutBack("Hall", WHY_NOT_REACHED)),
    )


async def test_a_cover_on_its_way_is_told_so(table: Table) -> None:
    await table.change("cover.blind", state="closed")
    table.home.write("cover.blind", current_position=0)
    table.home.stuck = {"cover.blind"}
    table.home.write("cover.blind", "opening")
    assert await table.undo() == UndoneReport(on_the_way=("Blind",))


async def test_what_has_become_an_opener_is_not_put_back(table: Table) -> None:
    await table.change("cover.blind", LAMP, state="closed")
    table.home.put(thing("cover.blind", "closed", device_class="gate", current_position=0))
    report = await table.undo()
    assert set(report.not_put_back) == {
        NotPutBack("Blind", WHY_OPENER),
        NotPutBack("Lamp", WHY_OTHERWISE),
    }
    assert "restore 1" not in table.home.done
    assert table.state("cover.blind") == "closed"


async def test_a_player_is_put_back_without_a_scene(table: Table) -> None:
    radio = "media_player.radio"
    await table.stack.before("key", [radio], "turn")
    table.home.write(radio, volume_level=0.9)
    table.stack.after("key", outcome(name="media_player__HassSetVolume"))
    assert await table.undo() == UndoneReport(put_back=("Radio",))
    assert table.home.done == [f"media_player.volume_set {radio} {{'volume_level': 0.3}}"]


async def test_a_player_that_refuses_is_named(table: Table) -> None:
    radio = "media_player.radio"
    await table.change(radio, state="paused")
    table.home.stuck = {radio}
    assert (await table.undo()).not_put_back == (NotPutBack("Radio", WHY_OTHERWISE),)


async def test_another_track_does_not_come_back(table: Table) -> None:
    radio = "media_player.radio"
    await table.stack.before("key", [radio], "turn")
    table.stack.after("key", outcome(name="intent__HassMediaNext"))
    assert (await table.undo()).not_put_back == (NotPutBack("Radio", WHY_MEDIA),)


async def test_what_nobody_may_see_is_put_back_without_a_name(table: Table) -> None:
    hidden = light("secret")
    table.home.put(hidden)
    table.home.put(type(hidden)(hidden.entity_id, "Secret", "on", exposed=False))
    await table.change("light.secret")
    assert await table.undo() == UndoneReport(put_back=("",))


async def test_a_call_of_another_server_that_leaves_no_trace_is_told(table: Table) -> None:
    await table.change(LAMP)
    await table.stack.before("key", [], "turn")
    table.stack.after("key", outcome(server="notes", name="write"))
    assert (await table.undo()).not_put_back == (NotPutBack("", WHY_UNKNOWN),)
    assert (await table.undo()).put_back == ("Lamp",)


@pytest.mark.parametrize(("server", "tier"), [("hearth", Tier.COMFORT), ("notes", Tier.READ)])
async def test_own_tools_and_readings_are_no_level(table: Table, server: str, tier: Tier) -> None:
    await table.change(LAMP)
    await table.stack.before("key", [], "turn")
    table.stack.after("key", outcome(server=server, tier=tier))
    assert (await table.undo()).put_back == ("Lamp",)


async def test_after_the_time_nothing_is_kept(table: Table) -> None:
    await table.change(LAMP)
    await table.clock.run(LIFE_S - 1)
    await table.change(SHELF)
    await table.clock.run(2)
    assert table.home.done[-1] == "delete 1"
    assert (await table.undo(2)).put_back == ("Shelf",)
    assert table.state(LAMP) == "off"


async def test_a_night_in_suspension_counts(table: Table) -> None:
    await table.change(LAMP)
    table.clock.suspend(LIFE_S + 1)
    assert table.stack.last_calls(60) == ()
    assert (await table.stack.undo()).levels == 0
    assert table.state(LAMP) == "off"


async def test_the_oldest_level_goes_where_there_are_too_many(table: Table) -> None:
    for _ in range(MAX_LEVELS + 2):
        await table.change(LAMP)
    assert (await table.stack.undo(100)).levels == MAX_LEVELS
    await table.clock.settle()
    assert table.home.scenes == {}


async def test_numbers_come_again(table: Table) -> None:
    for _ in range(5):
        await table.change(LAMP)
        await table.undo()
        await table.clock.settle()
    assert {line for line in table.home.done if line.startswith("create")} == {
        "create 1 light.lamp"
    }


async def test_a_house_that_is_away_keeps_nothing_and_costs_nothing(table: Table) -> None:
    table.home.away = True
    await table.change(LAMP)
    table.home.away = False
    assert (await table.undo()).not_put_back == (NotPutBack("Lamp", WHY_NOT_KEPT),)
    assert table.state(LAMP) == "off"


async def test_a_house_that_does_not_answer_blocks_no_call(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.tools.undo.stack.BEFORE_S", 0.01)
    table.home.gate = asyncio.Event()
    await table.change(LAMP)
    assert (await table.undo()).not_put_back == (NotPutBack("Lamp", WHY_NOT_KEPT),)
    assert "delete 1" in table.home.done  # the scene may have been created


async def test_while_the_house_is_away_nothing_is_lost(table: Table) -> None:
    await table.change(LAMP)
    table.home.connected = False
    undone = await table.stack.undo()
    assert (undone.away, undone.levels) == (True, 0)
    table.home.connected = True
    assert (await table.undo()).put_back == ("Lamp",)


async def test_a_snapshot_that_could_not_be_deleted_goes_later(table: Table) -> None:
    await table.change(LAMP)
    await table.undo()
    table.home.away = True
    await table.clock.run(AGAIN_S + 1)
    assert table.home.scenes
    table.home.away = False
    await table.clock.run(AGAIN_S + 1)
    assert table.home.scenes == {}


@dataclass
class FileStep(UndoStep):
    log: list[str] = field(default_factory=list)
    broken: bool = False

    async def run(self) -> UndoneReport:
        self.log.append("run")
        if self.broken:
            raise OSError("disk")
        return UndoneReport(put_back=("notes.txt",))

    async def forget(self) -> None:
        self.log.append("forget")


async def test_other_steps_share_the_stack(table: Table) -> None:
    step = FileStep()
    await table.change(LAMP)
    await table.stack.before("file", [], "turn")
    table.stack.push("file", "turn", step)
    table.stack.after("file", outcome(server="files", name="write_file"))
    table.home.connected = False  # the house is not needed for this
    assert (await table.undo()).put_back == ("notes.txt",)
    await table.clock.settle()
    assert step.log == ["run", "forget"]


async def test_another_step_of_what_did_not_run_is_forgotten(table: Table) -> None:
    step = FileStep()
    await table.stack.before("file", [], "turn")
    table.stack.push("file", "turn", step)
    table.stack.after("file", outcome(Status.NOT_RUN, server="files"))
    await table.clock.settle()
    assert step.log == ["forget"]
    assert (await table.stack.undo()).levels == 0


async def test_a_broken_step_costs_only_itself(table: Table) -> None:
    await table.change(LAMP, turn="turn")
    table.stack.push("file", "turn", FileStep(broken=True))
    report = await table.undo()
    assert report.put_back == ("Lamp",)
    assert report.not_put_back == (NotPutBack("", WHY_UNKNOWN),)


async def test_the_last_calls_for_a_correction(table: Table) -> None:
    assert table.stack.last_calls(60) == ()
    await table.change(LAMP, turn="one")
    await table.clock.run(30)
    await table.change(SHELF, turn="one")
    assert [one.entities for one in table.stack.last_calls(60)] == [(LAMP,), (SHELF,)]
    await table.clock.run(61)
    assert table.stack.last_calls(60) == ()


async def test_a_lock_on_top_is_not_corrected_below(table: Table) -> None:
    await table.change(LAMP)
    await table.change("lock.front", state="locked")
    assert [one.entities for one in table.stack.last_calls(60)] == [("lock.front",)]


async def leftovers(alone: bool) -> FakeHome:
    home = FakeHome(light("lamp"))
    home.scenes = {f"scene.hearth_undo_{number}": {} for number in (1, 2, 4007)}
    async with UndoStack(home, home, home, VirtualClock(), alone=alone) as stack:
        for _ in range(10):
            await asyncio.sleep(0)
        await stack.before("key", [LAMP], "turn")
        assert any(LAMP in kept for kept in home.scenes.values())
    return home


async def test_leftovers_are_deleted_at_the_start_and_own_ones_at_the_end() -> None:
    assert (await leftovers(alone=True)).scenes == {}


async def test_another_process_leaves_them() -> None:
    home = await leftovers(alone=False)
    assert sorted(home.scenes) == [f"scene.hearth_undo_{number}" for number in (1, 2, 4007)]


async def test_the_start_waits_for_the_house() -> None:
    home, clock = FakeHome(light("lamp")), VirtualClock()
    home.scenes["scene.hearth_undo_3"] = {}
    home.away = True
    async with UndoStack(home, home, home, clock, alone=True):
        await clock.run(1)
        home.away = False
        await clock.run(AGAIN_S + 1)
        assert home.scenes == {}


async def test_after_the_end_nothing_is_kept() -> None:
    home = FakeHome(light("lamp"))
    stack = UndoStack(home, home, home, VirtualClock(), alone=True)
    async with stack:
        pass
    home.done.clear()
    await stack.before("key", [LAMP], "turn")
    stack.push("key", "turn", FileStep())
    stack.after("key", outcome())
    assert home.done == []
    assert (await stack.undo()).levels == 0


async def test_at_the_end_other_steps_are_forgotten() -> None:
    home, step = FakeHome(light("lamp")), FileStep()
    async with UndoStack(home, home, home, VirtualClock(), alone=True) as stack:
        stack.push("key", "turn", step)
    assert step.log == ["forget"]
