""" "No, the one in the bedroom": which call that is."""

from typing import Any

import pytest

from assistant.tools.undo.stack import DoneCall
from assistant.tools.undo.tools import corrected
from integrations.home_assistant.house import Area, House
from tests.unit.assistant.tools.undo.doubles import thing

HOUSE = House(
    {},
    {"kitchen": Area("kitchen", "Kitchen", ("cocina",)), "bedroom": Area("bedroom", "Bedroom")},
    {
        one.entity_id: one
        for one in (
            thing("light.lamp", "on", area_id="kitchen"),
            thing("light.kitchen", "on", area_id="kitchen"),
            thing("fan.tower", "on", area_id="bedroom"),
        )
    },
)
ALL = frozenset({"name", "area", "floor", "domain", "device_class", "brightness"})


def call(tool: str = "HassTurnOn", /, **arguments: Any) -> DoneCall:
    return DoneCall(tool, arguments, ("light.lamp",), 0.0)


@pytest.mark.parametrize(
    ("last", "name", "area", "meant"),
    [
        (call(name="Lamp"), "Tower", "", {"name": "Tower"}),
        (call(name="Lamp", area="Kitchen"), "Tower", "", {"name": "Tower"}),
        (call(name="Lamp", brightness=30), "Kitchen", "", {"name": "Kitchen", "brightness": 30}),
        (call(name="Lamp"), "Lamp", "Bedroom", {"name": "Lamp", "area": "Bedroom"}),
        # the kind stays where there is one of it so called
        (call(name="Lamp", domain=["light"]), "Kitchen", "",
         {"name": "Kitchen", "domain": ["light"]}),
        (call(name="Lamp", domain=["light"]), "Tower", "", {"name": "Tower"}),
        # in a room: the thing of the same name, else all of the same kind
        (call(name="Lamp"), "", "cocina", {"name": "Lamp", "area": "cocina"}),
        (call(name="Lamp"), "", "Bedroom", {"area": "Bedroom", "domain": ["light"]}),
        (call(area="Kitchen", domain=["fan"]), "", "Bedroom",
         {"area": "Bedroom", "domain": ["fan"]}),
        (call(floor="Ground", domain="light"), "", "Bedroom",
         {"area": "Bedroom", "domain": ["light"]}),
        (call(name="Lamp"), "", "", None),
    ],
)  # fmt: skip
def test_one_call(last: DoneCall, name: str, area: str, meant: dict[str, Any] | None) -> None:
    assert corrected([last], name, area, HOUSE, ALL) == meant


def test_a_tool_without_kinds_takes_the_room_alone() -> None:
    last = call("HassLightSet", name="Hall", brightness=30)
    takes = {"name", "area", "floor", "brightness"}
    assert corrected([last], "", "Bedroom", HOUSE, takes) == {"area": "Bedroom", "brightness": 30}


@pytest.mark.parametrize("takes", [set(), {"brightness"}, {"area", "domain"}])
def test_a_tool_that_takes_no_name(takes: set[str]) -> None:
    assert corrected([call(name="Lamp")], "Tower", "", HOUSE, takes) is None


def test_several_calls_of_the_same_kind_are_one() -> None:
    calls = [call(name="Lamp", brightness=30), call(name="Kitchen", brightness=30)]
    assert corrected(calls, "Tower", "", HOUSE, ALL) == {"name": "Tower", "brightness": 30}


@pytest.mark.parametrize(
    "other", [call("HassTurnOff", name="Kitchen"), call(name="Kitchen", brightness=40)]
)
def test_several_different_calls_are_not_guessed_at(other: DoneCall) -> None:
    calls = [other, call(name="Lamp", brightness=30)]
    assert corrected(calls, "Tower", "", HOUSE, ALL) is None


def test_nothing_known_of_the_kind() -> None:
    last = DoneCall("HassTurnOn", {"floor": "Ground"}, (), 0.0)
    assert corrected([last], "", "Bedroom", HOUSE, ALL) is None
