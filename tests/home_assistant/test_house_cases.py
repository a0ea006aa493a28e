"""Tests of publicly reported situations, in the American house.

Each case has the sentence that is said, or the call that a model makes, and the states of the house
afterwards. The cases are not part of this repository (`docs/testing.md`).
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_house
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.home import Home
from tests.home_assistant.line import Json
from tests.home_assistant.real import instances
from tests.home_assistant.real.places import Instance, Places, read_instance
from tests.home_assistant.real.releases import NEWEST
from tests.shared_data import HOUSE_CASES, shared, shared_folder
from tests.simulators.script import Call, Say

pytestmark = [pytest.mark.home_assistant, pytest.mark.since(2026, 11)]

AMERICAN = "american"
_FILES = sorted(shared_folder().joinpath(*HOUSE_CASES).glob("*.json"))
_SETTLE_S = 0.3  # for states that follow a change, such as a group's
# The states before each trial, so that every wish is one that changes something.
_AT_REST: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("light", "turn_off", {}),
    ("switch", "turn_off", {}),
    ("fan", "turn_off", {}),
    ("media_player", "turn_off", {}),
    ("siren", "turn_off", {}),
    ("input_boolean", "turn_off", {}),
    ("cover", "close_cover", {}),
    ("valve", "close_valve", {}),
    ("lock", "lock", {}),
    ("vacuum", "return_to_base", {}),
    ("climate", "set_hvac_mode", {"hvac_mode": "heat"}),
)
_UNLIKE = {
    "light.broken_strip",
    "light.porch_lamp",
    "cover.study_blinds",
}  # these can do none of it


_LAMPS = {"light.guest_lamp": "on", "light.guest_lamp_2": "on"}
# Further members of those kinds, which are always played.
OWN: list[Json] = [
    {"id": "twins", "ask": ["turn on the lamp in the guest room"], "state": _LAMPS},
    {"id": "twins-here", "env": {"ASSISTANT__AREA": "Guest room"}, "ask": ["turn on the lamp"]}
    | {"state": _LAMPS},
    {"id": "twins-tool", "heard": "turn on the guest room lamp", "state": _LAMPS}
    | {"tool": [["HassTurnOn", {"name": "Lamp", "area": "Guest room"}]]},
    {"id": "thermostats-tool", "heard": "set the guest room to 72"}
    | {"tool": [["HassClimateSetTemperature", {"area": "Guest room", "temperature": 72}]]}
    | {"state": {key: {"temperature": 72} for key in ("climate.heater", "climate.heater_2")}},
    {"id": "wrong-room-tool", "heard": "turn on the bedside lamp", "changed": ["light.bedside"]}
    | {"tool": [["HassTurnOn", {"name": "Bedside lamp", "area": "Garage"}]]},
    {"id": "said-room-tool", "heard": "turn on the bedside lamp in the garage", "changed": []}
    | {"tool": [["HassTurnOn", {"name": "Bedside lamp", "area": "Garage"}]]},
    {"id": "wrong-room-and-kind-tool", "heard": "turn on the desk light"}
    | {"tool": [["HassTurnOn", {"name": "Desk light", "area": "Den", "domain": ["light"]}]]}
    | {"changed": ["input_boolean.desk_light"]},
    {"id": "room-in-name-tool", "heard": "turn on the bedroom overhead light"}
    | {"tool": [["HassTurnOn", {"name": "Bedroom overhead light"}]]}
    | {"changed": ["light.bedroom_overhead"]},
    {"id": "lights-as-name-tool", "heard": "turn on the kitchen lights"}
    | {"tool": [["HassTurnOn", {"name": "Kitchen lights"}]]}
    | {"changed": ["light.kitchen", "light.kitchen_island"]},
    {"id": "wrong-room-door-tool", "heard": "open the garage", "changed": []}
    | {"tool": [["HassTurnOn", {"name": "Garage door", "area": "Kitchen", "domain": ["cover"]}]]},
    {"id": "group-by-name-tool", "heard": "turn on the christmas lights", "said": '"done"'}
    | {"tool": [["HassTurnOn", {"name": "Christmas lights"}]]}
    | {"state": {"light.tree_one": "on", "light.tree_two": "on"}},
    {"id": "already", "ask": ["turn off the bedside lamp"], "answer": "lamp is already off"},
    {"id": "scene", "ask": ["good night"], "answer": "^Good night scene is on"},
    {"id": "examples", "ask": ["flurb the wozzle"], "changed": [], "answer": "Try “turn on the"},
]


def _trials() -> list[Any]:
    """Return a parameter for each sentence, or call of a model, of each case."""
    found = []
    given = [case for file in _FILES for case in json.loads(file.read_text())]
    if os.environ.get("LONG", "") in ("", "0"):
        given = given[::4]  # all of them take three minutes more
    for case in [*OWN, *given]:
        for number, sentence in enumerate(case.get("ask", [case.get("heard")])):
            found.append(pytest.param(case, sentence, id=f"{case['id']}-{number}"))
    if not _FILES:
        found.append(pytest.param(None, "", id="none"))
    return found


def _instance() -> Instance:
    """Return the running American house, or start one, which is stopped after the tests."""
    record = os.environ.get("HA_INSTANCE", "")
    if record and os.environ.get("HA_HOUSE") == AMERICAN:
        return read_instance(Path(record))
    wanted = Instance(name=f"test-{AMERICAN}", house=AMERICAN, version=NEWEST, port=0, log="")
    return asyncio.run(instances.start(Places.of_environment(), wanted, print, mqtt=True))


@pytest.fixture(scope="module")
def american() -> Any:
    """Yield the address of the American house."""
    real = real_house()
    if real is None or not real.admin_token:
        pytest.skip("needs a house that tests may change: make test-home-assistant")
    instance = _instance()
    yield Address(
        instance.url, instance.token, AMERICAN, instance.version, admin_token=instance.admin_token
    )
    if instance.name == f"test-{AMERICAN}":
        instances.reset(Places.of_environment(), instance.name, print)


@pytest.fixture
async def home(american: Address, tmp_path: Path) -> AsyncIterator[Home]:
    """Yield the house, with all entities in their first state."""
    async with Admin(american.url, american.admin_token) as admin:
        states = await admin.states()
        for domain, action, data in _AT_REST:
            things = [one for one in states if one.startswith(f"{domain}.") and one not in _UNLIKE]
            await admin.call(f"{domain}.{action}", entity_id=things, **data)
        hearth = Hearth(tmp_path, american.url, american.token, ASSISTANT__LANGUAGES='["en"]')
        yield Home(american, admin, hearth)


@pytest.mark.parametrize(("case", "sentence"), _trials())
async def test_a_reported_situation(home: Home, case: Json | None, sentence: str) -> None:
    if case is None:
        shared(*HOUSE_CASES)
        raise AssertionError("the folder has no cases")
    home.hearth.set(**case.get("env", {}))
    for action, data in case.get("given", []):
        await home.admin.call(action, **data)
        await asyncio.sleep(case.get("settle", 0))
    await asyncio.sleep(_SETTLE_S)
    before = await home.admin.states()
    turn = await _turn(home, case, sentence)
    await asyncio.sleep(_SETTLE_S)
    after = await home.admin.states()
    told = [turn["answer"], *((one["name"], one["arguments"]) for one in turn["tool_calls"])]
    if "changed" in case:
        shown = (await home.admin.exposed()) & before.keys()
        changed = {one for one in shown if after[one]["state"] != before[one]["state"]}
        assert changed == set(case["changed"]), told
    for entity_id, wanted in case.get("state", {}).items():
        assert _shows(after[entity_id], wanted), (entity_id, told)
    if "asked" in case:
        decisions = {call["decision"] for call in turn["tool_calls"]}
        assert ("needs_confirmation" in decisions) == case["asked"], told
    answer = turn["answer"] or ""
    assert re.search(case.get("answer", ""), answer, re.IGNORECASE), told
    assert "never" not in case or not re.search(case["never"], answer, re.IGNORECASE), told
    if "said" in case:
        assert re.search(case["said"], json.dumps(home.answered), re.IGNORECASE), home.answered


async def _turn(home: Home, case: Json, sentence: str) -> Json:
    if "tool" not in case:
        turn: Json = await home.hearth.json("ask", sentence)
        return turn
    calls = [Call(await home.tool(name), arguments) for name, arguments in case["tool"]]
    return await home.served(sentence, *calls, Say(case.get("reply", "Done.")))


def _shows(state: Json, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return bool(state["state"] == wanted)
    return all(state["attributes"].get(key) == value for key, value in wanted.items())
