"""Tests that every call of a brain is run once and answered once, however its turn ends."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.conversation import tool_calls
from assistant.conversation import turn as turn_module
from assistant.conversation.rules.events import StopAsked, Typed
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    ReplyText,
    ToolCallsCancelled,
    TurnDone,
)
from assistant.domain.tool_call import CALM, CallContext, Status, ToolCall, ToolOutcome
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import (
    COMMAND,
    rounds,
    runner_with,
    says_hello,
    turns_on,
)


class SlowTools(Tools):
    """Runs the calls once the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.release = asyncio.Event()

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
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


async def test_work_for_a_turn_that_is_cut_off_is_left() -> None:
    tools, brain = SlowTools(), ScriptedBrain(calls_twice, says_hello)
    async with runner_with(brain, tools=tools) as (runner, _):
        runner.dispatch(Typed("first"))
        await rounds()
        assert tools.left == []
        await runner.ask("second")
        tools.release.set()
    assert tools.left == ["turn-0"]


async def test_a_call_that_was_asked_for_just_now_is_begun_before_it_is_left() -> None:
    # Otherwise it would begin for a turn that is over, go on, and be announced.
    class Noting(SlowTools):
        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            self.left.append(f"begun {call.id}")
            return await super().call(call, turn_id, heard, language)

    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        runner.dispatch(StopAsked())
        await asyncio.Event().wait()

    tools, brain = Noting(), ScriptedBrain(calls)
    async with runner_with(brain, tools=tools) as (runner, _):
        runner.dispatch(Typed("first"))
        await rounds()
        tools.release.set()
    assert tools.left == ["begun c1", "turn-0"]


async def test_a_call_that_outlives_its_turn_holds_up_the_end() -> None:
    tools, brain = SlowTools(), ScriptedBrain(calls_twice)
    async with runner_with(brain, tools=tools) as (runner, _):
        runner.dispatch(Typed("first"))
        await rounds()
        runner.dispatch(StopAsked())
        asyncio.get_running_loop().call_soon(tools.release.set)
    assert len(brain.turns[0].answers) == 2


async def test_a_fault_is_told_at_once_whatever_calls_still_run() -> None:
    async def goes_away(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        yield BrainFault("unreachable", "It went away.", retryable=False, spoken="It is lost.")

    class Player(NullPlayer):
        async def play(self, pcm: bytes, rate: int) -> None:
            await super().play(pcm, rate)
            tools.release.set()  # otherwise the call goes on

    tools, brain = SlowTools(), ScriptedBrain(goes_away)
    player = Player(paced=False)
    async with runner_with(brain, tools=tools, player=player) as (runner, closed):
        async with asyncio.timeout(20):
            await runner.ask("first")
    [(turn, closing)] = closed
    assert (closing.error, turn.answer) == ("unreachable", "It is lost.")
    assert [outcome.id for outcome in turn.outcomes] == ["c1"]


class Listening(Tools):
    """Records by which words each call was to be judged."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str | None] = []

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        self.heard.append(heard)
        return await super().call(call, turn_id, heard, language)


@pytest.mark.parametrize(
    ("call", "heard"),
    [
        (ToolCall("c1", "intent__HassTurnOn", {"domain": ["light"]}), "turn on all the lights"),
        (ToolCall("c1", "HassTurnOn", {"name": "Kitchen Light"}), None),  # needs no words
        (ToolCall("c1", "GetDateTime", {}), None),
    ],
)
async def test_words_that_come_late_are_waited_for_where_they_decide(
    call: ToolCall, heard: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "WORDS_S", 30.0)  # real time; a busy machine is slow

    async def hears_late(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield call
        await rounds()
        yield Heard("turn on all the lights", "en")
        await turn.answered.wait()
        yield ReplyText("Done.")
        yield TurnDone()

    tools, brain = Listening(), ScriptedBrain(hears_late)
    async with runner_with(brain, ScriptedEar(COMMAND), tools=tools) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
    assert tools.heard == [heard]


async def test_words_that_do_not_come_are_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_calls, "WORDS_S", 0.01)

    async def hears_nothing(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "HassTurnOn", {"domain": ["light"]})
        await turn.answered.wait()
        yield ReplyText("Which room?")
        yield TurnDone()

    tools, brain = Listening(), ScriptedBrain(hears_nothing)
    async with runner_with(brain, ScriptedEar(COMMAND), tools=tools) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
    assert tools.heard == [None]


async def test_a_call_that_goes_on_in_the_background_is_an_outcome_like_any() -> None:
    class Patient(Tools):
        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
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
    monkeypatch.setattr(turn_module, "BRAIN_SILENCE_S", 0.3)  # until its call, too

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
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
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


async def test_who_waits_for_a_slow_call_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "MOMENT_S", 0.01)
    tools = SlowTools()

    class Heard(NullPlayer):
        async def play(self, pcm: bytes, rate: int) -> None:
            await super().play(pcm, rate)
            tools.release.set()  # once the person has heard it

    script, player = ScriptedEar(COMMAND), Heard(paced=False)
    brain = ScriptedBrain(turns_on)
    async with runner_with(brain, script, tools, player=player) as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
    [(turn, _)] = closed
    assert turn.spoken.clauses == (
        "One moment, I'm still working on it.",
        "The kitchen light is on.",
    )
