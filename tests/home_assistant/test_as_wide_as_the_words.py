"""Tests that a call reaches what was said in a house: all of it, one room, all but one room."""

from pathlib import Path
from typing import Any

import pytest

from assistant.app.home import HomeContext
from assistant.domain.tool_call import CallContext, Decision, Status, ToolCall, ToolOutcome
from integrations.home_assistant.house import Entity
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.home_assistant.test_safety import home_of

OFF = "intent__HassTurnOff"
LIGHT = {"domain": ["light"]}
ALL = {
    "de": ["schalte alle Lichter aus", "mach überall das Licht aus"],
    "en": ["turn off all the lights", "lights off in the whole house"],
    "es": ["apaga todas las luces", "apaga las luces de toda la casa"],
    "fr": ["éteins toutes les lumières", "éteins la lumière dans toute la maison"],
    "pt": ["apague todas as luzes", "apague as luzes da casa toda"],
    "vi": ["tắt tất cả đèn", "tắt hết đèn"],
}
HERE = {
    "de": ["schalte das Licht aus", "schalte hier alle Lichter aus"],
    "en": ["turn off the lights", "turn off all the lights in here"],
    "es": ["apaga la luz", "apaga todas las luces de aquí"],
    "fr": ["éteins la lumière", "éteins toutes les lumières ici"],
    "pt": ["apague a luz", "apague todas as luzes aqui"],
    "vi": ["tắt đèn", "tắt hết đèn ở đây"],
}
BUT_HERE = {
    "de": ["schalte alle Lichter außer in der Küche aus"],
    "en": ["turn off all the lights except the kitchen"],
    "es": ["apaga todas las luces menos las de la cocina"],
    "fr": ["éteins toutes les lumières sauf la cuisine"],
    "pt": ["apague todas as luzes exceto a cozinha"],
    "vi": ["tắt tất cả đèn trừ nhà bếp"],
}
ROWS = [
    pytest.param(said, wanted, id=f"{wanted}-{language}-{number}")
    for wanted, table in (("all", ALL), ("here", HERE), ("elsewhere", BUT_HERE))
    for language, sentences in table.items()
    for number, said in enumerate(sentences)
]


async def called(home: HomeContext, arguments: dict[str, Any], said: str) -> ToolOutcome:
    call = ToolCall("call-1", OFF, arguments)
    return await home.tools.call(call, "turn-1", said, situation=CallContext())


def held(one: Entity) -> list[str]:
    return list(one.attributes.get("entity_id") or ())


def lamps(home: HomeContext) -> list[Entity]:
    return [one for one in home.client.house.exposed() if one.domain == "light"]


@pytest.mark.parametrize(("said", "wanted"), ROWS)
async def test_all_is_all_in_six_languages(
    house: Address, admin: Admin, tmp_path: Path, said: str, wanted: str
) -> None:
    async with home_of(house, tmp_path) as home:
        here = {one.entity_id for one in lamps(home) if one.area_id == "kitchen"}
        every = {one.entity_id for one in lamps(home) if one.state != "unavailable"}
        # A group that holds a lamp of the kitchen goes on shining with it.
        holding = {one.entity_id for one in lamps(home) if here & set(held(one))}
        reached = {"all": every, "here": here, "elsewhere": every - here - holding}[wanted]
        await admin.call("light.turn_on", entity_id=sorted(every))
        for entity_id in every:
            assert await admin.settles(entity_id, "on") == "on"
        await home.tools.menu()
        outcome = await called(home, LIGHT, said)
        assert outcome.decision is Decision.ALLOWED
        # The real house has a lamp that cannot be reached, which is told where it was meant.
        gone = any(one.state == "unavailable" for one in lamps(home)) and wanted != "here"
        assert outcome.status is (Status.NOT_OBSERVED if gone else Status.DONE), outcome.sentence
        for entity_id in reached:
            assert await admin.settles(entity_id, "off") == "off"
        states = await admin.states()
        assert {name for name in every if states[name]["state"] == "off"} >= reached
        groups = {name for name in every if states[name]["attributes"].get("entity_id")}
        for entity_id in every - reached - groups:
            assert states[entity_id]["state"] == "on", entity_id
        await admin.call("light.turn_off", entity_id=sorted(every))
