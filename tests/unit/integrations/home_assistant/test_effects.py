"""Effects of a script: only what it does itself, not its surroundings."""

from typing import Any

import pytest

from integrations.errors import IntegrationError
from integrations.home_assistant.effects import (
    MAX_SLOTS,
    MAX_TEMPLATE,
    is_worth_reading,
    may_answer,
    read_scene,
    touched_by,
)
from integrations.home_assistant.house import Area, Entity
from integrations.home_assistant.picture import MAX_ANSWER, ask_scene
from integrations.home_assistant.registry import DeviceRow, Registries
from tests.unit.integrations.home_assistant.fake_home import FakeHome

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
        # An entity comes with its device, area and floor, which are not targets.
        (
            {"entity": ["light.lamp"], "device": ["lamp"], "area": ["k"], "floor": ["down"]},
            {"light.lamp"},
        ),
        ({"area": ["k"], "floor": ["down"]}, KITCHEN),
        ({"device": ["lamp"], "area": ["k"], "floor": ["down"]}, {"light.lamp", "sensor.power"}),
        ({"floor": ["up"]}, {"light.bed", "script.inner"}),
        # The script's own area and labels are not targets.
        ({"area": ["h"], "floor": ["down"], "label": ["mine"]}, set()),
        ({"label": ["night"]}, {"light.bed", "light.hall", "script.inner"}),
        ({"label": ["loud"]}, {"switch.plug"}),
        # What an inner script affects is included; its own room is not.
        (
            {"entity": ["script.inner", "light.hall"], "area": ["b", "h"]},
            {"script.inner", "light.hall"},
        ),
        ({"entity": ["script.s"]}, set()),
        # Automations that use it are not affected by it.
        ({"automation": ["automation.a"], "scene": ["scene.s"], "group": ["group.g"]}, set()),
        ({"entity": "light.hall", "area": None, "device": [5]}, set()),
    ],
)
def test_what_a_script_touches(answer: dict[str, Any], touched: set[str]) -> None:
    assert touched_by("script.s", answer, REGISTRIES, ENTITIES) == touched


def test_a_lock_counts_wherever_its_device_or_label_is_told() -> None:
    """It may be the target itself, beside an entity of the same device, or by its own label."""
    beside = {"entity": ["sensor.battery"], "device": ["door"], "area": ["o"]}
    assert touched_by("script.s", beside, REGISTRIES, ENTITIES) == {"sensor.battery", "lock.door"}
    labelled = {"entity": ["light.bed"], "area": ["b"], "floor": ["up"], "label": ["locks"]}
    assert touched_by("script.locks", labelled, REGISTRIES, ENTITIES) == {"light.bed", "lock.shed"}
    # Not so for a room: every script that lights it would seem to unlock its door.
    lit = {"entity": ["light.porch"], "area": ["o"]}
    assert touched_by("script.s", lit, REGISTRIES, ENTITIES) == {"light.porch"}


def test_a_scene_touches_its_entities_alone() -> None:
    answer = {"entity": ["light.hall"], "area": ["h", "k"], "device": ["lamp"]}
    assert touched_by("scene.s", answer, REGISTRIES, ENTITIES) == {"light.hall"}


# Direction of the states that a scene sets.


def scene(*held: str, **attributes: Any) -> Entity:
    given = {"entity_id": list(held), "id": "1", **attributes}
    return Entity("scene.x", "X", "unknown", attributes=given)


@pytest.mark.parametrize(
    ("entity_id", "state", "way"),
    [
        ("lock.x", "locked", "on"),
        ("lock.x", "unlocked", "off"),
        ("lock.x", "open", "off"),
        ("lock.x", {"state": "locked", "code": "1"}, "on"),
        ("lock.x", "jammed", "either"),
        ("lock.x", None, "either"),
        ("cover.x", "closed", "off"),
        ("cover.x", "open", "on"),
        ("cover.x", {"state": "closed", "current_position": 0}, "off"),
        ("cover.x", {"state": "closed", "current_position": 40}, "either"),
        ("cover.x", {"state": "closed", "current_tilt_position": 40}, "either"),
        ("cover.x", {"state": "open", "current_position": 40}, "on"),
        ("valve.x", "closed", "off"),
        ("valve.x", "open", "on"),
        ("alarm_control_panel.x", "armed_night", "on"),
        ("alarm_control_panel.x", "disarmed", "off"),
        ("alarm_control_panel.x", "triggered", "either"),
        ("siren.x", True, "on"),
        ("siren.x", {"state": False}, "off"),
        ("light.x", "on", "either"),
        ("switch.gate", "off", "either"),
        ("cover.x", ["closed"], "either"),
    ],
)
def test_way(entity_id: str, state: Any, way: str) -> None:
    found = read_scene({"entities": {entity_id: state}}, scene(entity_id))
    assert found is not None
    assert found.complete
    assert found.touched == {entity_id: way}


@pytest.mark.parametrize(
    ("entity", "worth"),
    [
        (scene("lock.a", "light.b"), True),
        (scene("cover.a"), True),
        (scene("alarm_control_panel.a"), True),
        (scene("light.b"), False),
        (scene("lock.a", id=None), False),  # made in YAML without an id
        (scene("lock.a", id=""), False),
        (scene("lock.a", entity_id="lock.a"), False),
        (scene(entity_id=[7]), False),
        (Entity("light.a", "A", "on", attributes=scene("lock.a").attributes), False),
    ],
)
def test_worth_reading(entity: Entity, worth: bool) -> None:
    assert is_worth_reading(entity) is worth


async def test_its_id_is_no_path() -> None:
    fake = FakeHome()
    fake.scenes["1"] = {"entities": {}}
    fake.scenes["long"] = "x" * (MAX_ANSWER + 1)
    async with fake.serve() as url:
        reach = (url, "token", True, "")
        assert await ask_scene(reach, scene()) == {"entities": {}}
        for scene_id in ("2", "long", "a?b=c"):
            with pytest.raises(IntegrationError, match="the scene cannot be read"):
                await ask_scene(reach, scene(id=scene_id))
    assert fake.asked_scenes == ["1", "2", "long", "a?b=c"]


# Templates that may match a sentence: too many rather than too few.


@pytest.mark.parametrize(
    ("template", "text", "answers"),
    [
        ("activate party mode [in {room}]", "Activate party mode.", True),
        ("activate party mode [in {room}]", "activate party-mode in the kitchen", True),
        ("activate party mode", "activate the party mode", False),
        ("(open|unlock) [the] gate", "Unlock gate!", True),
        ("(open|unlock) [the] gate", "lock the gate", False),
        ("[[the] big] dog", "dog", True),
        ("{anything}", "unlock the door", True),
        ("<verb> the door", "unlock the door", True),
        ("(up;down)", "whatever", True),
        ("broken (", "whatever", True),
        ("öffne das Tor", "Öffne das tor", True),
        ("a" * (MAX_TEMPLATE + 1), "whatever", True),
        ("{a}x" * (MAX_SLOTS + 1), "whatever", True),
    ],
)
def test_a_template_and_a_sentence(template: str, text: str, answers: bool) -> None:
    assert may_answer(template, text) is answers
