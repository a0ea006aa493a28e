"""Tests of the quiet hours, by the clock on the wall."""

from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from assistant.config.schema import Settings
from assistant.config.sound import QuietHours

MADRID = ZoneInfo("Europe/Madrid")  # forward on 2026-03-29 at 2:00, back on 2026-10-25 at 3:00


def hours(begins: str, ends: str, volume: float = 0.3) -> QuietHours:
    return QuietHours.model_validate({"from": begins, "to": ends, "volume": volume})


@pytest.mark.parametrize(
    ("begins", "ends", "wall", "quiet"),
    [
        ("", "", "03:00:00", False),
        ("13:00", "15:00", "12:59:59.999999", False),
        ("13:00", "15:00", "13:00:00", True),
        ("13:00", "15:00", "14:59:59.999999", True),
        ("13:00", "15:00", "15:00:00", False),
        ("22:30", "07:00", "22:29:59.999999", False),
        ("22:30", "07:00", "22:30:00", True),
        ("22:30", "07:00", "23:59:59.999999", True),
        ("22:30", "07:00", "00:00:00", True),
        ("22:30", "07:00", "06:59:59.999999", True),
        ("22:30", "07:00", "07:00:00", False),
        ("22:30", "07:00", "12:00:00", False),
        ("00:00", "06:00", "00:00:00", True),
        ("00:00", "06:00", "23:59:59", False),
        ("22:00", "00:00", "23:59:59", True),
        ("22:00", "00:00", "00:00:00", False),
        ("08:00", "08:00", "07:59:59", True),
        ("08:00", "08:00", "08:00:00", True),
    ],
)
def test_the_first_minute_is_quiet_and_the_last_is_not(
    begins: str, ends: str, wall: str, quiet: bool
) -> None:
    now = datetime.fromisoformat(f"2026-11-22T{wall}").replace(tzinfo=MADRID)
    assert hours(begins, ends).include(now) is quiet
    assert hours(begins, ends).loudest(now) == (0.3 if quiet else inf)


@pytest.mark.parametrize(
    ("begins", "ends", "utc", "quiet"),
    [
        ("22:00", "02:30", "2026-03-29T00:59:59", True),  # 1:59:59; the next second is 3:00
        ("22:00", "02:30", "2026-03-29T01:00:00", False),
        ("02:30", "06:00", "2026-03-29T00:59:59", False),
        ("02:30", "06:00", "2026-03-29T01:00:00", True),
        ("22:00", "07:00", "2026-03-29T04:59:59", True),  # 6:59:59, an hour earlier than before
        ("22:00", "07:00", "2026-03-29T05:00:00", False),
        ("22:00", "02:30", "2026-10-25T00:29:59", True),  # 2:29:59, for the first time
        ("22:00", "02:30", "2026-10-25T00:30:00", False),
        ("22:00", "02:30", "2026-10-25T01:00:00", True),  # 2:00, for the second time
        ("22:00", "02:30", "2026-10-25T01:30:00", False),
        ("22:00", "07:00", "2026-10-25T05:59:59", True),  # 6:59:59, an hour later than before
        ("22:00", "07:00", "2026-10-25T06:00:00", False),
    ],
)
def test_when_the_clocks_change_the_wall_counts(
    begins: str, ends: str, utc: str, quiet: bool
) -> None:
    now = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert hours(begins, ends).include(now.astimezone(MADRID)) is quiet


def test_a_day_of_the_change_has_as_many_quiet_hours_as_it_has() -> None:
    for day, expected in (("2026-03-28", 8), ("2026-10-24", 10), ("2026-11-20", 9)):
        noon = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=MADRID).astimezone(UTC)
        minutes = (noon + timedelta(minutes=one) for one in range(24 * 60))
        night = hours("22:00", "07:00")
        quiet = sum(night.include(minute.astimezone(MADRID)) for minute in minutes)
        assert quiet == expected * 60, day


def test_without_settings_nothing_is_quiet() -> None:
    assert Settings().quiet_hours.loudest(datetime(2026, 11, 22, 3, tzinfo=UTC)) == inf


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"from": "22:00"}, "both from and to"),
        ({"to": "07:00"}, "both from and to"),
        ({"from": "22:00", "to": "24:00"}, "must be a time"),
        ({"from": "10 pm", "to": "07:00"}, "must be a time"),
        ({"volume": 1.1}, "less than or equal to 1"),
        ({"volume": -0.1}, "greater than or equal to 0"),
        ({"until": "07:00"}, "not permitted"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Settings.model_validate({"quiet_hours": given})
