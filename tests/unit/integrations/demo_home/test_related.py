"""What hangs together: scripts, scenes, areas, devices."""

import pytest

from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scenes import SCRIPTS, run_script
from integrations.demo_home.services import call
from integrations.demo_home.shapes import related


def test_a_script_with_fields_touches_lights_alone(house: DemoHouse) -> None:
    assert related(house, "script", "script.movie_night") == {
        "entity": ["light.living_room"],
        "device": [house.things["light.living_room"].device_id],
        "area": ["living_room"],
        "floor": ["ground"],
    }


def test_another_one_touches_a_lock(house: DemoHouse) -> None:
    touched = related(house, "script", "script.welcome_home")["entity"]
    assert touched == ["light.hall", "lock.front_door"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_touch_what_they_say(house: DemoHouse, script: str) -> None:
    changed: set[str] = set()
    house.listen(lambda change: changed.add(change.entity_id))
    run_script(house, script, {"brightness": 20}, call)
    assert changed - {script} == set(SCRIPTS[script].touches)


def test_the_scene_says_the_same_in_its_state(house: DemoHouse) -> None:
    members = house.get("scene.good_night").attributes["entity_id"]
    assert related(house, "scene", "scene.good_night")["entity"] == members


def test_from_an_entity_area_and_device_back_to_scripts(house: DemoHouse) -> None:
    light = "light.living_room"
    assert related(house, "entity", light)["script"] == ["script.movie_night"]
    assert related(house, "entity", light)["scene"] == ["scene.good_night"]
    area = related(house, "area", "living_room")
    assert light in area["entity"]
    assert area["script"] == ["script.movie_night"]
    device = house.things[light].device_id
    assert device is not None
    assert related(house, "device", device)["entity"] == [light]


@pytest.mark.parametrize("kind", ["script", "area", "device", "automation", "group"])
def test_of_nothing_there_is_nothing(house: DemoHouse, kind: str) -> None:
    assert related(house, kind, "no.such") == {}
