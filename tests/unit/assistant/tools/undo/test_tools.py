"""Tests of `undo` and `correct_last`, with the embedded house and the toolbox."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from assistant.domain.clock import SystemClock, VirtualClock
from assistant.domain.tool_call import Status, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from assistant.tools.catalog.menu import Menu
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.intents import Move
from assistant.tools.house.names import spoken_things
from assistant.tools.undo import step
from assistant.tools.undo.stack import DoneCall, Undone, UndoStack
from assistant.tools.undo.step import WHY_NEVER, NotPutBack, UndoneReport
from assistant.tools.undo.tools import CORRECT_WITHIN_S, Undoing, corrected, tell, through
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Area, House
from integrations.home_assistant.services import Services, Snapshots, is_snapshot
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.tools.undo.doubles import thing

CATALOGUE = Catalogue()
REQUEST = BuiltInRequest("turn-1", "turn", "undo that", "en")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the real-time limit for snapshots, for busy machines."""
    monkeypatch.setattr("assistant.tools.undo.stack.BEFORE_S", 20.0)


@dataclass
class Stack(UndoStack):
    """Returns what the test sets."""

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
        (Undone(0, UndoneReport()), "I haven't done anything in the last ten minutes", True),
        (Undone(0, UndoneReport(), away=True), CATALOGUE.say("tools.unreachable", "en"), True),
        (Undone(0, UndoneReport(), changed=True), CATALOGUE.say("undo.changed", "en"), True),
        (
            Undone(1, UndoneReport(put_back=("Lamp",))),
            "OK, I put the lamp back the way it was.",
            False,
        ),
        (
            Undone(1, UndoneReport(put_back=("Lamp",)), changed=True),
            f"OK, I put the lamp back the way it was. {CATALOGUE.say('undo.changed', 'en')}",
            False,
        ),
        (
            Undone(1, UndoneReport(unchanged=("Lamp",))),
            "There's nothing to undo, because the lamp didn't change.",
            False,
        ),
        (
            Undone(1, UndoneReport(not_put_back=(NotPutBack("Door", WHY_NEVER),))),
            "I couldn't change the door back: I never undo that kind of change.",
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
        assert outcome.sentence.startswith("OK, I put the kitchen light back the way it was. ")
        assert (room.state("light.kitchen"), room.state("light.hall")) == ("off", "on")
        await room.do("undo")  # undoes the corrected call
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


# "No, the one in the bedroom": the call that is meant.


HOUSE = House(
    {},
    {"kitchen": Area("kitchen", "Kitchen", ("cocina",)), "bedroom": Area("bedroom", "Bedroom")},
    {
        one.entity_id: one
        for one in (
            thing("light.lamp", "on", area_id="kitchen"),
            thing("light.kitchen", "on", area_id="kitchen"),
            thing("fan.tower", "on", area_id="bedroom"),
        )
    },
)
ALL = frozenset({"name", "area", "floor", "domain", "device_class", "brightness"})


def call(tool: str = "HassTurnOn", /, **arguments: Any) -> DoneCall:
    return DoneCall(tool, arguments, ("light.lamp",), 0.0)


@pytest.mark.parametrize(
    ("last", "name", "area", "meant"),
    [
        (call(name="Lamp"), "Tower", "", {"name": "Tower"}),
        (call(name="Lamp", area="Kitchen"), "Tower", "", {"name": "Tower"}),
        (call(name="Lamp", brightness=30), "Kitchen", "", {"name": "Kitchen", "brightness": 30}),
        (call(name="Lamp"), "Lamp", "Bedroom", {"name": "Lamp", "area": "Bedroom"}),
        # The domain stays if there is a device of that kind and name.
        (call(name="Lamp", domain=["light"]), "Kitchen", "",
         {"name": "Kitchen", "domain": ["light"]}),
        (call(name="Lamp", domain=["light"]), "Tower", "", {"name": "Tower"}),
        # In a room: the device of the same name, or else all devices of the same kind.
        (call(name="Lamp"), "", "cocina", {"name": "Lamp", "area": "cocina"}),
        (call(name="Lamp"), "", "Bedroom", {"area": "Bedroom", "domain": ["light"]}),
        (call(area="Kitchen", domain=["fan"]), "", "Bedroom",
         {"area": "Bedroom", "domain": ["fan"]}),
        (call(floor="Ground", domain="light"), "", "Bedroom",
         {"area": "Bedroom", "domain": ["light"]}),
        (call(name="Lamp"), "", "", None),
    ],
)  # fmt: skip
def test_one_call(last: DoneCall, name: str, area: str, meant: dict[str, Any] | None) -> None:
    assert corrected([last], name, area, HOUSE, ALL) == meant


def test_a_tool_without_kinds_takes_the_room_alone() -> None:
    last = call("HassLightSet", name="Hall", brightness=30)
    takes = {"name", "area", "floor", "brightness"}
    assert corrected([last], "", "Bedroom", HOUSE, takes) == {"area": "Bedroom", "brightness": 30}


@pytest.mark.parametrize("takes", [set(), {"brightness"}, {"area", "domain"}])
def test_a_tool_that_takes_no_name(takes: set[str]) -> None:
    assert corrected([call(name="Lamp")], "Tower", "", HOUSE, takes) is None


def test_several_calls_of_the_same_kind_are_one() -> None:
    calls = [call(name="Lamp", brightness=30), call(name="Kitchen", brightness=30)]
    assert corrected(calls, "Tower", "", HOUSE, ALL) == {"name": "Tower", "brightness": 30}


@pytest.mark.parametrize(
    "other", [call("HassTurnOff", name="Kitchen"), call(name="Kitchen", brightness=40)]
)
def test_several_different_calls_are_not_guessed_at(other: DoneCall) -> None:
    calls = [other, call(name="Lamp", brightness=30)]
    assert corrected(calls, "Tower", "", HOUSE, ALL) is None


def test_nothing_known_of_the_kind() -> None:
    last = DoneCall("HassTurnOn", {"floor": "Ground"}, (), 0.0)
    assert corrected([last], "", "Bedroom", HOUSE, ALL) is None


# The sentences.


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (UndoneReport(), ""),
        (
            UndoneReport(put_back=("Lamp", "Fan", "Lamp")),
            "OK, I put the lamp and the fan back the way they were.",
        ),
        (UndoneReport(put_back=tuple("ABCDE")), "OK, I put five devices back the way they were."),
        (UndoneReport(put_back=("",)), "OK, I undid that."),
        (UndoneReport(on_the_way=("Blind",)), "OK, changing the blind back."),
        (
            UndoneReport(unchanged=("Lamp",)),
            "There's nothing to undo, because the lamp didn't change.",
        ),
        (
            UndoneReport(put_back=("Fan",), unchanged=("Lamp",)),
            "OK, I put the fan back the way it was.",
        ),
        (
            UndoneReport(
                put_back=("Fan",),
                not_put_back=(
                    NotPutBack("Lamp", step.WHY_NOT_REACHED),
                    NotPutBack("Door", step.WHY_NEVER),
                    NotPutBack("Shelf", step.WHY_NOT_REACHED),
                ),
            ),
            "OK, I put the fan back the way it was. "
            "I couldn't change the door back: I never undo that kind of change. "
            "I couldn't change the lamp and the shelf back: I can't reach them.",
        ),
        (
            UndoneReport(not_put_back=(NotPutBack("", step.WHY_UNKNOWN),)),
            "I couldn't undo that: I don't know how.",
        ),
    ],
)
def test_sentences(report: UndoneReport, said: str) -> None:
    assert tell(report, CATALOGUE, "en") == said


@pytest.mark.parametrize("language", CATALOGUE.languages())
def test_every_reason_has_its_words(language: str) -> None:
    reasons = [value for name, value in vars(step).items() if name.startswith("WHY_")]
    assert len(reasons) == 8
    for why in reasons:
        for names in (("Lamp",), ("",), tuple("ABCDE")):
            report = UndoneReport(not_put_back=tuple(NotPutBack(name, why) for name in names))
            told = CATALOGUE.say(why, language, names=spoken_things(filter(None, names)))
            assert told in tell(report, CATALOGUE, language)
