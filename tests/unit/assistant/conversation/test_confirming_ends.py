"""Tests of new commands instead of an answer, of failures during one, and of interrupted turns."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted, StopAsked
from assistant.domain.brain import BrainEvent, Heard, Reached, ReplyText, Serving
from assistant.domain.tool_call import (
    CALM,
    CallContext,
    Decision,
    Question,
    Settlement,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.conversation.asking_stage import (
    ANSWER,
    LIGHT,
    UNLOCK,
    GatedTools,
    Keys,
    means,
    played,
    replies,
    unlocks,
)
from tests.unit.assistant.conversation.doubles import (
    Frames,
    Script,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, rounds, runner_with, says_hello

BACK_DOOR = ToolCall("c3", UNLOCK.name, {"name": "Back Door"})
BROKE = Catalogue().say("asking.broke", "en")
QUESTION, OPENED, LEFT = (
    "Unlock the front door?",
    "Done. Front Door: unlocked.",
    "OK, I left the front door locked.",
)


class TestANewCommand:
    async def test_that_asks_again_is_heard_by_a_brain_again(self) -> None:
        tools = GatedTools()
        brain = ScriptedBrain(
            unlocks,
            replies(Heard("unlock the back door"), BACK_DOOR),
            replies(Heard("Yes, please.")),
        )
        second: dict[int, Sequence[EarEvent]] = {
            9_000: [SpeechStarted(8_800)],
            10_000: [SpeechEnded(9_300, 10_000)],
        }
        turns = await played(brain, tools, means(None), {**ANSWER, **second})
        asked = [turn.confirmation for turn in turns]
        assert [(one.heard, one.verdict) for one in asked if one is not None] == [
            ("unlock the back door", "new_command"),
            ("Yes, please.", "yes"),
        ]
        assert tools.run == [BACK_DOOR]

    @pytest.mark.parametrize(("after_ms", "near"), [(200, True), (2_500, False)])
    async def test_soon_after_our_question_may_be_its_echo(self, after_ms: int, near: bool) -> None:
        began = 3_000 + after_ms
        answer: dict[int, Sequence[EarEvent]] = {
            began + 200: [SpeechStarted(began)],
            began + 1_200: [SpeechEnded(began + 500, began + 1_200)],
        }
        tools = GatedTools()
        brain = ScriptedBrain(unlocks, replies(Heard("unlock the back door"), LIGHT))
        await played(brain, tools, means(None), {**COMMAND, **answer})
        assert [one.near_own_speech for one in tools.situations] == [False, near]

    async def test_that_was_typed_is_a_typed_turn(self) -> None:
        tools, keys = GatedTools(), Keys("turn on the hall light")
        async with runner_with(
            ScriptedBrain(unlocks, says_hello), tools=tools, asking=means(None, keys=keys)
        ) as (runner, closed):
            await runner.ask("unlock the front door")
        (first, _), (second, _) = closed
        assert tools.run == []
        assert first.spoken.clauses == (QUESTION,)
        assert first.confirmation is not None
        assert first.confirmation.verdict == "new_command"
        assert (second.opening.source, second.heard) == ("text", "turn on the hall light")
        assert second.spoken.clauses == ("Hello there.",)


async def raises(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield Serving("gemini-live")
    raise ValueError("a bug")


class BreaksAfterwards(GatedTools):
    """Tools that break after the call was made."""

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        await super().settle(question, settlement)
        raise ValueError("a bug")


class BreaksOverTheLight(GatedTools):
    """Tools that break at another call."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        if call == LIGHT:
            raise ValueError("a bug")
        return await super().call(call, turn_id, heard, language, situation)


