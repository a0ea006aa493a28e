"""Turns that begin before there is anybody to serve them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from assistant.conversation.rules.events import WakeRising
from assistant.conversation.rules.state import State
from assistant.conversation.turn_services import TurnServices
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.call import ToolCall
from assistant.domain.deferred import Deferred
from tests.unit.assistant.conversation.doubles import Manners, ScriptedBrain, ScriptedTurn, Tools
from tests.unit.assistant.conversation.stage import rounds, runner_with


async def _calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ToolCall("c1", "HassTurnOn", {})
    await turn.answered.wait()
    yield ReplyText("Here I am.")
    yield TurnDone()


async def test_a_turn_waits_for_its_brain_and_its_profile() -> None:
    services, brain = Deferred[TurnServices](), ScriptedBrain(_calls)
    tools, profiles = Tools(), Manners()
    async with runner_with(brain, deferred=services) as (runner, closed):
        runner.use_profile("kitchen")
        asked = asyncio.ensure_future(runner.ask("hello"))
        await rounds()
        assert runner.state is State.THINKING
        assert not brain.turns
        services.set(TurnServices(brain, tools, profiles=profiles))
        await asked
    (turn, _) = closed[0]
    assert turn.answer == "Here I am."
    assert profiles.begun == [(turn.turn_id, "kitchen")]
    assert brain.turns[0].request.text == "hello"
    assert tools.calls == [ToolCall("c1", "HassTurnOn", {})]


async def test_a_profile_begins_once() -> None:
    services, brain, profiles = Deferred[TurnServices](), ScriptedBrain(_calls), Manners()
    async with runner_with(brain, deferred=services) as (runner, closed):
        services.set(TurnServices(brain, Tools(), profiles=profiles))
        await runner.ask("hello")
    assert profiles.begun == [(closed[0][0].turn_id, "")]


async def test_a_turn_that_is_cut_off_waits_no_more() -> None:
    services, brain, tools = Deferred[TurnServices](), ScriptedBrain(), Tools()
    async with runner_with(brain, deferred=services) as (runner, closed):
        asked = asyncio.ensure_future(runner.ask("hello"))
        await rounds()
        runner.stop()
        await asked
        services.set(TurnServices(brain, tools))
        await rounds()
    assert [turn.cut for turn, _ in closed] == ["stop"]
    assert not brain.turns
    assert not tools.left  # nothing was begun there


async def test_what_is_anticipated_early_is_told_to_the_brain_that_comes() -> None:
    services, brain = Deferred[TurnServices](), ScriptedBrain()
    async with runner_with(brain, deferred=services) as (runner, _):
        runner.dispatch(WakeRising(800))
        services.set(TurnServices(brain, Tools()))
        assert brain.anticipated == 1
        runner.dispatch(WakeRising(900))
        assert brain.anticipated == 2


def test_it_is_set_once() -> None:
    deferred = Deferred[str]()
    assert deferred.value is None
    with pytest.raises(LookupError):
        deferred.get()
    used: list[str] = []
    deferred.when_set(used.append)
    deferred.set("here")
    deferred.when_set(used.append)
    assert [deferred.get(), *used] == ["here", "here", "here"]
    with pytest.raises(ValueError, match="before"):
        deferred.set("again")
    assert Deferred.of(7).get() == 7
