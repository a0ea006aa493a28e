"""What a selection reaches, matched as Home Assistant matches."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.tools.intents import INTENTS
from assistant.tools.resolve import resolve, with_members
from integrations.home_assistant.house import House


@pytest.mark.parametrize(
    ("tool", "arguments", "wanted"),
    [
        ("HassTurnOn", {"name": "lamp"}, ["light.lamp_living", "light.lamp_bed"]),
        ("HassTurnOn", {"name": "lamp", "area": "Bedroom"}, ["light.lamp_bed"]),
        ("HassTurnOn", {"name": "Luz de la Cocina"}, ["light.kitchen"]),
        ("HassTurnOn", {"area": "LOUNGE", "domain": "light"}, ["light.lamp_living"]),
        ("HassTurnOn", {"area": "living_room", "domain": ["light"]}, ["light.lamp_living"]),
        ("HassTurnOn", {"floor": "first", "domain": ["light"]}, ["light.lamp_bed"]),
        ("HassTurnOn", {"floor": "First floor", "area": "Kitchen"}, []),
        ("HassTurnOn", {"device_class": ["Blind"]}, ["cover.blinds"]),
        ("HassTurnOn", {"name": "Lámp"}, []),
        ("HassTurnOn", {"name": "Secret Light"}, []),
        ("HassLightSet", {"area": "Kitchen"}, ["light.kitchen"]),
        ("HassSetVolume", {"name": "Kitchen Light"}, []),
        (
            "HassTurnOff",
            {"area": "Kitchen"},
            ["light.kitchen", "switch.kettle", "media_player.kitchen"],
        ),
    ],
)
def test_resolve(house: House, tool: str, arguments: dict[str, Any], wanted: list[str]) -> None:
    assert resolve(INTENTS[tool], arguments, house) == wanted


def test_members_are_followed_and_a_circle_ends(house: House) -> None:
    loop = replace(house.entities["group.doors"], attributes={"entity_id": ["group.doors", "x.y"]})
    circular = House(house.floors, house.areas, {"group.doors": loop})
    assert with_members(["group.doors"], circular) == ["group.doors", "x.y"]
    assert with_members(["group.doors"], house) == ["group.doors", "lock.front"]
