"""Tests of which timers ring when, however the wall clock jumps."""

from datetime import timedelta

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.timers.monitor import Deadlines

HOUR = 3600.0


def a_timer(clock: VirtualClock, name: str, seconds: float, **rest: float) -> TimerRecord:
    now = clock.now()
    return TimerRecord(name, now + timedelta(seconds=seconds), seconds, now, **rest)  # type: ignore[arg-type]


class Case:
    """Deadlines as the ringer uses them, with a check before and after each event."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.deadlines = Deadlines()
        self.kept: list[TimerRecord] = []
        self.look()

    def hold(self, *timers: TimerRecord, inherited: bool = False) -> None:
        now, passed_s = self.clock.now(), self.clock.since_boot()
        self.deadlines.hold(timers, now, passed_s, inherited=inherited)

    def look(self) -> list[str]:
        passed_s = self.clock.since_boot()
        self.kept += self.deadlines.set_right(self.clock.now(), passed_s)
        return [timer.id for timer in self.deadlines.due(passed_s)]

    @property
    def next_s(self) -> float | None:
        return self.deadlines.next_s(self.clock.since_boot())


@pytest.fixture
def case() -> Case:
    return Case(VirtualClock())


def test_several_in_their_order(case: Case) -> None:
    case.hold(*(a_timer(case.clock, name, s) for name, s in (("c", 30), ("a", 10), ("b", 20))))
    assert (case.look(), case.next_s) == ([], 10)
    case.clock.advance(10)
    assert (case.look(), case.next_s) == (["a"], 10)
    case.clock.advance(50)
    assert (case.look(), case.next_s) == (["a", "b", "c"], None)
    assert case.deadlines.late_s("a", case.clock.since_boot()) == 50


@pytest.mark.parametrize("hours", [-100_000, -5, 5, 100_000])
def test_what_began_before_our_eyes_counts_real_time(case: Case, hours: int) -> None:
    case.hold(a_timer(case.clock, "tea", 300))
    case.clock.advance(100)
    case.clock.set_ahead(hours * HOUR)
    assert (case.look(), case.next_s) == ([], 200)
    (kept,) = case.kept  # so that it is also correct after a restart
    assert (kept.due - case.clock.now()).total_seconds() == 200
    case.hold(kept)
    case.clock.advance(200)
    assert case.look() == ["tea"]


@pytest.mark.parametrize(
    ("hours", "next_s", "due"),
    [
        (2, None, True),  # the network time shows that it was due long ago
        (-2, 300, False),  # too early is better than two hours late
    ],
)
def test_what_is_from_before_has_its_wall_time(
    case: Case, hours: int, next_s: float | None, due: bool
) -> None:
    case.hold(a_timer(case.clock, "tea", 300), inherited=True)
    case.clock.set_ahead(hours * HOUR)
    assert (bool(case.look()), case.next_s) == (due, next_s)


def test_a_leap_ahead_brings_what_is_from_before_nearer(case: Case) -> None:
    case.hold(a_timer(case.clock, "tea", 300), inherited=True)
    case.clock.set_ahead(200)
    assert (case.look(), case.next_s, case.kept) == ([], 100, [])


def test_a_clock_that_drifts_is_no_leap(case: Case) -> None:
    case.hold(a_timer(case.clock, "tea", 300))
    for _ in range(100):
        case.clock.advance(1)
        case.clock.set_ahead(0.5)
        case.look()
    assert (case.next_s, case.kept) == (200, [])


def test_the_time_that_the_machine_slept_counts(case: Case) -> None:
    case.hold(a_timer(case.clock, "tea", 300))
    case.clock.suspend(400)
    assert (case.look(), case.kept) == (["tea"], [])


def test_a_leap_does_not_touch_what_rings(case: Case) -> None:
    case.hold(a_timer(case.clock, "tea", 10))
    case.clock.advance(20)
    case.clock.set_ahead(-HOUR)
    assert (case.look(), case.kept) == (["tea"], [])


def test_what_stands_still_is_never_due(case: Case) -> None:
    case.hold(a_timer(case.clock, "tea", 10, paused_s=10))
    case.clock.advance(HOUR)
    assert (case.look(), case.next_s) == ([], None)


def test_what_was_changed_or_ended_counts_anew(case: Case) -> None:
    first, second = a_timer(case.clock, "tea", 10), a_timer(case.clock, "egg", 10)
    case.hold(first, second)
    case.clock.advance(5)
    case.hold(a_timer(case.clock, "tea", 60))
    case.clock.advance(30)
    assert (case.look(), case.next_s) == ([], 30)
