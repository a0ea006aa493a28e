"""Two thermostats of different names, or two lamps of one name, in the same room."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.app.build import App, open_app
from integrations.demo_home import DemoHome
from integrations.demo_home.catalogue import THINGS
from tests.pipeline.rig import asked, offline_settings

RADIATOR, FLOOR = "climate.office_radiator", "climate.office_floor"
LAMPS = ("light.desk_lamp", "light.desk_lamp_2")
SECOND = [replace(one, entity_id=LAMPS[1]) for one in THINGS if one.entity_id == LAMPS[0]]


@asynccontextmanager
async def living_in(folder: Path, area: str) -> AsyncIterator[tuple[App, DemoHome]]:
    async with DemoHome(things=(*THINGS, *SECOND), settle_s=0) as home:
        settings = offline_settings(
            folder,
            assistant={"data": str(folder), "languages": ["en", "es"], "area": area},
            home_assistant={"url": home.url, "token": home.person_token},
        )
        async with open_app(settings, None, hears=False) as app:
            yield app, home


@pytest.mark.parametrize("area", ["Office", "Kitchen"])
@pytest.mark.parametrize(
    ("sentences", "wanted"),
    [
        (["set the office heating to 21", "both"], (21, 21)),
        (["set the office heating to 21", "the radiator"], (21, 19)),
        (["set the office heating to 21", "the floor heating"], (19.5, 21)),
        (["set the office floor heating to 21"], (19.5, 21)),
        (["pon la calefacción de la oficina a 21 grados", "los dos"], (21, 21)),
    ],
    ids=lambda given: given[-1] if isinstance(given, list) else "",
)
async def test_two_thermostats_are_asked_about_by_their_names(
    sentences: Sequence[str], wanted: tuple[float, float], area: str, tmp_path: Path
) -> None:
    async with living_in(tmp_path, area) as (app, home):
        answers = [await asked(app, one) for one in sentences]
        assert tuple(home.get(one).attributes["temperature"] for one in (RADIATOR, FLOOR)) == wanted
    if len(sentences) > 1:
        assert answers[0].endswith("?")
        for name in ("radiator", "floor heating") if "set" in sentences[0] else ("radiador",):
            assert name in answers[0]
    assert not any("climate" in one or "_" in one for one in answers)


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        ("turn on the desk lamp", "on"),
        ("switch the desk lamp in the office on", "on"),
        ("enciende la desk lamp", "on"),
    ],
)
async def test_two_lamps_of_one_name_are_switched_together(
    sentence: str, state: str, tmp_path: Path
) -> None:
    async with living_in(tmp_path, "Office") as (app, home):
        answer = await asked(app, sentence)
        assert [home.states[one] for one in LAMPS] == [state, state]
    assert "_" not in answer
