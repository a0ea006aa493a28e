"""Events go into the turn machine one at a time, each with all that follows from it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.effects import Effect, OpenTurn
from assistant.conversation.rules.events import Muted, StopAsked, Typed, WakeHeard
from assistant.conversation.rules.machine import reduce
from assistant.conversation.rules.state import Machine, State
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedEar
from tests.unit.assistant.conversation.stage import runner_with


class Noted:
    """Effects are only noted, with what `then` does at each."""

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
        assert not waiting.done()  # nobody has said that anything is different
        runner.wake_waiters()
        async with asyncio.timeout(20):
            await waiting
    assert seen == [False, True, True]
