"""Tests of a call that waits for the person's yes, with scripted surroundings."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.domain.brain import BrainEvent, Heard, ReplyText, TurnDone
from assistant.domain.tool_call import Decision, Question, Settlement, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.conversation.asking_stage import (
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
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedTurn
from tests.unit.assistant.conversation.stage import COMMAND, runner_with


async def test_a_spoken_yes_runs_the_call_once_and_tells_what_was_seen() -> None:
    tools, ear, learned = GatedTools(), Ear("yes"), list[str]()
    brain = ScriptedBrain(unlocks, replies(Heard("Yes."), ReplyText("Great, I will.")))
    [turn] = await played(brain, tools, means(ear, learned))
    assert tools.run == [UNLOCK]
    assert turn.spoken.clauses == ("Unlock the front door?", "Done. Front Door: unlocked.")
    assert [outcome.decision for outcome in turn.outcomes] == [Decision.CONFIRMED]
    assert turn.confirmation is not None
    assert (turn.confirmation.asked, turn.confirmation.heard) == ("Unlock the front door?", "Yes.")
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
    assert turn.spoken.clauses == ("Unlock the front door?", "OK, I left the front door locked.")
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
    assert turn.spoken.clauses[-1] == "OK, I left the front door locked."


async def test_silence_is_a_no() -> None:
    tools = GatedTools()
    [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("yes")), COMMAND)
    assert tools.run == []
    assert turn.confirmation is not None
    assert turn.confirmation.verdict == "silence"
    assert turn.spoken.clauses[-1] == "OK, I left the front door locked."


async def test_a_file_that_ends_leaves_the_question_open() -> None:
    tools = GatedTools()
    [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("yes")), COMMAND, seconds=8.0)
    assert tools.settled == [None]
    assert [outcome.decision for outcome in turn.outcomes] == [Decision.NEEDS_CONFIRMATION]
    assert turn.answer == "Unlock the front door?"


async def test_a_new_command_is_a_turn_of_its_own_and_counts_as_no() -> None:
    tools = GatedTools()
    words = Heard("turn on the hall light")
    brain = ScriptedBrain(unlocks, replies(words, LIGHT, ReplyText("The hall light is on.")))
    first, second = await played(brain, tools, means(Ear("turn on the whole light")))
    assert first.confirmation is not None
    assert first.confirmation.verdict == "new_command"
    assert first.spoken.clauses == ("Unlock the front door?",)
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
    # An answer follows our own voice, so it confirms one call and starts no other secure one.
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
        assert turn.spoken.clauses[0] == "Unlock the front door? Please say the PIN."
        assert tools.settled == [Settlement("yes", "pin voice")]

    async def test_a_wrong_one_leaves_it_locked(self) -> None:
        tools = GatedTools("pin")
        [turn] = await played(ScriptedBrain(unlocks), tools, means(Ear("", "one two three five")))
        assert tools.run == []
        assert turn.spoken.clauses[-1].startswith("That isn't the PIN.")

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
        assert any("on a keyboard" in clause for clause in turn.spoken.clauses)


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
        assert keys.asked == [("Unlock the front door?", False)]
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
        assert turn.answer == "Unlock the front door?"
        assert closing.error is None

    async def test_a_pin_is_not_shown(self) -> None:
        tools, keys = GatedTools("pin"), Keys("1234")
        async with runner_with(
            ScriptedBrain(unlocks), tools=tools, asking=means(None, keys=keys)
        ) as (runner, closed):
            await runner.ask("unlock the front door")
        assert keys.asked == [("Unlock the front door?", True)]
        assert tools.run == [UNLOCK]
        assert closed[0][0].confirmation is not None
        assert closed[0][0].confirmation.heard == "****"


def test_every_line_of_a_question_is_in_the_catalogue() -> None:
    catalogue = Catalogue()
    for key in ("question", "say_pin", "type_pin", "on_phone"):
        assert catalogue.say(f"asking.{key}", "es", question="¿Abro?", phone="x").startswith("¿Ab")


READ = ToolCall("c1", "HassTurnOff", {"path": "shopping.txt"})


class Reads(GatedTools):
    """A gated call of another server that returns a text; other tools run at once."""

    data = "milk, bread"

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        outcome = await super().settle(question, settlement)
        if outcome is None or outcome.decision is not Decision.CONFIRMED:
            return outcome
        return replace(outcome, server="files", tier=Tier.COSTLY, data=self.data, sentence="Done.")


async def reads(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    if turn.request.audio is not None:
        await turn.request.audio.complete()
    yield Heard("read me the shopping list", "en")
    yield READ
    await turn.answered.wait()
    yield ReplyText("I could not read it.")
    yield TurnDone()


async def answers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert "milk, bread" in turn.request.note
    assert turn.request.audio is None
    yield Heard("a note that nobody said")
    yield ReplyText("Milk and bread.")
    yield TurnDone()


async def test_after_a_yes_the_model_answers_with_what_was_read() -> None:
    tools, keys = Reads(tier=Tier.COSTLY), Keys("yes")
    brain = ScriptedBrain(reads, answers)
    async with runner_with(brain, tools=tools, asking=means(None, keys=keys)) as (runner, closed):
        await runner.ask("read me the shopping list")
    [(turn, _)] = closed
    assert turn.spoken.clauses == ("Unlock the front door?", "Milk and bread.")
    assert brain.turns[1].request.text == "read me the shopping list"
    assert turn.heard == "read me the shopping list"
    assert [one.decision for one in turn.outcomes] == [Decision.CONFIRMED]
    assert turn.confirmation is not None
    assert turn.confirmation.verdict == "yes"


async def test_after_a_spoken_yes_too() -> None:
    tools = Reads(tier=Tier.COSTLY)
    brain = ScriptedBrain(reads, replies(Heard("Yes."), ReplyText("Fine.")), answers)
    [turn] = await played(brain, tools, means(Ear("yes")))
    assert turn.spoken.clauses == ("Unlock the front door?", "Milk and bread.")
    assert tools.run == [READ]


@pytest.mark.parametrize("line", ["no", "hmm"])
async def test_without_a_yes_the_model_stays_silent(line: str) -> None:
    tools, keys = Reads(tier=Tier.COSTLY), Keys(line)
    brain = ScriptedBrain(reads)
    async with runner_with(brain, tools=tools, asking=means(None, keys=keys)) as (runner, closed):
        await runner.ask("read me the shopping list")
    assert closed[0][0].spoken.clauses == (
        "Unlock the front door?",
        "OK, I left the front door locked.",
    )


async def test_what_has_no_data_is_told_as_before() -> None:
    class Empty(Reads):
        data = ""

    keys = Keys("yes")
    brain = ScriptedBrain(reads)
    async with runner_with(brain, tools=Empty(), asking=means(None, keys=keys)) as (runner, closed):
        await runner.ask("read me the shopping list")
    assert closed[0][0].spoken.clauses == ("Unlock the front door?", "Done.")


async def test_a_model_that_calls_for_the_same_again_gets_what_was_read() -> None:
    tools, keys, seen = Reads(tier=Tier.COSTLY), Keys("yes"), list[ToolOutcome]()

    async def again(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield replace(READ, id="c9")
        await turn.answered.wait()
        seen.extend(turn.answers)
        yield ReplyText("Milk and bread.")
        yield TurnDone()

    brain = ScriptedBrain(reads, again)
    async with runner_with(brain, tools=tools, asking=means(None, keys=keys)) as (runner, closed):
        await runner.ask("read me the shopping list")
    assert [(one.id, one.data) for one in seen] == [("c9", "milk, bread")]
    assert tools.run == [READ]
    assert len(keys.asked) == 1
    assert len(closed[0][0].outcomes) == 1


async def test_a_further_call_that_needs_a_yes_is_asked_about() -> None:
    other = replace(UNLOCK, id="c7")

    async def goes_on(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("It says milk.")
        yield other
        await turn.answered.wait()
        yield ReplyText("And the door is open.")
        yield TurnDone()

    class Both(Reads):
        async def settle(
            self, question: Question, settlement: Settlement | None
        ) -> ToolOutcome | None:
            if self._frozen == other:
                return await GatedTools.settle(self, question, settlement)
            return await super().settle(question, settlement)

    tools, keys = Both(tier=Tier.COSTLY), Keys("yes")
    brain = ScriptedBrain(reads, goes_on)
    async with runner_with(brain, tools=tools, asking=means(None, keys=keys)) as (runner, closed):
        await runner.ask("read me the shopping list, then unlock the front door")
    spoken = " ".join(closed[0][0].spoken.clauses)
    assert spoken.endswith("Unlock the front door? Done. Front Door: unlocked.")
    assert "the door is open" not in spoken
    assert tools.run == [READ, other]
    assert len(keys.asked) == 2
