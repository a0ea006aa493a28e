"""Tests of turns that a person types at a terminal beside the daemon."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_turns import PATIENCE_S
from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.effects import CloseTurn, OpenTurn
from assistant.conversation.rules.events import AtTerminal, ConfirmationSettled, Typed, WakeHeard
from assistant.conversation.rules.machine import State, reduce
from assistant.domain.brain import PEOPLE, BrainEvent, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import READ_ONLY
from integrations.web.box import Busy
from tests.unit.assistant.conversation.asking_stage import UNLOCK, Ear, GatedTools, Keys, means
from tests.unit.assistant.conversation.doubles import (
    Rightful,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.situations import IDLE, THINKING
from tests.unit.assistant.conversation.stage import rounds, runner_with, says_hello
from tests.unit.assistant.conversation.test_for_programs import Loud, waits_for_speech

CALLED_BY_WAKE = WakeHeard("okay_nabu", 0.9, 0, 0)


async def unlocks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield UNLOCK
    await turn.answered.wait()
    yield ReplyText("That needs a person.")
    yield TurnDone()


async def thinks_for_ever(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    await asyncio.get_running_loop().create_future()
    yield TurnDone()


def ask(
    runner: ConversationLoop, terminal: AtTerminal, text: str = "Say hello."
) -> asyncio.Task[list[FinishedTurn]]:
    return asyncio.create_task(runner.ask_at_terminal(text, terminal))


def test_the_rules_open_a_persons_turn_that_is_silent() -> None:
    terminal = AtTerminal()
    machine, effects = reduce(IDLE, Typed("Hello", terminal=terminal))
    assert (machine.state, machine.silent) == (State.THINKING, True)
    assert effects == [OpenTurn(1, "text", text="Hello", owner=PEOPLE, terminal=terminal)]


@pytest.mark.parametrize("terminal", [None, AtTerminal()])
def test_the_rules_keep_a_new_command_at_the_terminal_where_it_was_typed(
    terminal: AtTerminal | None,
) -> None:
    asking = replace(THINKING, source="text", state=State.CONFIRMING)
    settled = ConfirmationSettled(1, new_command=True, text="Lights on", terminal=terminal)
    machine, effects = reduce(asking, settled)
    assert machine.silent is (terminal is not None)
    opened = OpenTurn(2, "text", text="Lights on", terminal=terminal)
    assert effects == [CloseTurn(1), opened]


async def test_the_answer_is_returned_and_nothing_sounds() -> None:
    brain, player = ScriptedBrain(says_hello), Loud()
    async with runner_with(brain, player=player, limits=Rightful()) as (runner, _):
        [finished] = await ask(runner, AtTerminal())
    assert finished.record.answer == "Hello there."
    assert (finished.record.source, finished.record.caller) == ("text", "")
    assert brain.turns[0].request.owner == PEOPLE


async def test_it_waits_for_a_person_and_returns_its_own_turn_alone() -> None:
    brain = ScriptedBrain(waits_for_speech, says_hello, says_hello)
    async with runner_with(brain, ScriptedEar({}), limits=Rightful()) as (runner, closed):
        runner.dispatch(CALLED_BY_WAKE)
        asking = ask(runner, AtTerminal())
        after = asyncio.create_task(runner.ask_quietly("Later", READ_ONLY, "mcp:kitchen"))
        await rounds()
        assert len(brain.turns) <= 1
        runner.stop()
        [finished] = await asking
        await after
        assert finished.record.heard == "Say hello."
        assert len(closed) == 3


async def test_too_long_a_wait_is_told() -> None:
    clock = VirtualClock()
    async with runner_with(
        ScriptedBrain(waits_for_speech), ScriptedEar({}), clock=clock, limits=Rightful()
    ) as (runner, _):
        runner.dispatch(CALLED_BY_WAKE)
        asking = ask(runner, AtTerminal())
        await rounds()
        clock.advance(PATIENCE_S)
        with pytest.raises(Busy):
            await asking


async def test_ctrl_c_ends_its_own_turn() -> None:
    brain = ScriptedBrain(thinks_for_ever)
    async with runner_with(brain, limits=Rightful()) as (runner, closed):
        asking = ask(runner, AtTerminal())
        await rounds()
        assert runner.state is State.THINKING
        asking.cancel()
        await runner.rest()
        assert [closing.error for _, closing in closed] == ["interrupted"]


async def test_ctrl_c_while_waiting_leaves_the_turn_of_another() -> None:
    brain = ScriptedBrain(thinks_for_ever)
    async with runner_with(brain, limits=Rightful()) as (runner, closed):
        first = ask(runner, AtTerminal())
        await rounds()
        second = ask(runner, AtTerminal(), "And you?")
        await rounds()
        second.cancel()
        await rounds()
        assert (runner.state, closed) == (State.THINKING, [])
        first.cancel()
        await runner.rest()


@pytest.mark.parametrize(("line", "runs"), [("yes", [UNLOCK]), ("no", [])])
async def test_its_own_terminal_answers_its_question(line: str, runs: list[object]) -> None:
    tools, keys = GatedTools(), Keys(line)
    async with runner_with(
        ScriptedBrain(unlocks), tools=tools, asking=means(Ear("no")), limits=Rightful()
    ) as (runner, _):
        [finished] = await ask(runner, AtTerminal(keys))
    assert finished.record.confirmation is not None
    assert finished.record.confirmation.heard == line
    assert tools.run == runs


async def test_a_new_command_in_place_of_the_answer_is_returned_with_it() -> None:
    tools, terminal = GatedTools(), AtTerminal(Keys("say hello"))
    async with runner_with(
        ScriptedBrain(unlocks, says_hello), tools=tools, asking=means(Ear("no")), limits=Rightful()
    ) as (runner, _):
        asked, new = await ask(runner, terminal)
    assert asked.record.confirmation is not None
    assert asked.record.confirmation.verdict == "new_command"
    assert (new.record.heard, new.record.answer) == ("say hello", "Hello there.")
    assert tools.run == []
