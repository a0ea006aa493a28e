"""Tests that objects of the start and of the first turn are excluded from garbage collection."""

import gc
from collections.abc import Callable, Iterator

import pytest

from assistant.app.process import long_lived
from assistant.domain.events import Listeners


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    assert gc.get_freeze_count() == 0
    yield
    gc.unfreeze()


def follow(
    turns: "Listeners[[object]]",
) -> Callable[[Callable[[object], None]], Callable[[], None]]:
    return turns.add


def test_what_stands_is_set_aside_until_it_ends() -> None:
    with long_lived(follow(Listeners("turns"))):
        assert gc.get_freeze_count() > 1_000
    assert gc.get_freeze_count() == 0


def test_what_the_first_turn_brought_is_too_and_no_later_one() -> None:
    turns: Listeners[[object]] = Listeners("turns")
    with long_lived(follow(turns)):
        stood = gc.get_freeze_count()
        brought = [[number] for number in range(5_000)]
        turns.tell("first")
        after_first = gc.get_freeze_count()
        assert after_first >= stood + len(brought)
        more = [[number] for number in range(5_000)]
        turns.tell("second")
        assert gc.get_freeze_count() < after_first + len(more)
    turns.tell("after the end")
    assert gc.get_freeze_count() == 0


def test_it_ends_well_without_a_turn_and_after_an_error() -> None:
    turns: Listeners[[object]] = Listeners("turns")
    with pytest.raises(ValueError, match="broken"), long_lived(follow(turns)):
        raise ValueError("broken")
    turns.tell("nobody follows")
    assert gc.get_freeze_count() == 0
