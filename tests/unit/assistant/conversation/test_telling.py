"""What automations are told of turns, as they happen."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.conversation.record import FinishedTurn, TurnTelling, record_of
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.turn import Turn
from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.events import EventBus, Happening
from assistant.domain.records import TurnRecord
from tests.unit.assistant.conversation.asking_stage import (
    ANSWER,
    Ear,
    GatedTools,
    means,
    replies,
    unlocks,
)
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, runner_with, says_hello, turns_on


class Told:
    """Follows everything of one runner, as the process that stays does."""

    def __init__(self, *, keeps_words: bool = True) -> None:
        self.all: list[Happening] = []
        happenings = EventBus(lambda: keeps_words)
        happenings.follow(self.all.append)
        self.telling = TurnTelling(happenings)

    def close(self, turns: list[tuple[Turn, CloseTurn]]) -> None:
        for turn, closing in turns:
            self.telling.finished(FinishedTurn(record_of(turn, closing), tuple(turn.outcomes)))

    @property
    def kinds(self) -> list[str]:
        return [one.kind for one in self.all]

    def of(self, kind: str) -> Happening:
        [one] = [one for one in self.all if one.kind == kind]
        return one


async def test_a_turn_from_its_wake_word_to_its_answer() -> None:
    told = Told()
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(dict(COMMAND))) as (runner, closed):
        runner.follow(told.telling)
        await runner.listen(Frames(6.0))
    told.close(closed)
    assert told.kinds == ["wake", "tool_call", "heard", "answer"]
    assert {one.turn_id for one in told.all} == {"turn-0"}
    assert told.of("wake").data == {"word": "okay_nabu", "score": 0.9}
    assert told.of("heard").words == {"heard": "turn on the light"}
    assert told.of("tool_call").data == {
        "name": "intent__HassTurnOn",
        "status": "done",
        "decision": "allowed",
        "tier": "comfort",
        "entities": [],
    }
    assert told.of("answer").data == {"brain": "scripted", "error": None, "caller": ""}
    assert told.of("answer").words == {"answer": "The kitchen light is on."}
    assert all(not one.words for one in told.all if one.kind in ("wake", "tool_call"))


async def test_a_confirmation_when_it_waits_and_when_it_is_over() -> None:
    told, tools = Told(), GatedTools()
    brain = ScriptedBrain(unlocks, replies(Heard("Yes.")))
    async with runner_with(brain, ScriptedEar(dict(ANSWER)), tools, asking=means(Ear("yes"))) as (
        runner,
        closed,
    ):
        runner.follow(told.telling)
        await runner.listen(Frames(30.0), turns=1)
    told.close(closed)
    asked, over = (one for one in told.all if one.kind == "confirmation")
    assert (asked.data, asked.words) == ({"waits": True}, {"asked": "Unlock Front Door?"})
    assert (over.data, over.words) == ({"waits": False, "verdict": "yes"}, {})
    decisions = [one.data["decision"] for one in told.all if one.kind == "tool_call"]
    assert decisions == ["needs_confirmation", "confirmed"]
    assert told.of("heard").words == {"heard": "unlock the front door"}  # the answer is none


async def test_what_guests_say_is_told_to_nobody() -> None:
    told = Told(keeps_words=False)
    async with runner_with(ScriptedBrain(turns_on), ScriptedEar(dict(COMMAND))) as (runner, _):
        runner.follow(told.telling)
        await runner.listen(Frames(6.0))
    assert told.kinds == ["wake", "tool_call", "heard"]
    assert [one.words for one in told.all] == [{}, {}, {}]


async def test_what_is_set_aside_was_not_heard() -> None:
    async def stops(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield Heard("stop", "en")
        yield ReplyText("Stopping.")
        yield TurnDone()

    told = Told()
    brain = ScriptedBrain(stops)
    async with runner_with(brain, ScriptedEar(dict(COMMAND))) as (runner, _):
        runner.add_bell(lambda: True, lambda: None)  # so that the word is meant for what rings
        runner.follow(told.telling)
        await runner.listen(Frames(6.0))
    assert told.kinds == ["wake"]


async def test_who_pressed() -> None:
    told = Told()
    async with runner_with(ScriptedBrain(says_hello), ScriptedEar({})) as (runner, _):
        runner.follow(told.telling)
        assert runner.wake("desk")
        await runner.rest()
    assert told.of("wake").data == {"word": "desk", "pressed": True, "caller": ""}


async def test_a_turn_that_failed() -> None:
    async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield BrainFault("unreachable", "No network.", retryable=False)

    told = Told()
    async with runner_with(ScriptedBrain(fails)) as (runner, closed):
        runner.follow(told.telling)
        await runner.ask("Hello?")
    told.close(closed)
    assert told.kinds == ["heard", "answer"]
    assert told.of("answer").data["error"] == "unreachable"


@pytest.mark.parametrize("source", ["announcement", "job"])
async def test_what_nobody_asked_for_is_no_answer(source: str) -> None:
    told = Told()
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        await runner.ask("Hello?")
    turn, closing = closed[0]
    record: TurnRecord = replace(record_of(turn, closing), source=source)  # type: ignore[arg-type]
    told.telling.finished(FinishedTurn(record, ()))
    assert told.all == []
