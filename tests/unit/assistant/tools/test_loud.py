"""Which calls may be heard in a room, so that they wait while something secure is asked about."""

from typing import Any

import pytest

from assistant.announcements.tools import Announcer
from assistant.domain.outcome import Decision, Tier
from assistant.interfaces.control_tools import VoiceTools
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import build_menu
from assistant.tools.execution.requests import SPOKEN, way_of
from assistant.tools.policy.rules import PolicyDecision
from integrations.mcp.servers import McpTool, ServerSpec, home_assistant_server

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
        ("home_assistant", "intent__HassTurnOn", True),  # of what nobody knows
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
