"""Tests that in any trouble only a complete yes to a question that was heard counts."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from assistant.conversation import speculative_turn
from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.events import Event, Muted, SourceLost
from assistant.conversation.rules.machine import State
from assistant.conversation.turn import Turn
from assistant.domain.brain import (
    BrainEvent,
    Heard,
    Reached,
    ReplyText,
    Restarted,
    Searched,
    Serving,
    TurnDone,
)
from assistant.domain.tool_call import Decision, Question, Status, Tier, ToolCall, ToolOutcome
from audio.errors import AudioError
from audio.player import NullPlayer
from tests.unit.assistant.conversation.asking_stage import (
    ANSWER,
    LIGHT,
    UNLOCK,
    Ear,
    GatedTools,
    Keys,
    Pin,
    means,
    played,
    replies,
    unlocks,
)
from tests.unit.assistant.conversation.doubles import (
    Frames,
    FramesWith,
    Script,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, rounds, runner_with

Scripted = dict[int, Sequence[EarEvent]]
BEGUN = {at: events for at, events in ANSWER.items() if at != 6_000}  # an answer without an end
QUESTION, OPENED, LEFT = (
    "Unlock the front door?",
    "Done. Front Door: unlocked.",
    "OK, I left the front door locked.",
)


async def meanwhile(
    asking: AskingServices, tools: GatedTools, script: Scripted, event: Event, *brains: Script
) -> Turn:
    """Play one turn in which `event` comes 5.5 s after the recording's beginning."""

    def happens() -> None:
        assert runner.state is State.CONFIRMING
        runner.dispatch(event)

    async with runner_with(
        ScriptedBrain(unlocks, *brains), ScriptedEar(script), tools, asking=asking
    ) as (runner, closed):
        source = FramesWith(30.0, {5_500: happens})
        source.pulled = True
        async with asyncio.timeout(60):
            await runner.listen(source, turns=1)
    [(turn, _)] = closed
    return turn


