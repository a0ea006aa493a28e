"""Tests of whole turns of the conversation loop, with doubles on both sides."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import FinishedTurn, as_json, joined, record_of, wordless
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    WakeHeard,
    WakeRising,
)
from assistant.conversation.rules.machine import State
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.records import ConfirmationRecord, TurnRecord
from audio.frames import FRAME_BYTES
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
    numbered,
)
from tests.unit.assistant.conversation.stage import (
    COMMAND,
    WAKE,
    Closed,
    play_out,
    rounds,
    runner_with,
    says_hello,
    turns_on,
)


async def test_a_spoken_turn_from_wake_word_to_answer() -> None:
    brain, tools = ScriptedBrain(turns_on), Tools()
    async with runner_with(brain, ScriptedEar(COMMAND), tools) as (runner, closed):
        assert await runner.listen(Frames(6.0), turns=1) == 1
        assert runner.state is State.IDLE
    [(turn, closing)] = closed
    assert closing.error is None
    assert turn.heard == "turn on the light"
    assert turn.answer == "The kitchen light is on."
    assert [call.id for call in tools.calls] == ["c1"]
    assert brain.turns[0].answers == turn.outcomes == [done(tools.calls[0])]
    assert turn.spoken.clauses == ("The kitchen light is on.",)
    assert turn.spoken.audio_ms == pytest.approx(240, abs=1)
    timeline = turn.timeline.as_dict()
    assert timeline["wake"] == 1_000
    assert timeline["speech_start"] == 1_220
    assert timeline["speech_end"] == 2_300
    assert timeline["end_of_turn"] == timeline["heard"] == 3_000
    assert timeline["first_audio_out"] <= timeline["answer_done"]


async def test_the_brain_gets_every_sample_from_the_mark_to_the_end_of_the_turn() -> None:
    brain = ScriptedBrain(turns_on)
    async with runner_with(brain, ScriptedEar(COMMAND)) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
    audio = brain.turns[0].request.audio
    assert audio is not None
    first, last = 700 // 20, 3_000 // 20
    assert audio.pcm == b"".join(numbered(number) for number in range(first, last))
    assert audio.detection == (1_000 - 700) * 16


async def test_nobody_speaks_after_the_wake_word() -> None:
    turns_sound_was_used: list[bytes] = []

    async def waits(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        turns_sound_was_used.append(await turn.request.audio.complete())
        yield TurnDone()

    async with runner_with(ScriptedBrain(waits), ScriptedEar({1_000: [WAKE]})) as (runner, closed):
        await runner.listen(Frames(8.0), turns=1)
    [(turn, closing)] = closed
    assert closing.error == "no_speech"
    assert turn.answer == ""
    assert not turns_sound_was_used
    assert turn.timeline.as_dict()["end_of_turn"] == 6_000


async def test_a_file_without_wake_word_is_no_turn() -> None:
    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, closed):
        assert await runner.listen(Frames(3.0), turns=1) == 0
    assert closed == []


async def test_a_file_that_ends_with_the_sentence_counts_its_turn_once_that_is_written() -> None:
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(COMMAND)) as (runner, closed):
        assert await runner.listen(Frames(3.0), turns=1) == 1
    assert len(closed) == 1


async def test_two_commands_in_one_file_are_two_turns() -> None:
    later = {
        at + 4_000: [_later(event, 4_000) for event in events] for at, events in COMMAND.items()
    }
    brain = ScriptedBrain(turns_on, turns_on)
    async with runner_with(brain, ScriptedEar({**COMMAND, **later})) as (runner, closed):
        assert await runner.listen(Frames(9.0)) == 2
    assert [turn.turn_id for turn, _ in closed] == ["turn-0", "turn-1"]


def _later(event: EarEvent, ms: float) -> EarEvent:
    match event:
        case WakeHeard(word, score, at, mark):
            return WakeHeard(word, score, at + ms, mark + ms)
        case SpeechStarted(at):
            return SpeechStarted(at + ms)
        case SpeechEnded(at, decided):
            return SpeechEnded(at + ms, decided + ms)
        case WakeRising(at):
            return WakeRising(at + ms)
        case SpeechHeld() | SpeechPassed():
            raise AssertionError("nobody talks over an answer here")


async def test_a_typed_turn_needs_no_ear() -> None:
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain) as (runner, closed):
        await runner.ask("hello")
    assert brain.turns[0].request == TurnRequest("turn-0", "en", "text", "hello", None)
    assert closed[0][0].answer == "Hello there."


async def test_a_file_is_not_ahead_of_a_brain_that_reads_along() -> None:
    async def reads(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        audio = turn.request.audio
        assert audio is not None
        async with aclosing(audio.stream()) as pieces:
            async for _ in pieces:
                kept = len(audio.pcm)
                await rounds(50)  # a slow network, on which anything that could go on would
                ahead.append((len(audio.pcm) - kept) // FRAME_BYTES)
        yield TurnDone()

    ahead: list[int] = []
    async with runner_with(ScriptedBrain(reads), ScriptedEar(COMMAND)) as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
    assert closed[0][1].error is None
    assert max(ahead) == 1
    assert len(ahead) > 50  # frame by frame, after what the ring held


async def test_a_brain_that_stops_reading_does_not_hold_up_the_file() -> None:
    async def reads_once(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        audio = turn.request.audio
        assert audio is not None
        async with aclosing(audio.stream()) as pieces:
            await anext(pieces)
        await audio.complete()
        yield TurnDone()

    async with runner_with(ScriptedBrain(reads_once), ScriptedEar(COMMAND)) as (runner, _):
        assert await runner.listen(Frames(6.0), turns=1) == 1


async def test_a_rising_wake_word_is_anticipated_unless_none_is_taken_any_more() -> None:
    brain = ScriptedBrain(turns_on)
    ear = ScriptedEar({800: [WakeRising(800)], **COMMAND, 5_000: [WakeRising(5_000)]})
    async with runner_with(brain, ear) as (runner, _):
        await runner.listen(Frames(2.0), turns=1)
        assert brain.anticipated == 1
    later = ScriptedBrain()
    async with runner_with(later, ScriptedEar({800: [WakeRising(800)]})) as (runner, _):
        await runner.listen(Frames(2.0), turns=0)
    assert later.anticipated == 0


async def test_the_wake_word_chooses_the_profile() -> None:
    brain = ScriptedBrain(turns_on, says_hello)
    profiles = {"okay_nabu": "butler"}
    async with runner_with(brain, ScriptedEar(COMMAND), profiles=profiles) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
        await runner.ask("hello")
    assert [turn.request.profile for turn in brain.turns] == ["butler", ""]


async def asks_back(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield ReplyText("Which light?")
    yield TurnDone()


REPLY: dict[int, Sequence[EarEvent]] = {
    4_000: [SpeechStarted(3_840)],
    5_000: [SpeechEnded(4_300, 5_000)],
}


async def test_a_follow_up_keeps_the_profile() -> None:
    brain = ScriptedBrain(asks_back, turns_on)
    ear = ScriptedEar({**COMMAND, **REPLY})
    async with runner_with(brain, ear, profiles={"okay_nabu": "butler"}) as (runner, _):
        assert await runner.listen(Frames(14.0), turns=1) == 2
    assert [turn.request.profile for turn in brain.turns] == ["butler", "butler"]


async def test_the_persons_pause_before_a_follow_up_counts_in_the_sounds_time() -> None:
    ear = ScriptedEar({**COMMAND, **REPLY})
    async with runner_with(ScriptedBrain(asks_back, turns_on), ear) as (runner, closed):
        assert await runner.listen(Frames(14.0), turns=1) == 2
    first, second = (turn.timeline.as_dict() for turn, _ in closed)
    assert first["end_of_turn"] == 3_000  # all that follows takes no real time here
    assert (second["speech_start"], second["end_of_turn"]) == (3_840, 5_000)


# An interrupted answer: what is kept of it, and which parts learn how much was heard.


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
    """Let the answer sound for `seconds`."""
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


async def test_the_next_turn_begins_knowing_it() -> None:
    async def knows(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        known.extend(told)
        yield TurnDone()

    known: Told = []
    async with telling(tells, knows) as (runner, _, told, clock):
        asking = asyncio.create_task(runner.ask("how is it"))
        await sound(runner, clock, 0.2)
        await runner.ask("and now?")  # starts to speak
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
