"""Tests of the soft tone that sounds now and then during a long wait for an answer."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnListener
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted, StopAsked
from assistant.conversation.rules.machine import State
from assistant.conversation.thinking import Patience
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from audio.earcons import earcon
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import (
    Frames,
    FramesWith,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, WAKE, runner_with

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn


SOFT_MS = len(earcon("thinking")[0]) / 2 / earcon("thinking")[1] * 1000


class Slow:
    """A brain's turn that answers when the test allows it."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def __call__(self, turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await self.go_on.wait()
        yield ReplyText("Here it is.")
        yield TurnDone()


class Told:
    """Counts the soft tones; all other tones are off."""

    def __init__(self) -> None:
        self.player = NullPlayer(paced=False)

    @property
    def tones(self) -> int:
        return round(self.player.played_ms / SOFT_MS)


async def thinks(runner: ConversationLoop, turns: int = 1) -> None:
    """Return when the sentences of `turns` turns are over."""
    sentences, over = 0, asyncio.Event()

    class Counts(TurnListener):
        def whole(self, turn: "Turn") -> None:
            nonlocal sentences
            sentences += 1
            if sentences == turns:
                over.set()

    runner.follow(Counts())
    async with asyncio.timeout(20):
        await over.wait()


OTHERS = ("wake", "end", "done", "error", "offline")


def rig(slow: Slow, clock: VirtualClock, told: Told, **more: Any) -> Any:
    return runner_with(
        ScriptedBrain(slow),
        ScriptedEar(COMMAND),
        clock=clock,
        player=told.player,
        off=OTHERS,
        **more,
    )


async def test_it_comes_after_a_while_and_again() -> None:
    clock, slow, told = VirtualClock(), Slow(), Told()
    async with rig(slow, clock, told) as (runner, closed):
        listening = asyncio.create_task(runner.listen(FramesWith(6.0, {}), turns=1))
        await thinks(runner)
        heard = []
        for seconds in (1.49, 0.02, 3.9, 0.2, 4.0):
            await clock.run(seconds)
            await clock.settle()
            heard.append(told.tones)
        assert heard == [0, 1, 1, 2, 3]
        slow.go_on.set()
        await listening
        words_ms = told.player.played_ms
        await clock.run(20.0)
        assert told.player.played_ms == words_ms  # nothing more, once something was said
        assert clock.sleepers == 0
    assert closed[0][0].spoken.clauses == ("Here it is.",)


async def test_a_quick_answer_needs_none() -> None:
    clock, slow, told = VirtualClock(), Slow(), Told()
    slow.go_on.set()
    async with rig(slow, clock, told) as (runner, _):
        await runner.listen(FramesWith(6.0, {}), turns=1)
        words_ms = told.player.played_ms
        await clock.run(20.0)
        assert told.player.played_ms == words_ms == pytest.approx(110, abs=1)
        assert clock.sleepers == 0


async def test_whoever_wants_silence_has_it() -> None:
    clock, slow, told = VirtualClock(), Slow(), Told()
    async with rig(slow, clock, told) as (runner, _):
        listening = asyncio.create_task(runner.listen(FramesWith(6.0, {}), turns=1))
        await thinks(runner)
        await clock.run(1.6)
        runner.dispatch(StopAsked())
        await listening
        await clock.run(20.0)
        assert told.tones == 1
        assert clock.sleepers == 0


async def test_a_file_at_full_speed_and_a_keyboard_get_none() -> None:
    for spoken in (True, False):
        clock, slow, told = VirtualClock(), Slow(), Told()
        async with rig(slow, clock, told) as (runner, _):
            turn = runner.listen(Frames(6.0), turns=1) if spoken else runner.ask("what time is it")
            asking = asyncio.create_task(turn)
            if spoken:
                await thinks(runner)
            await clock.settle()
            await clock.run(20.0)
            assert (runner.state, told.tones) == (State.THINKING, 0)
            slow.go_on.set()
            await asking


async def test_of_two_turns_only_the_newest_is_waited_for() -> None:
    clock, told = VirtualClock(), Told()
    first, second = Slow(), Slow()
    twice = {**COMMAND, 4_000: [WAKE], 4_400: [SpeechStarted(4_300)]}
    twice[5_800] = [SpeechEnded(5_000, 5_800)]
    playing = runner_with(
        ScriptedBrain(first, second),
        ScriptedEar(twice),
        clock=clock,
        player=told.player,
        off=OTHERS,
    )
    async with playing as (runner, closed):
        listening = asyncio.create_task(runner.listen(FramesWith(6.0, {}), turns=2))
        await thinks(runner, turns=2)
        await clock.run(1.6)
        assert told.tones == 1  # the second one's
        second.go_on.set()
        await listening
    assert [turn.turn_id for turn, _ in closed] == ["turn-0", "turn-1"]


# The longest wait for a silent brain.


async def _wait(patience: Patience) -> None:
    async with patience.bound():
        try:
            await asyncio.Event().wait()
        finally:
            patience.excuse("too late")  # neither mends nor breaks anything any more
            patience.expect("too late")


def _ends_at(patience: Patience) -> float | None:
    assert patience._timeout is not None
    return patience._timeout.when()


async def test_it_ends_when_nothing_comes() -> None:
    patience = Patience(0.01)
    with pytest.raises(TimeoutError):
        await _wait(patience)
    patience.excuse("outside")


async def test_it_lasts_while_there_is_any_excuse() -> None:
    patience = Patience(30.0)
    patience.excuse("the person speaks")
    async with patience.bound():
        assert _ends_at(patience) is None
        patience.excuse("a call")
        patience.expect("the person speaks")
        assert _ends_at(patience) is None
        patience.expect("a call")
        assert _ends_at(patience) is not None
        patience.expect("a call")  # twice is once
        patience.excuse("another call")
        assert _ends_at(patience) is None


async def test_each_word_begins_it_anew() -> None:
    loop = asyncio.get_running_loop()
    patience = Patience(30.0)
    async with patience.bound():
        before = loop.time()
        patience.excuse("its own words")
        patience.expect("its own words")
        ends_at = _ends_at(patience)
    assert ends_at is not None
    assert before + 30.0 <= ends_at <= loop.time() + 30.0


async def test_a_cancelled_turn_is_no_impatience() -> None:
    task = asyncio.create_task(_wait(Patience(30.0)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
