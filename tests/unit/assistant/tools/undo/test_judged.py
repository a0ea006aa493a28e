"""Tests that undoing is judged by what it would switch, in the situation of the request."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import (
    CALLERS,
    CallContext,
    Decision,
    Mode,
    PolicyContext,
    Rights,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue
from assistant.timers.later import LATER
from assistant.tools.catalog.approvals import Consents
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.intents import Action, Move
from assistant.tools.house.names import spoken_things
from assistant.tools.policy.rules import STRICT, OwnerRule, Ruling, Rulings
from assistant.tools.undo.reversible import way_back
from assistant.tools.undo.stack import UndoStack
from assistant.tools.undo.step import UndoneReport, UndoStep
from assistant.tools.undo.tools import Undoing, through
from integrations.home_assistant.house import Entity
from tests.fakes.journal import FakeJournal
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.tools.doubles import Hub
from tests.unit.assistant.tools.undo.doubles import PLAYER, FakeHome, light, outcome, thing

CATALOGUE = Catalogue()
ASK = CallContext(can_ask=True, spoken=True)
YES = Settlement("yes", "voice")
LAMP = light("lamp")
HEATER = thing("switch.space_heater", "on")
BOILER = thing("climate.boiler", "heat", temperature=28.0, max_temp=35.0)
LET_ALL = Rulings(costly="allow", secure="allow")
BLIND = thing("cover.blind", "open", device_class="blind", current_position=70)


@dataclass
class Room:
    """A house changed by a turn, and a toolbox that may undo the change."""

    home: FakeHome
    stack: UndoStack
    tools: Toolbox
    moment: list[PolicyContext]
    count: int = 0

    async def change(self, entity_id: str, state: str | None = None, /, **attributes: Any) -> None:
        self.count += 1
        key = f"k{self.count}"
        await self.stack.before(key, [entity_id], key)
        self.home.write(entity_id, state, **attributes)
        self.stack.after(key, outcome(entities=(entity_id,)))

    async def undo(
        self, situation: CallContext = ASK, turn: str = "undoing", **arguments: Any
    ) -> ToolOutcome:
        self.count += 1
        call = ToolCall(f"c{self.count}", "undo", arguments)
        return await self.tools.call(call, turn, "undo that", "en", situation)

    def state(self, entity_id: str) -> str:
        return self.home.house.entities[entity_id].state


@dataclass
class Files(UndoStep):
    """An undo step for a server's file."""

    done: list[str] = field(default_factory=list)

    async def run(self) -> UndoneReport:
        self.done.append("run")
        return UndoneReport(put_back=("notes.txt",))

    async def forget(self) -> None:
        return None


ENTITIES = (
    LAMP,
    light("shelf"),
    HEATER,
    BOILER,
    BLIND,
    thing("switch.opener", "on"),
    thing("media_player.radio", "playing", volume_level=0.3, supported_features=PLAYER),
)


# The opener was free when it was switched, so it has a snapshot.
WERE_FREE = {"switch.opener": Tier.COMFORT}


async def _room(
    rulings: Rulings = STRICT,
    consents: Consents | None = None,
    more: Sequence[Entity] = (),
    tiers: Mapping[str, Tier] = WERE_FREE,
) -> AsyncIterator[Room]:
    """Return a room; `tiers` are the ratings that undo knows."""
    home, clock = FakeHome(*ENTITIES, *more), VirtualClock()
    opener = replace(home.house.entities["switch.opener"], name="Front door opener")
    home.put(opener)
    moment = [PolicyContext()]
    async with UndoStack(home, home, home, clock, alone=True, tiers=lambda: tiers) as stack:
        tools = Toolbox(
            Hub(),
            home,
            FakeJournal(),
            CATALOGUE,
            clock,
            rulings=rulings,
            moment=lambda: moment[0],
            governance=CallGuards(undo=stack, consents=consents),
        )
        undoing = Undoing(
            stack, through(tools), lambda: tools.current_menu, lambda: home.house, CATALOGUE
        )
        tools.offer(*undoing.tools())
        await tools.menu()
        yield Room(home, stack, tools, moment)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async for one in _room():
        yield one