class TestTheQuestion:
    async def test_that_could_not_be_played_cannot_be_answered(self) -> None:
        class Mute(NullPlayer):
            async def play(self, pcm: bytes, rate: int) -> None:
                raise AudioError("no speaker")

        tools = GatedTools()
        async with runner_with(
            ScriptedBrain(unlocks),  # no second turn: nobody listens for an answer
            ScriptedEar(ANSWER),
            tools,
            player=Mute(paced=False),
            asking=means(Ear("yes")),
        ) as (runner, closed):
            await runner.listen(Frames(30.0), turns=1)
        assert tools.settled == [None]
        assert tools.run == []
        assert closed[0][0].outcomes[0].decision is Decision.NEEDS_CONFIRMATION

    async def test_that_the_brain_starts_over_is_said_to_its_end(self) -> None:
        class Slow(NullPlayer):
            async def play(self, pcm: bytes, rate: int) -> None:
                sounding.set()
                await interrupted.wait()
                await super().play(pcm, rate)

        async def interrupts(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Heard("unlock the front door", "en")
            yield UNLOCK
            await sounding.wait()
            yield Restarted()
            interrupted.set()
            yield TurnDone()

        sounding, interrupted = asyncio.Event(), asyncio.Event()
        tools = GatedTools()
        async with runner_with(
            ScriptedBrain(interrupts, replies(Heard("Yes."))),
            ScriptedEar(ANSWER),
            tools,
            player=Slow(paced=False),
            asking=means(Ear("yes")),
        ) as (runner, closed):
            await runner.listen(Frames(30.0), turns=1)
        assert closed[0][0].spoken.clauses == (QUESTION, OPENED)
        assert tools.run == [UNLOCK]

    async def test_follows_an_answer_that_was_withdrawn(self) -> None:
        async def interrupted(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Heard("unlock the front door", "en")
            yield ReplyText("Let me see about that door for you now. ")
            await rounds()
            yield Restarted()
            yield UNLOCK
            yield TurnDone()

        brain = ScriptedBrain(interrupted, replies(Heard("Yes.")))
        [turn] = await played(brain, GatedTools(), means(Ear("yes")))
        assert turn.spoken.clauses[-2:] == (QUESTION, OPENED)

    async def test_is_asked_once_for_a_call_that_comes_twice(self) -> None:
        async def twice(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Heard("unlock the front door", "en")
            yield UNLOCK
            await turn.answered.wait()
            yield UNLOCK
            yield TurnDone()

        brain = ScriptedBrain(twice, replies(Heard("Yes.")))
        [turn] = await played(brain, GatedTools(), means(Ear("yes")))
        assert turn.spoken.clauses == (QUESTION, OPENED)

    async def test_that_follows_a_web_search_is_judged_as_such(self) -> None:
        async def searches(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Searched()
            yield UNLOCK
            await turn.answered.wait()
            yield TurnDone()

        tools = GatedTools()
        async with runner_with(
            ScriptedBrain(searches), tools=tools, asking=means(None, keys=Keys("no"))
        ) as (runner, _):
            await runner.ask("unlock the front door")
        assert [one.searched for one in tools.situations] == [True]

    async def test_a_model_that_calls_for_ever_is_left_meanwhile(self) -> None:
        class Slow(Keys):
            async def ask(self, question: str, *, hidden: bool) -> str | None:
                await brain_has_gone.wait()
                return await super().ask(question, hidden=hidden)

        class Limited(GatedTools):
            async def call(self, call: ToolCall, *rest: Any) -> ToolOutcome:
                outcome = await super().call(call, *rest)
                if len(self.calls) <= 24:
                    return outcome
                denied = replace(outcome, decision=Decision.DENIED, status=Status.NOT_RUN)
                return replace(denied, rule="too_many_calls")

        async def endless(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            try:
                yield Heard("unlock the front door", "en")
                yield UNLOCK
                for number in range(1_000):
                    await turn.answered.wait()
                    turn.answered.clear()
                    yield ToolCall(f"n{number}", LIGHT.name, {"name": f"lamp {number}"})
            finally:
                brain_has_gone.set()

        brain_has_gone = asyncio.Event()
        tools = Limited()
        async with runner_with(
            ScriptedBrain(endless), tools=tools, asking=means(None, keys=Slow("no"))
        ) as (runner, closed):
            async with asyncio.timeout(60):
                await runner.ask("unlock the front door")
        assert len(tools.calls) < 30
        assert closed[0][0].spoken.clauses[-1].endswith(LEFT)


class TestTheWords:
    @pytest.mark.parametrize("tier", [Tier.SECURE, Tier.COSTLY])
    @pytest.mark.parametrize(
        "deed",
        [None, ReplyText("Sure, "), LIGHT, replace(UNLOCK, id="c9")],
        ids=["nothing", "talks", "another call", "the call again"],
    )
    async def test_are_waited_for_whatever_the_model_does(
        self, deed: BrainEvent | None, tier: Tier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for limit in ("PIECES_S", "PIECES_CHECKED_S", "PIECES_MOST_S"):
            monkeypatch.setattr(
                speculative_turn, limit, 30.0
            )  # real time; the turn's end is waited for

        async def later(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Serving("gemini-live")
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Reached("upload_done")
            yield Heard("Yes")
            if deed is not None:
                yield deed
            await rounds(100)
            yield Heard("Yes but not now")
            yield TurnDone()

        tools = GatedTools(tier=tier)
        [turn] = await played(ScriptedBrain(unlocks, later), tools, means(None))
        assert UNLOCK not in tools.run
        assert turn.confirmation is not None
        assert turn.confirmation.heard == "Yes but not now"

    async def test_without_an_end_are_no_yes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def endless(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Serving("gemini-live")
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            yield Reached("upload_done")
            while True:
                yield Heard("Yes")
                await asyncio.sleep(0.005)

        monkeypatch.setattr(speculative_turn, "PIECES_MOST_S", 0.05)
        tools = GatedTools()
        await played(ScriptedBrain(unlocks, endless), tools, means(Ear("yes")))
        assert tools.run == []

    @pytest.mark.parametrize("word", ["Yes", "No"])
    async def test_of_half_the_sound_are_no_yes(
        self, word: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def hangs(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Serving("gemini-live")
            yield Heard(word)
            await asyncio.Event().wait()  # and never has the whole of it

        monkeypatch.setattr(speculative_turn, "SEND_S", 0.05)
        tools = GatedTools()
        await played(ScriptedBrain(unlocks, hangs), tools, means(Ear("yes")))
        assert tools.run == []

    async def test_that_are_the_wake_word_alone_are_no_yes(self) -> None:
        tools = GatedTools()
        brain = ScriptedBrain(unlocks, replies(Heard("Okay Nabu.")))
        await played(brain, tools, means(Ear("yes")))
        assert tools.run == []


class TestTheMicrophone:
    @pytest.mark.parametrize("event", [Muted(True), SourceLost()], ids=["muted", "lost"])
    async def test_gone_in_the_middle_of_the_answer_is_no_answer(self, event: Event) -> None:
        tools = GatedTools()
        turn = await meanwhile(means(Ear("yes")), tools, BEGUN, event, replies(Heard("Yes.")))
        assert tools.run == []
        assert turn.confirmation is not None
        assert turn.confirmation.verdict == "silence"
        assert turn.spoken.clauses == (QUESTION, LEFT)

    @pytest.mark.parametrize("event", [Muted(True), SourceLost()], ids=["muted", "lost"])
    async def test_half_a_pin_is_no_attempt(self, event: Event) -> None:
        tools, pin = GatedTools("pin"), Pin()
        ear = Ear("", "one two three four")
        turn = await meanwhile(means(ear, pin=pin), tools, BEGUN, event)
        assert (pin.tried, ear.sounds, tools.run) == ([], [], [])
        assert turn.confirmation is not None
        assert turn.confirmation.verdict == "silence"

    async def test_muted_before_the_question_nobody_can_answer_it(self) -> None:
        async def mutes(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            assert turn.request.audio is not None
            await turn.request.audio.complete()
            runner.mute(True)
            yield UNLOCK
            yield TurnDone()

        tools = GatedTools()
        async with runner_with(
            ScriptedBrain(mutes), ScriptedEar(ANSWER), tools, asking=means(Ear("yes"))
        ) as (runner, closed):
            await runner.listen(Frames(30.0), turns=1)
        assert tools.settled == [None]
        assert closed[0][0].spoken.clauses == (QUESTION,)

    @pytest.mark.parametrize("by", ["phone", "keys"])
    @pytest.mark.parametrize("what", ["mute", "the end of the file"])
    async def test_means_nothing_where_the_answer_comes_another_way(
        self, what: str, by: Literal["phone", "keys"]
    ) -> None:
        class Elsewhere:
            """A phone and a keyboard in one, which answers once the microphone is of no use."""

            name = "phone"

            async def ask(
                self, question: Question | str, *, hidden: bool = False
            ) -> Literal["yes"] | str | None:
                asked.set()
                await deaf.wait()
                return "yes" if by == "phone" else "1234"

        async def deafen(runner: ConversationLoop) -> None:
            await asked.wait()
            if what == "mute":
                runner.mute(True)
            else:
                await source_ended.wait()
                await rounds()
            assert runner.state is State.CONFIRMING
            deaf.set()

        class Source(Frames):
            async def frames(self) -> AsyncGenerator[Any, None]:
                async for frame in super().frames():
                    yield frame
                    if frame.end // 16 == 7_000:
                        await asked.wait()
                        if what == "mute":
                            await deaf.wait()
                source_ended.set()

        asked, deaf, source_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        tools = GatedTools("phone" if by == "phone" else "pin")
        elsewhere: Any = Elsewhere()
        asking = replace(means(None, keys=elsewhere), phone=elsewhere)
        async with (
            runner_with(ScriptedBrain(unlocks), ScriptedEar(COMMAND), tools, asking=asking) as (
                runner,
                _,
            ),
            asyncio.timeout(60),
            asyncio.TaskGroup() as group,
        ):
            group.create_task(deafen(runner))
            await runner.listen(Source(10.0), turns=1)
        assert tools.run == [UNLOCK]


@pytest.mark.parametrize(("own_ear", "unlocked"), [(False, True), (True, False)])
async def test_the_devices_own_transcript_is_not_taken_for_a_services(
    own_ear: bool, unlocked: bool
) -> None:
    tools = GatedTools(tier=Tier.COSTLY)  # a service's transcript alone is enough
    brain = ScriptedBrain(unlocks, replies(Heard("Yes.", own_ear=own_ear)))
    await played(brain, tools, means(Ear("no")))
    assert (UNLOCK in tools.run) is unlocked
