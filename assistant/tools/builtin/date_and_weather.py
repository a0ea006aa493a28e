"""The tools `GetDateTime` (from Hearth's clock) and `weather_forecast` (from Home Assistant)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from assistant.domain.clock import Clock, zone_name
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    NO_ARGUMENTS,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    schema,
    text,
)
from assistant.tools.house.targets import is_called
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.services import Forecast, forecasts
from integrations.home_assistant.websocket import LiveLink

WEATHER_FORECAST = "weather_forecast"
TODAY, TOMORROW, WEEK = "today", "tomorrow", "week"
DAYS = 7  # in a week


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    condition: str | None  # Home Assistant's name for it
    high: float | None  # in the entity's unit
    low: float | None
    rain_percent: float | None  # highest value of the day


@dataclass(frozen=True, slots=True)
class Weather:
    home: LiveLink
    house: Callable[[], House]
    catalogue: Catalogue
    clock: Clock

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=WEATHER_FORECAST,
            description="The weather at home: now and as expected.",
            schema=schema(
                {
                    "when": {"type": "string", "enum": [TODAY, TOMORROW, WEEK]},
                    "name": text("The weather entity, if there are several."),
                },
                "when",
            ),
            tier=Tier.READ,
            run=self._run,
            needed=lambda: bool(weather_entities(self.house())),
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        if not self.home.connected:
            return self._failed("tools.not_live", request.language)
        entities = weather_entities(self.house())
        name = arguments.get("name")
        chosen = [one for one in entities if not name or is_called(one, str(name))]
        if not chosen:
            known = tuple(entity.name for entity in entities)
            return self._failed("weather.no_entity", request.language, known)
        weather = chosen[0]
        today = self.clock.now().date()
        days = by_day(await forecasts(self.home, weather), self.clock)
        wanted = _wanted(str(arguments["when"]), today)
        told = [day for day in days if day.day in wanted]
        now = weather if arguments["when"] == TODAY else None
        if not told and (now is None or now.state in ("unavailable", "unknown")):
            return self._failed("weather.nothing", request.language)
        sentences = [self._now(now, request.language)] if now is not None else []
        sentences += [self._day(day, today, weather, request.language) for day in told]
        return BuiltInResult(" ".join(filter(None, sentences)), _data(weather, told))

    def _now(self, weather: Entity, language: str) -> str:
        degrees = weather.attributes.get("temperature")
        condition = self._condition(weather.state, language)
        if not isinstance(degrees, int | float) or not condition:
            return ""
        return self.catalogue.say(
            "weather.now", language, condition=condition, degrees=f"{degrees:.0f}"
        )

    def _day(self, day: Day, today: date, weather: Entity, language: str) -> str:
        say = self.catalogue.say
        what = [self._condition(day.condition, language)]
        if day.high is not None and day.low is not None:
            what.append(
                say("weather.range", language, low=f"{day.low:.0f}", high=f"{day.high:.0f}")
            )
        elif day.high is not None:
            what.append(say("weather.high", language, high=f"{day.high:.0f}"))
        if day.rain_percent:
            what.append(say("weather.rain", language, percent=f"{day.rain_percent:.0f}"))
        return say(
            "weather.day",
            language,
            day=self._day_name(day.day, today, language),
            what=", ".join(filter(None, what)),
        )

    def _day_name(self, day: date, today: date, language: str) -> str:
        if day == today:
            return self.catalogue.say("weather.today", language)
        if day == today + timedelta(days=1):
            return self.catalogue.say("weather.tomorrow", language)
        name = self.catalogue.say(f"offline.weekday_{day.isoweekday()}", language)
        return name[:1].upper() + name[1:]

    def _condition(self, condition: str | None, language: str) -> str:
        try:
            return self.catalogue.say(f"weather.is_{condition}", language)
        except KeyError:
            return ""

    def _failed(self, key: str, language: str, options: tuple[str, ...] = ()) -> BuiltInResult:
        sentence = self.catalogue.say(key, language)
        return BuiltInResult(sentence, failed=True, valid_options=options)


def weather_entities(house: House) -> list[Entity]:
    """Return the exposed weather entities. Those with a forecast are listed first."""
    found = [entity for entity in house.exposed() if entity.domain == "weather"]
    return sorted(found, key=lambda entity: not entity.attributes.get("supported_features"))


def by_day(rows: Sequence[Forecast], clock: Clock) -> list[Day]:
    """Combine daily, half-daily or hourly forecasts into one `Day` per date, in order. If a day has
    several forecasts, the warmest of them determines its condition."""
    zone = clock.now().tzinfo
    days: dict[date, list[Forecast]] = {}
    for row in rows:
        days.setdefault(row.when.astimezone(zone).date(), []).append(row)
    return [_day_of(day, days[day]) for day in sorted(days)]


def _day_of(day: date, rows: Sequence[Forecast]) -> Day:
    highs = [row.high for row in rows if row.high is not None]
    lows = [row.low for row in rows if row.low is not None] or (highs if len(rows) > 1 else [])
    rains = [row.rain_percent for row in rows if row.rain_percent is not None]
    warmest = max(rows, key=lambda row: row.high if row.high is not None else float("-inf"))
    return Day(
        day,
        warmest.condition,
        max(highs, default=None),
        min(lows, default=None),
        max(rains, default=None),
    )


def _wanted(when: str, today: date) -> set[date]:
    if when == TODAY:
        return {today}
    if when == TOMORROW:
        return {today + timedelta(days=1)}
    return {today + timedelta(days=ahead) for ahead in range(DAYS)}


def _data(weather: Entity, days: Sequence[Day]) -> str:
    unit = weather.attributes.get("temperature_unit")
    rows = [
        {
            "date": day.day.isoformat(),
            "condition": day.condition,
            "high": day.high,
            "low": day.low,
            "rain_percent": day.rain_percent,
        }
        for day in days
    ]
    told = {"weather": weather.name, "now": weather.state, "unit": unit, "days": rows}
    return json.dumps(told, ensure_ascii=False)


DATE_AND_TIME = "GetDateTime"  # the name of Home Assistant's own tool, which this one replaces


def date_and_time(clock: Clock, catalogue: Catalogue) -> BuiltIn:
    """Return the tool `GetDateTime`.

    Its data is `{date, weekday, time, time_zone, utc_offset}`, accurate to the minute.
    """

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        now, language = clock.now(), request.language
        weekday = catalogue.say(f"offline.weekday_{now.isoweekday()}", language)
        offset = f"{now:%z}"  # such as "+0100"
        told = {
            "date": f"{now:%Y-%m-%d}",
            "weekday": weekday,
            "time": f"{now:%H:%M}",
            "time_zone": zone_name(now),
            "utc_offset": f"{offset[:3]}:{offset[3:5]}" if offset else "",
        }
        sentence = catalogue.say(
            "tools.date_time",
            language,
            time=now,
            weekday=weekday,
            day=now.day,
            month=catalogue.say(f"offline.month_{now.month}", language),
            year=now.year,
        )
        return BuiltInResult(sentence, json.dumps(told, ensure_ascii=False))

    return BuiltIn(
        name=DATE_AND_TIME,
        description="The date, weekday, time and time zone now. Never guess them.",
        schema=NO_ARGUMENTS,
        tier=Tier.READ,
        run=run,
    )
