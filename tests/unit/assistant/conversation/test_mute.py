"""Tests that nothing that is said reaches anybody while muted."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from assistant.conversation.audio_front_end import AudioFrontEnd, EarEvent
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.machine import State
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from audio.endpoint import Endpointer
from audio.frames import Frame
from audio.wake import Detection
from tests.unit.assistant.conversation.doubles import (
    FramesWith,
    NoVoice,
    NoWake,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    numbered,
)
from tests.unit.assistant.conversation.stage import COMMAND, WAKE, runner_with, says_hello


class CountingWake(NoWake):
    """Records which samples it was given, and fires at the set ones."""

    def __init__(self, fires_at: int = 0) -> None:
        self.heard: list[int] = []
        self.restarts = 0
        self._fires_at = fires_at  # ms

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self.heard.append(end // 16)
        if end == self._fires_at * 16:
            return Detection("okay_nabu", 0.9, at=end, mark=end - 300 * 16)
        return None

    def restart(self) -> None:
        self.restarts += 1


def muting(runner: ConversationLoop, begin: int, end: int) -> dict[int, Callable[[], None]]:
    return {begin: lambda: runner.mute(True), end: lambda: runner.mute(False)}


async def test_no_frame_reaches_the_wake_engine_or_the_ring() -> None:
    wake = CountingWake()
    ear = AudioFrontEnd(wake, NoVoice(), Endpointer())
    async with runner_with(ScriptedBrain(), ear) as (runner, _):
        await runner.listen(FramesWith(4.0, muting(runner, 1_000, 3_000)))
        assert not runner.machine.muted
    # It hears a block of 80 ms with the block's last frame: 980 came too late for that.
    assert wake.heard == [*range(20, 961, 20), *range(3_000, 4_001, 20)]
    assert ear.ring.start == (3_000 - 20) * 16
    assert wake.restarts == 2  # when the source began, and when it was listened to again


async def test_what_was_said_before_cannot_be_looked_back_on() -> None:
    # Muted and heard again between two frames: no gap shows in the stream.
    async def listens(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        heard.append(await turn.request.audio.complete())
        yield TurnDone()

    def twice() -> None:
        runner.mute(True)
        runner.mute(False)

    heard: list[bytes] = []
    ear = AudioFrontEnd(CountingWake(fires_at=1_100), NoVoice(), Endpointer())
    async with runner_with(ScriptedBrain(listens), ear) as (runner, closed):
        await runner.listen(FramesWith(3.0, {1_000: twice}))
    assert closed[0][1].error == "no_speech"
    audio = closed[0][0].audio
    assert audio is not None
    assert audio.pcm[:2] == numbered(49)[:2]  # the frame from 980 to 1000 ms


async def test_a_sentence_under_way_is_given_up() -> None:
    async def waits(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        raise AssertionError("it went to work on half a sentence")
        yield TurnDone()

    ear = ScriptedEar({1_000: COMMAND[1_000], 1_400: COMMAND[1_400]})
    async with runner_with(ScriptedBrain(waits), ear) as (runner, closed):
        await runner.listen(FramesWith(4.0, {2_000: lambda: runner.mute(True)}))
        assert (runner.state, runner.machine.muted) == (State.IDLE, True)
    [(turn, closing)] = closed
    assert closing.error == "muted"
    assert turn.audio is not None
    assert len(turn.audio.pcm) == (2_000 - 20 - 700) * 32


async def test_an_answer_under_way_is_still_given() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.mute(True)
        await runner.ask("hello")
    assert closed[0][0].answer == "Hello there."


async def test_an_event_of_the_frame_under_way_is_too_late() -> None:
    class MutesMeanwhile(ScriptedEar):
        """Mutes while the worker has the frame with the wake word."""

        def hear(self, frame: Frame) -> list[EarEvent]:
            events = super().hear(frame)
            if events:
                loop.call_soon_threadsafe(runner.mute, True)  # before the worker's result is taken
            return events

    loop = asyncio.get_running_loop()
    async with runner_with(ScriptedBrain(), MutesMeanwhile({1_000: [WAKE]})) as (runner, closed):
        await runner.listen(FramesWith(3.0, {}))
        assert runner.machine.muted
    assert closed == []


async def test_the_follow_up_ends() -> None:
    async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield ReplyText("Which light?")
        yield TurnDone()

    ear = ScriptedEar(COMMAND)
    async with runner_with(ScriptedBrain(asks), ear) as (runner, _):
        states: list[State] = []

        def press() -> None:
            states.append(runner.state)
            runner.mute(True)
            states.append(runner.state)

        source = FramesWith(8.0, {6_000: press})
        source.pulled = True  # the file pauses until the answer was given
        await runner.listen(source)
    assert states == [State.FOLLOW_UP, State.IDLE]
