"""Tests of a brain that ends without a word or keeps the person waiting."""

import asyncio
from collections.abc import Callable

import pytest

from assistant.brains.fallback import REPEAT_WITHIN_S, FallbackBrain
from assistant.brains.slots import AbsentBrain, Budget
from assistant.domain.brain import (
    Brain,
    BrainFault,
    Heard,
    NotMeant,
    Preface,
    ReplyText,
    Serving,
    ToolCallsCancelled,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import ToolCall
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.brains.scripted import (
    DONE,
    LIVE,
    OFFLINE,
    ONCE,
    Answered,
    House,
    ScriptedBrain,
    Spendings,
    Stage,
    Step,
    call,
    fault,
    outcome_of,
    play,
    said,
    served,
)

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
    assert stage.ladder.slots[0].breaker.fault is None


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
    assert stage.ladder.slots[0].breaker.fault is not None


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
        "Gemini declined to answer that, so I'll answer on my own. The light is on."
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
    assert stage.ladder.slots[0].breaker.fault is None


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


# --- A brain that does not know the sentence passes it on, and stays available.

UNKNOWN = fault("not_understood")


async def test_the_next_rung_is_asked_and_nothing_is_said_of_it(stage: Stage) -> None:
    ladder = stage.of(stage.offline, stage.once)
    stage.expect(offline=[[Heard("tell me a joke"), UNKNOWN]], once=[DONE])
    events = await stage.run(ladder)
    assert served(events) == [OFFLINE, ONCE]
    assert said(events) == "Fine."


async def test_it_is_asked_again_the_next_time_however_often_it_did_not_know(stage: Stage) -> None:
    ladder = stage.of(stage.offline, stage.once)
    for _ in range(5):
        stage.expect(offline=[[UNKNOWN]], once=[DONE])
        assert served(await stage.run(ladder))[0] == OFFLINE


async def test_of_several_reasons_it_is_told_last(stage: Stage) -> None:
    ladder = stage.of(stage.live, stage.offline)
    stage.expect(live=[[fault("unreachable")]], offline=[[UNKNOWN]])
    end = (await stage.run(ladder))[-1]
    assert isinstance(end, BrainFault)
    assert end.kind == "unreachable"


async def test_without_another_reason_it_is_told(stage: Stage) -> None:
    ladder = stage.of(stage.offline)
    stage.expect(offline=[[UNKNOWN]])
    events = await stage.run(ladder)
    assert events[-1] == UNKNOWN
    assert not any(isinstance(event, ReplyText | TurnDone) for event in events)


# --- The brains of a profile.


def ladder_of(
    stage: Stage, next_profile: Callable[[], str] = str, **orders: tuple[str, ...]
) -> FallbackBrain:
    return FallbackBrain(
        (stage.live, stage.once, stage.offline),
        stage.house.toolbox,
        stage.budget,
        Catalogue(),
        stage.clock,
        orders=orders,
        next_profile=next_profile,
    )


async def test_a_profiles_turns_go_to_its_brains_in_its_order(stage: Stage) -> None:
    stage.offline.add(DONE)
    events = await stage.run(ladder_of(stage, quiet=(OFFLINE,)), profile="quiet")
    assert served(events) == [OFFLINE]


async def test_other_turns_go_to_all(stage: Stage) -> None:
    stage.live.add(DONE, DONE)
    ladder = ladder_of(stage, quiet=(OFFLINE,))
    for profile in ("", "other"):
        events = await stage.run(ladder, profile=profile)
        assert served(events) == [LIVE]


async def test_where_none_of_them_is_there_no_other_is_asked(stage: Stage) -> None:
    events = await stage.run(ladder_of(stage, quiet=("home-assistant",)), profile="quiet")
    [fault] = events
    assert isinstance(fault, BrainFault)
    assert fault.kind == "unreachable"


async def test_what_is_told_is_of_its_own_brains(stage: Stage) -> None:
    """A spent budget is no reason if nothing was to go to the cloud."""
    stage.spendings.usd = 2.0
    stage.offline.add([fault("broken")])
    events = await stage.run(ladder_of(stage, quiet=(OFFLINE,)), profile="quiet")
    told = events[-1]
    assert isinstance(told, BrainFault)
    assert told.kind == "broken"


def test_the_brain_that_will_be_asked_is_told_beforehand(stage: Stage) -> None:
    profile = [""]
    ladder = ladder_of(stage, lambda: profile[0], once=(ONCE,))
    ladder.anticipate()
    assert (stage.live.anticipated, stage.once.anticipated) == (1, 0)
    profile[0] = "once"
    ladder.anticipate()
    assert (stage.live.anticipated, stage.once.anticipated) == (1, 1)


# --- A brain that is unavailable says why, and the chain goes on.

REQUEST = TurnRequest("t", "en", "text", "hello", None)
MESSAGE = "privacy.accept_cloud is false."


def absent(name: str) -> AbsentBrain:
    return AbsentBrain(name, "no_consent", MESSAGE)


async def test_it_fails_at_once() -> None:
    brain = absent("gemini-live")
    brain.anticipate()
    turn = brain.begin(REQUEST)
    await turn.answer(outcome_of(ToolCall("1", "light", {})))
    fault = BrainFault("no_consent", MESSAGE, retryable=False)
    assert [event async for event in turn.events()] == [fault]


async def test_it_is_said_once(budget: Budget, clock: VirtualClock) -> None:
    hello: list[Step] = [ReplyText("Hello."), TurnDone()]
    local = ScriptedBrain("offline", hello, hello)
    rungs: list[Brain] = [absent("gemini-live"), absent("gemini-once"), local]
    house = House()
    ladder = FallbackBrain(rungs, house.toolbox, budget, Catalogue(), clock)
    line = Catalogue().say("ladder.away_no_consent", "en")
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("gemini-live"),
        Serving("gemini-once"),
        Serving("offline"),
        Preface(alone=True),
        ReplyText(f"{line} ", language="en"),
        ReplyText("Hello."),
        TurnDone(),
    ]
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("offline"),
        ReplyText("Hello."),
        TurnDone(),
    ]
    local.assert_consumed()


async def test_in_every_turn_it_says_the_same(budget: Budget, clock: VirtualClock) -> None:
    ladder = FallbackBrain([absent("gemini-live")], House().toolbox, budget, Catalogue(), clock)
    for _ in range(2):
        fault = (await play(ladder.begin(REQUEST), House()))[-1]
        assert fault == BrainFault("no_consent", MESSAGE, retryable=False)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def budget(clock: VirtualClock) -> Budget:
    return Budget(1.0, Spendings(), clock)