@pytest.mark.parametrize(
    ("entity_id", "state", "attributes", "question"),
    [
        ("switch.space_heater", "off", {}, "Turn on the space heater?"),
        ("climate.boiler", None, {"temperature": 20.0}, "Set the boiler to 28 degrees?"),
        ("climate.boiler", "off", {}, "Set the boiler to 28 degrees?"),
        ("climate.boiler", "cool", {"temperature": 20.0}, "Set the boiler to 28 degrees?"),
    ],
)
async def test_what_costs_is_asked_about_and_then_undone(
    room: Room, entity_id: str, state: str | None, attributes: dict[str, Any], question: str
) -> None:
    was = room.home.house.entities[entity_id]
    await room.change(entity_id, state, **attributes)
    asked = await room.undo()
    assert (asked.decision, asked.tier) == (Decision.NEEDS_CONFIRMATION, Tier.COSTLY)
    assert not any(done.startswith("restore") for done in room.home.done)
    frozen = room.tools.question("undoing", asked.id)
    assert frozen is not None
    assert frozen.text == question
    settled = await room.tools.settle(frozen, YES)
    assert settled is not None
    assert (settled.status, settled.decision) == (Status.DONE, Decision.CONFIRMED)
    assert room.home.house.entities[entity_id] == was


async def test_a_no_leaves_it_and_it_can_be_undone_later(room: Room) -> None:
    await room.change("switch.space_heater", "off")
    asked = await room.undo()
    frozen = room.tools.question("undoing", asked.id)
    assert frozen is not None
    await room.tools.settle(frozen, Settlement("no"))
    assert room.state("switch.space_heater") == "off"
    room.moment[0] = PolicyContext(Mode.TRUSTING)
    assert (await room.undo()).status is Status.DONE
    assert room.state("switch.space_heater") == "on"


@pytest.mark.parametrize(
    ("entity_id", "state"),
    [("light.lamp", "off"), ("cover.blind", "closed"), ("media_player.radio", "off")],
)
async def test_what_is_comfort_is_undone_at_once(room: Room, entity_id: str, state: str) -> None:
    await room.change(entity_id, state)
    assert (await room.undo()).decision is Decision.ALLOWED


@pytest.mark.parametrize(
    "situation",
    [CallContext(), ASK, replace(ASK, near_own_speech=True), replace(ASK, searched=True)],
)
async def test_nothing_is_undone_into_open(room: Room, situation: CallContext) -> None:
    await room.change("switch.opener", "off")
    for mode in Mode:
        room.moment[0] = PolicyContext(mode)
        denied = await room.undo(situation, turn=mode)
        assert (denied.decision, denied.rule) == (Decision.DENIED, "undo_opens")
        assert "the front door opener" in denied.sentence
    assert room.state("switch.opener") == "off"


# A thing that may open something unless its owner has rated it, and its state before it closed.
MAY_OPEN = [
    thing("cover.left", "open"),
    thing("cover.roof", "open", device_class="window", current_position=60),
    thing("cover.tor", "open", device_class="shutter"),
    replace(thing("switch.relay", "on"), name="Front gate"),
    replace(thing("switch.corner", "on"), platform="template"),
    replace(thing("fan.air", "on"), platform="command_line"),
    replace(light("release"), name="Door opener"),
    replace(thing("input_boolean.door", "on"), name="Unlock the door"),
]
SHUT = {"cover": "closed"}


@pytest.mark.parametrize("entity", MAY_OPEN, ids=lambda one: str(one.entity_id))
@pytest.mark.parametrize("rated", [None, Tier.COMFORT, Tier.COSTLY, Tier.SECURE])
async def test_what_may_open_is_put_back_where_it_is_rated_as_harmless(
    entity: Entity, rated: Tier | None
) -> None:
    tiers = {} if rated is None else {entity.entity_id: rated}
    shut = SHUT.get(entity.domain, "off")
    async for room in _room(more=[entity], tiers=tiers):
        room.moment[0] = PolicyContext(ratings=tiers)
        await room.change(entity.entity_id, shut, current_position=0)
        undone = await room.undo()
        assert undone.decision is Decision.ALLOWED
        free = rated is Tier.COMFORT
        assert room.state(entity.entity_id) == (entity.state if free else shut)
        assert any(one.startswith("create") for one in room.home.done) is free
        assert spoken_things([entity.name]).english in undone.sentence
        assert ("never undo" in undone.sentence) is not free


@pytest.mark.parametrize("entity", MAY_OPEN, ids=lambda one: str(one.entity_id))
async def test_a_step_back_that_opens_is_judged_as_an_opening(entity: Entity) -> None:
    """Undo still has the earlier rating, withdrawn since because the entity was seen to
    open something."""
    tiers = {entity.entity_id: Tier.COMFORT}
    shut = SHUT.get(entity.domain, "off")
    async for room in _room(LET_ALL, more=[entity], tiers=tiers):
        await room.change(entity.entity_id, shut, current_position=0)
        denied = await room.undo()
        assert (denied.decision, denied.rule) == (Decision.DENIED, "undo_opens")
        assert room.state(entity.entity_id) == shut


