"""Tests of things that are costly to switch, by name and kind."""

from typing import Any

import pytest

from assistant.announcements.tools import Announcer
from assistant.domain.tool_call import Decision, Tier
from assistant.interfaces.controls import VoiceTools
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import build_menu
from assistant.tools.execution.requests import SPOKEN, way_of
from assistant.tools.house.intents import Action
from assistant.tools.policy.risk import cost
from assistant.tools.policy.rules import PolicyDecision
from integrations.home_assistant.house import Entity
from integrations.mcp.servers import McpTool, ServerSpec, home_assistant_server

ROWS: list[tuple[str, str, str | None]] = [
    ("switch.x", "Oven", "oven"),
    ("switch.x", "The big Oven", "oven"),
    ("switch.horno", "Cocción", "oven"),
    ("switch.x", "Horno", "oven"),
    ("switch.x", "Placa de inducción", "oven"),
    ("switch.x", "Vitrocerámica", "oven"),
    ("switch.x", "Stove", "oven"),
    ("switch.x", "Cooktop", "oven"),
    ("switch.x", "Rice cooker", "oven"),
    ("switch.x", "Pottery kiln", "oven"),
    ("climate.x", "Sauna", "oven"),
    ("number.x", "Oven temperature", "oven"),
    ("select.x", "Oven programme", "oven"),
    ("switch.x", "Backofen", "oven"),
    ("switch.x", "Space heater", "oven"),
    ("switch.x", "Estufa", "oven"),
    ("climate.x", "Estufa", None),
    ("climate.x", "Boiler", None),
    ("switch.x", "Oven light", None),
    ("switch.x", "Luz del horno", None),
    ("switch.x", "Stove hood", None),
    ("switch.x", "Oven child lock", None),
    ("light.oven", "Oven", None),
    ("sensor.oven", "Oven", None),
    ("switch.x", "Placa solar", None),
    ("switch.x", "Coven lamp", None),
    ("switch.x", "Grillo", None),
    ("switch.x", "Kettle", None),
    ("switch.x", "Coffee machine", None),
    ("switch.x", "Tapestry", None),
    ("switch.x", "Tap", "water"),
    ("switch.x", "Sprinklers", "water"),
    ("switch.x", "Riego del jardín", "water"),
    ("switch.x", "Calentador", "water"),
    ("switch.x", "Pool pump", "water"),
    ("switch.x", "Termo eléctrico", "water"),
    ("water_heater.x", "Anything", "water"),
    ("vacuum.x", "Robbie", "runs-on"),
    ("lawn_mower.x", "Goat", "runs-on"),
    ("switch.roomba", "Cleaner", "runs-on"),
    ("switch.x", "Washing machine", "runs-on"),
    ("switch.x", "Lavavajillas", "runs-on"),
    ("switch.x", "Hair straightener", None),
    ("switch.x", "Vacuum light", None),
    ("fan.x", "Fan", None),
    ("switch.x", "Induktionsherd", "oven"),
    ("switch.x", "Kochfeld Küche", "oven"),
    ("switch.x", "Heizlüfter Bad", "oven"),
    ("switch.x", "Gartenbewässerung", "water"),
    ("switch.x", "Poolpumpe", "water"),
    ("switch.x", "Geschirrspüler", "runs-on"),
    ("switch.x", "Saugroboter", "runs-on"),
    ("switch.x", "Dunstabzug Herd", None),
    ("switch.x", "Licht Backofen", None),
    ("switch.x", "Four électrique", "oven"),
    ("switch.x", "Plaques de cuisson", "oven"),
    ("switch.x", "Radiateur d'appoint", "oven"),
    ("switch.x", "Chauffe-eau", "water"),
    ("switch.x", "Arroseurs", "water"),
    ("switch.x", "Lave-vaisselle", "runs-on"),
    ("switch.x", "Éclairage hotte plaque de cuisson", None),
    ("switch.x", "Switch four", None),
    ("switch.x", "Fogão", "oven"),
    ("switch.x", "Placa de indução", "oven"),
    ("switch.x", "Aquecedor do quarto", "oven"),
    ("climate.x", "Aquecedor do quarto", None),
    ("switch.x", "Bomba d'água", "water"),
    ("switch.x", "Torneira do jardim", "water"),
    ("switch.x", "Lava-louças", "runs-on"),
    ("switch.x", "Luz do fogão", None),
    ("switch.x", "Lò nướng", "oven"),
    ("switch.bep_tu", "Công tắc 1", "oven"),
    ("switch.x", "Máy sưởi", "oven"),
    ("switch.x", "Bình nóng lạnh", "water"),
    ("switch.x", "Tưới cây", "water"),
    ("switch.x", "Máy giặt", "runs-on"),
    ("switch.x", "Máy sấy tóc", None),
    ("switch.x", "Đèn lò nướng", None),
]


