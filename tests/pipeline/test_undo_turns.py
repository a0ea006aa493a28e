"""Tests of undo and correction in whole turns: embedded house, simulated Gemini, one process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Status
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE, Scene, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Done, Step

DIM, TURN_ON, TURN_OFF = "light__HassLightSet", "intent__HassTurnOn", "intent__HassTurnOff"
KITCHEN, OFFICE = "light.kitchen", "light.office"
NOTHING = "I haven't done anything in the last ten minutes that I could undo."

# Sentences, and the model's calls for them.
CALLS: Mapping[str, Sequence[Call]] = {
    "kitchen at 30": [Call(DIM, {"name": "Kitchen light", "brightness": 30})],
    "kitchen at 80": [Call(DIM, {"name": "Kitchen light", "brightness": 80})],
    "office on": [Call(TURN_ON, {"name": "Office light"})],
    "office off": [Call(TURN_OFF, {"name": "Office light"})],
    "both": [
        Call(TURN_ON, {"name": "Kitchen light"}),
        Call(TURN_ON, {"name": "Office light"}),
    ],
    "unlock": [Call(TURN_OFF, {"name": "Front door"})],
    "lock": [Call(TURN_ON, {"name": "Front door"})],
    "undo that": [Call("undo")],
    "undo three": [Call("undo", {"steps": 3})],
    "no, the office": [Call("correct_last", {"name": "Office light"})],
    "no, the front door": [Call("correct_last", {"name": "Front door"})],
}


def steps_for(text: str) -> list[Step]:
    found = max((said for said in CALLS if text.endswith(said)), key=len)
    return [*CALLS[found], Done()]


def service() -> GeminiSimulator:
    """Return a model that calls and says nothing, so that we phrase the result."""

    def live(turn: HeardTurn) -> Sequence[Step]:
        return steps_for(turn.text)

    def once(request: OnceRequest) -> Sequence[Step]:
        return steps_for(request.texts[-1])

    return GeminiSimulator(respond=live, respond_once=once)


def state(on: Scene, entity_id: str) -> tuple[str, Any]:
    assert on.app.home.demo is not None
    thing = on.app.home.demo.house.get(entity_id)
    return thing.state, thing.attributes.get("brightness")


def snapshots(on: Scene) -> list[str]:
    """Return our snapshots in the house."""
    assert on.app.home.demo is not None
    return [name for name in on.app.home.demo.states if name.startswith("scene.hearth_undo")]


class Types:
    def __init__(self, *lines: str | None) -> None:
        self.lines = [*lines]
        self.asked: list[str] = []

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        self.asked.append(question)
        return self.lines.pop(0)


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_undo_in_a_later_turn(tmp_path: Path, brain: str) -> None:
    async with scene(tmp_path, service(), brain={"order": [brain, OFFLINE]}) as on:
        on.repeats = True
        before = state(on, KITCHEN)
        turn = await on.ask("kitchen at 30")
        assert turn.outcomes[0].status is Status.DONE
        assert state(on, KITCHEN)[0] == "on"
        turn = await on.ask("undo that")
        assert ended(turn) == (brain, None)
        assert state(on, KITCHEN) == before
        assert "back the way it was" in said(turn)
        assert "the kitchen light" in said(turn)
        turn = await on.ask("undo that")
        assert said(turn) == NOTHING


async def test_several_levels_newest_first(tmp_path: Path) -> None:
    async with scene(tmp_path, service()) as on:
        on.repeats = True
        before = {name: state(on, name) for name in (KITCHEN, OFFICE)}
        await on.ask("kitchen at 30")
        middle = state(on, KITCHEN)
        await on.ask("office on")
        await on.ask("kitchen at 80")
        await on.ask("undo that")
        assert state(on, KITCHEN) == middle
        assert state(on, OFFICE)[0] == "on"
        await on.ask("undo that")
        assert state(on, OFFICE) == before[OFFICE]
        assert state(on, KITCHEN) == middle
        await on.ask("undo that")
        assert state(on, KITCHEN) == before[KITCHEN]


async def test_three_levels_at_once(tmp_path: Path) -> None:
    async with scene(tmp_path, service()) as on:
        on.repeats = True
        before = {name: state(on, name) for name in (KITCHEN, OFFICE)}
        for text in ("kitchen at 30", "office on", "kitchen at 80"):
            await on.ask(text)
        await on.ask("undo three")
        assert {name: state(on, name) for name in before} == before


async def test_all_that_one_turn_has_changed(tmp_path: Path) -> None:
    async with scene(tmp_path, service()) as on:
        on.repeats = True
        before = {name: state(on, name) for name in (KITCHEN, OFFICE)}
        await on.ask("both")
        assert [state(on, name)[0] for name in before] == ["on", "on"]
        await on.ask("undo that")
        assert {name: state(on, name) for name in before} == before


async def test_ten_minutes_and_not_longer(tmp_path: Path) -> None:
    async with scene(tmp_path, service(), resident=True) as on:
        await on.ask("kitchen at 30")
        on.clock.leap(601)
        turn = await on.ask("undo that")
        assert said(turn) == NOTHING
        assert state(on, KITCHEN)[0] == "on"


async def test_no_the_office(tmp_path: Path) -> None:
    """The last change is undone and the right one made, in one turn."""
    async with scene(tmp_path, service()) as on:
        on.repeats = True
        before = state(on, KITCHEN)
        await on.ask("kitchen at 30")
        turn = await on.ask("no, the office")
        assert ended(turn) == (LIVE, None)
        assert state(on, KITCHEN) == before
        assert state(on, OFFICE) == ("on", 76)  # 30 % of 255
        assert "The office light is on at thirty percent." in said(turn)
        await on.ask("undo that")
        assert state(on, OFFICE)[0] == "off"
        assert state(on, KITCHEN) == before


async def test_a_correction_comes_too_late(tmp_path: Path) -> None:
    async with scene(tmp_path, service(), resident=True) as on:
        await on.ask("kitchen at 30")
        on.clock.leap(61)
        turn = await on.ask("no, the office")
        assert turn.outcomes[0].status is Status.FAILED
        assert state(on, KITCHEN)[0] == "on"
        assert state(on, OFFICE)[0] == "off"


async def test_undo_never_unlocks(tmp_path: Path) -> None:
    person = Types("yes")
    async with scene(tmp_path, service(), prompter=person) as on:
        on.repeats = True
        await on.ask("unlock")
        assert state(on, "lock.front_door")[0] != "locked"
        await on.ask("lock")
        turn = await on.ask("undo that")
        assert state(on, "lock.front_door")[0] in ("locked", "locking")
        assert "back the way it was" not in said(turn).lower() or "not" in said(turn).lower()
        assert len(person.asked) == 1


async def test_a_correction_towards_a_door_is_no_way_round_the_question(tmp_path: Path) -> None:
    """Switching a lock off unlocks it."""
    async with scene(tmp_path, service(), prompter=Types("no")) as on:
        await on.ask("office off")
        turn = await on.ask("no, the front door")
        assert turn.outcomes[0].status is not Status.DONE
        assert state(on, "lock.front_door")[0] == "locked"


async def test_snapshots_are_gone_in_the_end(tmp_path: Path) -> None:
    async with scene(tmp_path, service()) as on:
        on.repeats = True
        for text in ("kitchen at 30", "office on"):
            await on.ask(text)
        assert len(snapshots(on)) == 2
        assert not [name for name in on.app.home.client.house.entities if "hearth_undo" in name]
        await on.ask("undo that")
        async with on.clock.hurrying():
            await on.until(lambda: len(snapshots(on)) == 1)
        setup = on.service.connections[-1].setup
        assert setup is not None
        assert "hearth_undo" not in str(setup)


async def test_undoing_is_in_the_audit(tmp_path: Path) -> None:
    async with scene(tmp_path, service()) as on:
        await on.ask("kitchen at 30")
        await on.ask("undo that")
        newest = (await on.app.home.store.audited())[0]
        assert (newest.name, newest.heard) == ("undo", "undo that")
        assert newest.decision is Decision.ALLOWED
