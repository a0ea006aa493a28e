"""Tests of the phrases for timers."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import Catalogue, clock_time, length_of
from assistant.timers.recurrence import Rule
from assistant.timers.telling import (
    again_of,
    late_ring_of,
    missed_of,
    moment_of,
    rest_of,
    ring_of,
    unheard_of,
    when_of,
)

SAY = Catalogue()


@pytest.mark.parametrize(
    ("seconds", "language", "length", "rest"),
    [
        (0, "en", "0 seconds", "0 seconds"),
        (0.2, "en", "one second", "one second"),
        (59.9, "en", "one minute", "one minute"),
        (90, "en", "one minute and 30 seconds", "one minute and 30 seconds"),
        (3600, "en", "one hour", "one hour"),
        (5430, "en", "one hour, 30 minutes and 30 seconds", "one hour and 31 minutes"),
        (90_000, "es", "25 horas", "25 horas"),
        (61, "es", "un minuto y un segundo", "un minuto y un segundo"),
    ],
)
def test_spans(seconds: float, language: str, length: str, rest: str) -> None:
    assert length_of(seconds, SAY, language) == length
    assert rest_of(seconds, SAY, language) == rest


@pytest.mark.parametrize(
    ("name", "language", "ring", "late", "unheard"),
    [
        (
            "pasta",
            "en",
            "Your pasta timer is done.",
            "Your pasta timer finished at 12:00.",
            "Your pasta timer finished at 12:00. "
            "It rang for ten minutes, but nobody turned it off.",
        ),
        (
            "",
            "es",
            "Tu temporizador de 5 minutos ha terminado.",
            "Tu temporizador de 5 minutos terminó a las 12:00.",
            "Tu temporizador de 5 minutos terminó a las 12:00. "
            "Sonó diez minutos, pero nadie lo apagó.",
        ),
    ],
)
def test_what_is_said_when_it_is_over(
    name: str, language: str, ring: str, late: str, unheard: str
) -> None:
    now = VirtualClock().now()
    timer = TimerRecord("1", now, 300, now, name, language)
    soon = now + timedelta(hours=2)
    assert ring_of(timer, now, SAY) == ring
    assert late_ring_of(timer, soon, SAY) == late
    assert unheard_of(timer, soon, SAY) == unheard


def test_another_day_is_named() -> None:
    now = VirtualClock().now()  # a Thursday
    timer = TimerRecord("1", now, 300, now, "pasta")
    told = late_ring_of(timer, now + timedelta(days=1), SAY)
    assert told == "Your pasta timer finished at 12:00 on Thursday."


@pytest.mark.parametrize(
    ("country", "language", "told"),
    [
        ("US", "en", "2:30 PM on Sunday"),
        ("GB", "en", "2:30 PM on Sunday"),
        ("ES", "en", "14:30 on Sunday"),
        ("", "en", "14:30 on Sunday"),
        ("US", "es", "las 2:30 p. m. del domingo"),
        ("ES", "es", "las 14:30 del domingo"),
        ("US", "de", "14:30"),
    ],
)
def test_times_are_told_as_the_country_tells_them(country: str, language: str, told: str) -> None:
    say = Catalogue()
    say.use_country(country)
    now = datetime(2026, 10, 24, 12, tzinfo=ZoneInfo("Europe/Madrid"))  # clocks go back tomorrow
    due = datetime(2026, 10, 25, 13, 30, tzinfo=UTC)
    assert told in when_of(due, now, say, language)


def test_midnight_and_noon_on_a_12_hour_clock() -> None:
    told = [clock_time(time(hour, 5), "en", "US") for hour in (0, 11, 12, 23)]
    assert told == ["12:05 AM", "11:05 AM", "12:05 PM", "11:05 PM"]


AT_SEVEN = datetime(2027, 3, 29, 7, 0, tzinfo=ZoneInfo("Europe/Madrid"))  # a Monday
WORKDAYS = Rule(time(7), weekdays=(1, 2, 3, 4, 5))


def a_timer(kind: Any, **rest: Any) -> TimerRecord:
    return TimerRecord("1", AT_SEVEN, 0, AT_SEVEN - timedelta(days=3), kind=kind, **rest)


@pytest.mark.parametrize(
    ("timer", "ring", "late", "missed"),
    [
        (
            a_timer("alarm"),
            "It's 07:00. This is your alarm.",
            "Your alarm was due at 07:00.",
            "Your alarm was due at 07:00, but I missed it.",
        ),
        (
            a_timer("alarm", name="gym"),
            "It's 07:00. This is your gym alarm.",
            "Your gym alarm was due at 07:00.",
            "Your gym alarm was due at 07:00, but I missed it.",
        ),
        (
            a_timer("reminder", text="call Ana"),
            "Here's your reminder: call Ana.",
            "Your reminder “call Ana” was due at 07:00.",
            "Your reminder “call Ana” was due at 07:00, but I missed it.",
        ),
        (
            a_timer("alarm", language="es"),
            "Son las 07:00. Es tu alarma.",
            "Tu alarma era a las 07:00.",
            "Tu alarma era a las 07:00, pero se me pasó.",
        ),
    ],
)
def test_what_an_alarm_and_a_reminder_say(
    timer: TimerRecord, ring: str, late: str, missed: str
) -> None:
    assert ring_of(timer, AT_SEVEN, SAY) == ring
    later = AT_SEVEN + timedelta(hours=2)
    assert late_ring_of(timer, later, SAY) == late
    assert missed_of(timer, later, SAY) == missed
    assert unheard_of(timer, later, SAY).startswith(late[:-1])


@pytest.mark.parametrize(
    ("days_before", "language", "moment"),
    [
        (0, "en", "07:00, Monday to Friday"),
        (3, "en", "07:00 on Monday, Monday to Friday"),
        (30, "en", "07:00 on Monday, March 29, Monday to Friday"),
        (3, "de", "am Montag um 07:00, Montag bis Freitag"),
    ],
)
def test_when_it_comes(days_before: int, language: str, moment: str) -> None:
    timer = a_timer("alarm", rule=WORKDAYS.as_json())
    # The time is still seven, even if seen from before the clock change.
    now = AT_SEVEN - timedelta(days=days_before)
    assert moment_of(timer, now, SAY, language) == moment


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(time(7)), ""),
        (Rule(time(7), dates=(date(2027, 1, 1),)), ""),
        (Rule(time(7), weekdays=(1, 2, 3, 4, 5, 6, 7)), "every day"),
        (Rule(time(7), weekdays=(6, 7)), "Saturday and Sunday"),
        (Rule(time(7), weekdays=(1, 5)), "every Monday and Friday"),
        (Rule(time(7), dates=(date(2027, 1, 1), date(2027, 1, 3))), "on 2 days"),
    ],
)
def test_on_which_days(rule: Rule, words: str) -> None:
    assert again_of(rule, SAY, "en") == words
