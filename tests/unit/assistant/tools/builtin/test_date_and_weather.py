"""Tests of the weather at home, now and in the next days."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_weather import Weather, by_day, date_and_time
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from integrations.errors import Unavailable
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.services import Forecast, forecasts

MADRID = timezone(timedelta(hours=1), "CET")
NOW = datetime(2026, 11, 22, 14, 4, tzinfo=MADRID)
DAILY, HOURLY, TWICE_DAILY = 1, 2, 4


def sky(features: int = DAILY, state: str = "rainy", **attributes: Any) -> Entity:
    given = {"supported_features": features, "temperature": 9.4, "temperature_unit": "°C"}
    return Entity("weather.home", "Home", state, attributes={**given, **attributes})


def row(day: int, high: float, low: float | None = None, **rest: Any) -> dict[str, Any]:
    start = NOW.replace(hour=12, minute=0) + timedelta(days=day)
    found = {"datetime": start.isoformat(), "condition": "sunny", "temperature": high, **rest}
    return found if low is None else {**found, "templow": low}


class Home:
    """A home that answers the one command with the given rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.connected = True
        self.asked: list[dict[str, Any]] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        assert kind == "call_service"
        self.asked.append(fields)
        return {"response": {"weather.home": {"forecast": self.rows}}}


async def ask(
    when: str, rows: Any, *entities: Entity, language: str = "en", **arguments: Any
) -> tuple[BuiltInResult, Home]:
    home = Home(rows)
    house = House(entities={one.entity_id: one for one in entities or (sky(),)})
    weather = Weather(home, lambda: house, Catalogue(), VirtualClock(NOW))
    request = BuiltInRequest("t-a", "t", None, language)
    return await weather.tool().run({"when": when, **arguments}, request), home


@pytest.mark.parametrize(
    ("when", "language", "sentence"),
    [
        (
            "today",
            "en",
            "It's rainy and 9 degrees. Today: sunny, from 4 to 12 degrees, with a 30 percent "
            "chance of rain.",
        ),
        ("tomorrow", "en", "Tomorrow: windy, from 5 to 15 degrees."),
        ("tomorrow", "es", "Mañana: ventoso, de 5 a 15 grados."),
        (
            "week",
            "en",
            "Today: sunny, from 4 to 12 degrees, with a 30 percent chance of rain. Tomorrow: "
            "windy, from 5 to 15 degrees. Tuesday: sunny, up to 17 degrees.",
        ),
    ],
)
async def test_it_is_told_for_the_days_that_were_asked(
    when: str, language: str, sentence: str
) -> None:
    rows = [
        row(0, 12, 4, precipitation_probability=30),
        row(1, 15, 5, condition="windy"),
        row(2, 17),
        row(9, 30, 20),
    ]
    result, home = await ask(when, rows, language=language)
    assert result.sentence == sentence
    (asked,) = home.asked
    assert asked["service_data"] == {"type": "daily"}
    assert asked["target"] == {"entity_id": "weather.home"}
    assert asked["return_response"] is True


async def test_the_data_has_the_figures() -> None:
    result, _ = await ask("tomorrow", [row(1, 15, 5, precipitation_probability=80)])
    assert json.loads(result.data) == {
        "weather": "Home",
        "now": "rainy",
        "unit": "°C",
        "days": [
            {
                "date": "2026-11-23",
                "condition": "sunny",
                "high": 15.0,
                "low": 5.0,
                "rain_percent": 80.0,
            }
        ],
    }


async def test_hours_become_days() -> None:
    def at(hour: int, high: float, condition: str) -> Forecast:
        when = NOW.replace(hour=hour, minute=0).astimezone(UTC)
        return Forecast(when, condition, high, None, None, None)

    (day,) = by_day([at(6, 3, "fog"), at(15, 14, "sunny"), at(23, 6, "cloudy")], VirtualClock(NOW))
    assert (day.low, day.high, day.condition) == (3, 14, "sunny")


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (DAILY, "daily"),
        (HOURLY, "hourly"),
        (TWICE_DAILY | HOURLY, "twice_daily"),
        (DAILY | HOURLY | TWICE_DAILY, "daily"),
    ],
)
async def test_the_longest_kind_of_forecast_is_asked_for(features: int, kind: str) -> None:
    _, home = await ask("week", [row(0, 12)], sky(features))
    assert home.asked[0]["service_data"] == {"type": kind}


async def test_without_forecasts_the_present_weather_is_still_told() -> None:
    result, home = await ask("today", [], sky(0, "fog"))
    assert result.sentence == "It's foggy and 9 degrees."
    assert not home.asked


@pytest.mark.parametrize("state", ["unavailable", "unknown"])
async def test_a_service_that_is_silent_is_told(state: str) -> None:
    result, _ = await ask("today", [], sky(0, state))
    assert result.failed
    assert result.sentence == "I don't have a forecast for that."


async def test_an_old_picture_is_no_weather() -> None:
    home = Home([])
    home.connected = False
    house = House(entities={"weather.home": sky(0)})
    tool = Weather(home, lambda: house, Catalogue(), VirtualClock(NOW)).tool()
    result = await tool.run({"when": "today"}, BuiltInRequest("t-a", "t", None, "en"))
    assert (result.failed, home.asked) == (True, [])
    assert result.sentence == Catalogue().say("tools.not_live", "en")


async def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    result, home = await ask("today", [], name="Mars")
    assert result.failed
    assert result.valid_options == ("Home",)
    assert not home.asked


async def test_one_that_can_foretell_is_preferred() -> None:
    still = Entity("weather.still", "Still", "sunny", attributes={"supported_features": 0})
    result, home = await ask("tomorrow", [row(1, 15)], still, sky())
    assert not result.failed
    assert home.asked


async def test_it_is_only_needed_where_the_assistant_sees_a_weather_entity() -> None:
    def needed(*entities: Entity) -> bool:
        house = House(entities={one.entity_id: one for one in entities})
        return Weather(Home([]), lambda: house, Catalogue(), VirtualClock(NOW)).tool().needed()

    assert needed(sky())
    assert not needed()
    assert not needed(Entity("weather.home", "Home", "sunny", exposed=False))


@pytest.mark.parametrize("rows", [[{"condition": "sunny"}], [3], "text", [{"datetime": "later"}]])
async def test_an_odd_answer_is_said_to_be_one(rows: Any) -> None:
    with pytest.raises(Unavailable, match="forecast that Hearth does not understand"):
        await forecasts(Home(rows), sky())


# The day and the time.


@pytest.mark.parametrize(
    ("language", "weekday", "sentence"),
    [
        ("en", "Sunday", "It's 14:05 on Sunday, November 22, 2026."),
        ("es", "domingo", "Son las 14:05 del domingo, 22 de noviembre de 2026."),
    ],
)
async def test_it_is_told_to_the_minute(language: str, weekday: str, sentence: str) -> None:
    clock = VirtualClock(datetime(2026, 11, 22, 14, 4, 30, tzinfo=MADRID))
    clock.advance(30)
    tool = date_and_time(clock, Catalogue())
    result = await tool.run({}, BuiltInRequest("t-a", "t", None, language))
    assert result.sentence == sentence
    assert json.loads(result.data) == {
        "date": "2026-11-22",
        "weekday": weekday,
        "time": "14:05",
        "time_zone": "CET",
        "utc_offset": "+01:00",
    }
