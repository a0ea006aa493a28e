"""Tests of undo by another process, with which only the store is shared."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.tools.undo.stack import LIFE_S, UndoStack
from assistant.tools.undo.step import WHY_NEVER, WHY_UNKNOWN, NotPutBack, UndoneReport
from assistant.tools.undo.storage import KEPT, MOST_THINGS
from tests.unit.assistant.tools.undo.doubles import PLAYER, FakeHome, light, outcome, thing
from tests.unit.assistant.tools.undo.test_stack import HALL, LAMP, SHELF, Table


class Shared:
    """Stored values as in a file; `broken`: it can be neither read nor written."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.broken = False

    async def keep(self, name: str, value: Any) -> None:
        if self.broken:
            raise StoreError("The disk is full.")
        self.values[name] = json.dumps(value)

    async def kept(self, name: str) -> Any | None:
        if self.broken:
            raise StoreError("The disk is full.")
        return json.loads(self.values[name]) if name in self.values else None

    async def drop_kept(self, name: str) -> None:
        raise AssertionError("values are only replaced")


class Machine:
    """One home and one store for a succession of processes."""

    def __init__(self) -> None:
        self.store, self.clock = Shared(), VirtualClock()
        lights = (light(f"l{number}") for number in range(MOST_THINGS + 1))
        radio = thing("media_player.radio", "playing", volume_level=0.3, supported_features=PLAYER)
        lock = thing("lock.front", "unlocked")
        self.home = FakeHome(light("lamp"), light("shelf"), light("hall"), radio, lock, *lights)
        self._processes = 0

    @asynccontextmanager
    async def process(self, *, alone: bool = True) -> AsyncIterator[Table]:
        """Run a process of Hearth, from its start to its end."""
        made = UndoStack(self.home, self.home, self.home, self.clock, alone=alone, store=self.store)
        self._processes += 1
        async with made as stack:
            await self.clock.settle()
            yield Table(self.home, self.clock, stack, count=100 * self._processes)
            await self.clock.settle()


@pytest.fixture
def machine() -> Machine:
    return Machine()


async def test_another_process_puts_back_what_one_did(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change(LAMP)
    async with machine.process() as two:
        assert await two.undo() == UndoneReport(put_back=("Lamp",))
        assert two.state(LAMP) == "on"
    assert json.loads(machine.store.values[KEPT]) == []
    done = [one for one in machine.home.done if one != "found"]
    assert done == ["create 1 light.lamp", "restore 1", "delete 1"]
    async with machine.process() as three:
        assert (await three.stack.undo()).levels == 0


async def test_the_newest_of_all_processes_is_first(machine: Machine) -> None:
    async with machine.process() as one, machine.process(alone=False) as two:
        for table, lamp in ((one, LAMP), (two, SHELF), (one, HALL)):
            await table.change(lamp)
            await machine.clock.settle()
            machine.clock.advance(1.0)
        assert (await two.undo()).put_back == ("Hall",)
        assert (await one.undo()).put_back == ("Shelf",)  # and its own earlier level is gone
        assert (await two.undo()).put_back == ("Lamp",)
        assert (await one.stack.undo()).levels == 0


async def test_a_turn_of_several_steps_comes_back_whole(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change(LAMP, turn="one")
        await one.change(SHELF, "media_player.radio", turn="one")
    async with machine.process() as two:
        assert set((await two.undo()).put_back) >= {"Lamp", "Shelf"}


async def test_what_can_never_be_undone_is_told_by_another_process_too(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change("lock.front", state="locked")
    async with machine.process() as two:
        report = await two.undo()
    assert report.not_put_back == (NotPutBack("Front", WHY_NEVER),)
    assert machine.home.house.entities["lock.front"].state == "locked"


async def test_after_ten_minutes_it_is_over(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change(LAMP)
    machine.clock.advance(LIFE_S + 1)
    async with machine.process() as two:
        assert (await two.stack.undo()).levels == 0
        assert two.state(LAMP) == "off"
    assert "delete 1" in machine.home.done  # the snapshot is left over and is deleted


async def test_a_start_leaves_the_snapshots_that_are_needed(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change(LAMP)
    async with machine.process() as two:
        assert "delete 1" not in machine.home.done
        await two.change(SHELF)
        assert "create 2 light.shelf" in machine.home.done


async def test_too_many_things_are_not_kept_for_others(machine: Machine) -> None:
    names = [f"light.l{number}" for number in range(MOST_THINGS + 1)]
    async with machine.process() as one:
        await one.change(*names)
        assert KEPT not in machine.store.values
        assert len((await one.undo()).put_back) == MOST_THINGS + 1


async def test_without_the_store_a_process_undoes_its_own(machine: Machine) -> None:
    machine.store.broken = True
    async with machine.process() as one:
        await one.change(LAMP)
        assert (await one.undo()).put_back == ("Lamp",)
    assert machine.home.done[-1] == "delete 1"


@pytest.mark.parametrize("value", [5, [5], [{"turn_id": "x"}], {"a": 1}, [{"at": None}]])
async def test_what_cannot_be_read_is_left(machine: Machine, value: Any) -> None:
    machine.store.values[KEPT] = json.dumps(value)
    async with machine.process() as one:
        assert (await one.stack.undo()).levels == 0
        await one.change(LAMP)
        assert (await one.undo()).put_back == ("Lamp",)


async def test_more_than_another_process_knows_is_told(machine: Machine) -> None:
    async with machine.process() as one:
        await one.change(LAMP, turn="one")
        await one.stack.before("k", [], "one")
        one.stack.after("k", outcome(entities=()))
    async with machine.process() as two:
        report = await two.undo()
    assert report.put_back == ("Lamp",)
    assert report.not_put_back == (NotPutBack("", WHY_UNKNOWN),)
