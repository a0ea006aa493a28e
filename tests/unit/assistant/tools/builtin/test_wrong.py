"""A person says that something was wrong: the turn before is marked, and nothing else happens."""

from datetime import datetime
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.outcome import Tier
from assistant.domain.records import Mark, StoreError, TurnRecord
from assistant.journal.reports import Reports
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.audit_tools import WITHIN, Marking
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult


class Marks(Reports):
    """A journal with one command, or none."""

    def __init__(self, turn: TurnRecord | None = None, problem: StoreError | None = None) -> None:
        self.turn = turn
        self.problem = problem
        self.marked: list[tuple[str, Mark]] = []

    async def last_command(self, since: datetime) -> TurnRecord | None:
        if self.problem is not None:
            raise self.problem
        return self.turn if self.turn is not None and self.turn.started_at >= since else None

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        self.marked.append((turn_id, mark))
        return True


async def call(marks: Marks, clock: VirtualClock, language: str, **given: Any) -> BuiltInResult:
    tool = Marking(marks, Catalogue(), clock).tool()
    assert tool.tier is Tier.COMFORT
    return await tool.run(given, BuiltInRequest("c1", "t2", "that was wrong", language))


@pytest.mark.parametrize(
    ("given", "language", "mark", "said"),
    [
        ({}, "en", "wrong", "I have noted that this was wrong."),
        ({"misheard": False}, "es", "wrong", "He anotado que eso estaba mal."),
        ({"misheard": True}, "en", "misheard", "I have noted that I misheard you."),
        ({"misheard": True}, "es-MX", "misheard", "He anotado que te entendí mal."),
    ],
)
async def test_the_turn_before_is_marked(
    given: dict[str, Any], language: str, mark: Mark, said: str
) -> None:
    clock = VirtualClock()
    marks = Marks(TurnRecord("t1", clock.now(), "voice", "en"))
    result = await call(marks, clock, language, **given)
    assert (result.sentence, result.failed) == (said, False)
    assert marks.marked == [("t1", mark)]


async def test_what_is_long_ago_is_not_meant() -> None:
    clock = VirtualClock()
    marks = Marks(TurnRecord("t1", clock.now(), "voice", "en"))
    clock.advance(WITHIN.total_seconds() + 1)
    result = await call(marks, clock, "en")
    assert result.failed
    assert result.sentence.startswith("I have not done anything in the last minutes")
    assert marks.marked == []


@pytest.mark.parametrize("told", [True, False])
async def test_a_journal_that_fails_is_said(told: bool, caplog: pytest.LogCaptureFixture) -> None:
    marks = Marks(problem=StoreError("The disk is full.", told=told))
    result = await call(marks, VirtualClock(), "en")
    assert (result.sentence, result.failed) == ("I cannot write anything down right now.", True)
    assert bool(caplog.messages) is not told
