"""Whoever follows the log is told of all that is written down, and of no words that are not."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn, TurnLog, wordless
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.turn import Turn
from assistant.domain.clock import VirtualClock
from assistant.domain.records import TurnRecord
from assistant.journal.store import Store

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[TurnLog]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as store:
        yield TurnLog(store)


def turn(turn_id: str = "t1") -> TurnRecord:
    return TurnRecord(turn_id, NOW, "voice", "en", heard="open the safe", answer="It is open.")


async def end(log: TurnLog, monkeypatch: pytest.MonkeyPatch, record: TurnRecord) -> None:
    """As the runner ends a turn; what makes the record of it is tested elsewhere."""
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
    """As `Controls` erases them, once they are written."""
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
    assert "a follower of turns broke" in caplog.text
