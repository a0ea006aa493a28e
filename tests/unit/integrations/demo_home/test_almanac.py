"""The sun, the calendar and the humidifier."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from integrations.demo_home import actions
from integrations.demo_home.almanac import sun
from integrations.demo_home.context import live_context, prompt
from integrations.demo_home.house import NOWHERE, DemoHouse
from integrations.demo_home.services import DataError, ServiceError
from integrations.demo_home.tools import ToolError, call_tool
from tests.unit.integrations.demo_home.clocks import HandClock

CALENDAR, HUMIDIFIER = "calendar.family", "humidifier.bedroom"
MADRID = timezone(timedelta(hours=1))


@pytest.fixture
def clock(house: DemoHouse) -> HandClock:
    """Stop the house's clock on Saturday, 21 November 2026, at noon."""
    house.clock = clock = HandClock()
    house.catch_up()
    return clock


@pytest.mark.parametrize(
    ("at", "state", "rising", "setting"),
    [
        ("06:00", "below_horizon", "21T06:30", "21T17:00"),
        ("07:30", "above_horizon", "22T06:30", "21T17:00"),
        ("17:59", "above_horizon", "22T06:30", "21T17:00"),
        ("18:00", "below_horizon", "22T06:30", "22T17:00"),
    ],
)
def test_the_sun_tells_what_comes_next(at: str, state: str, rising: str, setting: str) -> None:
    told, attributes = sun(datetime.fromisoformat(f"2026-11-21T{at}").replace(tzinfo=MADRID))
    assert told == state
    assert attributes["next_rising"] == f"2026-11-{rising}:00+00:00"
    assert attributes["next_setting"] == f"2026-11-{setting}:00+00:00"


async def test_the_sun_and_the_calendar_go_on(house: DemoHouse, clock: HandClock) -> None:
    assert house.get("sun.sun").state == "above_horizon"
    assert house.get(CALENDAR).state == "off"
    assert house.get(CALENDAR).attributes["message"] == "Piano lesson"
    await clock.go(7 * 3600)
    house.catch_up()
    assert house.get("sun.sun").state == "below_horizon"
    assert house.get(CALENDAR).state == "on"
    assert house.get(CALENDAR).attributes["end_time"] == "2026-11-21 19:30:00"


def events(house: DemoHouse, **data: Any) -> list[tuple[str, str, str]]:
    told = actions.run(house, "calendar", "get_events", {"entity_id": CALENDAR, **data})
    return [(row["summary"], row["start"], row["end"]) for row in told[CALENDAR]["events"]]


def test_events_of_a_period(house: DemoHouse, clock: HandClock) -> None:
    visit = ("Visit from Grandma", "2026-11-24", "2026-11-27")  # to the 26th
    lesson = ("Piano lesson", "2026-11-21T18:30:00+00:00", "2026-11-21T19:30:00+00:00")
    dentist = ("Dentist", "2026-11-22T10:00:00+00:00", "2026-11-22T10:45:00+00:00")
    assert events(house, duration={"days": 7}) == [lesson, dentist, visit]
    begins, ends = "2026-11-26T00:00:00", "2026-11-27T00:00:00"
    assert events(house, start_date_time=begins, end_date_time=ends) == [visit]
    assert events(house, start_date_time=ends, end_date_time="2026-11-28T00:00:00+00:00") == []


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"duration": {"days": 1}, "end_date_time": "2026-11-22T00:00:00"},
        {"duration": {"days": -1}},
        {"end_date_time": "tomorrow"},
    ],
)
def test_periods_that_are_none(house: DemoHouse, clock: HandClock, data: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        events(house, **data)


def test_the_calendars_tool(house: DemoHouse, clock: HandClock) -> None:
    def told(period: str) -> list[dict[str, Any]]:
        arguments = {"calendar": "Family", "range": period}
        found: list[dict[str, Any]] = call_tool(house, "calendar__get_events", arguments, NOWHERE)[
            "events"
        ]
        return found

    assert [one["summary"] for one in told("today")] == ["Piano lesson"]
    assert [one.get("all_day") for one in told("week")] == [None, None, True]
    assert told("today")[0]["location"] == "Music school"


def test_a_model_reads_of_calendars_only_through_the_tool(house: DemoHouse) -> None:
    assert "domain: calendar" not in prompt(house, NOWHERE)
    assert "domain: calendar" not in live_context(house, None, (), None)["result"]
    assert "Sun" not in prompt(house, NOWHERE)


def test_the_humidifier(house: DemoHouse) -> None:
    arguments = {"name": "Humidifier", "humidity": 55}
    call_tool(house, "humidifier__HassHumidifierSetpoint", arguments, NOWHERE)
    humidifier = house.get(HUMIDIFIER)
    assert (humidifier.state, humidifier.attributes["humidity"]) == ("on", 55)
    with pytest.raises(ServiceError, match="30 to 80"):
        actions.run(house, "humidifier", "set_humidity", {"entity_id": HUMIDIFIER, "humidity": 90})
    mode = {"name": "Humidifier", "mode": "eco"}
    with pytest.raises(ToolError, match="does not support modes"):
        call_tool(house, "humidifier__HassHumidifierMode", mode, NOWHERE)
