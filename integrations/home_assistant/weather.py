"""The home's weather: forecasts of a weather entity, by the action `weather.get_forecasts`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from integrations.errors import Unavailable
from integrations.home_assistant.commands import Commands
from integrations.home_assistant.house import Entity

# `WeatherEntityFeature` of Home Assistant, and the `type` that each gives; days say most.
_KINDS = ((1, "daily"), (4, "twice_daily"), (2, "hourly"))


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is expected of one day, half day or hour; None where the home's service is silent."""

    when: datetime  # its start, with time zone
    condition: str | None  # Home Assistant's word: "sunny", "partlycloudy"
    high: float | None  # in the entity's `temperature_unit`
    low: float | None
    rain_percent: float | None  # probability
    rain: float | None  # in the entity's `precipitation_unit`


async def forecasts(home: Commands, weather: Entity) -> list[Forecast]:
    """All that the entity's service foresees, in order; empty where it foresees nothing.

    Raises Refused or Unavailable.
    """
    offered = weather.attributes.get("supported_features")
    features = offered if isinstance(offered, int) else 0
    kind = next((kind for bit, kind in _KINDS if features & bit), None)
    if kind is None:
        return []
    answer = await home.command(
        "call_service",
        domain="weather",
        service="get_forecasts",
        service_data={"type": kind},
        target={"entity_id": weather.entity_id},
        return_response=True,
    )
    try:
        rows = answer["response"][weather.entity_id]["forecast"] or ()
        return list(_read(rows))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unavailable(
            f"Home Assistant gave a forecast in a form that Hearth does not know: {error!r}."
        ) from error


def _read(rows: Iterable[Mapping[str, Any]]) -> Iterable[Forecast]:
    for row in rows:
        condition = row.get("condition")
        yield Forecast(
            when=datetime.fromisoformat(row["datetime"]),
            condition=condition if isinstance(condition, str) else None,
            high=_number(row.get("temperature")),
            low=_number(row.get("templow")),
            rain_percent=_number(row.get("precipitation_probability")),
            rain=_number(row.get("precipitation")),
        )


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain else None
