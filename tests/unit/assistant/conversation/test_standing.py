"""What lights, the API and Home Assistant see of a conversation, and what a button does."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from assistant.conversation.rules.events import SpeechEnded, SpeechStarted
from assistant.conversation.rules.machine import State
from assistant.conversation.rules.state import Standing
from assistant.domain.brain import BrainEvent, Heard, ReplyText, TurnDone
from audio.device_status import MicrophoneChange, MicrophoneStatus
from tests.unit.assistant.conversation.doubles import (
    FramesWith,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, runner_with, says_hello, turns_on

LISTENING = MicrophoneStatus.LISTENING


def seen(standings: list[Standing]) -> list[State]:
    return [standing.state for standing in standings]


async def test_every_change_is_told_once() -> None:
    told: list[Standing] = []
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(COMMAND)) as (runner, _):
        unsubscribe = runner.observe(told.append)
        await runner.listen(FramesWith(6.0, {}, {6_000: runner.rest}))
        assert seen(told) == [
            State.WAKING,
            State.LISTENING,
            State.THINKING,
            State.SPEAKING,
            State.IDLE,
            State.IDLE,
        ]
        assert [one.microphone for one in told] == [LISTENING] * 5 + [MicrophoneStatus.CLOSED]
        unsubscribe()
        unsubscribe()
        runner.mute(True)
        assert len(told) == 6
        assert runner.standing == Standing(State.IDLE, True, MicrophoneStatus.CLOSED)


async def test_an_observer_that_breaks_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(standing: Standing) -> None:
        raise ZeroDivisionError

    told: list[Standing] = []
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.observe(breaks)
        runner.observe(told.append)
        await runner.ask("hello")
    assert closed[0][0].answer == "Hello there."
    assert seen(told) == [State.THINKING, State.SPEAKING, State.IDLE]
    assert "a follower of the conversation broke" in caplog.text


async def test_how_the_microphone_stands() -> None:
    told: list[Standing] = []

    def says(status: MicrophoneStatus) -> Callable[[], None]:
        return lambda: runner.on_microphone(MicrophoneChange(status, ""))

    happens = {
        500: says(LISTENING),
        1_000: says(MicrophoneStatus.SILENT),
        1_500: says(MicrophoneStatus.MISSING),
        2_000: says(LISTENING),
    }
    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, _):
        assert runner.standing.microphone is MicrophoneStatus.OPENING
        runner.observe(told.append)
        await runner.listen(FramesWith(3.0, happens))
    assert [(one.state, one.microphone) for one in told] == [
        (State.IDLE, LISTENING),
        (State.IDLE, MicrophoneStatus.SILENT),
        (State.FAULT, MicrophoneStatus.MISSING),
        (State.IDLE, LISTENING),
    ]


async def test_whoever_is_speaking_when_the_microphone_goes_is_told() -> None:
    async def waits(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        raise AssertionError("it went to work on half a sentence")
        yield TurnDone()

    def goes() -> None:
        runner.on_microphone(MicrophoneChange(MicrophoneStatus.MISSING, "It has gone."))

    ear = ScriptedEar({1_000: COMMAND[1_000], 1_400: COMMAND[1_400]})
    async with runner_with(ScriptedBrain(waits), ear) as (runner, closed):
        await runner.listen(FramesWith(3.0, {2_000: goes}, {3_000: runner.rest}))
        assert runner.state is State.FAULT
    assert [closing.error for _, closing in closed] == ["microphone_lost", None]
    assert closed[1][0].opening.source == "announcement"
    assert closed[1][0].spoken.clauses[0].startswith("I lost the microphone")


async def test_a_microphone_that_goes_at_rest_is_no_reason_to_talk() -> None:
    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, closed):
        runner.on_microphone(MicrophoneChange(MicrophoneStatus.MISSING, "It has gone."))
        told: list[Standing] = []
        runner.observe(told.append)
        runner.announce("The cake is done.", "en")
        await runner.rest()
        runner.on_microphone(MicrophoneChange(LISTENING, ""))
    assert seen(told) == [State.THINKING, State.SPEAKING, State.FAULT, State.IDLE]
    assert [turn.spoken.clauses for turn, _ in closed] == [("The cake is done.",)]


async def test_a_button_in_place_of_the_wake_word() -> None:
    async def listens(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        heard.append(len(await turn.request.audio.complete()) // 32)
        yield Heard("what time is it", "en")
        yield ReplyText("Noon.")
        yield TurnDone()

    heard: list[int] = []
    pressed: list[bool] = []

    def press() -> None:
        pressed.append(runner.wake())

    ear = ScriptedEar({1_400: [SpeechStarted(1_300)], 3_000: [SpeechEnded(2_300, 3_000)]})
    async with runner_with(ScriptedBrain(listens), ear, profiles={"button": "desk"}) as (
        runner,
        closed,
    ):
        await runner.listen(FramesWith(4.0, {1_020: press, 1_500: press}))
        assert pressed == [True, False]  # somebody is listened to already
        assert not runner.wake()  # the source is over
    [(turn, _)] = closed
    assert heard == [2_000]
    assert turn.opening.wake is not None
    assert (turn.opening.wake.word, turn.profile) == ("button", "desk")


async def test_no_button_wakes_whoever_is_muted_or_has_no_ear() -> None:
    async with runner_with(ScriptedBrain()) as (runner, _):
        assert not runner.wake()
    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, _):
        runner.mute(True)
        assert not runner.wake()


async def test_idle_frames_are_no_events() -> None:
    looked = 0

    def looks() -> bool:
        nonlocal looked
        looked += 1
        return False

    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, _):
        waiting = asyncio.create_task(runner.until(looks))
        await runner.listen(FramesWith(10.0, {}))
        waiting.cancel()
        assert 1 <= looked <= 5
        assert runner.machine.now_ms == 10_000
