"""Tests of the conversation loop when something fails or somebody interrupts."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from assistant.conversation import tool_calls
from assistant.conversation import turn as turn_module
from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.effect_runner import TurnMaker
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechStarted,
    StopAsked,
    Typed,
    WakeHeard,
)
from assistant.conversation.rules.machine import State
from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.tool_call import CALM, CallContext, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
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
    WAKE,
    rounds,
    runner_with,
    says_hello,
    turns_on,
)


async def test_a_brain_that_fails_is_said_and_told() -> None:
    async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield BrainFault("broken", "It broke.", retryable=False)

    async with runner_with(ScriptedBrain(fails)) as (runner, closed):
        await runner.ask("hello")
    [(turn, closing)] = closed
    assert (closing.error, closing.message) == ("broken", "It broke.")
    assert turn.answer == Catalogue().say("fault.broken", "en")
    assert turn.spoken.audio_ms > 0


async def test_a_brain_that_raises_does_not_take_the_daemon_with_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def raises(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("Well")
        raise ValueError("a bug")

    async with runner_with(ScriptedBrain(raises, says_hello)) as (runner, closed):
        await runner.ask("first")
        await runner.ask("second")
    assert [closing.error for _, closing in closed] == ["broken", None]
    assert "a bug" in caplog.text


async def test_a_new_sentence_interrupts_and_a_started_call_is_finished() -> None:
    release = asyncio.Event()

    class SlowTools(Tools):
        finished = False

        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            await release.wait()
            self.finished = True
            return done(call)

    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        await asyncio.Event().wait()

    tools = SlowTools()
    async with runner_with(ScriptedBrain(calls, says_hello), tools=tools) as (runner, closed):
        runner.dispatch(Typed("first"))
        for _ in range(10):
            await asyncio.sleep(0)
        await runner.ask("second")
        release.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert tools.finished
    assert sorted((turn.turn_id, closing.error) for turn, closing in closed) == [
        ("turn-0", "interrupted"),
        ("turn-1", None),
    ]


async def test_stop_silences_the_answer() -> None:
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. ")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("talk"))
        await asyncio.sleep(0)
        runner.dispatch(StopAsked())
        assert runner.state is State.IDLE
        await runner.rest()
    [(turn, closing)] = closed
    assert closing.error == "interrupted"
    assert "answer_done" not in turn.timeline.as_dict()


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 20])
async def test_a_sentence_that_interrupts_is_answered(rounds: int) -> None:
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. Two. ")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(talks, says_hello)) as (runner, closed):
        runner.dispatch(Typed("talk"))
        for _ in range(rounds):
            await asyncio.sleep(0)
        await runner.ask("second")
    turn, closing = closed[-1]
    assert (turn.error, closing.error) == (None, None)
    assert turn.spoken.clauses == ("Hello there.",)


async def test_a_tool_that_raises_is_told_and_the_next_turn_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class BrokenTools(Tools):
        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            raise OSError("the disk is full")

    brain = ScriptedBrain(turns_on, says_hello)
    async with runner_with(brain, ScriptedEar(COMMAND), BrokenTools()) as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
        await runner.ask("hello")
    assert [closing.error for _, closing in closed] == ["broken", None]
    assert closed[0][0].answer == Catalogue().say("fault.broken", "en")
    assert "the disk is full" in caplog.text


async def test_a_brain_that_falls_silent_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(turn_module, "BRAIN_SILENCE_S", 0.01)

    async def sleeps(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("turn on the light")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(sleeps, sleeps), ScriptedEar(COMMAND)) as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
        await runner.ask("hello")
    assert [closing.error for _, closing in closed] == ["timeout", "timeout"]
    assert closed[0][0].answer == Catalogue().say("fault.timeout", "en")
    assert "scripted" in caplog.text


async def test_a_brain_that_only_keeps_busy_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(turn_module, "BRAIN_SILENCE_S", 0.01)

    async def busy(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        while True:
            await asyncio.sleep(0.001)
            yield Heard("turn on the light")

    async with runner_with(ScriptedBrain(busy)) as (runner, closed):
        await runner.ask("hello")
    assert closed[0][1].error == "timeout"
    assert "scripted" in caplog.text


async def test_a_slow_tool_is_not_the_silence_of_the_brain(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, ahead_s = asyncio.get_running_loop(), 0.0
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + ahead_s)
    monkeypatch.setattr(
        tool_calls, "MOMENT_S", 10 * turn_module.BRAIN_SILENCE_S
    )  # nobody is told to wait

    class SlowTools(Tools):
        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            nonlocal ahead_s
            ahead_s += (
                2 * turn_module.BRAIN_SILENCE_S
            )  # no real time: the brain itself may need some
            await rounds()
            return await super().call(call, turn_id, heard, language)

    tools = SlowTools()
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(COMMAND), tools) as (
        runner,
        closed,
    ):
        await runner.listen(Frames(6.0), turns=1)
    assert closed[0][1].error is None
    assert closed[0][0].answer == "The kitchen light is on."


async def test_the_wake_sound_is_no_part_of_the_answer() -> None:
    slowly: dict[int, Sequence[EarEvent]] = {
        1_000: [WAKE],
        2_400: [SpeechStarted(2_220)],
        4_000: [SpeechEnded(3_300, 4_000)],
    }
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(slowly)) as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
    assert closed[0][0].spoken.audio_ms == pytest.approx(240, abs=1)


async def _which(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield ReplyText("Which light?")
    yield TurnDone()


async def test_after_its_turn_a_file_can_only_answer_our_question() -> None:
    again = {4_000: [WakeHeard("okay_nabu", 0.9, at_ms=4_000, mark_ms=3_700)]}
    ear = ScriptedEar({**COMMAND, **again})
    async with runner_with(ScriptedBrain(_which), ear) as (runner, _):
        assert await runner.listen(Frames(14.0), turns=1) == 1


async def test_the_answer_to_our_question_is_a_turn_with_its_own_moments() -> None:
    reply: dict[int, Sequence[EarEvent]] = {
        4_000: [SpeechStarted(3_840)],
        5_000: [SpeechEnded(4_300, 5_000)],
    }
    ear = ScriptedEar({**COMMAND, **reply})
    async with runner_with(ScriptedBrain(_which, turns_on), ear) as (runner, closed):
        assert await runner.listen(Frames(14.0), turns=1) == 2
    timeline = closed[1][0].timeline.as_dict()
    assert "wake" not in timeline
    assert timeline["speech_start"] == 3_840
    assert timeline["speech_end"] == 4_300
    assert timeline["end_of_turn"] == 5_000


async def test_leaving_in_the_middle_of_a_turn_writes_it_down() -> None:
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. ")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("talk"))
        for _ in range(5):
            await asyncio.sleep(0)
    assert [closing.error for _, closing in closed] == ["interrupted"]


async def test_an_effect_that_fails_does_not_stop_the_next_event() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TurnMaker, "make", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                runner.dispatch(Typed("first"))
        await runner.ask("second")
    assert [closing.error for _, closing in closed] == [None]
