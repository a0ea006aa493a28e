"""What a brain is given of a turn's sound: a sentence from its mark on, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.rules.events import StopAsked
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.turn_audio import TurnAudio
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, WAKE, rounds, runner_with


class Reader:
    """Takes the sound as it comes, in a task that the turn's end does not cancel."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def brain(self, turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        self.tasks.append(asyncio.create_task(self._read(turn.request.audio)))
        await turn.request.audio.complete()
        yield ReplyText("Done.")
        yield TurnDone()

    async def end(self) -> list[bool]:
        """Whether each sound was read to the end of a sentence."""
        await rounds()
        ended = [task.done() for task in self.tasks]
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)
        return ended

    async def _read(self, audio: TurnAudio) -> None:
        async for piece in audio.stream():
            self.pieces.append(piece)


async def test_a_sentence_is_given_from_its_mark_to_its_end() -> None:
    reader = Reader()
    async with runner_with(ScriptedBrain(reader.brain), ScriptedEar(COMMAND)) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
    assert await reader.end() == [True]
    assert len(b"".join(reader.pieces)) == (3_000 - 700) * 16 * 2


async def test_after_a_false_wake_nothing_is_given() -> None:
    reader, script = Reader(), dict[int, Sequence[EarEvent]]({1_000: [WAKE]})
    async with runner_with(ScriptedBrain(reader.brain), ScriptedEar(script)) as (runner, closed):
        await runner.listen(Frames(8.0), turns=1)
    assert [closing.error for _, closing in closed] == ["no_speech"]
    assert await reader.end() == [False]
    assert reader.pieces == []


async def test_a_sentence_that_is_cut_off_never_comes_to_its_end() -> None:
    reader, script = Reader(), {at: COMMAND[at] for at in (1_000, 1_400)}
    async with (
        runner_with(ScriptedBrain(reader.brain), ScriptedEar(script)) as (runner, closed),
        asyncio.TaskGroup() as group,
    ):
        group.create_task(runner.listen(Frames(6.0), turns=1))
        while not reader.pieces:
            await rounds(1)
        runner.dispatch(StopAsked())
    assert [closing.error for _, closing in closed] == ["interrupted"]
    assert await reader.end() == [False]
