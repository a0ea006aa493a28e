"""Tests that the judge of every fault fails if something is lost, done twice, or unheard."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.records import AnnouncementRecord, CallRecord, TurnRecord
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.journal.store import Store
from tests.chaos.promises import Life, Told, assert_promises

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOME, ON, OFFICE = "home_assistant", "intent__HassTurnOn", {"area": "Office"}
ONCE = [(ON, OFFICE)]
TWICE = ONCE * 2


def turn(turn_id: str, **changes: Any) -> TurnRecord:
    given = TurnRecord(turn_id, NOW, "voice", "en", answer="Done.", clauses=("Done.",))
    return replace(given, **changes)


def started(turn_id: str, call_id: str = "1") -> CallRecord:
    return CallRecord(
        turn_id, call_id, HOME, ON, OFFICE, Decision.ALLOWED, Tier.COMFORT, started_at=NOW
    )


def done(call_id: str = "1") -> ToolOutcome:
    return ToolOutcome(
        call_id, HOME, ON, OFFICE, Decision.ALLOWED, Tier.COMFORT, Status.DONE, (), 1.0, "Done."
    )


@pytest.fixture
async def life(tmp_path: Path) -> Life:
    """Return one sentence, heard, done and answered."""
    file = tmp_path / "hearth.db"
    async with Store(file, SystemClock()) as store:
        await store.record_turn(turn("a"))
        await store.start_call(started("a"))
        await store.finish_call("a", done())
    told = (Told("a", "voice", told=True, calls=(ON,)),)
    return Life(1, (), told, ONCE, file)


def test_a_good_one(life: Life) -> None:
    assert_promises(life)


def test_a_house_that_keeps_no_list(life: Life) -> None:
    assert_promises(replace(life, reached=None))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda life: replace(life, spoken=2), "2 were spoken, 1 were heard"),
        (lambda life: replace(life, asked=("b",)), "lost from the journal"),
        (lambda life: replace(life, reached=TWICE), "no row of its own"),
        (lambda life: replace(life, reached=[]), "never reached the house"),
        (lambda life: replace(life, told=(replace(life.told[0], told=False),)), "told anything"),
        (lambda life: replace(life, reached=TWICE, database=None), "no turn tells of it"),
    ],
)
def test_a_bad_one(life: Life, broken: Callable[[Life], Life], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        assert_promises(broken(life))


@pytest.mark.parametrize("kind", ["interrupted", "no_speech"])
def test_nobody_waits_for_words(life: Life, kind: str) -> None:
    assert_promises(replace(life, told=(replace(life.told[0], told=False, error=kind),)))


async def test_a_call_without_an_end(life: Life) -> None:
    assert life.database is not None
    async with Store(life.database, SystemClock()) as store:
        await store.start_call(started("a", "2"))
        with pytest.raises(AssertionError, match="without an end"):
            assert_promises(life)


async def test_the_same_twice_in_one_turn(life: Life) -> None:
    assert life.database is not None
    async with Store(life.database, SystemClock()) as store:
        await store.start_call(started("a", "2"))
        await store.finish_call("a", done("2"))
    with pytest.raises(AssertionError, match="done twice in one turn"):
        assert_promises(replace(life, reached=TWICE))


async def test_an_announcement_that_is_said_twice(life: Life) -> None:
    assert life.database is not None
    async with Store(life.database, SystemClock()) as store:
        await store.add_announcement(AnnouncementRecord("x", "Dinner.", NOW))
        for number in ("b", "c"):
            await store.record_turn(turn(number, source="announcement", answer="Dinner."))
    with pytest.raises(AssertionError, match="announced twice"):
        assert_promises(life)
