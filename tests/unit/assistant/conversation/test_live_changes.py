"""What is changed while it runs counts from the next turn on."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, runner_with, says_hello, turns_on

REPLY: dict[int, Sequence[EarEvent]] = {
    4_000: [SpeechStarted(3_840)],
    5_000: [SpeechEnded(4_300, 5_000)],
}


async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield ReplyText("Which light?")
    yield TurnDone()


async def test_an_answer_that_asks_is_not_followed_where_that_is_not_wanted() -> None:
    async with runner_with(ScriptedBrain(asks), ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runner.use_follow_up("never")
        assert await runner.listen(Frames(14.0), turns=1) == 1


async def test_any_answer_is_followed_where_that_is_wanted() -> None:
    brain = ScriptedBrain(turns_on, turns_on)
    async with runner_with(brain, ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runner.use_follow_up("always")
        assert await runner.listen(Frames(14.0), turns=1) == 2


async def test_a_turn_ends_by_the_rules_by_which_it_began() -> None:
    runners: list[ConversationLoop] = []

    async def changes(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        runners[0].use_follow_up("never")
        runners[0].full_duplex(True)
        async for event in asks(turn):
            yield event

    brain = ScriptedBrain(changes, asks)
    async with runner_with(brain, ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runners.append(runner)
        assert await runner.listen(Frames(14.0), turns=1) == 2, "the first was followed"


@pytest.mark.parametrize(
    ("profiles", "had"), [({}, ["kids", "kids"]), ({"okay_nabu": "butler"}, ["butler", "kids"])]
)
async def test_a_profile_is_that_of_turns_whose_wake_word_names_none(
    profiles: dict[str, str], had: list[str]
) -> None:
    brain = ScriptedBrain(turns_on, says_hello)
    async with runner_with(brain, ScriptedEar(COMMAND), profiles=profiles) as (runner, _):
        runner.use_profile("kids")
        await runner.listen(Frames(6.0), turns=1)
        await runner.ask("hello")
    assert [turn.request.profile for turn in brain.turns] == had


async def test_none_is_none_again() -> None:
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain) as (runner, _):
        runner.use_profile("kids")
        runner.use_profile("")
        await runner.ask("hello")
    assert [turn.request.profile for turn in brain.turns] == [""]
