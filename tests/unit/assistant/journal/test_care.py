"""Tests of the journal's maintenance beside the turns: deletion, checks and faults."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import datetime

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.domain.events import EventBus
from assistant.domain.records import StoreError
from assistant.journal.reports import Reports
from assistant.journal.retention import CHECK_S, FORGET_S, PROBE_S, Care
from assistant.journal.store import Store


class Journal(Store):
    """Records the requests; fails while `problem` is set."""

    problem: str = ""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.reports = Faults(self.note)

    async def erase_old(self, keep_days: int, transcript_hours: int) -> None:
        self.note(f"erase {keep_days} {transcript_hours}")

    async def bound(self, most_bytes: int) -> int:
        self.note(f"bound {most_bytes}")
        return 0

    async def check(self) -> bool:
        self.note("check")
        return True

    async def probe(self) -> None:
        self.done.append("probe")
        self.note("written")

    def note(self, what: str) -> None:
        if self.problem:
            raise StoreError(self.problem, told=True)
        self.done.append(what)


class Faults(Reports):
    """Reports that call `note` for each request."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    async def settle_faults(self) -> None:
        self._note("settle")

    async def begin_fault(self, what: str, problem: str, at: datetime) -> None:
        self._note(f"{what} began {at:%H:%M:%S}: {problem}")

    async def end_fault(self, what: str, at: datetime) -> None:
        self._note(f"{what} ended {at:%H:%M:%S}")


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


@pytest.fixture
async def care(journal: Journal, clock: VirtualClock, bus: EventBus) -> AsyncIterator[Care]:
    async with Care(journal, Settings().journal, bus, clock) as caring:
        await _settle()
        yield caring


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_it_forgets_at_the_start_and_each_hour(
    care: Care, journal: Journal, clock: VirtualClock
) -> None:
    assert journal.done == ["settle", "erase 30 24", "bound 200000000"]
    journal.done.clear()
    clock.advance(FORGET_S)
    await _settle()
    assert journal.done.count("erase 30 24") == 1
    assert "bound 200000000" in journal.done


async def test_it_reads_the_whole_file_a_few_times_a_day(
    care: Care, journal: Journal, clock: VirtualClock
) -> None:
    assert "check" not in journal.done
    clock.advance(20)
    await _settle()
    assert journal.done.count("check") == 1
    clock.advance(CHECK_S)
    await _settle()
    assert journal.done.count("check") == 2


async def test_it_tries_whether_the_disk_can_be_written_again(
    care: Care, journal: Journal, clock: VirtualClock
) -> None:
    clock.advance(PROBE_S)
    await _settle()
    assert "probe" not in journal.done
    journal.problem = "The disk is full."
    clock.advance(PROBE_S)
    await _settle()
    assert journal.done[-1] == "probe"
    assert "written" not in journal.done
    journal.problem = ""


async def test_faults_are_written_down(
    care: Care, journal: Journal, clock: VirtualClock, bus: EventBus
) -> None:
    journal.done.clear()
    bus.publish("fault", what="microphone", on=True, problem="It is gone.")
    bus.publish("fault", what="an order", caller="mqtt", problem="It was refused.")
    clock.advance(5)
    bus.publish("fault", what="microphone", on=False)
    await _settle()
    assert journal.done == ["microphone began 12:00:00: It is gone.", "microphone ended 12:00:05"]


async def test_a_fault_of_the_disk_is_written_down_when_it_is_over(
    care: Care, journal: Journal, clock: VirtualClock, bus: EventBus
) -> None:
    journal.done.clear()
    journal.problem = "The disk is full."
    bus.publish("fault", what="journal", on=True, problem="The disk is full.")
    await _settle()
    assert journal.done == []
    journal.problem = ""
    clock.advance(5)
    bus.publish("fault", what="journal", on=False)
    await _settle()
    told = [one for one in journal.done if one.startswith("journal")]
    assert told == ["journal began 12:00:00: The disk is full.", "journal ended 12:00:05"]


async def test_what_the_store_has_not_said_is_logged(
    journal: Journal,
    clock: VirtualClock,
    bus: EventBus,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> bool:
        raise StoreError("It is held by another program.")

    monkeypatch.setattr(journal, "check", broken)
    with caplog.at_level(logging.ERROR):
        async with Care(journal, Settings().journal, bus, clock):
            await _settle()
            clock.advance(20)
            await _settle()
    assert caplog.messages == [
        "the journal's maintenance failed at the whole journal: It is held by another program."
    ]
