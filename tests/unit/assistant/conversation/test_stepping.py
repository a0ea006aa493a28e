"""Events go into the turn machine one at a time, each with all that follows from it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from assistant.conversation.loop import Stepping
from assistant.conversation.rules.effects import Effect, OpenTurn
from assistant.conversation.rules.events import Muted, StopAsked, Typed, WakeHeard
from assistant.conversation.rules.machine import reduce
from assistant.conversation.rules.state import Machine, State


class Stepped:
    """Steps whose effects are only noted, with what `then` does at each."""

    def __init__(self, machine: Machine | None = None, at_ms: float = 0.0) -> None:
        self.effects: list[Effect] = []
        self.told: list[tuple[State, State]] = []  # before, and now
        self.then: Callable[[Effect], None] = lambda effect: None
        self.steps = Stepping(machine or Machine(), self._perform, lambda: at_ms, self._tell)

    def _perform(self, effect: Effect) -> None:
        self.effects.append(effect)
        self.then(effect)

    def _tell(self, before: State) -> None:
        self.told.append((before, self.steps.machine.state))


def test_what_an_effect_brings_waits_until_all_effects_are_carried_out() -> None:
    stage = Stepped()
    wake = WakeHeard("button", 1.0, 0.0, 0.0, pressed=True)
    of_wake = reduce(Machine(), wake)[1]
    assert len(of_wake) > 1
    muted: list[bool] = []

    def mute(effect: Effect) -> None:
        if isinstance(effect, OpenTurn):
            assert not stage.steps.take(Muted(True))
        muted.append(stage.steps.machine.muted)

    stage.then = mute
    assert stage.steps.take(wake)
    assert stage.effects[: len(of_wake)] == of_wake
    assert not any(muted[: len(of_wake)])
    assert stage.steps.machine.muted
    assert stage.told == [(State.IDLE, State.WAKING), (State.WAKING, State.IDLE)]


def test_an_effect_that_fails_leaves_nothing_waiting() -> None:
    stage = Stepped()

    def fail(effect: Effect) -> None:
        stage.steps.take(Muted(True))
        raise RuntimeError("broken")

    stage.then = fail
    with pytest.raises(RuntimeError, match="broken"):
        stage.steps.take(Typed("hello"))
    stage.then = lambda effect: None
    assert stage.steps.take(StopAsked())
    assert not stage.steps.machine.muted
    assert stage.steps.machine.rests


@pytest.mark.parametrize(("known_ms", "now_ms"), [(0.0, 1_200.0), (5_000.0, 5_000.0)])
def test_the_machine_is_told_the_time_with_each_event(known_ms: float, now_ms: float) -> None:
    stage = Stepped(Machine(now_ms=known_ms), at_ms=1_200.0)
    stage.steps.take(Muted(True))
    assert stage.steps.machine.now_ms == now_ms


def test_other_rules_count_from_the_next_turn_on() -> None:
    stage = Stepped()
    first = stage.steps.rules
    stage.steps.take(Typed("hello"))
    never, always = replace(first, follow_up="never"), replace(first, follow_up="always")
    stage.steps.use(never)
    assert stage.steps.machine.rules is first
    stage.steps.take(StopAsked())
    assert stage.steps.machine.rules is never
    stage.steps.use(always)  # while it rests: at once
    assert stage.steps.machine.rules is always


async def test_whoever_waits_looks_after_each_event_and_when_told_to() -> None:
    stage = Stepped()
    seen: list[bool] = []
    written = False

    def over() -> bool:
        seen.append(stage.steps.machine.muted)
        return written

    waiting = asyncio.create_task(stage.steps.until(over))
    await asyncio.sleep(0)
    stage.steps.take(Muted(True))
    await asyncio.sleep(0)
    written = True
    await asyncio.sleep(0)
    assert not waiting.done()  # nobody has said that anything is different
    stage.steps.wake_waiters()
    async with asyncio.timeout(20):
        await waiting
    assert seen == [False, True, True]
