"""`undo` and `correct_last`, with the embedded house and the toolbox behind them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from assistant.domain.call import ToolCall
from assistant.domain.clock import SystemClock, VirtualClock
from assistant.domain.outcome import Status, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from assistant.tools.catalog.menu import Menu
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.intents import Move
from assistant.tools.undo.stack import DoneCall, Undone, UndoStack
from assistant.tools.undo.step import WHY_NEVER, NotPutBack, UndoneReport
from assistant.tools.undo.tools import CORRECT_WITHIN_S, Undoing, through
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from integrations.home_assistant.services import Services, Snapshots, is_snapshot
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from tests.fakes.journal import FakeJournal

CATALOGUE = Catalogue()
REQUEST = BuiltInRequest("turn-1", "turn", "undo that", "en")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is slow, and a snapshot is waited for in real time."""
    monkeypatch.setattr("assistant.tools.undo.stack.BEFORE_S", 20.0)


@dataclass
class Stack(UndoStack):
    """Gives what it is told to."""

    undone: Undone
    calls: tuple[DoneCall, ...] = ()
    steps: int = 0

    def moves(self, steps: int = 1) -> tuple[Move, ...]:
        return ()

    async def undo(self, steps: int = 1, judged: Sequence[Move] | None = None) -> Undone:
        self.steps += steps
        return self.undone

    def last_calls(self, within_s: float) -> tuple[DoneCall, ...]:
        assert within_s == CORRECT_WITHIN_S
        return self.calls


async def no_call(call: ToolCall, request: BuiltInRequest) -> ToolOutcome:
    raise AssertionError(call)


async def run(stack: Stack, number: int, **arguments: Any) -> BuiltInResult:
    tools = Undoing(stack, no_call, Menu, House, CATALOGUE).tools()
    return await tools[number].run(arguments, REQUEST)


@pytest.mark.parametrize(
    ("undone", "sentence", "failed"),
    [
        (Undone(0, UndoneReport()), "There is nothing from the last ten minutes", True),
        (Undone(0, UndoneReport(), away=True), CATALOGUE.say("tools.unreachable", "en"), True),
        (Undone(0, UndoneReport(), changed=True), CATALOGUE.say("undo.changed", "en"), True),
        (Undone(1, UndoneReport(put_back=("Lamp",))), "I put back Lamp.", False),
        (
            Undone(1, UndoneReport(put_back=("Lamp",)), changed=True),
            f"I put back Lamp. {CATALOGUE.say('undo.changed', 'en')}",
            False,
        ),
        (Undone(1, UndoneReport(unchanged=("Lamp",))), "Nothing had changed: Lamp.", False),
        (
            Undone(1, UndoneReport(not_put_back=(NotPutBack("Door", WHY_NEVER),))),
            "I could not put back Door: I never undo that kind of thing.",
            True,
        ),
    ],
)
async def test_what_undo_says(undone: Undone, sentence: str, failed: bool) -> None:
    result = await run(Stack(undone), 0)
    assert result.failed is failed
    assert result.sentence.startswith(sentence)


async def test_steps_are_handed_on_and_names_are_data() -> None:
    stack = Stack(
        Undone(3, UndoneReport(put_back=("Lamp", ""), not_put_back=(NotPutBack("Door"),)))
    )
    result = await run(stack, 0, steps=3)
    assert stack.steps == 3
    assert json.loads(result.data) == {
        "put_back": ["Lamp"],
        "on_the_way": [],
        "not_put_back": ["Door"],
    }


@pytest.mark.parametrize(
    ("calls", "arguments", "key"),
    [
        ((), {"name": "Lamp"}, "undo.nothing_to_correct"),
        ((DoneCall("HassTurnOn", {}, (), 0.0),), {}, "undo.which"),
        ((DoneCall("HassTurnOn", {}, (), 0.0),), {"name": " ", "area": ""}, "undo.which"),
        ((DoneCall("no_such_tool", {}, (), 0.0),), {"name": "Lamp"}, "undo.say_whole"),
    ],
)
async def test_what_cannot_be_corrected_is_not_undone(
    calls: tuple[DoneCall, ...], arguments: dict[str, str], key: str
) -> None:
    stack = Stack(Undone(1, UndoneReport()), calls)
    result = await run(stack, 1, **arguments)
    assert (result.failed, result.sentence) == (True, CATALOGUE.say(key, "en"))
    assert stack.steps == 0