async def test_what_opens_costs_the_rest_nothing() -> None:
    gate = replace(thing("switch.relay", "on"), name="Front gate")
    async for room in _room(more=[gate]):
        await room.stack.before("k", ["light.lamp", "switch.relay"], "k")
        for name in ("light.lamp", "switch.relay"):
            room.home.write(name, "off")
        room.stack.after("k", outcome(entities=("light.lamp", "switch.relay")))
        undone = await room.undo()
        assert undone.decision is Decision.ALLOWED
        assert (room.state("light.lamp"), room.state("switch.relay")) == ("on", "off")
        assert "the front gate" in undone.sentence


async def test_guests_undo_comfort_alone(room: Room) -> None:
    await room.change("light.lamp", "off")
    await room.change("switch.space_heater", "off")
    room.moment[0] = PolicyContext(Mode.GUEST)
    assert (await room.undo()).decision is Decision.DENIED
    assert (await room.undo(steps=2)).decision is Decision.DENIED
    assert (room.state("switch.space_heater"), room.state("light.lamp")) == ("off", "off")


async def test_in_the_mode_ask_a_lamp_is_asked_about_too(room: Room) -> None:
    await room.change("light.lamp", "off")
    room.moment[0] = PolicyContext(Mode.ASK)
    assert (await room.undo()).decision is Decision.NEEDS_CONFIRMATION
    await room.change("light.shelf", "off")
    room.moment[0] = PolicyContext(Mode.GUEST)
    assert (await room.undo(turn="guest")).decision is Decision.ALLOWED


@pytest.mark.parametrize(
    ("rights", "caller"), [(CALLERS, "http:panel"), (LATER.rights, LATER.name)]
)
async def test_no_program_undoes_what_others_did(room: Room, rights: Rights, caller: str) -> None:
    await room.change("light.lamp", "off")
    room.tools.restrict("undoing", rights, caller)
    denied = await room.undo()
    assert (denied.decision, denied.rule) == (Decision.DENIED, "caller")
    assert room.state("light.lamp") == "off"


@pytest.mark.parametrize(("now", "decision"), [(time(23), "denied"), (time(12), "allowed")])
async def test_rules_of_the_owner_hold(now: time, decision: str) -> None:
    night = OwnerRule(Ruling.DENY, entity="light.lamp", begins=time(22), ends=time(7))
    async for room in _room(Rulings(rules=(night,))):
        await room.change("light.lamp", "off")
        room.moment[0] = PolicyContext(now=now)
        assert (await room.undo()).decision == decision


@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        (OwnerRule(Ruling.ALLOW, entity="switch.space_heater"), Decision.ALLOWED),
        (OwnerRule(Ruling.DENY, tool="undo"), Decision.DENIED),
        (OwnerRule(Ruling.ALLOW, entity="switch.opener"), Decision.NEEDS_CONFIRMATION),
    ],
)
async def test_a_rule_for_the_thing_or_the_tool_decides(
    rule: OwnerRule, decision: Decision
) -> None:
    async for room in _room(Rulings(rules=(rule,))):
        await room.change("switch.space_heater", "off")
        assert (await room.undo()).decision is decision


async def test_a_direction_rule_knows_which_way_a_blind_goes_back() -> None:
    opening = OwnerRule(Ruling.DENY, domain="cover", direction="open")
    async for room in _room(Rulings(rules=(opening,))):
        await room.change("cover.blind", current_position=10)
        assert (await room.undo()).decision is Decision.DENIED
        await room.change("cover.blind", current_position=90)
        assert (await room.undo()).decision is Decision.ALLOWED


async def test_several_requests_are_judged_as_one_after_the_other(room: Room) -> None:
    await room.change("switch.space_heater", "off")
    await room.change("switch.space_heater", "on")
    assert room.stack.moves() == (Move("switch.space_heater", Action.OFF),)
    both = (Move("switch.space_heater", Action.OFF), Move("switch.space_heater", Action.ON))
    assert room.stack.moves(2) == both
    assert (await room.undo()).status is Status.DONE  # turning it off again is free
    assert (await room.undo(turn="once more")).decision is Decision.NEEDS_CONFIRMATION


async def test_what_another_turn_has_changed_since_was_not_judged(room: Room) -> None:
    await room.change("light.lamp", "off")
    judged = room.stack.moves()
    await room.change("switch.space_heater", "off")
    undone = await room.stack.undo(2, judged)
    assert (undone.levels, undone.changed) == (0, True)
    assert (room.state("switch.space_heater"), room.state("light.lamp")) == ("off", "off")


async def test_a_question_is_about_what_it_was_about(room: Room) -> None:
    await room.change("switch.space_heater", "off")
    asked = await room.undo()
    frozen = room.tools.question("undoing", asked.id)
    assert frozen is not None
    await room.change("climate.boiler", None, temperature=20.0)
    settled = await room.tools.settle(frozen, YES)
    assert settled is not None
    assert (settled.status, settled.rule) == (Status.NOT_RUN, "changed_meanwhile")
    assert room.state("switch.space_heater") == "off"


