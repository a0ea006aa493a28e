"""What a script touches: only what it does itself, not where that or the script is."""

from typing import Any

import pytest

from integrations.home_assistant.effects import touched_by
from integrations.home_assistant.house import Area, Entity
from integrations.home_assistant.registry import DeviceRow, Registries

REGISTRIES = Registries(
    areas={
        "k": Area("k", "Kitchen", (), "down"),
        "h": Area("h", "Hall", (), "down"),
        "b": Area("b", "Bedroom", (), "up"),
        "o": Area("o", "Outside"),
    },
    area_labels={"b": frozenset({"night"})},
    devices={"lamp": DeviceRow("k"), "plug": DeviceRow("h", frozenset({"loud"}))},
    entities={
        "script.s": {"entity_id": "script.s", "labels": ["mine"]},
        "light.hall": {"entity_id": "light.hall", "labels": ["night", "mine"]},
        "lock.shed": {"entity_id": "lock.shed", "labels": ["locks"]},
        "script.locks": {"entity_id": "script.locks", "labels": ["locks"]},
    },
)
ENTITIES = {
    one.entity_id: one
    for one in (
        Entity("light.lamp", "Lamp", "on", area_id="k", device_id="lamp"),
        Entity("sensor.power", "Power", "1", area_id="k", device_id="lamp"),
        Entity("light.kitchen", "Kitchen", "on", area_id="k"),
        Entity("light.hall", "Hall", "on", area_id="h"),
        Entity("switch.plug", "Plug", "on", area_id="h", device_id="plug"),
        Entity("light.bed", "Bed", "on", area_id="b"),
        Entity("script.s", "S", "off", area_id="h"),
        Entity("script.inner", "Inner", "off", area_id="b"),
        Entity("light.nowhere", "Nowhere", "on"),
        Entity("sensor.battery", "Battery", "80", area_id="o", device_id="door"),
        Entity("lock.door", "Door", "locked", area_id="o", device_id="door"),
        Entity("light.porch", "Porch", "on", area_id="o"),
        Entity("lock.shed", "Shed", "locked"),
    )
}
KITCHEN = {"light.lamp", "sensor.power", "light.kitchen"}


@pytest.mark.parametrize(
    ("answer", "touched"),
    [
        ({}, set()),
        ({"entity": ["light.nowhere", "light.gone"]}, {"light.nowhere"}),
        # An entity comes with its device, area and floor; none of these is a target.
        (
            {"entity": ["light.lamp"], "device": ["lamp"], "area": ["k"], "floor": ["down"]},
            {"light.lamp"},
        ),
        ({"area": ["k"], "floor": ["down"]}, KITCHEN),
        ({"device": ["lamp"], "area": ["k"], "floor": ["down"]}, {"light.lamp", "sensor.power"}),
        ({"floor": ["up"]}, {"light.bed", "script.inner"}),
        # The script's own area and labels are where it is.
        ({"area": ["h"], "floor": ["down"], "label": ["mine"]}, set()),
        ({"label": ["night"]}, {"light.bed", "light.hall", "script.inner"}),
        ({"label": ["loud"]}, {"switch.plug"}),
        # What an inner script touches comes with it; its own room does not count either.
        (
            {"entity": ["script.inner", "light.hall"], "area": ["b", "h"]},
            {"script.inner", "light.hall"},
        ),
        ({"entity": ["script.s"]}, set()),
        # Who uses it is no business of its own.
        ({"automation": ["automation.a"], "scene": ["scene.s"], "group": ["group.g"]}, set()),
        ({"entity": "light.hall", "area": None, "device": [5]}, set()),
    ],
)
def test_what_a_script_touches(answer: dict[str, Any], touched: set[str]) -> None:
    assert touched_by("script.s", answer, REGISTRIES, ENTITIES) == touched


def test_a_lock_counts_wherever_its_device_or_label_is_told() -> None:
    """It may be the target itself, beside an entity of the same device, or by the own label."""
    beside = {"entity": ["sensor.battery"], "device": ["door"], "area": ["o"]}
    assert touched_by("script.s", beside, REGISTRIES, ENTITIES) == {"sensor.battery", "lock.door"}
    labelled = {"entity": ["light.bed"], "area": ["b"], "floor": ["up"], "label": ["locks"]}
    assert touched_by("script.locks", labelled, REGISTRIES, ENTITIES) == {"light.bed", "lock.shed"}
    # Not so a room: every script that lights it would be taken for one that unlocks its door.
    lit = {"entity": ["light.porch"], "area": ["o"]}
    assert touched_by("script.s", lit, REGISTRIES, ENTITIES) == {"light.porch"}


def test_a_scene_touches_its_entities_alone() -> None:
    answer = {"entity": ["light.hall"], "area": ["h", "k"], "device": ["lamp"]}
    assert touched_by("scene.s", answer, REGISTRIES, ENTITIES) == {"light.hall"}
