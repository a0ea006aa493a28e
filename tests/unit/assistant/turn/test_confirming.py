"""A call that waits for the person's yes, with the runner and everything around it scripted."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.brains.protocol import BrainEvent, Heard, ReplyText, TurnDone
from assistant.confirm.question import Settlement
from assistant.speech.catalogue import Catalogue
from assistant.tools.call import ToolCall
from assistant.tools.outcome import Decision
from tests.unit.assistant.turn.asking_stage import (
    LIGHT,
    UNLOCK,
    Ear,
    GatedTools,
    Keys,
    means,
    played,
    replies,
    unlocks,
)
from tests.unit.assistant.turn.doubles import ScriptedBrain, ScriptedTurn
from tests.unit.assistant.turn.stage import COMMAND, runner_with


async def test_a_spoken_yes_runs_the_call_once_and_tells_what_was_seen() -> None:
    tools, ear, learned = GatedTools(), Ear("yes"), list[str]()
    brain = ScriptedBrain(unlocks, replies(Heard("Yes."), ReplyText("Great, I will.")))
    [turn] = await played(brain, tools, means(ear, learned))
    assert tools.run == [UNLOCK]
    assert turn.spoken.clauses == ("Unlock Front Door?", "Done. Front Door: unlocked.")
    assert [outcome.decision for outcome in turn.outcomes] == [Decision.CONFIRMED]
    assert turn.confirmation is not None
    assert (turn.confirmation.asked, turn.confirmation.heard) == ("Unlock Front Door?", "Yes.")
    assert turn.confirmation.verdict == "yes"
    assert brain.turns[0].answers[0].decision is Decision.NEEDS_CONFIRMATION
    assert "answer was: yes" in learned[0]


@pytest.mark.parametrize(
    ("said", "recognised", "verdict"),
    [
        ("No.", "no", "no"),
        ("No.", "yes", "no"),  # a no always counts
        ("Yes.", "the sun", "unclear"),  # secure: both must agree
        ("Yes.", "", "unclear"),
        ("mm", "mm", "unclear"),
    ],
)
async def test_everything_but_a_yes_leaves_it_locked(
    said: str, recognised: str, verdict: str
) -> None:
    tools = GatedTools()
    brain = ScriptedBrain(unlocks, replies(Heard(said), ReplyText("Unlocked!")))
    [turn] = await played(brain, tools, means(Ear(recognised)))
    assert tools.run == []
    assert turn.spoken.clauses == ("Unlock Front Door?", "I left Front Door locked.")
    assert turn.confirmation is not None
    assert turn.confirmation.verdict == verdict
    assert [outcome.decision for outcome in turn.outcomes] == [Decision.DENIED]


async def test_without_a_recogniser_the_transcript_alone_decides() -> None:
    tools = GatedTools()
    brain = ScriptedBrain(unlocks, replies(Heard("Yes"), Heard("Yes, please")))
    await played(brain, tools, means(None))
    assert tools.run == [UNLOCK]


async def test_pieces_of_a_transcript_are_waited_for() -> None:
    tools = GatedTools()
    brain = ScriptedBrain(unlocks, replies(Heard("Yes"), Heard("Yes but only the back door")))
    turns = await played(brain, tools, means(None))
    assert tools.run == []
    assert turns[0].confirmation is not None
    assert turns[0].confirmation.verdict != "yes"


async def test_a_transcript_that_never_comes_is_no_yes() -> None:
    async def long() -> None:
        await asyncio.sleep(3.0)

    tools = GatedTools()
    brain = ScriptedBrain(unlocks, replies(ReplyText("I unlocked it."), after=long))
    [turn] = await played(brain, tools, means(None))
    assert tools.run == []
    assert turn.spoken.clauses[-1] == "I left Front Door locked."


async def test_silence_is_a_no() -> None:
    tools = GatedTools()
    [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("yes")), COMMAND)
    assert tools.run == []
    assert turn.confirmation is not None
    assert turn.confirmation.verdict == "silence"
    assert turn.spoken.clauses[-1] == "I left Front Door locked."


async def test_a_file_that_ends_leaves_the_question_open() -> None:
    tools = GatedTools()
    [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("yes")), COMMAND, seconds=8.0)
    assert tools.settled == [None]
    assert [outcome.decision for outcome in turn.outcomes] == [Decision.NEEDS_CONFIRMATION]
    assert turn.answer == "Unlock Front Door?"


async def test_a_new_command_is_a_turn_of_its_own_and_counts_as_no() -> None:
    tools = GatedTools()
    words = Heard("turn on the hall light")
    brain = ScriptedBrain(unlocks, replies(words, LIGHT, ReplyText("The hall light is on.")))
    first, second = await played(brain, tools, means(Ear("turn on the whole light")))
    assert first.confirmation is not None
    assert first.confirmation.verdict == "new_command"
    assert first.spoken.clauses == ("Unlock Front Door?",)
    assert second.heard == "turn on the hall light"
    assert second.spoken.clauses == ("The hall light is on.",)
    assert tools.run == [LIGHT]
    assert brain.turns[1].request.turn_id == second.turn_id != first.turn_id


async def test_the_model_calls_again_after_the_yes() -> None:
    tools = GatedTools()
    again, other = replace(UNLOCK, id="c9"), ToolCall("c10", "HassTurnOff", {"name": "Back Door"})
    brain = ScriptedBrain(unlocks, replies(Heard("Yes."), again, other))
    [turn] = await played(brain, tools, means(Ear("yes")))
    assert tools.run == [UNLOCK]  # neither twice, nor the other door
    told = brain.turns[1].answers
    assert [(one.id, one.decision) for one in told] == [
        ("c9", Decision.CONFIRMED),
        ("c10", Decision.NEEDS_CONFIRMATION),
    ]
    # Beside the yes nothing secure comes of an answer, which follows our own voice.
    assert (tools.situations[-1].can_ask, tools.situations[-1].near_own_speech) == (False, True)
    assert turn.spoken.clauses[-1] == "Done. Front Door: unlocked."


async def test_what_the_request_did_besides_is_told_too() -> None:
    async def both(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield Heard("unlock the door and light the hall")
        yield UNLOCK
        yield LIGHT
        yield TurnDone()

    tools = GatedTools()
    brain = ScriptedBrain(both, replies(Heard("yes")))
    [turn] = await played(brain, tools, means(Ear("yes")))
    assert tools.run == [LIGHT, UNLOCK]
    assert turn.spoken.clauses[1:] == ("Hall Light: on. Done. Front Door: unlocked.",)


async def test_the_wake_word_may_stand_before_the_yes() -> None:
    tools = GatedTools()
    brain = ScriptedBrain(unlocks, replies(Heard("Okay Nabu, yes.")))
    await played(brain, tools, means(Ear("yes")))
    assert tools.run == [UNLOCK]


class TestPin:
    async def test_a_spoken_pin_goes_to_no_brain_and_is_kept_nowhere(self) -> None:
        tools, ear = GatedTools("pin"), Ear("what", "one two three four")
        brain = ScriptedBrain(unlocks)  # a second turn of it would fail the test
        [turn] = await played(brain, tools, means(ear))
        assert tools.run == [UNLOCK]
        assert len(ear.sounds) == 1
        assert turn.confirmation is not None
        assert turn.confirmation.heard == "****"
        assert turn.spoken.clauses[0] == "Unlock Front Door? Please say the PIN."
        assert tools.settled == [Settlement("yes", "pin voice")]

    async def test_a_wrong_one_leaves_it_locked(self) -> None:
        tools = GatedTools("pin")
        [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("", "one two three five")))
        assert tools.run == []
        assert turn.spoken.clauses[-1].startswith("That was not the PIN.")

    async def test_a_yes_is_no_pin(self) -> None:
        tools = GatedTools("pin")
        [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("yes", "")))
        assert tools.run == []
        assert turn.confirmation is not None
        assert turn.confirmation.verdict == "unclear"

    async def test_without_a_recogniser_it_must_be_typed(self) -> None:
        tools = GatedTools("pin")
        [turn] = await played(ScriptedBrain(unlocks), tools, means(None))
        assert tools.run == []
        assert any("typed at a keyboard" in clause for clause in turn.spoken.clauses)


class TestTyped:
    @pytest.mark.parametrize(
        ("line", "verdict"), [("yes", "yes"), ("no", "no"), ("what?", "unclear"), (None, "silence")]
    )
    async def test_the_answer_comes_from_the_keyboard(self, line: str | None, verdict: str) -> None:
        tools, keys = GatedTools(), Keys(line)
        brain = ScriptedBrain(unlocks)
        async with runner_with(brain, tools=tools, asking=means(None, keys=keys)) as (
            runner,
            closed,
        ):
            await runner.ask("unlock the front door")
        [(turn, _)] = closed
        assert keys.asked == [("Unlock Front Door?", False)]
        assert tools.run == ([UNLOCK] if verdict == "yes" else [])
        assert turn.confirmation is not None
        assert turn.confirmation.verdict == verdict

    async def test_nobody_at_a_keyboard(self) -> None:
        tools = GatedTools()
        async with runner_with(ScriptedBrain(unlocks), tools=tools, asking=means(None)) as (
            runner,
            closed,
        ):
            await runner.ask("unlock the front door")
        [(turn, closing)] = closed
        assert tools.settled == [None]
        assert turn.outcomes[0].decision is Decision.NEEDS_CONFIRMATION
        assert turn.answer == "Unlock Front Door?"
        assert closing.error is None

    async def test_a_pin_is_not_shown(self) -> None:
        tools, keys = GatedTools("pin"), Keys("1234")
        async with runner_with(
            ScriptedBrain(unlocks), tools=tools, asking=means(None, keys=keys)
        ) as (runner, closed):
            await runner.ask("unlock the front door")
        assert keys.asked == [("Unlock Front Door?", True)]
        assert tools.run == [UNLOCK]
        assert closed[0][0].confirmation is not None
        assert closed[0][0].confirmation.heard == "****"


def test_every_line_of_a_question_is_in_the_catalogue() -> None:
    catalogue = Catalogue()
    for key in ("question", "say_pin", "type_pin", "on_phone"):
        assert catalogue.say(f"asking.{key}", "es", question="¿Abro?", phone="x").startswith("¿Ab")