async def test_an_always_is_for_just_this_way_back() -> None:
    clock = VirtualClock()
    async for room in _room(consents=Consents(FakeValues(), clock)):
        await room.change("climate.boiler", None, temperature=20.0)
        asked = await room.undo()
        frozen = room.tools.question("undoing", asked.id)
        assert frozen is not None
        await room.tools.settle(frozen, replace(YES, always=True))
        assert room.home.house.entities["climate.boiler"].attributes["temperature"] == 28.0
        await room.change("climate.boiler", None, temperature=20.0)
        assert (await room.undo(turn="same")).confirmed_by == "always"
        room.home.write("climate.boiler", None, temperature=33.0)
        await room.change("climate.boiler", None, temperature=20.0)
        assert (await room.undo(turn="hotter")).decision is Decision.NEEDS_CONFIRMATION


FILE = Move("", Action.NOTE, server="files", tool="write_file")


@pytest.mark.parametrize(
    ("move", "mode", "decision"),
    [
        (FILE, Mode.NORMAL, Decision.NEEDS_CONFIRMATION),
        (FILE, Mode.TRUSTING, Decision.ALLOWED),
        (replace(FILE, rated=True), Mode.NORMAL, Decision.ALLOWED),
        (replace(FILE, rated=True), Mode.GUEST, Decision.DENIED),
    ],
)
async def test_a_server_s_work_is_taken_back_by_its_own_rules(
    room: Room, move: Move, mode: Mode, decision: Decision
) -> None:
    files = Files()
    await room.stack.before("file", [], "turn")
    room.stack.push("file", "turn", files, (move,))
    room.stack.after("file", outcome(server="files", name="write_file"))
    room.moment[0] = PolicyContext(mode)
    assert (await room.undo()).decision is decision
    assert files.done == (["run"] if decision is Decision.ALLOWED else [])


async def test_a_lamp_beside_a_heater_is_named_in_the_question(room: Room) -> None:
    for entity_id in ("light.lamp", "switch.space_heater"):
        await room.stack.before(entity_id, [entity_id], "evening")
        room.home.write(entity_id, "off")
        room.stack.after(entity_id, outcome(entities=(entity_id,)))
    asked = await room.undo()
    frozen = room.tools.question("undoing", asked.id)
    assert frozen is not None
    assert frozen.text == "Turn on the space heater, and change the lamp too?"


async def test_a_correction_is_judged_by_what_it_undoes(room: Room) -> None:
    await room.change("switch.space_heater", "off")
    call = ToolCall("c", "correct_last", {"name": "Lamp"})
    asked = await room.tools.call(call, "turn", "no, the lamp", "en", ASK)
    assert asked.decision is Decision.NEEDS_CONFIRMATION
    assert room.state("switch.space_heater") == "off"


THERE = {"supported_features": PLAYER}


@pytest.mark.parametrize(
    ("was", "now", "moves"),
    [
        (LAMP, "off", [(Action.ON, {})]),
        (light("lamp", "off"), "on", [(Action.OFF, {})]),
        (LAMP, "on", [(Action.SET, {})]),
        (thing("number.level", "3"), "7", [(Action.SET, {})]),
        (BLIND, "closed", [(Action.POSITION, {"position": 70})]),
        (thing("cover.old", "open"), "closed", [(Action.ON, {})]),
        (thing("cover.old", "closed"), "open", [(Action.OFF, {})]),
        (thing("climate.a", "off"), "heat", [(Action.OFF, {})]),
        (thing("climate.a", "heat"), "cool", [(Action.SET, {})]),
        (BOILER, "unavailable", [(Action.ON, {}), (Action.SET, {"temperature": 28.0})]),
        (
            thing("climate.a", "heat_cool", target_temp_low=26, target_temp_high=30),
            "heat_cool",
            [(Action.SET, {"temperature": 26})],
        ),
        (
            thing("media_player.tv", "playing", volume_level=0.3, **THERE),
            "off",
            [(Action.ON, {}), (Action.SET, {"volume_level": 0.3}), (Action.SET, {})],
        ),
        (thing("media_player.tv", "off", **THERE), "playing", [(Action.OFF, {})]),
    ],
)
def test_the_way_back(
    was: Entity, now: str, moves: Sequence[tuple[Action, dict[str, Any]]]
) -> None:
    found = way_back(
        was, thing(was.entity_id, now, **(THERE if was.domain == "media_player" else {}))
    )
    assert [(move.action, dict(move.arguments)) for move in found] == list(moves)
    assert {move.entity_id for move in found} == {was.entity_id}
