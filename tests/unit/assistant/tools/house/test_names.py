"""Tests of the known names that are suggested for an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.house import names as module
from assistant.tools.house.names import capitalised, named_thing, nearest, nearest_in_house
from integrations.home_assistant.house import House
from tests.benchmarks.scale.houses import picture


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
    ("name", "first"),
    [
        ("livng room celing light", "Living Room ceiling light"),
        ("old studio thermostt", "Old Studio thermostat"),
        ("Réading light", "Reading light"),
        ("lampara Nort Kitchen", "lámpara North Kitchen"),
    ],
)
def test_in_a_large_house_it_finds_what_comparing_all_names_finds(name: str, first: str) -> None:
    names = [one for entity in picture(5_000).exposed() for one in entity.names]
    found = nearest(name, names)
    assert found[0] == first
    written = {one.casefold(): one for one in names}
    every = get_close_matches(name.casefold(), written, len(found), 0.6)
    assert found == tuple(written[one] for one in every)


def test_of_a_large_house_few_names_are_compared_letter_by_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = []

    def count(name: str, likely: Iterable[str], most: int, like: float) -> list[str]:
        compared.append(len(list(likely)))
        return []

    monkeypatch.setattr(module, "get_close_matches", count)
    names = [one for entity in picture(5_000).exposed() for one in entity.names]
    assert nearest("the disco ball in the cupboard", names) == ()
    assert compared == [150]


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


@pytest.mark.parametrize(
    ("name", "language", "said"),
    [
        ("Front Door", "en", "the front door"),
        ("front door", "en-GB", "the front door"),
        ("TV lamp", "en", "the TV lamp"),
        ("The cellar", "en", "The cellar"),
        ("my lamp", "en", "my lamp"),
        ("Ana's door", "en", "Ana's door"),
        ("Front Door", "it", "the front door"),  # there is no Italian, so English is used
        ("Haustür", "de", "die Haustür"),
        ("Puerta principal", "es-MX", "la puerta principal"),
        ("Cửa trước", "vi", "Cửa trước"),
    ],
)
def test_a_name_takes_its_article(name: str, language: str, said: str) -> None:
    assert named_thing(name, Catalogue(), language) == said


def test_a_sentence_begins_with_a_capital_letter() -> None:
    assert capitalised("the TV is on") == "The TV is on"
    assert capitalised("éteint") == "Éteint"
    assert capitalised("") == ""
