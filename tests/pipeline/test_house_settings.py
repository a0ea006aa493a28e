"""A house's time zone, clock and units, in what Hearth says and does."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.app.build import App, open_app
from integrations.demo_home import DemoHome
from integrations.demo_home.catalogue import THINGS
from tests.pipeline.rig import asked, offline_settings

AMERICAN: Mapping[str, Any] = {
    "country": "US",
    "time_zone": "Pacific/Honolulu",  # no machine of ours is there
    "unit_system": {"temperature": "°F", "length": "mi", "wind_speed": "mph"},
}
SPANISH: Mapping[str, Any] = {"country": "ES", "time_zone": "Pacific/Kiritimati"}
THERMOSTAT = "climate.living_room"
FAHRENHEIT = {"min_temp": 45, "max_temp": 95, "temperature": 68, "current_temperature": 66}


@asynccontextmanager
async def living_in(house: Mapping[str, Any], folder: Path) -> AsyncIterator[tuple[App, DemoHome]]:
    things = THINGS
    if house is AMERICAN:
        things = tuple(
            replace(one, attributes={**one.attributes, **FAHRENHEIT})
            if one.domain == "climate"
            else one
            for one in THINGS
        )
    async with DemoHome(things=things, settle_s=0) as home:
        home.house.general = dict(house)
        settings = offline_settings(
            folder,
            assistant={"data": str(folder), "languages": ["en", "es"], "area": "Living Room"},
            home_assistant={"url": home.url, "token": home.person_token},
        )
        async with open_app(settings, None, hears=False) as app:
            yield app, home


@pytest.mark.parametrize(
    ("house", "question", "pattern", "form"),
    [
        (AMERICAN, "what time is it", r"It's (\d{1,2}:\d\d [AP]M)\.", "%I:%M %p"),
        (SPANISH, "what time is it", r"It's (\d\d:\d\d)\.", "%H:%M"),
        (SPANISH, "¿qué hora es?", r"(\d\d:\d\d)\.", "%H:%M"),
    ],
    ids=["American", "English in Spain", "Spanish"],
)
async def test_the_time_is_the_houses_and_said_as_it_is_there(
    house: Mapping[str, Any], question: str, pattern: str, form: str, tmp_path: Path
) -> None:
    async with living_in(house, tmp_path) as (app, _):
        told = re.search(pattern, await asked(app, question))
        now = datetime.now(ZoneInfo(house["time_zone"]))
    assert told is not None
    said = datetime.strptime(told[1], form)
    assert (now.hour * 60 + now.minute - said.hour * 60 - said.minute) % 1440 <= 2


@pytest.mark.parametrize(
    ("house", "command", "degrees"),
    [
        (AMERICAN, "set the heating to 70 degrees", 70),
        (AMERICAN, "set the heating to 70 degrees fahrenheit", 70),
        (AMERICAN, "set the heating to 20 degrees celsius", 68),
        (SPANISH, "set the heating to 70 degrees fahrenheit", 21),
        (SPANISH, "pon la calefacción a 70 grados fahrenheit", 21),
        (SPANISH, "pon la calefacción a 22 grados centígrados", 22),
    ],
)
async def test_degrees_are_the_houses_unless_another_unit_is_said(
    house: Mapping[str, Any], command: str, degrees: float, tmp_path: Path
) -> None:
    async with living_in(house, tmp_path) as (app, home):
        home.house.write(THERMOSTAT, temperature=60 if house is AMERICAN else 15)
        await asked(app, command)
        assert home.get(THERMOSTAT).attributes["temperature"] == degrees


async def test_a_model_is_told_the_clock_and_the_units(tmp_path: Path) -> None:
    async with living_in(AMERICAN, tmp_path) as (app, _):
        instruction = (await app.brains.briefer.brief()).instruction
    for told in ("(Pacific/Honolulu).", "Say times on a 12-hour clock.", "°F, mi, mph."):
        assert told in instruction
