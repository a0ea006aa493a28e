"""What is said without being asked for, whole: the runner, the mouth and the log."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.brains.protocol import BrainEvent, ReplyText, TurnDone
from assistant.clock import VirtualClock
from assistant.journal.store import Store
from assistant.tools.call import ToolCall
from assistant.tools.outcome import ToolOutcome
from assistant.tools.situation import CALM, Situation
from assistant.turn.events import (
    StopAsked,
    Typed,
)
from assistant.turn.language import Languages
from assistant.turn.log import TurnLog
from assistant.turn.machine import State
from assistant.turn.record import record_of
from assistant.turn.state import ANNOUNCEMENTS_WAITING
from audio.errors import DeviceLost
from audio.player import NullPlayer
from tests.unit.assistant.turn.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.turn.stage import (
    COMMAND,
    Closed,
    play_out,
    rounds,
    runner_with,
    says_hello,
    turns_on,
)


async def test_it_is_a_turn_that_asks_no_brain() -> None:
    languages = Languages(("en", "es"), lambda *_: "en")  # its language was given: not looked for
    async with runner_with(ScriptedBrain(), languages=languages) as (runner, closed):
        runner.announce("La cena está lista. ¿Vienes?", "es")
        await runner.rest()
        assert runner.state is State.IDLE
    [one] = closed
    record = record_of(*one)
    assert (record.source, record.language, record.brain) == ("announcement", "es", None)
    assert (record.heard, record.error) == (None, None)
    assert record.answer == "La cena está lista. ¿Vienes?"
    assert record.clauses == ("La cena está lista.", "¿Vienes?")
    assert record.audio_ms > 0
    assert list(record.timeline) == ["first_audio_out", "answer_done"]


async def test_they_come_one_after_the_other_after_the_answer() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.dispatch(Typed("hello"))
        runner.announce("First.", "en")
        runner.announce("Second.", "en")
        await runner.rest()
    assert [turn.answer for turn, _ in closed] == ["Hello there.", "First.", "Second."]


async def test_they_are_no_turns_of_a_file() -> None:
    brain = ScriptedBrain(turns_on)
    async with runner_with(brain, ScriptedEar(COMMAND)) as (runner, closed):
        runner.announce("Before.", "en")
        assert await runner.listen(Frames(6.0), turns=1) == 1
    assert [turn.opening.source for turn, _ in closed] == ["announcement", "voice"]


async def test_a_sentence_before_its_first_sample_only_puts_it_off() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.announce("Wait for it.", "en")
        await runner.ask("hello")
    ends = [(turn.answer, closing.error) for turn, closing in closed]
    assert ends[1:] == [("Hello there.", None), ("Wait for it.", None)]
    assert ends[0][1] == "interrupted"


async def test_stop_stops_one() -> None:
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, closed):
        runner.announce("A long one that nobody wants to hear to its end.", "en")
        runner.announce("Short.", "en")
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)  # the voice works on a thread
            await clock.settle()
        await clock.run(0.1)
        before = player.played_ms
        runner.dispatch(StopAsked())
        assert player.played_ms == before
        await play_out(runner, clock)
    assert [closing.error for _, closing in closed] == ["interrupted", None]
    assert closed[1][0].spoken.clauses == ("Short.",)


async def test_what_waits_when_all_ends_is_not_begun() -> None:
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. ")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("talk"))
        await rounds(3)
        runner.announce("Too late.", "en")
    assert [turn.opening.source for turn, _ in closed] == ["text"]


async def test_what_comes_while_all_ends_is_not_said() -> None:
    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        await asyncio.Event().wait()

    class Slow(Tools):
        """Its call ends while everything ends, and brings news."""

        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: Situation = CALM,
        ) -> ToolOutcome:
            await rounds(200)
            assert closed  # the turn is over, the call still holds up the end
            runner.announce("Too late.", "en")
            return done(call)

    async with runner_with(ScriptedBrain(calls), tools=Slow()) as (runner, closed):
        runner.dispatch(Typed("call"))
        await rounds(3)
    runner.announce("Much too late.", "en")
    assert [turn.opening.source for turn, _ in closed] == ["text"]


async def test_one_too_many_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)

    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await release.wait()
        yield TurnDone()

    release = asyncio.Event()
    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("think"))
        for number in range(ANNOUNCEMENTS_WAITING):
            runner.announce(f"{number}.", "en")
        assert caplog.records == []
        runner.announce("one more.", "en")
        assert len(caplog.records) == 1
        release.set()
        await runner.rest()
    assert len(closed) == 1 + ANNOUNCEMENTS_WAITING
    assert closed[1][0].answer == "1."


async def test_the_log_keeps_it_apart_from_the_conversation(tmp_path: Path) -> None:
    clock = VirtualClock()
    told: list[str] = []
    async with runner_with(ScriptedBrain(says_hello), clock=clock) as (runner, closed):
        await runner.ask("hello")
        runner.announce("News.", "en")
        await runner.rest()
    async with Store(tmp_path / "hearth.db", clock) as store:
        log = TurnLog(store)
        log.on_turn = lambda turn: told.append(turn.record.source)
        await _record(log, closed)
        stored = await store.turns(9)
    assert {turn.source for turn in stored} == {"announcement", "text"}
    assert told == ["text", "announcement"]
    assert [turn.record.source for turn in log.turns] == ["text"]
    assert log.count == 1


async def _record(log: TurnLog, closed: Closed) -> None:
    for one in closed:
        await log.record(*one)


class Leaving(NullPlayer):
    """A loudspeaker that goes."""

    async def play(self, pcm: bytes, rate: int) -> None:
        raise DeviceLost("The loudspeaker has gone.")


@pytest.mark.parametrize(("player", "played"), [(NullPlayer, True), (Leaving, False)])
async def test_how_each_ended_is_told_before_the_conversation_rests(
    player: type[NullPlayer], played: bool
) -> None:
    told: list[tuple[str, bool]] = []
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain, player=player(paced=False)) as (runner, _):
        runner.follow_announcements(lambda *ending: told.append(ending))
        await runner.ask("hello")
        runner.announce("First.", "en")
        runner.announce("Second.", "en")
        await runner.rest()
        assert told == [("First.", played), ("Second.", played)]


async def test_one_that_a_person_stops_was_not_dropped() -> None:
    told: list[tuple[str, bool]] = []
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, _):
        runner.follow_announcements(lambda *ending: told.append(ending))
        runner.announce("A long one that nobody wants to hear to its end.", "en")
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)  # the voice works on a thread
            await clock.settle()
        runner.dispatch(StopAsked())
        await play_out(runner, clock)
    assert [played for _, played in told] == [True]
