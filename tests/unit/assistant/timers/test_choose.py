"""Which timer somebody means."""

import pytest

from assistant.clock import VirtualClock
from assistant.journal.records import TimerRecord
from assistant.timers.choose import Which, choose

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
    assert "".join(timer.id for timer in choose(TIMERS, which)) == ids


def test_the_whole_name_counts_before_words_of_it() -> None:
    both = [TimerRecord("1", NOW, 60, NOW, "rice pudding"), TimerRecord("2", NOW, 60, NOW, "Rice")]
    assert [timer.id for timer in choose(both, Which("rice"))] == ["2"]
    assert [timer.id for timer in choose(both, Which("the rice"))] == ["2"]
