"""Tests of the order of announcements, and of which are dropped."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assistant.announcements.queue import Priority, first, is_news, left_out, priority_of
from assistant.domain.records import AnnouncementRecord

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def record(plan: str) -> AnnouncementRecord:
    """Return a record such as "h3": of high priority, three minutes past noon."""
    name = {"l": "low", "n": "normal", "h": "high"}[plan[0]]
    at = NOON + timedelta(minutes=int(plan[1:]))
    return AnnouncementRecord(plan, plan, at, options={"priority": name})


def plans(text: str) -> list[AnnouncementRecord]:
    return [record(plan) for plan in text.split()]


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ("n1", "n1"),
        ("n2 n1 n3", "n1"),
        ("l1 n2", "n2"),
        ("l1 n2 h3", "h3"),
        ("h3 n1 h2", "h2"),
        ("l2 l1", "l1"),
    ],
)
def test_the_important_comes_first_and_of_these_the_oldest(waiting: str, expected: str) -> None:
    chosen = first(plans(waiting))
    assert chosen is not None
    assert chosen.id == expected


def test_of_two_equally_old_ones_the_first_given_comes_first() -> None:
    one, two = (AnnouncementRecord(name, name, NOON) for name in ("one", "two"))
    assert first([one, two]) is one
    assert first([two, one]) is two
    assert first([]) is None


@pytest.mark.parametrize(
    ("waiting", "most", "expected"),
    [
        ("", 2, ""),
        ("n1 n2", 2, ""),
        ("n3 n1 n2", 2, "n1"),
        ("h1 n2 l3", 2, "l3"),
        ("h1 l3 l2 n4", 2, "l2 l3"),
        ("h1 h2 n3", 2, "n3"),
        ("h2 h1", 1, "h1"),
        ("l1 n1", 0, "l1 n1"),
    ],
)
def test_the_least_important_is_left_out_and_of_these_the_oldest(
    waiting: str, most: int, expected: str
) -> None:
    assert [one.id for one in left_out(plans(waiting), most)] == expected.split()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, Priority.NORMAL),
        ({"priority": "low"}, Priority.LOW),
        ({"priority": "normal"}, Priority.NORMAL),
        ({"priority": "high"}, Priority.HIGH),
        ({"priority": "urgent"}, Priority.NORMAL),
        ({"priority": None}, Priority.NORMAL),
        ({"priority": 2}, Priority.NORMAL),
    ],
)
def test_what_names_no_priority_is_normal(options: dict[str, Any], expected: Priority) -> None:
    assert priority_of(AnnouncementRecord("1", "1", NOON, options=options)) is expected


@pytest.mark.parametrize(
    ("expires_s", "news"), [(None, True), (1, True), (0, False), (-1, False), (0.000001, True)]
)
def test_it_is_news_until_the_moment_it_expires(expires_s: float | None, news: bool) -> None:
    expires = None if expires_s is None else NOON + timedelta(seconds=expires_s)
    assert is_news(AnnouncementRecord("1", "1", NOON, expires), NOON) is news
