"""Tests of how a turn handles each event of its brain."""

import asyncio
from collections.abc import AsyncGenerator
from typing import get_args

import numpy as np
import pytest

from assistant.conversation.record import as_json, record_of
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.rules.events import StopAsked, Typed
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Milestone,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Restarted,
    Serving,
    Spent,
    TurnDone,
    Usage,
)
from assistant.domain.clock import VirtualClock
from audio.earcons import earcon
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    ToneVoice,
)
from tests.unit.assistant.conversation.stage import COMMAND, play_out, rounds, runner_with

RATE = 24_000
TENTH = bytes(RATE // 10 * 2)  # s


async def test_who_served_the_turn_stands_in_the_record() -> None:
    async def second_rung(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Serving("gemini-live")
        yield Serving("offline")
        yield ReplyText("Yes.")
        yield TurnDone()

    async def nobody(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield BrainFault("budget", "Nobody may be asked.", retryable=False)

    async def alone(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("Yes.")
        yield TurnDone()

    async with runner_with(ScriptedBrain(second_rung, nobody, alone)) as (runner, closed):
        for _ in range(3):
            await runner.ask("is it on")
    assert [record_of(*one).brain for one in closed] == ["offline", None, "scripted"]


async def test_the_brains_own_moments_are_on_the_timeline() -> None:
    clock = VirtualClock()

    async def connects(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        for moment in get_args(Milestone):
            clock.advance(0.1)
            yield Reached(moment)
        yield ReplyText("Yes.")
        yield TurnDone()

    async with runner_with(ScriptedBrain(connects), clock=clock) as (runner, closed):
        await runner.ask("is it on")
    moments = closed[0][0].timeline.as_dict()
    own = {moment: at for moment, at in moments.items() if moment in get_args(Milestone)}
    assert own == {"connected": 100, "first_upload": 200, "upload_done": 300}


async def test_what_was_spent_is_added_up_and_counts_in_a_turn_that_fails() -> None:
    async def costs(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Spent(Usage(10, 1, {"input_audio": 10}), 0.25, "gemini-3.8-live")
        yield Spent(Usage(5, 2, {"output_text": 2}, estimated=True), 0.5)  # the person is not named
        yield BrainFault("timeout", "It took too long.", retryable=False)

    async def is_free(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield TurnDone()

    async with runner_with(ScriptedBrain(costs, is_free)) as (runner, closed):
        await runner.ask("is it on")
        await runner.ask("is it on")
    assert [record_of(*one).model for one in closed] == ["gemini-3.8-live", None]
    told = as_json(record_of(*closed[0]), ())
    assert told["usage"] == {
        "input_tokens": 15,
        "output_tokens": 3,
        "by_modality": {"input_audio": 10, "output_text": 2},
        "estimated": True,
    }
    assert told["cost_usd"] == 0.75
    free = as_json(record_of(*closed[1]), ())
    assert (free["usage"], free["cost_usd"]) == (None, 0.0)


async def test_a_fault_with_words_of_its_own_is_said_in_them() -> None:
    async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield BrainFault("quota", "429.", retryable=False, spoken="That is enough for today.")

    async with runner_with(ScriptedBrain(fails)) as (runner, closed):
        await runner.ask("hello")
    [(turn, closing)] = closed
    assert closing == CloseTurn(1, "quota", "429.")
    assert turn.spoken.clauses == ("That is enough for today.",)


async def test_what_was_not_meant_for_us_gets_a_tone_and_no_words() -> None:
    async def overhears(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield Heard("and now the weather", "en")
        yield ReplyText("It seems ")
        yield NotMeant()

    player = NullPlayer(paced=False)
    brain = ScriptedBrain(overhears)
    async with runner_with(brain, ScriptedEar(COMMAND), player=player) as (runner, closed):
        assert await runner.listen(Frames(6.0), turns=1) == 1
        await rounds()
    told = as_json(record_of(*closed[0]), ())
    assert told["error"] == {
        "kind": "not_meant",
        "message": "The sentence was probably not meant for Hearth.",
    }
    assert told["heard"] == "and now the weather"
    assert told["answer"] is None
    assert told["spoken"] == {"clauses": [], "audio_ms": 0.0, "sound": "unmeant"}
    pcm, rate = earcon("unmeant")
    assert player.played_ms == pytest.approx(len(pcm) / 2 / rate * 1000)


@pytest.mark.parametrize("told", [True, False])
async def test_the_last_sentence_is_said_before_the_brain_has_ended(told: bool) -> None:
    ended = asyncio.Event()

    async def lingers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("It is on.")
        if told:
            yield ReplySettled()
        await ended.wait()
        yield ReplyText(" Good night.")
        yield TurnDone()

    class Player(NullPlayer):
        async def play(self, pcm: bytes, rate: int) -> None:
            await super().play(pcm, rate)
            ended.set()

    player = Player(paced=False)
    async with runner_with(ScriptedBrain(lingers), player=player) as (runner, closed):
        runner.dispatch(Typed("is it on"))
        await runner.rest()
    assert closed[0][0].answer == "It is on. Good night."
    assert closed[0][0].spoken.clauses == ("It is on.", "Good night.")


async def test_an_answer_that_begins_anew_is_said_once() -> None:
    async def stumbles(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Serving("gemini-live")
        yield ReplyText("The kitchen light is")
        yield Restarted()
        yield Serving("gemini-once")
        yield ReplyText("It is on.")
        yield TurnDone()

    async with runner_with(ScriptedBrain(stumbles)) as (runner, closed):
        await runner.ask("is it on")
    [(turn, _)] = closed
    assert turn.answer == "It is on."
    assert turn.spoken.clauses == ("It is on.",)


async def test_clauses_that_wait_are_dropped_when_it_begins_anew() -> None:
    # The speech output has got nothing yet: all of it still waits in the turn.
    async def stumbles(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. Two. Three. ")
        yield ReplyAudio(TENTH, RATE)
        yield Restarted()
        yield ReplyText("Four.")
        yield TurnDone()

    async with runner_with(ScriptedBrain(stumbles)) as (runner, closed):
        await runner.ask("count")
    [(turn, _)] = closed
    assert turn.spoken.clauses == ("Four.",)
    assert turn.spoken.audio_ms == pytest.approx(len("Four.") * 10)


async def test_a_brains_own_voice_is_played_and_its_transcript_listed() -> None:
    async def speaks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyAudio(TENTH, RATE)
        yield ReplyText("The kitchen ", voiced=False)
        yield ReplyAudio(TENTH, RATE)
        yield ReplyText("light is on. Anything else?", voiced=False)
        yield TurnDone()

    async with runner_with(ScriptedBrain(speaks)) as (runner, closed):
        await runner.ask("hello")
    [(turn, _)] = closed
    assert turn.answer == "The kitchen light is on. Anything else?"
    assert turn.spoken.clauses == ("The kitchen light is on.", "Anything else?")
    assert turn.spoken.audio_ms == pytest.approx(200)
    assert {"first_audio_out", "answer_done"} <= turn.timeline.as_dict().keys()


async def test_after_a_brains_own_voice_our_line_is_said_by_ours() -> None:
    async def breaks_off(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyAudio(TENTH, RATE)
        yield ReplyText("The kitchen", voiced=False)
        yield BrainFault("unreachable", "It went away.", retryable=False, spoken="Lost it.")

    async with runner_with(ScriptedBrain(breaks_off)) as (runner, closed):
        await runner.ask("hello")
    [(turn, _)] = closed
    assert turn.answer == "The kitchen Lost it."
    assert turn.spoken.clauses == ("The kitchen", "Lost it.")
    assert turn.spoken.audio_ms > 100 + 0.99 * len("Lost it.") * 10


async def test_our_line_before_a_brains_own_voice_is_said_first() -> None:
    async def comes_back(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("Gemini is back. ")
        yield ReplyAudio(TENTH, RATE)
        yield ReplyText("The light ", voiced=False)
        yield ReplyAudio(TENTH, RATE)
        yield ReplyText("is on.", voiced=False)
        yield TurnDone()

    class Player(NullPlayer):
        async def play(self, pcm: bytes, rate: int) -> None:
            rates.append(rate)
            await super().play(pcm, rate)

    rates: list[int] = []
    player = Player(paced=False)
    async with runner_with(ScriptedBrain(comes_back), player=player) as (runner, closed):
        await runner.ask("hello")
    assert rates == [ToneVoice.rate, RATE, RATE]
    assert closed[0][0].spoken.clauses == ("Gemini is back.", "The light is on.")


async def test_a_new_sentence_stops_the_brains_own_voice() -> None:
    async def speaks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        for _ in range(100):
            yield ReplyAudio(np.full(RATE // 10, 1000, np.int16).tobytes(), RATE)
        yield TurnDone()

    async def answers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("Yes.")
        yield TurnDone()

    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    brain = ScriptedBrain(speaks, answers)
    async with runner_with(brain, clock=clock, player=player) as (runner, closed):
        runner.dispatch(Typed("sing"))
        await clock.run(1.0)
        before = player.played_ms
        assert before == pytest.approx(1000)
        runner.dispatch(Typed("stop singing"))
        assert player.played_ms == before  # at once, not at the next turn of the loop
        await play_out(runner, clock)
    first, second = (turn for turn, _ in closed)
    assert first.spoken.audio_ms == pytest.approx(1000)
    assert second.spoken.clauses == ("Yes.",)
    assert player.played_ms == pytest.approx(1040)


async def test_a_turn_is_not_over_before_its_brain_has_let_go() -> None:
    # The turn is cut off while the brain waits for us, so only closing tells it.
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        try:
            for number in range(100_000):
                yield ReplyText(f"This is {number}. ")
        finally:
            await rounds(200)
            let_go.append(len(closed))

    let_go: list[int] = []
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(ScriptedBrain(talks), clock=clock, player=player) as (runner, closed):
        runner.dispatch(Typed("count"))
        await rounds()
        runner.dispatch(StopAsked())
        await runner.rest()
    assert let_go == [0]
