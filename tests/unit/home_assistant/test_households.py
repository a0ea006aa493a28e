"""The houses that are set up in a real Home Assistant, and the configuration made of them."""

import json
import re

import pytest

from tests.home_assistant.real.households import FOLDER, files, household, households
from tests.home_assistant.real.places import Refused

both = pytest.mark.parametrize("key", ["english", "spanish"])


def test_there_are_two() -> None:
    assert households() == ["english", "spanish"]
    with pytest.raises(Refused, match="english and spanish"):
        household("french")


@both
def test_every_area_is_on_a_floor_and_everything_in_one_area(key: str) -> None:
    house = household(key)
    assert {area.floor for area in house.areas} <= {floor.name for floor in house.floors}
    placed = [entity for area in house.areas for entity in area.entities]
    assert len(placed) == len(set(placed))
    assert not house.hidden & set(placed)


@both
@pytest.mark.parametrize("version", ["2025.4.4", "2026.11.0"])
def test_only_loopback_is_listened_on(key: str, version: str) -> None:
    made = files(household(key), version, 18_299)
    stored = made.get(".storage/http")
    if stored is None:
        (line,) = re.findall(r"^http: (.*)$", made["configuration.yaml"], re.MULTILINE)
        http = json.loads(line)
    else:
        assert "\nhttp:" not in made["configuration.yaml"]
        http = json.loads(stored)["data"]["stable"]
    assert http["server_host"] == ["127.0.0.1"]
    assert http["server_port"] == 18_299


@both
def test_an_older_release_gets_templates_that_it_can_read(key: str) -> None:
    new = files(household(key), "2026.11.0", 1)["packages/templates.yaml"]
    old = files(household(key), "2025.4.4", 1)["packages/templates.yaml"]
    assert "default_entity_id" in new
    assert "default_entity_id" not in old


@both
def test_both_forms_of_the_templates_make_the_same_things(key: str) -> None:
    names = re.compile(r"(?:friendly_)?name: (.+)")
    new = (FOLDER / key / "templates.yaml").read_text()
    old = (FOLDER / key / "templates-before-2025.10.yaml").read_text()
    assert names.findall(new) == names.findall(old)
