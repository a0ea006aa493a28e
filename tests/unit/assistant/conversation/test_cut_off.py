"""An answer that is cut off: what is kept of it, and who is told how much was heard."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import FinishedTurn, as_json, joined, record_of, wordless
from assistant.conversation.rules.machine import State
from assistant.domain.brain import BrainEvent, BrainFault, Interrupted, ReplyText, Serving, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.records import ConfirmationRecord, TurnRecord
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedTurn
from tests.unit.assistant.conversation.stage import Closed, play_out, rounds, runner_with

Told = list[tuple[str, str, str]]  # brain, turn, words
LONG = "The washing machine is done and needs to be emptied now"


async def tells(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ReplyText(LONG)
    yield TurnDone()


async def thinks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield Serving("scripted")
    await asyncio.Event().wait()
    yield TurnDone()


async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield BrainFault("unreachable", "Gone.", retryable=False)


async def is_talked_over(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ReplyText(LONG)
    yield ReplyText(". ")
    await speaking.wait()
    yield Interrupted()
    yield TurnDone()


speaking = asyncio.Event()


@asynccontextmanager
async def telling(
    *scripts: Any,
) -> AsyncIterator[tuple[ConversationLoop, Closed, Told, VirtualClock]]:
    clock = VirtualClock()
    told: Told = []
    brain = ScriptedBrain(*scripts)
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(
        brain, clock=clock, player=player, tell_heard=lambda *given: told.append(given)
    ) as (runner, closed):
        yield runner, closed, told, clock


async def sound(runner: ConversationLoop, clock: VirtualClock, seconds: float) -> None:
    """Let the answer sound for so long."""
    while runner.state is not State.SPEAKING:
        await asyncio.to_thread(int)
        await clock.run(0.01)
    for _ in range(round(seconds / 0.01)):
        await asyncio.to_thread(int)
        await clock.run(0.01)


async def test_the_words_that_were_heard_are_kept_and_told_once() -> None:
    async with telling(tells) as (runner, closed, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await sound(runner, clock, 0.3)
        runner.stop()
        [(brain, turn, heard)] = told  # at once
        await asking
        assert told == [(brain, turn, heard)]
        record = record_of(*closed[0])
        assert (brain, turn) == ("scripted", record.turn_id)
        assert record.cut_at == heard
        assert LONG.startswith(heard)
        assert 0 < len(heard) < len(LONG)
        assert as_json(record, ())["spoken"]["heard"] == heard
        assert wordless(record).cut_at is None


async def test_an_answer_that_was_heard_whole_is_told_of_nowhere() -> None:
    async with telling(tells) as (runner, closed, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await play_out(runner, clock)
        await asking
        record = record_of(*closed[0])
        assert (told, record.cut_at) == ([], None)
        assert "heard" not in as_json(record, ())["spoken"]


async def test_before_its_first_word_nothing_was_heard() -> None:
    async with telling(thinks) as (runner, closed, told, _):
        asking = asyncio.create_task(runner.ask("how is it"))
        await rounds()
        runner.stop()
        await asking
        assert [heard for _, _, heard in told] == [""]
        assert record_of(*closed[0]).cut_at is None  # there was no answer


async def test_what_we_say_ourselves_is_no_answer_of_the_brains() -> None:
    async with telling(fails) as (runner, closed, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await sound(runner, clock, 0.1)
        runner.stop()
        await asking
        assert told == []
        assert record_of(*closed[0]).cut_at is not None
        runner.announce(LONG, "en")
        await sound(runner, clock, 0.3)
        runner.stop()
        await runner.rest()
        assert told == []
        assert record_of(*closed[1]).cut_at is not None


async def test_a_brain_that_noticed_it_itself_is_told_at_the_end() -> None:
    speaking.clear()
    async with telling(is_talked_over) as (runner, closed, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await sound(runner, clock, 0.3)
        speaking.set()
        await asking
        [(_, _, heard)] = told
        assert heard == record_of(*closed[0]).cut_at
        assert 0 < len(heard) < len(LONG)


async def test_the_next_turn_begins_knowing_it() -> None:
    async def knows(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        known.extend(told)
        yield TurnDone()

    known: Told = []
    async with telling(tells, knows) as (runner, _, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await sound(runner, clock, 0.2)
        await runner.ask("and now?")  # takes the word
        await asking
        assert len(known) == 1


@pytest.mark.parametrize(
    ("question", "answer", "both"),
    [
        (None, None, None),
        (None, "It is", "Unlock it? It is"),
        ("Unlock", "It is", "Unlock It is"),
        (None, "", "Unlock it?"),
    ],
)
def test_an_answer_in_place_of_a_yes_goes_on_from_the_question(
    question: str | None, answer: str | None, both: str | None
) -> None:
    asked = ConfirmationRecord("Unlock it?", None, "new_command")
    record = TurnRecord("1", VirtualClock().now(), "voice", "en", clauses=("Unlock it?",))
    first = FinishedTurn(replace(record, cut_at=question, confirmation=asked), ())
    last = FinishedTurn(replace(record, clauses=("It is fine.",), cut_at=answer), ())
    assert joined([first, last]).record.cut_at == both
