"""Tests of the next occurrence, in zones that change their clocks in every possible way."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.domain.clock import synchronised
from assistant.timers.recurrence import (
    DARK,
    LOCALTIME,
    Almanac,
    Rule,
    Sun,
    local_zone,
    next_after,
    rule_from,
    sun_of,
    time_of,
)
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.timers.conftest import Shelf

DAILY = (1, 2, 3, 4, 5, 6, 7)
WORKDAYS = (1, 2, 3, 4, 5)
MADRID, NEW_YORK = ZoneInfo("Europe/Madrid"), ZoneInfo("America/New_York")
ZONES = st.sampled_from(
    [
        MADRID,
        NEW_YORK,
        ZoneInfo("Australia/Lord_Howe"),  # changes by half an hour
        ZoneInfo("America/Sao_Paulo"),  # changed at midnight, until 2019
        ZoneInfo("Asia/Kathmandu"),
        ZoneInfo("Pacific/Apia"),  # skipped a whole day
        ZoneInfo("Africa/Casablanca"),
        UTC,
    ]
)
MOMENTS = st.datetimes(
    datetime(2011, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)
)  # covers the clock changes of the zones above
TIMES = st.times().map(lambda at: at.replace(second=0, microsecond=0))
WEEKDAYS = st.sets(st.integers(1, 7), min_size=1).map(lambda days: tuple(sorted(days)))


def local(zone: ZoneInfo, text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def following(rule: Rule, after: datetime, zone: ZoneInfo, count: int) -> list[str]:
    """Return the next ones as the clock on the wall shows them."""
    shown = []
    for _ in range(count):
        found = next_after(rule, after, zone)
        if found is None:
            break
        shown.append(f"{found.astimezone(zone):%a %d %H:%M}")
        after = found
    return shown


@given(ZONES, MOMENTS, TIMES, WEEKDAYS)
@settings(deadline=None)
def test_it_is_the_first_that_fits_and_lies_ahead(
    zone: ZoneInfo, after: datetime, at: time, weekdays: tuple[int, ...]
) -> None:
    rule = Rule(at, weekdays=weekdays)
    found = next_after(rule, after, zone)
    assert found is not None
    assert after < found <= after + timedelta(days=15)
    shown = found.astimezone(zone)
    assert shown.isoweekday() in weekdays
    if (shown.hour, shown.minute) != (at.hour, at.minute):
        # The time does not exist on that day, so this must be the first moment after the gap.
        a_moment_ago = (found - timedelta(seconds=1)).astimezone(zone)
        assert a_moment_ago.utcoffset() != shown.utcoffset()
        assert a_moment_ago.replace(tzinfo=None) < datetime.combine(shown.date(), at)
        assert shown.replace(tzinfo=None) > datetime.combine(shown.date(), at)


@given(ZONES, MOMENTS, TIMES)
@settings(deadline=None)
def test_every_day_has_exactly_one(zone: ZoneInfo, after: datetime, at: time) -> None:
    days, moment = [], after
    for _ in range(12):
        found = next_after(Rule(at, weekdays=DAILY), moment, zone)
        assert found is not None
        days.append(found.astimezone(zone).date())
        moment = found
    assert len(set(days)) == 12
    missing = {days[0] + timedelta(days=n) for n in range(12)} - set(days)
    assert missing <= {date(2011, 12, 30)}  # the day that Samoa skipped


@given(ZONES, MOMENTS, TIMES, WEEKDAYS, st.integers(0, 86_400 * 3))
@settings(deadline=None)
def test_asking_sooner_gives_no_later_one(
    zone: ZoneInfo, after: datetime, at: time, weekdays: tuple[int, ...], earlier_s: int
) -> None:
    rule = Rule(at, weekdays=weekdays)
    found = next_after(rule, after, zone)
    sooner = next_after(rule, after - timedelta(seconds=earlier_s), zone)
    assert found is not None
    assert sooner is not None
    assert sooner <= found


@pytest.mark.parametrize(
    ("zone", "at", "after", "shown"),
    [
        # Spain puts the clock forward on 28 March 2027 at two, and back on 31 October at three.
        (MADRID, "07:00", "2027-03-27T12:00", ["Sun 28 07:00", "Mon 29 07:00"]),
        (MADRID, "02:30", "2027-03-27T12:00", ["Sun 28 03:00", "Mon 29 02:30"]),
        (MADRID, "02:30", "2027-10-30T12:00", ["Sun 31 02:30", "Mon 01 02:30"]),
        (NEW_YORK, "02:15", "2027-03-13T12:00", ["Sun 14 03:00", "Mon 15 02:15"]),
    ],
)
def test_through_daylight_saving(zone: ZoneInfo, at: str, after: str, shown: list[str]) -> None:
    rule = Rule(time.fromisoformat(at), weekdays=DAILY)
    assert following(rule, local(zone, after), zone, 2) == shown


def test_a_time_that_comes_twice_is_the_first_of_them() -> None:
    found = next_after(Rule(time(2, 30)), local(MADRID, "2027-10-31T00:00"), MADRID)
    assert found == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)


def test_at_that_very_moment_it_is_the_next_one() -> None:
    at_seven = local(MADRID, "2027-05-03T07:00")
    assert following(Rule(time(7), weekdays=DAILY), at_seven, MADRID, 1) == ["Tue 04 07:00"]


def test_on_workdays_and_on_dates() -> None:
    friday = local(MADRID, "2027-05-07T08:00")
    work = Rule(time(7), weekdays=WORKDAYS)
    assert following(work, friday, MADRID, 2) == ["Mon 10 07:00", "Tue 11 07:00"]
    dates = Rule(time(7), dates=(date(2027, 6, 1), date(2027, 5, 1), date(2027, 5, 20)))
    assert dates.repeats
    assert following(dates, friday, MADRID, 5) == ["Thu 20 07:00", "Tue 01 07:00"]
    once = Rule(time(7), dates=(date(2027, 5, 20),))
    assert not once.repeats
    assert not Rule(time(7)).repeats


@pytest.mark.parametrize(
    ("offset_min", "weekdays", "shown"),
    [
        (0, DAILY, ["Sat 08 07:02", "Sun 09 07:02"]),
        (-30, DAILY, ["Sat 08 06:32", "Sun 09 06:32"]),
        (0, (1,), ["Mon 10 07:02", "Mon 17 07:02"]),
        (720, DAILY, ["Fri 07 19:02", "Sat 08 19:02"]),
    ],
)
def test_by_the_sun_as_it_is_known(
    offset_min: int, weekdays: tuple[int, ...], shown: list[str]
) -> None:
    # A few days old, because the house is not connected.
    known = Sun(sunrise=datetime(2027, 5, 3, 5, 2, tzinfo=UTC))
    rule = Rule(sun="sunrise", offset_min=offset_min, weekdays=weekdays)
    after, found = local(MADRID, "2027-05-07T08:00"), []
    for _ in range(2):
        moment = next_after(rule, after, MADRID, known)
        assert moment is not None
        found.append(f"{moment.astimezone(MADRID):%a %d %H:%M}")
        after = moment
    assert found == shown


def test_without_the_sun_there_is_none() -> None:
    assert next_after(Rule(sun="sunset"), datetime.now(UTC), MADRID, DARK) is None


@pytest.mark.parametrize(
    "rule",
    [
        Rule(time(7, 30), weekdays=WORKDAYS),
        Rule(sun="sunset", offset_min=-15, dates=(date(2027, 5, 20),)),
    ],
)
def test_it_is_kept_as_json(rule: Rule) -> None:
    assert rule_from(rule.as_json()) == rule


# The house's zone and sun, and the check of the machine's clock.


RISING = "2026-01-02T07:40:00+00:00"


def a_house(**attributes: Any) -> House:
    return House(entities={"sun.sun": Entity("sun.sun", "Sun", "x", attributes=attributes)})


@pytest.mark.parametrize(
    ("house", "sun"),
    [
        (House(), DARK),
        (a_house(), DARK),
        (a_house(next_rising=RISING), Sun(datetime(2026, 1, 2, 7, 40, tzinfo=UTC))),
        (a_house(next_rising="soon", next_setting=7), DARK),
        (a_house(next_rising="2026-01-02T07:40:00"), DARK),  # the zone is missing
    ],
)
def test_the_sun_as_the_house_tells(house: House, sun: Sun) -> None:
    assert sun_of(house) == sun


async def test_the_sun_outlasts_a_house_that_is_away() -> None:
    shelf, house = Shelf(), a_house(next_rising=RISING)
    almanac = Almanac(lambda: UTC, lambda: house, shelf)
    assert await almanac.look() is True
    assert await almanac.look() is False
    writes, house = shelf.writes, House()
    assert await almanac.look() is False
    assert almanac.sun.sunrise is not None
    later = Almanac(lambda: UTC, lambda: house, shelf)
    assert await later.look() is True
    assert (later.sun, shelf.writes) == (almanac.sun, writes)


def test_the_zone_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", ":America/New_York")
    assert local_zone() == ZoneInfo("America/New_York")
    # A rule without a name, so the machine's own zone is used.
    monkeypatch.setenv("TZ", "CET-1CEST")
    madrid = Path("/usr/share/zoneinfo/Europe/Madrid")
    summer = datetime(2027, 7, 1, tzinfo=UTC)
    if madrid.exists():
        assert summer.astimezone(local_zone(madrid)).hour == 2
    monkeypatch.delenv("TZ")
    assert local_zone(tmp_path / "nowhere") is UTC
    (tmp_path / "broken").write_bytes(b"no zone at all")
    assert local_zone(tmp_path / "broken") is UTC
    assert summer.astimezone(local_zone(LOCALTIME)) == summer


def test_the_kernel_tells_whether_its_clock_is_right() -> None:
    assert synchronised() in (True, False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("07:30", time(7, 30)),
        ("7.30", time(7, 30)),
        ("7", time(7)),
        ("19:30:00", time(19, 30)),
        ("7:30 PM", time(19, 30)),
        ("7 pm", time(19)),
        ("7:30 p. m.", time(19, 30)),
        ("12:15 a.m.", time(0, 15)),
        ("12 PM", time(12)),
        ("13:00 PM", None),
        ("0 am", None),
        ("7:30 xm", None),
        ("24:00", None),
        ("soon", None),
    ],
)
def test_times_of_day(text: str, found: time | None) -> None:
    assert time_of(text) == found
