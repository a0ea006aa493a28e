"""Tests that followers of the turn log get everything that is written, and no other words."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn, TurnLog, TurnTelling, record_of, wordless
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.turn import Turn
from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import TurnRecord
from assistant.journal.store import Store
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

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[TurnLog]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as store:
        yield TurnLog(store)


def turn(turn_id: str = "t1") -> TurnRecord:
    return TurnRecord(turn_id, NOW, "voice", "en", heard="open the safe", answer="It is open.")


async def end(log: TurnLog, monkeypatch: pytest.MonkeyPatch, record: TurnRecord) -> None:
    """End a turn as the loop does; the making of its record is tested elsewhere.

    End a turn as the loop does; the making of its record is tested elsewhere.
    """
    monkeypatch.setattr("assistant.conversation.record.record_of", lambda turn, closing: record)

    class Live:
        outcomes: tuple[()] = ()

    live: Turn = Live()  # type: ignore[assignment]
    await log.record(live, CloseTurn(1))


async def test_turns_and_what_work_has_cost_are_told_once_written(
    log: TurnLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[TurnRecord] = []
    leave = log.follow(lambda finished: told.append(finished.record))
    await end(log, monkeypatch, turn())
    await log.keep(turn("job"))
    leave()
    leave()
    await log.keep(turn("unheard"))
    assert told == [turn(), turn("job")]


async def test_words_that_are_not_kept_are_not_told(
    log: TurnLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[TurnRecord] = []
    log = TurnLog(log._store, lambda: False)
    log.follow(lambda finished: told.append(finished.record))
    await end(log, monkeypatch, turn())
    await log.keep(turn("job"))
    assert told == [wordless(turn()), wordless(turn("job"))]


async def test_words_that_were_to_be_forgotten_are_not_told(
    log: TurnLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Controls` erases them once they are written."""
    told: list[TurnRecord] = []

    async def erase(record: TurnRecord) -> None:
        log.turns[-1] = FinishedTurn(wordless(record), ())

    log = TurnLog(log._store, after_writing=erase)
    log.follow(lambda finished: told.append(finished.record))
    await end(log, monkeypatch, turn())
    assert told == [wordless(turn())]


async def test_one_that_breaks_costs_nobody_anything(
    log: TurnLog, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[FinishedTurn] = []

    def broken(finished: FinishedTurn) -> None:
        raise RuntimeError("no")

    log.follow(broken)
    log.follow(told.append)
    await log.keep(turn())
    assert len(told) == 1
    assert "a listener of turns failed" in caplog.text


# Events of turns for automations, as they happen.


class Told:
    """Follows everything of one loop, as the main process does."""

    def __init__(self, *, keeps_words: bool = True) -> None:
        self.all: list[BusEvent] = []
        bus = EventBus(lambda: keeps_words)
        bus.follow(self.all.append)
        self.telling = TurnTelling(bus)

    def close(self, turns: list[tuple[Turn, CloseTurn]]) -> None:
        for turn, closing in turns:
            self.telling.finished(FinishedTurn(record_of(turn, closing), tuple(turn.outcomes)))

    @property
    def kinds(self) -> list[str]:
        return [one.kind for one in self.all]

    def of(self, kind: str) -> BusEvent:
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
    assert (asked.data, asked.words) == ({"waits": True}, {"asked": "Unlock the front door?"})
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