class TestWhatBreaks:
    @pytest.mark.parametrize(
        ("tools", "about_it", "said"),
        [
            (GatedTools, raises, LEFT),
            (BreaksAfterwards, replies(Heard("Yes.")), BROKE),
            (BreaksOverTheLight, replies(Heard("Yes."), LIGHT), OPENED),
        ],
        ids=["the brain, about the answer", "the call", "another call, about the answer"],
    )
    async def test_is_told_and_the_next_turn_works(
        self,
        tools: Callable[[], GatedTools],
        about_it: Script,
        said: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        brain, asking = ScriptedBrain(unlocks, about_it, says_hello), means(None)
        async with runner_with(brain, ScriptedEar(ANSWER), tools(), asking=asking) as (
            runner,
            closed,
        ):
            async with asyncio.timeout(60):
                await runner.listen(Frames(30.0), turns=1)
                await runner.ask("hello")
        assert [turn.spoken.clauses for turn, _ in closed] == [(QUESTION, said), ("Hello there.",)]
        assert "a bug" in caplog.text
        [outcome] = closed[0][0].outcomes
        assert outcome.decision is (Decision.DENIED if said == LEFT else Decision.CONFIRMED)


class TestCutOff:
    async def test_while_the_confirmed_call_runs_it_runs_to_its_end(self) -> None:
        class Slow(GatedTools):
            async def settle(
                self, question: Question, settlement: Settlement | None
            ) -> ToolOutcome | None:
                running.set()
                await go_on.wait()
                return await super().settle(question, settlement)

        async def goes_on(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Serving("gemini-live")
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Reached("upload_done")
            yield Heard("Yes.")
            yield ReplyText("well")
            await asyncio.Event().wait()

        running, go_on = asyncio.Event(), asyncio.Event()
        tools, brain = Slow(), ScriptedBrain(unlocks, goes_on)
        async with runner_with(brain, ScriptedEar(ANSWER), tools, asking=means(None)) as (
            runner,
            closed,
        ):
            listening = asyncio.create_task(runner.listen(Frames(30.0), turns=1))
            async with asyncio.timeout(60):
                await running.wait()
                runner.dispatch(StopAsked())
                await rounds(50)
                assert brain.turns[1].closed
                go_on.set()
                await listening
        assert tools.run == [UNLOCK]
        assert [closing.error for _, closing in closed] == ["interrupted"]

    async def test_between_the_call_and_its_question_nothing_stays_pending(self) -> None:
        class Stopped(GatedTools):
            async def call(
                self,
                call: ToolCall,
                turn_id: str,
                heard: str | None,
                language: str,
                situation: CallContext = CALM,
            ) -> ToolOutcome:
                outcome = await super().call(call, turn_id, heard, language, situation)
                runner.dispatch(StopAsked())
                return outcome

        tools = Stopped()
        async with runner_with(
            ScriptedBrain(unlocks), ScriptedEar(COMMAND), tools, asking=means(None)
        ) as (runner, _):
            async with asyncio.timeout(60):
                await runner.listen(Frames(30.0), turns=1)
        assert len(tools.settled) == 1
        assert tools.run == []

    async def test_while_the_call_is_judged_nothing_stays_pending(self) -> None:
        class Slow(GatedTools):
            async def call(
                self,
                call: ToolCall,
                turn_id: str,
                heard: str | None,
                language: str,
                situation: CallContext = CALM,
            ) -> ToolOutcome:
                judging.set()
                await cut_off.wait()
                return await super().call(call, turn_id, heard, language, situation)

        async def clears_up(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            try:
                assert turn.request.audio is not None
                await turn.request.audio.complete()
                yield Heard("unlock the front door", "en")
                yield UNLOCK
                await asyncio.Event().wait()
            finally:
                cut_off.set()
                await rounds(30)

        judging, cut_off = asyncio.Event(), asyncio.Event()
        tools = Slow()
        async with runner_with(
            ScriptedBrain(clears_up), ScriptedEar(COMMAND), tools, asking=means(None)
        ) as (runner, _):
            async with asyncio.timeout(60):
                listening = asyncio.create_task(runner.listen(Frames(30.0), turns=1))
                await judging.wait()
                runner.dispatch(StopAsked())
                await listening
        assert len(tools.settled) == 1
        assert tools.run == []
