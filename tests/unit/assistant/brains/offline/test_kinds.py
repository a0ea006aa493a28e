"""A lamp that is called by the word for all of them."""

import pytest

from assistant.brains.offline.calls import settle_target
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser
from integrations.home_assistant.house import Area, Entity, House

THINGS = [
    Entity("light.den", "Lights", "on", (), "den"),
    Entity("light.reading", "Reading lamp", "on", (), "den"),
    Entity("light.office", "Lights", "on", (), "office"),
    Entity("switch.office", "Bulb", "on", (), "office"),
]
HOUSE = House(
    {},
    {"den": Area("den", "Den"), "office": Area("office", "Office"), "hall": Area("hall", "Hall")},
    {one.entity_id: one for one in THINGS},
)


@pytest.mark.parametrize(
    ("said", "here", "ids", "area"),
    [
        ("turn off the lights", "den", (), "den"),
        ("turn off the lights", "hall", (), "hall"),
        ("turn off the reading lamp", "den", ("light.reading",), ""),
        ("turn off the bulb", "office", ("switch.office",), ""),
    ],
)
def test_the_lights_are_all_of_the_room(
    said: str, here: str, ids: tuple[str, ...], area: str
) -> None:
    command = Parser(house_names(HOUSE)).parse(said, "en", here)
    assert command is not None
    settled = settle_target(command, HOUSE, here)
    assert isinstance(settled, ParsedCommand)
    assert settled.entity_ids == ids
    assert settled.area_id == area or ids
