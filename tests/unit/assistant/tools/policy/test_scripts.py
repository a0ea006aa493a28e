"""Tests of the fields of scripts, compared with what the house has."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.tools.policy.fields import Taken, ask_scripts, check_fields, read_scripts
from integrations.home_assistant.house import Area, House

AREA: dict[str, Any] = {"area": {}}
AREAS: dict[str, Any] = {"area": {"multiple": True}}
LIGHTS = {"entity": {"filter": [{"domain": ["light"]}], "multiple": True}}


def test_selectors_are_read_from_the_services() -> None:
    services = {
        "light": {"turn_on": {"fields": {"x": {"selector": AREA}}}},
        "script": {
            "movie_night": {
                "fields": {
                    "rooms": {"selector": AREAS},
                    "plain": {"required": True},
                    "odd": None,
                    "text": {"selector": "x"},
                }
            },
            "turn_on": {"fields": {}},
            "broken": None,
        },
    }
    assert read_scripts(services) == {"movie_night": Taken({"rooms": AREAS}, ("plain",))}


@pytest.mark.parametrize("answer", [None, [], {}, {"script": None}])
def test_an_answer_of_another_form_tells_nothing(answer: Any) -> None:
    assert read_scripts(answer) == {}


async def test_they_are_asked_for() -> None:
    asked: list[str] = []

    async def command(kind: str, **fields: Any) -> Any:
        asked.append(kind)
        return {"script": {"a": {"fields": {"rooms": {"selector": AREA}}}}}

    assert await ask_scripts(command) == {"a": Taken({"rooms": AREA})}
    assert asked == ["get_services"]


@pytest.mark.parametrize(
    ("selector", "given", "sent"),
    [
        (AREA, "Kitchen", "Kitchen"),
        (AREA, "kitchen", "kitchen"),
        (AREA, "Kichen", "Kitchen"),
        (AREA, "Háll", "Hall"),
        (AREA, "Cocinas", "Kitchen"),
        (AREAS, ["cocina", "the bedroom"], ["cocina", "Bedroom"]),
        ({"floor": None}, "Downstairs", "Downstairs"),
        ({"floor": {}}, "the first floor", "First floor"),
        (LIGHTS, ["light.kitchen"], ["light.kitchen"]),
        (LIGHTS, ["kitchen lights"], ["light.kitchen"]),
        ({"entity": {"domain": "lock"}}, "front door", "lock.front"),
        ({"device": {}}, "dev1", "dev1"),
        ({"target": {}}, {"entity_id": ["Radio"]}, {"entity_id": ["media_player.kitchen"]}),
        ({"target": {}}, {"area_id": "kitchn"}, {"area_id": "Kitchen"}),
        ({"number": {}}, "Moon", "Moon"),
        (AREA, None, None),
    ],
)
def test_what_exists_is_sent(house: House, selector: Any, given: Any, sent: Any) -> None:
    radio = replace(house.entities["media_player.kitchen"], device_id="dev1")
    house = replace(house, entities={**house.entities, "media_player.kitchen": radio})
    fields = check_fields({"rooms": selector}, {"rooms": given, "other": 1}, house)
    assert (fields.problem, fields.arguments) == ("", {"rooms": sent, "other": 1})


@pytest.mark.parametrize(
    ("selector", "given", "problem", "options"),
    [
        (AREA, "Moon", "rooms: there is no area Moon", ()),
        (AREAS, ["Kitchen", "Moon"], "rooms: there is no area Moon", ()),
        # The hall contains a lock.
        (AREA, "the hall", "rooms: there is no area the hall", ("Hall",)),
        (AREA, 5, "rooms: it must name one area", ()),
        ({"floor": {}}, "Cellar", "rooms: there is no floor Cellar", ()),
        (LIGHTS, ["switch.kettle"], "rooms: there is no entity switch.kettle", ()),
        (LIGHTS, ["light.hidden"], "rooms: there is no entity light.hidden", ()),
        (
            LIGHTS,
            ["Lamp"],
            "rooms: there is no entity Lamp",
            ("light.lamp_living", "light.lamp_bed"),
        ),
        (
            {"entity": {}},
            "the front door",
            "rooms: there is no entity the front door",
            ("lock.front",),
        ),
        ({"device": {}}, "nothing", "rooms: there is no device nothing", ()),
        ({"target": {}}, {"area_id": "Moon"}, "rooms.area_id: there is no area Moon", ()),
    ],
)
def test_what_does_not_is_a_problem(
    house: House, selector: Any, given: Any, problem: str, options: tuple[str, ...]
) -> None:
    fields = check_fields({"rooms": selector}, {"rooms": given}, house)
    assert (fields.problem, fields.options) == (problem, options)


def test_what_was_mended_is_told(house: House) -> None:
    fields = check_fields({"rooms": AREAS}, {"rooms": ["Kichen"]}, house)
    assert [(one.key, one.given, one.meant) for one in fields.changes] == [
        ("rooms", "Kichen", "Kitchen")
    ]


def test_a_name_that_may_mean_two_places_is_asked_about(house: House) -> None:
    twins = {"a": Area("a", "Guest room"), "b": Area("b", "Guestroom")}
    checked = check_fields({"room": AREA}, {"room": "guestrooms"}, replace(house, areas=twins))
    assert checked.problem == "room: there is no area guestrooms"
    assert checked.options == ("Guest room", "Guestroom")
