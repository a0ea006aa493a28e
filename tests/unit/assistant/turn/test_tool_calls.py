"""Every call of a brain is run once and answered once, however its turn ends."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.brains.protocol import BrainEvent, ReplyText, ToolCallsCancelled, TurnDone
from assistant.tools.call import ToolCall
from assistant.tools.outcome import Status, ToolOutcome
from assistant.turn import live
from assistant.turn.events import StopAsked, Typed
from tests.unit.assistant.turn.doubles import ScriptedBrain, ScriptedTurn, Tools, done
from tests.unit.assistant.turn.stage import rounds, runner_with, says_hello


class SlowTools(Tools):
    """Runs the calls once it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.release = asyncio.Event()

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None, language: str
    ) -> ToolOutcome:
        await self.release.wait()
        return await super().call(call, turn_id, heard, language)


async def calls_twice(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ToolCall("c1", "slow", {})
    yield ToolCall("c2", "slow", {})
    await asyncio.Event().wait()


@pytest.mark.parametrize("after", range(1, 12))
async def test_a_turn_that_is_cut_off_still_answers_its_calls(after: int) -> None:
    tools, brain = SlowTools(), ScriptedBrain(calls_twice, says_hello)
    async with runner_with(brain, tools=tools) as (runner, closed):
        runner.dispatch(Typed("first"))
        await rounds(after)
        await runner.ask("second")
        asked = brain.turns[0].yielded
        assert brain.turns[0].answers == []
        tools.release.set()
        await rounds()
        assert [call.id for call in tools.calls] == ["c1", "c2"][:asked]
        assert [outcome.id for outcome in brain.turns[0].answers] == ["c1", "c2"][:asked]
        assert brain.turns[0].closed or not brain.turns[0].begun
    assert sorted((turn.turn_id, closing.error) for turn, closing in closed) == [
        ("turn-0", "interrupted"),
        ("turn-1", None),
    ]


async def test_a_call_that_outlives_its_turn_holds_up_the_end() -> None:
    tools, brain = SlowTools(), ScriptedBrain(calls_twice)
    async with runner_with(brain, tools=tools) as (runner, _):
        runner.dispatch(Typed("first"))
        await rounds()
        runner.dispatch(StopAsked())
        asyncio.get_running_loop().call_soon(tools.release.set)
    assert len(brain.turns[0].answers) == 2


async def test_a_call_that_goes_on_in_the_background_is_an_outcome_like_any() -> None:
    class Patient(Tools):
        async def call(
            self, call: ToolCall, turn_id: str, heard: str | None, language: str
        ) -> ToolOutcome:
            return replace(done(call), running=True)

    async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "long", {})
        await turn.answered.wait()
        yield ReplyText("It will take a while.")
        yield TurnDone()

    brain = ScriptedBrain(asks)
    async with runner_with(brain, tools=Patient()) as (runner, closed):
        await runner.ask("think")
    assert [outcome.running for outcome in brain.turns[0].answers] == [True]
    assert closed[0][0].answer == "It will take a while."


async def test_a_cancelled_call_runs_on_and_its_outcome_is_told() -> None:
    async def changes_its_mind(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        yield ToolCallsCancelled(("c1",))
        yield ReplyText("Never mind.")
        tools.release.set()
        await turn.answered.wait()
        yield TurnDone()

    tools, brain = SlowTools(), ScriptedBrain(changes_its_mind)
    async with runner_with(brain, tools=tools) as (runner, closed):
        await runner.ask("first")
    assert [outcome.status for outcome in brain.turns[0].answers] == [Status.DONE]
    assert closed[0][1].error is None


async def test_the_brain_is_not_excused_by_a_call_that_it_cancelled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live, "BRAIN_SILENCE_S", 0.01)

    async def falls_silent(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        yield ToolCallsCancelled(("c1",))
        await asyncio.Event().wait()

    tools, brain = SlowTools(), ScriptedBrain(falls_silent)
    async with runner_with(brain, tools=tools) as (runner, closed):
        await runner.ask("first")
        tools.release.set()
    assert closed[0][1].error == "timeout"
    assert len(brain.turns[0].answers) == 1


async def test_a_call_that_breaks_is_answered_and_the_brain_not_heard_any_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Tools):
        async def call(
            self, call: ToolCall, turn_id: str, heard: str | None, language: str
        ) -> ToolOutcome:
            raise OSError("the disk is full")

    async def believes(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "any", {"name": "x"})
        await turn.answered.wait()
        yield ReplyText("Done.")
        yield TurnDone()

    brain = ScriptedBrain(believes)
    async with runner_with(brain, tools=Broken()) as (runner, closed):
        await runner.ask("first")
    [outcome] = brain.turns[0].answers
    assert (outcome.id, outcome.status) == ("c1", Status.UNKNOWN)
    [(turn, closing)] = closed
    assert closing.error == "broken"
    assert "Done." not in turn.answer
    assert "the disk is full" in caplog.text