@pytest.mark.parametrize(("entity_id", "name", "rule"), ROWS)
def test_by_kind_and_name(entity_id: str, name: str, rule: str | None) -> None:
    entity = Entity(entity_id, name, "off")
    assert cost(entity, Action.ON, {}) == rule
    assert cost(entity, Action.TOGGLE, {}) == rule
    assert cost(entity, Action.OFF, {}) is None


def test_a_device_class_and_an_alias_count_too() -> None:
    assert cost(Entity("switch.x", "Bosch", "off", device_class="oven"), Action.ON, {}) == "oven"
    assert cost(Entity("switch.x", "Bosch", "off", ("horno",)), Action.ON, {}) == "oven"


@pytest.mark.parametrize(
    ("state", "attributes", "degrees", "rule"),
    [
        ("heat", {"max_temp": 35}, 25, None),
        ("heat", {"max_temp": 35}, 25.5, "heat"),
        ("off", {"max_temp": 35}, 28, "heat"),
        ("auto", {}, 28, "heat"),
        ("cool", {"max_temp": 32}, 28, None),
        ("dry", {"max_temp": 32}, 28, None),
        ("heat", {"max_temp": 95}, 72, None),
        ("heat", {"max_temp": 95}, 80, "heat"),
    ],
)
def test_heating_beyond_25_degrees(
    state: str, attributes: dict[str, Any], degrees: float, rule: str | None
) -> None:
    entity = Entity("climate.x", "Thermostat", state, attributes=attributes)
    assert cost(entity, Action.SET, {"temperature": degrees}) == rule


@pytest.mark.parametrize(
    ("unit", "rule"), [("°C", "heat"), ("°F", None), ("", None)], ids=["C", "F", "unknown"]
)
def test_a_sauna_is_judged_in_the_houses_unit(unit: str, rule: str | None) -> None:
    sauna = Entity("climate.x", "Cabin", "heat", attributes={"max_temp": 110})
    assert cost(sauna, Action.SET, {"temperature": 70}, unit) == rule


HOME = home_assistant_server("http://house.invalid", "token")
MUSIC = ServerSpec("music", "http", trust="trusted", allow=("play",))
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def verdict(
    *touched: str, effects: tuple[str, ...] = (), tier: Tier = Tier.COMFORT
) -> PolicyDecision:
    return PolicyDecision(Decision.ALLOWED, tier, "comfort", {}, touched, effects)


@pytest.mark.parametrize(
    ("server", "tool", "sounds"),
    [
        ("home_assistant", "intent__HassBroadcast", True),
        ("home_assistant", "intent__HassMediaNext", True),
        ("home_assistant", "intent__HassTurnOn", True),  # the effects are unknown
        ("home_assistant", "intent__HassStartTimer", False),
        ("home_assistant", "intent__HassShoppingListAddItem", False),
        ("home_assistant", "play_something", True),
        ("music", "play", True),
    ],
)
def test_what_touches_nothing_that_is_known(server: str, tool: str, sounds: bool) -> None:
    offered = [McpTool(server, tool, "", "", SCHEMA, False)]
    menu = build_menu(offered, {HOME.name: HOME, MUSIC.name: MUSIC}, ())
    way = way_of(menu.entries[0])
    assert way.may_sound(verdict()) is sounds
    assert not way.may_sound(verdict(tier=Tier.READ))


@pytest.mark.parametrize(
    ("touched", "effects", "sounds"),
    [
        (("light.hall", "cover.blind"), (), False),
        (("lock.front",), (), False),
        (("media_player.radio",), (), True),
        (("light.hall", "switch.amplifier"), (), True),
        (("scene.film",), ("light.hall",), True),
        (("group.downstairs",), ("light.hall",), True),
        (("light.group",), ("light.hall", "media_player.tv"), True),
        (("siren.yard",), (), True),
    ],
)
def test_what_touches_things(
    touched: tuple[str, ...], effects: tuple[str, ...], sounds: bool
) -> None:
    assert SPOKEN.may_sound(verdict(*touched, effects=effects)) is sounds


def test_which_of_our_own_speak_or_get_louder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.announcements.tools.Services", lambda home: home)
    nowhere: Any = None
    announcer = Announcer(nowhere, Catalogue(), "", lambda: "", lambda message, language: None)
    tools = (announcer.tool(), *VoiceTools(nowhere, Catalogue()).tools())
    menu = build_menu((), {}, tools)
    sounds = {one.tool.name: way_of(one).may_sound(verdict()) for one in menu.entries}
    assert sounds == {"announce": True, "voice_volume": True, "voice_speed": False, "repeat": False}
