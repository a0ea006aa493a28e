"""Tests of barge-in, long work, and many turns in one process. Simulated Gemini."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.events import StopAsked, Typed
from assistant.conversation.rules.state import State
from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFICE,
    SAID,
    TURN_ON,
    Room,
    Scene,
    Speaker,
    ended,
    said,
    scene,
    settled,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import (
    Call,
    Done,
    Gate,
    Hear,
    OnceTurn,
    Opening,
    Say,
    Stall,
    Step,
    Turn,
)

HEARD = Hear(ASKED)
YES: list[Step] = [Say("Yes."), Done()]
LONG = "I can tell you a very long story about that. " * 5
TURNS = 40


# --- talked over


@pytest.mark.parametrize(
    "story",
    [
        pytest.param([Say(LONG), Stall()], id="while the model still makes it"),
        pytest.param([Say(LONG), Done()], id="when the model has made all of it"),
        pytest.param([Call(TURN_ON, OFFICE), Say(LONG), Stall()], id="after a deed"),
    ],
)
async def test_the_wake_word_while_it_speaks(
    tmp_path: Path, command: Path, story: Sequence[Step]
) -> None:
    service = GeminiSimulator(
        [
            Turn("audio", [Hear("tell me a story"), *story], cut=None),
            Turn("audio", [Hear("is it on"), *YES]),
        ]
    )
    speaker = Speaker()
    async with scene(tmp_path, service, hears=True, player=speaker) as on:
        room = Room()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(on.app.runner.listen(room))
            room.play(command)
            await speaker.heard.wait()
            room.play(command)
            await on.until(lambda: len(service.turns) == 2)
            await on.come_to(lambda: len(on.turns) == 2)
            room.leave()
        first, second = on.turns
        assert ended(first) == (LIVE, "interrupted")
        assert 0 < len(first.record.clauses) < 5  # what was heard of it
        assert ended(second) == (LIVE, None)
        assert said(second) == "Yes."


@pytest.mark.parametrize("long", [False, True], ids=["that ends soon", "that does not end"])
async def test_a_new_sentence_while_a_tool_runs(tmp_path: Path, long: bool) -> None:
    service = GeminiSimulator(
        [
            Turn("text", [Call(TURN_ON, OFFICE), Say(SAID), Done()], cut=None),
            Turn("text", YES),
        ]
    )
    async with scene(tmp_path, service) as on, asyncio.TaskGroup() as group:
        async with on.holding_the_house() as house:
            on.app.runner.dispatch(Typed(ASKED))
            await house.reached.wait()
            asking = group.create_task(on.ask("is anybody there?"))
            if long:
                async with on.clock.hurrying():
                    await on.until(lambda: len(service.turns) == 2)
                await asking  # the first call is still held
            house.go_on.set()
        second = await asking
        assert ended(on.turns[0]) == (LIVE, "interrupted")
        assert ended(second) == (LIVE, None)
        assert said(second) == "Yes."
    assert on.house_calls == [(TURN_ON, OFFICE)]  # what was sent is not called back
    told = service.turns[0].calls[0].response
    assert told is not None
    assert told["status"] == ("unknown" if long else "done")


async def test_it_is_told_to_stop(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", [Say(LONG), Stall()], cut=None), Turn("text", YES)],
    )
    speaker = Speaker()
    async with scene(tmp_path, service, player=speaker) as on:
        async with asyncio.TaskGroup() as group:
            group.create_task(on.ask("tell me a story"))
            await speaker.heard.wait()
            on.app.runner.dispatch(StopAsked())
        assert ended(on.turns[0]) == (LIVE, "interrupted")
        assert said(await on.ask("are you still there?")) == "Yes."


# --- long work


async def test_a_call_beyond_twenty_seconds_goes_on_and_its_end_is_told(tmp_path: Path) -> None:
    running = Call(TURN_ON, OFFICE, answer={"status": "running"})
    doing = Call("what_are_you_doing", answer=lambda told: "Office" in told["sentence"])
    service = GeminiSimulator(
        [
            Turn("text", [running, Say("That takes a while; I will tell you."), Done()]),
            Turn("text", [doing, Say("I still turn on the lights."), Done()]),
        ],
        once=[OnceTurn([Say(SAID), Done()])],  # phrases the result
    )
    async with scene(tmp_path, service, resident=True) as on:
        async with on.holding_the_house() as house:
            turn = await on_a_long_call(on, ASKED)
            assert ended(turn) == (LIVE, None)
            # Ours: its end is not known, and the model might claim it.
            assert said(turn) == ("This will take a while. I'll tell you when it's done.")
            assert on.app.runner.state is State.IDLE  # the microphone is free
            assert said(await on.ask("what are you doing?")) == "I still turn on the lights."
            assert on.announced == []
            house.go_on.set()
            await on.come_to(lambda: bool(on.announced))
        assert on.announced[0].clauses == (SAID,)
        assert on.house_calls == [(TURN_ON, OFFICE)]


async def test_drop_it(tmp_path: Path) -> None:
    running = Call(TURN_ON, OFFICE, answer={"status": "running"})
    drop = Call("drop_it", answer={"status": "done"})
    nothing = Call(
        "what_are_you_doing", answer=lambda told: "not working on anything" in told["sentence"]
    )
    service = GeminiSimulator(
        [
            Turn("text", [running, Say("That takes a while."), Done()]),
            Turn("text", [drop, Say("Dropped."), Done()]),
            Turn("text", [nothing, Say("Nothing."), Done()]),
        ],
    )
    async with scene(tmp_path, service, resident=True) as on:
        async with on.holding_the_house() as house:
            await on_a_long_call(on, ASKED)
            assert said(await on.ask("drop it")) == "Dropped."
            house.go_on.set()
        assert said(await on.ask("what are you doing?")) == "Nothing."
        assert on.announced == []
        assert on.house_calls == []


QUESTION = {"question": "Which light costs the most?"}


async def test_thinking_longer_is_answered_in_the_turn(tmp_path: Path) -> None:
    think = Call("think_longer", QUESTION, answer=lambda told: "desk lamp" in told["data"])
    look = Call("GetLiveContext", {"area": "Office"})
    service = GeminiSimulator(
        [Turn("text", [think, Say("The desk lamp."), Done()])],
        once=[OnceTurn([look, Say("It is the desk lamp."), Done()])],
    )
    async with scene(tmp_path, service) as on:
        turn = await on.ask("which light costs the most?")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "The desk lamp."
    assert [request.status for request in service.once_requests] == [200, 200]
    assert "think_longer" not in service.once_requests[0].functions


async def test_thinking_that_takes_longer_is_announced(tmp_path: Path) -> None:
    thought = Gate()
    think = Call("think_longer", QUESTION, answer={"status": "running"})
    service = GeminiSimulator(
        [Turn("text", [think, Say("I will think about it."), Done()])],
        once=[OnceTurn([Stall(until=thought), Say("It is the desk lamp."), Done()])],
    )
    async with scene(tmp_path, service, resident=True) as on:
        turn = await on_a_long_call(on, "which light costs the most?")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "I will think about it."
        thought.open()
        await on.come_to(lambda: bool(on.announced))
        assert "It is the desk lamp." in " ".join(on.announced[0].clauses)


async def test_plain_commands_never_pay_for_thinking(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [Call(TURN_ON, OFFICE), Say(SAID), Done()])])
    async with scene(tmp_path, service) as on:
        await on.ask(ASKED)
    assert service.once_requests == []


# --- many


async def test_forty_turns_with_three_reconnects(tmp_path: Path) -> None:
    service = GeminiSimulator(respond=dim, openings=[Opening()] * 2)
    limits, gemini = {"comfort_per_minute": 10_000}, {"late_text_ms": 20}
    async with scene(tmp_path, service, gemini=gemini, limits=limits) as on:
        for number in range(1, TURNS + 1):
            turn = await on.ask(f"kitchen {number} percent")
            assert ended(turn) == (LIVE, None)
            assert said(turn) == f"{number} it is."
            newest = service.connections[-1]
            if number == 10:
                newest.go_away(30)
            elif number == 20:
                newest.drop()
            elif number == 30:
                service.expire_handles()
                newest.drop()
            else:
                continue
            await on.until(lambda left=newest: not left.open)  # type: ignore[misc]
        assert len(on.house_calls) == TURNS
    assert [settled(turn) for turn in service.turns] == [["answered"]] * TURNS
    first, rotated, resumed, *refused, fresh = service.connections
    assert [rotated.resumed, resumed.resumed, fresh.resumed] == [True, True, False]
    assert [one.handle is None for one in (first, fresh)] == [True, True]
    assert len(refused) == 1


def dim(turn: HeardTurn) -> Sequence[Step]:
    """Return the model's steps in each of many turns; no two are alike."""
    number = int(turn.text.split()[-2])
    given = {"area": "Kitchen", "brightness": number}
    return [Call("light__HassLightSet", given), Say(f"{number} it is."), Done()]


# --- helps


async def on_a_long_call(on: Scene, text: str) -> FinishedTurn:
    """Run one turn whose call does not return in time."""
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(on.ask(text))
        await on.until(lambda: [settled(turn) for turn in on.service.turns[-1:]] == [["open"]])
        async with on.clock.hurrying():
            await on.until(lambda: settled(on.service.turns[-1]) == ["answered"])
    return asking.result()
