"""The forecasts of the simulated weather: the same weather in each run, from now on."""

from datetime import datetime, timedelta
from typing import Any

# Condition, high and low in degrees Celsius, rain in millimetres, its probability in percent.
_DAYS = (
    ("rainy", 14.0, 8.0, 4.2, 80),
    ("cloudy", 15.0, 9.0, 0.0, 20),
    ("sunny", 18.0, 9.5, 0.0, 5),
    ("sunny", 20.0, 11.0, 0.0, 0),
    ("partlycloudy", 19.0, 12.0, 0.0, 10),
    ("pouring", 13.0, 10.0, 11.5, 95),
    ("fog", 12.0, 7.0, 0.2, 30),
)
# `WeatherEntityFeature` bit of each type of forecast.
FEATURES = {"daily": 1, "hourly": 2, "twice_daily": 4}


def forecast(kind: str, now: datetime) -> list[dict[str, Any]]:
    """The rows of `weather.get_forecasts` for "daily" or "hourly"."""
    if kind == "hourly":
        start = now.replace(minute=0, second=0, microsecond=0)
        return [_hour(start + timedelta(hours=hour)) for hour in range(24)]
    day = now.replace(hour=12, minute=0, second=0, microsecond=0)
    return [_day(day + timedelta(days=number), *row) for number, row in enumerate(_DAYS)]


def _day(
    when: datetime, condition: str, high: float, low: float, rain: float, chance: int
) -> dict[str, Any]:
    return {
        "datetime": when.isoformat(),
        "condition": condition,
        "precipitation": rain,
        "temperature": high,
        "templow": low,
        "precipitation_probability": chance,
    }


def _hour(when: datetime) -> dict[str, Any]:
    """Warmest at three in the afternoon."""
    return {
        "datetime": when.isoformat(),
        "condition": "rainy" if when.hour < 12 else "cloudy",
        "temperature": 14.0 - abs(when.hour - 15) / 2,
        "precipitation_probability": 80 if when.hour < 12 else 20,
    }
