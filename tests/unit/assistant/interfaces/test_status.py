"""Tests of the statistics for programs: of the last turn, and of today."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.conversation.record import FinishedTurn, TurnLog, wordless
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import StoreError, TurnRecord, WakeRecord
from assistant.interfaces.status import COST_S, HEALTH_S, HealthMonitor, Intents, TurnStats
from assistant.journal.store import Store

EVENING = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
TIMELINE = {"speech_end": 1000.0, "first_audio_out": 1812.34}


def record(turn_id: str, cost: float = 0.0, **changes: Any) -> TurnRecord:
    values: dict[str, Any] = {
        "started_at": EVENING,
        "source": "voice",
        "language": "en",
        "heard": "turn it on",
        "answer": "It is on.",
        "brain": "offline",
        "wake": WakeRecord("okay_nabu", 0.9, 1.0),
        "timeline": TIMELINE,
        "cost_usd": cost,
    }
    return TurnRecord(turn_id=turn_id, **{**values, **changes})


class Turns:
    """A turn log that the test drives."""

    def __init__(self) -> None:
        self.tell: Callable[[FinishedTurn], None] = lambda finished: None

    def follow(self, follower: Callable[[FinishedTurn], None]) -> Callable[[], None]:
        self.tell = follower

        def leave() -> None:
            self.tell = lambda finished: None

        return leave


class Desk:
    """Statistics at work on a real journal."""

    def __init__(self, store: Store, turns: Turns, figures: TurnStats, clock: VirtualClock) -> None:
        self.store, self.turns, self.figures, self.clock = store, turns, figures, clock
        self.told = 0
        figures.follow(self._note)

    def _note(self) -> None:
        self.told += 1

    async def end(self, turn: TurnRecord) -> None:
        """End a turn, as the log reports it."""
        await self.store.record_turn(turn)
        self.turns.tell(FinishedTurn(turn, ()))
        await self.counted()

    async def counted(self) -> None:
        for _ in range(3):
            await self.clock.settle()
            await self.store.last_turn()  # behind what was asked of the store


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(EVENING)


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", clock) as store:
        yield store


@asynccontextmanager
async def counting(store: Store, clock: VirtualClock) -> AsyncIterator[Desk]:
    turns = Turns()
    async with TurnStats(cast(TurnLog, turns), store, clock) as figures:
        yield Desk(store, turns, figures, clock)


async def test_before_anything_happens_nothing_is_known(store: Store, clock: VirtualClock) -> None:
    async with counting(store, clock) as desk:
        figures = desk.figures
        assert (figures.last_heard, figures.brain) == (None, None)
        assert (figures.turn_id, figures.latency_ms, figures.cost_today_usd) == (None, None, 0.0)


async def test_the_last_turn_is_shown(store: Store, clock: VirtualClock) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t1", 0.25))
        figures = desk.figures
        assert (figures.last_heard, figures.last_answer) == ("turn it on", "It is on.")
        assert (figures.last_wake_word, figures.brain) == ("okay_nabu", "offline")
        assert figures.turn_id == "t1"
        assert figures.latency_ms == 812.3
        assert figures.cost_today_usd == 0.25
        assert desk.told == 2  # the turn at once, then what it cost


async def test_what_a_turn_does_not_have_is_of_the_last_one_that_had_it(
    store: Store, clock: VirtualClock
) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t1"))
        await desk.end(
            record("t2", heard=None, answer=None, wake=None, brain=None, timeline={}),
        )
        figures = desk.figures
        assert (figures.last_heard, figures.last_answer) == (None, None)
        assert (figures.last_wake_word, figures.brain, figures.latency_ms) == (
            "okay_nabu",
            "offline",
            812.3,
        )


@pytest.mark.parametrize(
    "other",
    [
        {"source": "announcement"},
        {"source": "job"},
        {"source": "text", "caller": "http:kitchen"},
    ],
)
async def test_what_nobody_said_is_not_heard_but_may_cost(
    store: Store, clock: VirtualClock, other: dict[str, Any]
) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t1"))
        await desk.end(record("t2", 0.5, heard="from a program", **other))
        assert (desk.figures.turn_id, desk.figures.last_heard) == ("t1", "turn it on")
        assert desk.figures.cost_today_usd == 0.5


async def test_a_microphone_that_a_program_opened_was_spoken_to_all_the_same(
    store: Store, clock: VirtualClock
) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t1", caller="home-assistant"))
        assert desk.figures.last_heard == "turn it on"


async def test_the_words_of_guests_are_not_known(store: Store, clock: VirtualClock) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t0"))
        await desk.end(wordless(record("t1")))
        assert (desk.figures.turn_id, desk.figures.last_heard) == ("t1", None)
        assert desk.figures.last_answer is None


async def test_what_an_earlier_process_has_left(store: Store, clock: VirtualClock) -> None:
    await store.record_turn(record("t1", 0.25))
    yesterday = EVENING - timedelta(days=1)
    await store.record_turn(record("t0", 7.0, started_at=yesterday))
    async with counting(store, clock) as desk:
        figures = desk.figures
        assert (figures.turn_id, figures.last_heard) == ("t1", "turn it on")
        assert figures.cost_today_usd == 0.25


async def test_at_midnight_the_day_costs_nothing_yet(store: Store, clock: VirtualClock) -> None:
    async with counting(store, clock) as desk:
        await desk.end(record("t1", 0.25))
        told = desk.told
        for _ in range(6):  # it looks again every ten minutes
            await clock.run(COST_S)
            await desk.counted()
        assert clock.now().date() > EVENING.date()
        assert desk.figures.cost_today_usd == 0.0
        assert desk.figures.day == EVENING.replace(day=23, hour=0, minute=0)
        assert desk.told == told + 1


async def test_what_another_process_spends_is_seen_after_a_while(
    store: Store, clock: VirtualClock
) -> None:
    async with counting(store, clock) as desk:
        await store.record_turn(record("other", 0.75))
        await clock.run(COST_S)
        await desk.counted()
        assert desk.figures.cost_today_usd == 0.75


async def test_a_store_that_fails_leaves_what_was_known(
    store: Store,
    clock: VirtualClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(since: datetime) -> float:
        raise StoreError("The disk is full.")

    async with counting(store, clock) as desk:
        await desk.end(record("t1", 0.25))
        with monkeypatch.context() as patch:
            patch.setattr(store, "spent_since", broken)
            await desk.end(record("t2", 0.25))
            await desk.end(record("t3", 0.25))
            assert desk.figures.cost_today_usd == 0.25
            assert caplog.text.count("The disk is full.") == 1
            for _ in range(6):
                await clock.run(COST_S)
                await desk.counted()
            assert desk.figures.cost_today_usd is None  # of the new day
        await desk.end(record("t4", 0.5, started_at=clock.now()))
        assert desk.figures.cost_today_usd == 0.5


async def test_a_follower_may_leave_and_may_break(
    store: Store, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("no")

    async with counting(store, clock) as desk:
        leave = desk.figures.follow(broken)
        await desk.end(record("t1"))
        leave()
        leave()
        await desk.end(record("t2"))
        assert desk.told == 2
    assert caplog.text.count("a listener of the figures failed") == 1


# Faults: reported once they last, and when they are over.


DEAF = "The microphone is gone."
AWAY = "Home Assistant does not answer."


@dataclass
class Stage:
    clock: VirtualClock = field(default_factory=VirtualClock)
    now: dict[str, str] = field(default_factory=dict)
    told: list[BusEvent] = field(default_factory=list)
    changes: int = 0
    troubles: HealthMonitor = field(init=False)

    def __post_init__(self) -> None:
        bus = EventBus()
        bus.follow(self.told.append)
        self.troubles = HealthMonitor(lambda: self.now, bus, self.clock)

    def changed(self) -> None:
        self.changes += 1


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    made.troubles.follow(made.changed)
    async with made.troubles:
        await made.clock.run(HEALTH_S)
        yield made


async def test_a_trouble_that_lasts_is_told_once_and_its_end_once(stage: Stage) -> None:
    stage.now = {"microphone": DEAF}
    await stage.clock.run(5 * HEALTH_S)
    assert list(stage.troubles.sentences) == [DEAF]
    stage.now = {}
    await stage.clock.run(3 * HEALTH_S)
    assert list(stage.troubles.sentences) == []
    assert [one.data for one in stage.told] == [
        {"what": "microphone", "on": True, "problem": DEAF},
        {"what": "microphone", "on": False},
    ]
    assert {one.kind for one in stage.told} == {"fault"}
    assert stage.changes == 2


async def test_what_is_over_at_once_is_no_trouble(stage: Stage) -> None:
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(HEALTH_S)
    stage.now = {}
    await stage.clock.run(HEALTH_S)
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(HEALTH_S)
    assert (stage.told, stage.changes, stage.troubles.sentences) == ([], 0, ())


async def test_another_sentence_about_the_same_thing_is_no_new_fault(stage: Stage) -> None:
    stage.now = {"home_assistant": AWAY}
    await stage.clock.run(4 * HEALTH_S)
    stage.now = {"home_assistant": "The token is refused.", "microphone": DEAF}
    await stage.clock.run(HEALTH_S)
    assert stage.troubles.sentences == ("The token is refused.",)
    assert (len(stage.told), stage.changes) == (1, 2)


# The subject of a turn is the first tool that it called.


def call(turn_id: str, name: str) -> BusEvent:
    return BusEvent("tool_call", turn_id, {"name": name, "status": "done"})


def test_the_first_tool_counts_without_its_server() -> None:
    intents = Intents()
    assert intents.of(BusEvent("wake", "turn1")) is None
    assert intents.of(call("turn1", "intent__HassTurnOn")) == "HassTurnOn"
    assert intents.of(call("turn1", "intent__HassLightSet")) == "HassTurnOn"
    assert intents.of(BusEvent("answer", "turn1")) == "HassTurnOn"
    assert intents.of(BusEvent("answer", "turn2")) is None


def test_what_has_a_name_but_is_no_tool_is_none() -> None:
    assert Intents().of(BusEvent("button", "turn1", {"name": "listen"})) is None


def test_what_belongs_to_no_turn_is_not_remembered() -> None:
    intents = Intents()
    assert intents.of(call("", "HassTurnOn")) is None
    assert intents.of(BusEvent("fault")) is None


def test_only_the_newest_turns_are_remembered() -> None:
    intents = Intents()
    for number in range(33):
        intents.of(call(f"turn{number}", "HassTurnOn"))
    assert intents.of(BusEvent("answer", "turn0")) is None
    assert intents.of(BusEvent("answer", "turn32")) == "HassTurnOn"
