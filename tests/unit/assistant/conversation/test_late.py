"""Turns that begin before there is anybody to serve them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.conversation.turn_services import NAME, LateBrain, LateTools
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone, TurnRequest
from assistant.domain.call import ToolCall
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedTurn, Tools

REQUEST = TurnRequest("t1", "en", "text", "hello", None, "kitchen")


async def _answers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ReplyText("Here I am.")
    yield TurnDone()


async def test_a_turn_waits_for_its_brain() -> None:
    late, begun = LateBrain(), list[TurnRequest]()
    brain = ScriptedBrain(_answers)
    assert late.name == NAME
    late.anticipate()
    turn = late.begin(REQUEST)
    events = list[BrainEvent]()

    async def follow() -> None:
        async with aclosing(turn.events()) as coming:
            events.extend([event async for event in coming])

    following = asyncio.ensure_future(follow())
    await asyncio.sleep(0)
    assert not events
    late.become(brain, begun.append)
    await following
    assert events == [ReplyText("Here I am."), TurnDone()]
    assert begun == [REQUEST]
    assert brain.turns[0].request is REQUEST
    assert brain.anticipated == 1  # the one from before is told
    assert late.name == "scripted"
    late.anticipate()
    assert brain.anticipated == 2
    brain.assert_consumed()


async def test_a_turn_that_is_cut_off_waits_no_more() -> None:
    late = LateBrain()
    turn = late.begin(REQUEST)
    waiting = asyncio.ensure_future(anext(turn.events()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    brain = ScriptedBrain()
    late.become(brain, lambda request: None)
    assert not brain.turns


async def test_calls_wait_for_their_tools() -> None:
    late, tools = LateTools(), Tools()
    assert late.question("t1", "c1") is None
    late.leave("t1")
    call = ToolCall("c1", "HassTurnOn", {})
    calling = asyncio.ensure_future(late.call(call, "t1", "on", "en"))
    await asyncio.sleep(0)
    assert not calling.done()
    late.become(tools)
    assert (await calling).id == "c1"
    assert tools.calls == [call]
    late.leave("t1")
    assert tools.left == ["t1"]
