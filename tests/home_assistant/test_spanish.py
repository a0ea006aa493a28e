"""Tests of turns in the Spanish house: two lamps of one name, and the home's engine in Spanish."""

from pathlib import Path

import pytest

from assistant.tools.house.intents import PROCESS, TRIGGER
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.home import Home
from tests.simulators.script import Call, Say

pytestmark = real_only

KITCHEN, GUESTS = "light.kitchen_lights", "input_boolean.modo_invitados"
LAMPS = {"Salón": "light.lampara_salon", "Habitación de los niños": "light.lampara_dormitorio"}
PARTY = "activa el modo fiesta en la cocina"
STARTED = "Modo fiesta activado en la cocina"
GARAGE = "cover.garage_door"


@pytest.fixture
def home(house: Address, admin: Admin, tmp_path: Path) -> Home:
    if house.kind != "spanish":
        pytest.skip("the sentences are about the Spanish house")
    languages = '["es","en"]'
    hearth = Hearth(tmp_path, house.url, house.token, ASSISTANT__LANGUAGES=languages)
    return Home(house, admin, hearth)


@pytest.fixture
async def dark(home: Home) -> Home:
    """Return the home with both lamps off."""
    for lamp in LAMPS.values():
        await home.admin.call("light.turn_off", entity_id=lamp)
        assert await home.admin.settles(lamp, "off") == "off"
    return home


async def lit(home: Home) -> list[str]:
    """Return the lamps that are on."""
    return [lamp for lamp in LAMPS.values() if await home.admin.state(lamp) == "on"]


@pytest.mark.parametrize("brain", ["offline", "home-assistant", "gemini-live"])
async def test_which_of_two_lamps_is_asked_about(dark: Home, brain: str) -> None:
    if brain == "gemini-live":
        call = await dark.call("HassTurnOn", {"name": "Lámpara"})
        turn = await dark.served("enciende la lámpara", call, Say("¿Cuál de las dos?"))
        assert {one["status"] for one in turn["tool_calls"]} <= {"not_run", "failed"}
        assert "Salón" in str(dark.answered[0])
    else:
        dark.hearth.set(BRAIN__ORDER=f'["{brain}"]')
        turn = await dark.hearth.json("ask", "enciende la lámpara")
        assert "Lámpara" in turn["answer"]
    assert await lit(dark) == []


@pytest.mark.parametrize("area", LAMPS)
async def test_the_lamp_of_a_room_is_the_one_there(dark: Home, area: str) -> None:
    said = {"Salón": "del salon", "Habitación de los niños": "de la habitación de los niños"}
    turn = await dark.hearth.json("ask", f"enciende la lampara {said[area]}")  # without accents
    assert turn["error"] is None
    await dark.admin.settles(LAMPS[area], "on")
    assert await lit(dark) == [LAMPS[area]]


async def test_the_homes_engine_switches_a_light(home: Home) -> None:
    await home.admin.call("light.turn_off", entity_id=KITCHEN)
    home.hearth.set(BRAIN__ORDER='["home-assistant"]')
    turn = await home.hearth.json("ask", "enciende las luces de la cocina")
    assert await home.admin.settles(KITCHEN, "on") == "on"
    assert (turn["brain"], turn["error"]) == ("home-assistant", None)
    (call,) = turn["tool_calls"]
    assert (call["name"], call["status"]) == (PROCESS, "done")


@pytest.mark.parametrize("way", ["rung", "sentences"])
@pytest.mark.parametrize("freed", [False, True])
async def test_a_sentence_of_an_automation_needs_the_owners_word(
    home: Home, way: str, freed: bool
) -> None:
    await home.admin.call("input_boolean.turn_off", entity_id=GUESTS)
    home.hearth.set(POLICY__COSTLY="allow")
    if freed:
        home.hearth.free(TRIGGER)
    if way == "rung":
        home.hearth.set(BRAIN__ORDER='["home-assistant"]')
        turn = await home.hearth.json("ask", PARTY)
    else:
        home.hearth.set(BRAIN__PREFER_LOCAL="sentences")
        steps = [] if freed else [Say("No puedo hacerlo.")]
        turn = await home.served(PARTY, *steps)
    if freed:
        assert await home.admin.settles(GUESTS, "on") == "on"
        assert (turn["brain"], turn["answer"]) == ("home-assistant", STARTED)
    else:
        assert await home.admin.state(GUESTS) == "off"


async def test_nothing_is_opened_by_the_homes_engine(home: Home) -> None:
    await home.admin.call("cover.close_cover", entity_id=GARAGE)
    assert await home.admin.settles(GARAGE, "closed", limit_s=15.0) == "closed"
    home.hearth.set(BRAIN__ORDER='["home-assistant"]')
    turn = await home.hearth.json("ask", "abre la puerta del garaje")
    assert await home.admin.state(GARAGE) == "closed"
    (call,) = turn["tool_calls"]
    assert (call["status"], call["decision"], call["tier"]) == (
        "not_run",
        "needs_confirmation",
        "secure",
    )


async def test_the_model_may_leave_accents_and_apostrophes_out(home: Home) -> None:
    valve = "valve.orchard"
    await home.admin.call("valve.close_valve", entity_id=valve)
    assert await home.admin.settles(valve, "closed", limit_s=15.0) == "closed"
    call = Call(await home.tool("HassTurnOn"), {"area": "L’hort", "domain": ["valve"]})
    turn = await home.served("abre el riego del huerto", call, Say("No puedo."))
    assert await home.admin.state(valve) == "closed"  # what opens waits for a yes
    assert {one["status"] for one in turn["tool_calls"]} == {"not_run"}
