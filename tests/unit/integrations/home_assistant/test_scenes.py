"""Which way things go into the states that a scene sets."""

from typing import Any

import pytest

from integrations.errors import IntegrationError
from integrations.home_assistant.effects import is_worth_reading, read_scene
from integrations.home_assistant.house import Entity
from integrations.home_assistant.picture import MAX_ANSWER, ask_scene
from tests.unit.integrations.home_assistant.fake_home import FakeHome


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
