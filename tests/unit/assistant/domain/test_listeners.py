"""Tests that listeners are called until they leave, even if others fail."""

import pytest

from assistant.domain.events import Listeners


def test_one_that_breaks_keeps_no_other_from_being_told(caplog: pytest.LogCaptureFixture) -> None:
    followers: Listeners[[int]] = Listeners("numbers")
    told: list[int] = []

    def broken(number: int) -> None:
        raise RuntimeError("broken")

    followers.add(broken)
    followers.add(told.append)
    followers.tell(1)
    assert told == [1]
    assert caplog.text.count("a listener of numbers failed") == 1


def test_leaving_twice_takes_nobody_else_away() -> None:
    followers: Listeners[[int]] = Listeners("numbers")
    told: list[int] = []
    leave = followers.add(told.append)
    followers.add(told.append)
    leave()
    leave()
    followers.tell(1)
    assert told == [1]


def test_one_may_leave_while_it_is_told() -> None:
    followers: Listeners[[]] = Listeners("changes")
    told: list[str] = []

    def once() -> None:
        told.append("once")
        leave()

    leave = followers.add(once)
    followers.add(lambda: told.append("always"))
    followers.tell()
    followers.tell()
    assert told == ["once", "always", "always"]
