"""Tests that events go into the turn machine one at a time, each with all its consequences."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

import pytest

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.effects import Effect, OpenTurn
from assistant.conversation.rules.events import (
    Muted,
    SpeechEnded,
    SpeechStarted,
    StopAsked,
    Typed,
    WakeHeard,
)
from assistant.conversation.rules.machine import reduce
from assistant.conversation.rules.state import Machine, Standing, State
from assistant.domain.brain import BrainEvent, Heard, ReplyText, TurnDone
from audio.device_status import MicrophoneChange, MicrophoneStatus
from tests.unit.assistant.conversation.doubles import (
    Frames,
    FramesWith,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, runner_with, says_hello, turns_on


class Noted:
    """Effects that are only recorded; `then` runs at each."""

    def __init__(self, runner: ConversationLoop, monkeypatch: pytest.MonkeyPatch) -> None:
        self.effects: list[Effect] = []
        self.then: Callable[[Effect], None] = lambda effect: None
        self.states: list[State] = []
        monkeypatch.setattr(runner._effects, "perform", self._perform)
        runner.observe(lambda standing: self.states.append(standing.state))

    def _perform(self, effect: Effect) -> None:
        self.effects.append(effect)
        self.then(effect)


async def test_what_an_effect_brings_waits_until_all_effects_are_carried_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wake = WakeHeard("button", 1.0, 0.0, 0.0, pressed=True)
    of_wake = reduce(Machine(), wake)[1]
    assert len(of_wake) > 1
    muted: list[bool] = []
    async with runner_with(ScriptedBrain(), ScriptedEar({})) as (runner, _):
        noted = Noted(runner, monkeypatch)

        def mute(effect: Effect) -> None:
            if isinstance(effect, OpenTurn):
                runner.dispatch(Muted(True))
            muted.append(runner.machine.muted)

        noted.then = mute
        runner.dispatch(wake)
        assert noted.effects[: len(of_wake)] == of_wake
        assert not any(muted[: len(of_wake)])
        assert runner.machine.muted
        assert noted.states == [State.WAKING, State.IDLE]


async def test_an_effect_that_fails_leaves_nothing_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with runner_with(ScriptedBrain()) as (runner, _):
        noted = Noted(runner, monkeypatch)

        def fail(effect: Effect) -> None:
            runner.dispatch(Muted(True))
            raise RuntimeError("broken")

        noted.then = fail
        with pytest.raises(RuntimeError, match="broken"):
            runner.dispatch(Typed("hello"))
        noted.then = lambda effect: None
        runner.dispatch(StopAsked())
        assert not runner.machine.muted
        assert runner.machine.rests


@pytest.mark.parametrize(("known_ms", "now_ms"), [(0.0, 1_200.0), (5_000.0, 5_000.0)])
async def test_the_machine_is_told_the_time_with_each_event(known_ms: float, now_ms: float) -> None:
    async with runner_with(ScriptedBrain()) as (runner, _):
        runner.machine = replace(runner.machine, now_ms=known_ms)
        runner._listening.heard_ms = 1_200.0
        runner.dispatch(Muted(True))
        assert runner.machine.now_ms == now_ms


async def test_other_rules_count_from_the_next_turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with runner_with(ScriptedBrain()) as (runner, _):
        Noted(runner, monkeypatch)
        first = runner.machine.rules
        runner.dispatch(Typed("hello"))
        runner.use_follow_up("never")
        assert runner.machine.rules is first
        runner.dispatch(StopAsked())
        never = runner.machine.rules
        runner.use_follow_up("always")  # while it rests: at once
        assert (never.follow_up, runner.machine.rules.follow_up) == ("never", "always")


async def test_whoever_waits_looks_after_each_event_and_when_told_to() -> None:
    seen: list[bool] = []
    written = False
    async with runner_with(ScriptedBrain()) as (runner, _):

        def over() -> bool:
            seen.append(runner.machine.muted)
            return written

        waiting = asyncio.create_task(runner.until(over))
        await asyncio.sleep(0)
        runner.dispatch(Muted(True))
        await asyncio.sleep(0)
        written = True
        await asyncio.sleep(0)
        assert not waiting.done()  # no change was reported
        runner.wake_waiters()
        async with asyncio.timeout(20):
            await waiting
    assert seen == [False, True, True]


# The view of lights, the API and Home Assistant, and the effect of a button.


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
    assert "a listener of the conversation failed" in caplog.text


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


# A change while it runs counts from the next turn on.


REPLY: dict[int, Sequence[EarEvent]] = {
    4_000: [SpeechStarted(3_840)],
    5_000: [SpeechEnded(4_300, 5_000)],
}


async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield ReplyText("Which light?")
    yield TurnDone()


async def test_an_answer_that_asks_is_not_followed_where_that_is_not_wanted() -> None:
    async with runner_with(ScriptedBrain(asks), ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runner.use_follow_up("never")
        assert await runner.listen(Frames(14.0), turns=1) == 1


async def test_any_answer_is_followed_where_that_is_wanted() -> None:
    brain = ScriptedBrain(turns_on, turns_on)
    async with runner_with(brain, ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runner.use_follow_up("always")
        assert await runner.listen(Frames(14.0), turns=1) == 2


async def test_a_turn_ends_by_the_rules_by_which_it_began() -> None:
    runners: list[ConversationLoop] = []

    async def changes(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        runners[0].use_follow_up("never")
        runners[0].full_duplex(True)
        async for event in asks(turn):
            yield event

    brain = ScriptedBrain(changes, asks)
    async with runner_with(brain, ScriptedEar({**COMMAND, **REPLY})) as (runner, _):
        runners.append(runner)
        assert await runner.listen(Frames(14.0), turns=1) == 2, "the first was followed"


@pytest.mark.parametrize(
    ("profiles", "had"), [({}, ["kids", "kids"]), ({"okay_nabu": "butler"}, ["butler", "kids"])]
)
async def test_a_profile_is_that_of_turns_whose_wake_word_names_none(
    profiles: dict[str, str], had: list[str]
) -> None:
    brain = ScriptedBrain(turns_on, says_hello)
    async with runner_with(brain, ScriptedEar(COMMAND), profiles=profiles) as (runner, _):
        runner.use_profile("kids")
        await runner.listen(Frames(6.0), turns=1)
        await runner.ask("hello")
    assert [turn.request.profile for turn in brain.turns] == had


async def test_none_is_none_again() -> None:
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain) as (runner, _):
        runner.use_profile("kids")
        runner.use_profile("")
        await runner.ask("hello")
    assert [turn.request.profile for turn in brain.turns] == [""]