@dataclass
class Room:
    demo: DemoHome
    home: HomeAssistant
    tools: Toolbox
    clock: VirtualClock
    turns: int = 0

    async def do(self, tool: str, heard: str = "do it", /, **arguments: Any) -> ToolOutcome:
        self.turns += 1
        call = ToolCall("c1", tool, arguments)
        return await self.tools.call(call, f"turn-{self.turns}", heard)

    def state(self, entity_id: str) -> str:
        return self.demo.house.get(entity_id).state

    def snapshots(self) -> list[str]:
        return [one.entity_id for one in self.demo.house.all() if is_snapshot(one.entity_id)]


@asynccontextmanager
async def living() -> AsyncIterator[Room]:
    async with (
        DemoHome(settle_s=0.02) as demo,
        McpHub([home_assistant_server(demo.url, demo.token)]) as hub,
        HomeAssistant(demo.url, demo.token) as home,
    ):
        clock = VirtualClock()
        stack = UndoStack(home, Snapshots(home), Services(home), clock, alone=True)
        async with stack:
            tools = Toolbox(
                hub,
                home,
                FakeJournal(),
                CATALOGUE,
                SystemClock(),
                governance=CallGuards(undo=stack),
            )
            undoing = Undoing(
                stack, through(tools), lambda: tools.current_menu, lambda: home.house, CATALOGUE
            )
            tools.offer(*undoing.tools())
            await tools.menu()
            yield Room(demo, home, tools, clock)


async def test_the_whole_way_back() -> None:
    async with living() as room:
        before = room.demo.house.get("light.dining_room")
        await room.do("HassTurnOff", name="Dining room light")
        assert room.state("light.dining_room") == "off"
        assert len(room.snapshots()) == 1
        assert not [name for name in room.home.house.entities if is_snapshot(name)]
        outcome = await room.do("undo")
        assert outcome.status is Status.DONE
        assert room.demo.house.get("light.dining_room").attributes == before.attributes
        again = await room.do("undo")
        assert again.status is Status.FAILED
        await room.clock.settle()
    assert room.snapshots() == []


async def test_a_correction_goes_the_whole_way_of_a_call() -> None:
    async with living() as room:
        await room.do("HassTurnOn", name="Kitchen light")
        outcome = await room.do("correct_last", "no, the hall light", name="Hall light")
        assert outcome.status is Status.DONE
        assert outcome.sentence.startswith("I put back Kitchen light. ")
        assert (room.state("light.kitchen"), room.state("light.hall")) == ("off", "on")
        await room.do("undo")  # the corrected one
        assert room.state("light.kitchen") == "off"


async def test_a_correction_towards_a_lock_is_left_to_its_own_question() -> None:
    async with living() as room:
        await room.do("HassTurnOn", name="Kitchen light")
        await room.do("HassTurnOff", name="Kitchen light")
        outcome = await room.do("correct_last", "no, the front door", name="Front door")
        assert outcome.status is Status.FAILED
        assert json.loads(outcome.data)["call_next"]["arguments"] == {"name": "Front door"}
        assert (room.state("light.kitchen"), room.state("lock.front_door")) == ("on", "locked")


async def test_a_correction_towards_nothing_tells_the_nearest() -> None:
    async with living() as room:
        await room.do("HassTurnOn", name="Kitchen light")
        outcome = await room.do("correct_last", "no, the hall lihgt", name="Hall lihgtt xx")
        assert outcome.status is Status.FAILED
        assert room.state("light.kitchen") == "off"


async def test_after_a_minute_nothing_is_corrected() -> None:
    async with living() as room:
        await room.do("HassTurnOn", name="Kitchen light")
        room.clock.advance(CORRECT_WITHIN_S + 1)
        outcome = await room.do("correct_last", "no, the hall light", name="Hall light")
        assert outcome.sentence == CATALOGUE.say("undo.nothing_to_correct", "en")
        assert (room.state("light.kitchen"), room.state("light.hall")) == ("on", "off")
