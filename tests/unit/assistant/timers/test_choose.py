"""Which timer somebody means."""

from dataclasses import replace
from datetime import UTC, time, timedelta

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.timers.book import Which, choose

NOW = VirtualClock().now()
TIMERS = [
    TimerRecord("1", NOW, 600, NOW, "Pasta"),
    TimerRecord("2", NOW, 300, NOW, "soft eggs"),
    TimerRecord("3", NOW, 300, NOW),
    TimerRecord("4", NOW, 900, NOW, "パン"),
    TimerRecord("5", NOW, 900, NOW, "Käse"),
    TimerRecord("6", NOW, 60, NOW, "steak"),
]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (Which(), "123456"),
        (Which("pasta"), "1"),
        (Which("the PASTA"), "1"),
        (Which("egg"), "2"),
        (Which("パン"), "4"),
        (Which("KÄSE"), "5"),
        (Which("tea"), ""),
        (Which("3"), "3"),
        (Which("bread"), ""),
        (Which("!"), ""),
        (Which(duration_s=300), "23"),
        (Which(duration_s=301), ""),
        (Which("eggs", 300), "2"),
        (Which("pasta", 300), ""),
    ],
)
def test_by_name_and_length(which: Which, ids: str) -> None:
    assert "".join(timer.id for timer in choose(TIMERS, which, UTC)) == ids


def test_the_whole_name_counts_before_words_of_it() -> None:
    both = [TimerRecord("1", NOW, 60, NOW, "rice pudding"), TimerRecord("2", NOW, 60, NOW, "Rice")]
    assert [timer.id for timer in choose(both, Which("rice"), UTC)] == ["2"]
    assert [timer.id for timer in choose(both, Which("the rice"), UTC)] == ["2"]


AT_SEVEN = NOW.replace(hour=7) + timedelta(days=1)
MIXED = [
    TIMERS[0],
    TimerRecord("a", AT_SEVEN, 0, NOW, kind="alarm"),
    TimerRecord("b", NOW, 0, NOW, "gym", kind="alarm"),
    TimerRecord("r", NOW, 0, NOW, kind="reminder", text="call Ana about the pasta"),
    replace(TIMERS[1], id="c", kind="command", text="turn off the lights", name=""),
]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (Which(kind="alarm"), "ab"),
        (Which(kind="alarm", at=time(7)), "a"),
        (Which(at=time(7)), "a"),
        (Which("gym"), "b"),
        (Which("call Ana"), "r"),
        (Which("pasta"), "1"),  # a name counts before words of a text
        (Which("the lights", kind="command"), "c"),
        (Which("the lights", kind="alarm"), ""),
        (Which(kind="request"), ""),
    ],
)
def test_by_kind_time_and_words(which: Which, ids: str) -> None:
    assert "".join(timer.id for timer in choose(MIXED, which, UTC)) == ids
