"""What the ladder makes of a brain that ends without a word, or keeps a person waiting."""

import asyncio

import pytest

from assistant.brains.fallback import REPEAT_WITHIN_S
from assistant.domain.brain import NotMeant, ReplyText, Serving, ToolCallsCancelled, TurnDone
from tests.unit.assistant.brains.ladder_stage import (
    DONE,
    LIVE,
    ONCE,
    Stage,
    call,
    fault,
    said,
    served,
)
from tests.unit.assistant.brains.scripted import Answered, Step

# --- without a word


@pytest.mark.parametrize("end", [TurnDone(), NotMeant()], ids=["done", "silent on purpose"])
async def test_after_a_deed_the_ladder_says_what_came_of_it(stage: Stage, end: Step) -> None:
    light = call("c1", "light")
    stage.expect(live=[[light, Answered("c1"), end]])
    assert await stage.run() == [
        Serving(LIVE),
        light,
        ReplyText("The light is on.", language="en"),
        TurnDone(),
    ]
    assert stage.ladder.rungs[0].breaker.fault is None


async def test_what_it_announced_before_the_call_is_not_what_came_of_it(stage: Stage) -> None:
    stage.expect(live=[[ReplyText("One moment."), call("c1", "light"), Answered("c1"), TurnDone()]])
    assert said(await stage.run()) == "One moment. The light is on."


async def test_a_deed_that_is_still_under_way_is_waited_for(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "slow"), ToolCallsCancelled(("c1",)), TurnDone()]])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.settle()
        assert not turn.done()
        stage.house.go_on.set()
    assert said(turn.result()) == "The light is on."


@pytest.mark.parametrize("script", [[], [call("c1", "read"), Answered("c1")]], ids=["", "readings"])
async def test_without_a_deed_it_is_no_answer(stage: Stage, script: list[Step]) -> None:
    stage.expect(live=[[*script, ReplyText(" "), TurnDone()]] * 2, once=[DONE])
    events = await stage.run()
    assert served(events) == [LIVE, LIVE, ONCE]
    assert events[-1] == TurnDone()
    assert stage.ladder.rungs[0].breaker.fault is not None


async def test_silence_on_purpose_after_a_reading_stays_silence(stage: Stage) -> None:
    stage.expect(live=[[call("c1", "read"), Answered("c1"), NotMeant()]])
    assert (await stage.run())[-1] == NotMeant()


async def test_the_line_of_the_rung_comes_before_what_came_of_it(stage: Stage) -> None:
    stage.expect(
        live=[[fault("blocked")]],
        once=[[fault("blocked")]],
        offline=[[call("c1", "light"), Answered("c1"), TurnDone()]],
    )
    assert said(await stage.run()) == (
        "Gemini declined to answer that, so I answer by myself. The light is on."
    )


# --- after a question to the person


@pytest.mark.parametrize(
    "end",
    [TurnDone(), fault("unreachable", retryable=True), fault("blocked"), RuntimeError("broke")],
    ids=["silent", "away", "blocked", "broken"],
)
async def test_nobody_is_asked_for_the_same_again(stage: Stage, end: Step) -> None:
    door = call("c1", "door", "front door")
    stage.expect(live=[[door, Answered("c1"), end]])
    assert await stage.run() == [Serving(LIVE), door, TurnDone()]


@pytest.mark.parametrize("end", [TurnDone(), fault("timeout", retryable=True)], ids=["", "hangs"])
async def test_the_silence_of_a_brain_whose_call_waits_for_a_yes_is_no_failure(
    stage: Stage, end: Step
) -> None:
    stage.expect(live=[[call("c1", "door"), Answered("c1"), end]] * 3)
    for _ in range(3):
        await stage.run()
    assert stage.ladder.rungs[0].breaker.fault is None


# --- after long silence


@pytest.mark.parametrize(
    ("waited_s", "brains"), [(REPEAT_WITHIN_S - 0.1, [LIVE, LIVE]), (REPEAT_WITHIN_S, [LIVE, ONCE])]
)
async def test_who_has_waited_long_is_not_asked_to_wait_for_the_same_brain_again(
    stage: Stage, waited_s: float, brains: list[str]
) -> None:
    silent: list[Step] = [call("c1", "slow_read"), Answered("c1"), fault("timeout", retryable=True)]
    live, once = brains.count(LIVE), brains.count(ONCE)
    stage.expect(live=[silent, DONE][:live], once=[DONE][:once])
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.run())
        await stage.clock.settle()
        await stage.clock.run(waited_s)
        stage.house.go_on.set()
    assert served(turn.result()) == brains
    assert turn.result()[-1] == TurnDone()
