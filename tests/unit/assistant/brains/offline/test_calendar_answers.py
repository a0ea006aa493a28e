"""Tests of the answers to questions about appointments."""

import json
from datetime import UTC, datetime

import pytest

from assistant.brains.offline.calendar_answers import day_of, told_events
from assistant.speech.catalogue import Catalogue

_NOW = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)  # a Friday
_EVENTS = json.dumps(
    {
        "events": [
            {"start": "2026-11-28T10:00:00+00:00", "end": "2026-11-28T10:45:00+00:00"}
            | {"summary": "Dentist"},
            # The ends are exclusive.
            {"start": "2026-11-29", "end": "2026-12-01", "summary": "Visit", "all_day": True},
            {"start": "2026-12-01", "end": "2026-12-02", "summary": "Holiday", "all_day": True},
        ]
    }
)


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("today", "There's nothing in the calendar for that time."),
        ("tomorrow", "Tomorrow: Dentist at 10:00."),
        ("next", "Tomorrow: Dentist at 10:00."),
        ("weekend", "Tomorrow: Dentist at 10:00. Sunday: Visit, until Monday."),
        ("mon", "Monday: Visit, until Monday."),
        ("tue", "Tuesday: Holiday, all day."),
        ("wed", "There's nothing in the calendar for that time."),
    ],
)
def test_the_events_of_the_days_that_were_asked_about_are_told(when: str, told: str) -> None:
    assert told_events(_EVENTS, when, _NOW, Catalogue(), "en") == told


def test_an_answer_that_is_no_list_of_events_holds_none() -> None:
    for data in ("", "[]", '{"events": [{"summary": "Dentist"}]}'):
        assert "nothing" in told_events(data, "week", _NOW, Catalogue(), "en")


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("on friday", "fri"),
        ("el miercoles", "wed"),
        ("this weekend", "weekend"),
        ("este fin de semana", "weekend"),
        ("this week", "week"),
        ("la semana", "week"),
    ],
)
def test_days_are_found_in_the_words(said: str, day: str) -> None:
    assert day_of(said) == day
