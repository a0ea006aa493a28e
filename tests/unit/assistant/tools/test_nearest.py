"""Which known names are told instead of an unknown one."""

from typing import Any

import pytest

from assistant.tools.nearest import nearest, nearest_in_house
from integrations.home_assistant.house import House


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("HassTurnOff", ("HassTurnOff", "HassTurnOn")),
        ("hassturnof", ("HassTurnOff", "HassTurnOn")),
        ("xyz", ()),
        ("", ()),
    ],
)
def test_names_like_it_the_nearest_first(name: str, found: tuple[str, ...]) -> None:
    assert nearest(name, ["HassTurnOn", "HassTurnOff", "GetLiveContext"]) == found


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"name": "kichen lite"}, "Kitchen Light"),
        ({"name": "Kitchen Light", "area": "kichen"}, "Kitchen"),
        ({"area": "livingroom"}, "Living Room"),
        ({"floor": "downstair"}, "downstairs"),
    ],
)
def test_the_house_knows_what_was_meant(
    house: House, arguments: dict[str, Any], first: str
) -> None:
    assert nearest_in_house(arguments, house)[0] == first


@pytest.mark.parametrize(
    "arguments",
    [{"name": "kitchen light "}, {"name": "all"}, {"area": "cocina"}, {"name": ["x"]}, {}],
)
def test_what_exists_needs_no_other(house: House, arguments: dict[str, Any]) -> None:
    assert nearest_in_house(arguments, house) == ()


def test_what_is_not_exposed_is_not_named(house: House) -> None:
    assert "Secret Light" not in nearest_in_house({"name": "secret lights"}, house)
