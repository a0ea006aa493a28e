"""The corners of the policy: what a verdict carries, and where a boundary runs."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from assistant.memory.wishes import REMEMBER
from assistant.tools.costly import celsius
from assistant.tools.deciding import told
from assistant.tools.kinds_heard import is_said
from assistant.tools.moment import Mode, Moment
from assistant.tools.narrowing import Narrowing
from assistant.tools.outcome import Decision, Tier
from assistant.tools.policy import judge, wants_words
from assistant.tools.spread import as_said, spread
from assistant.tools.verdict import Ruling, stricter
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.tools.test_policy import LIGHTS, OFF, ON, SET, entry

ALL = {
    "light": "ask_whole_house_light",
    "cover": "ask_whole_house_cover",
    "humidifier": "ask_whole_house",
}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "Lamp", "area": "Hall", "floor": "first"}, "Lamp"),
        ({"name": "", "area": "Hall", "floor": "first"}, "Hall"),
        ({"floor": "first"}, "first"),
        ({"domain": ["light"]}, "it"),
    ],
)
def test_what_a_sentence_calls_the_thing(arguments: dict[str, Any], named: str) -> None:
    assert told(arguments) == named


@pytest.mark.parametrize(
    ("highest", "degrees", "wanted"),
    [(45, 77.0, 77.0), (45.5, 77.0, 25.0), (95, 32.0, 0.0), (None, 77.0, 77.0), (35, 21.0, 21.0)],
)
def test_degrees_are_of_the_thermostats_own_unit(
    highest: float | None, degrees: float, wanted: float
) -> None:
    thermostat = Entity("climate.it", "It", "heat", (), None, None, {"max_temp": highest})
    assert celsius(thermostat, degrees) == pytest.approx(wanted)


def test_of_two_rulings_the_stricter_one_holds() -> None:
    order = [Ruling.ALLOW, Ruling.CONFIRM, Ruling.PHONE, Ruling.PIN, Ruling.DENY]
    for weaker, stronger in pairwise(order):
        assert stricter(weaker, stronger) is stronger
        assert stricter(stronger, weaker) is stronger


@pytest.mark.parametrize(
    ("heard", "names", "said"),
    [
        ("unlock the front door please", ["Front Door"], True),
        ("unlock the front of the door", ["Front Door"], False),
        ("close the door", ["Front Door", "door"], True),
        ("abre la puerta del jardin", ["Puerta del jardín"], True),
        ("turn it off", ["", "--"], False),
        ("outdoor", ["door"], False),
    ],
)
def test_a_name_is_said_word_by_word(heard: str, names: list[str], said: bool) -> None:
    assert is_said(heard, names) is said


def test_the_question_about_the_whole_house_names_the_kind(house: House) -> None:
    humid = replace(
        house,
        entities={
            **house.entities,
            "humidifier.one": Entity("humidifier.one", "Mist", "on", (), "bedroom"),
            "humidifier.two": Entity("humidifier.two", "Fog", "on", (), "hall"),
        },
    )
    for domain, key in ALL.items():
        asked = judge(entry(OFF), {"domain": [domain]}, humid, None, "")
        assert asked.decision is Decision.NEEDS_CONFIRMATION
        assert asked.ask == f"confirm.{key}"
    both = judge(entry(OFF), {"domain": ["light", "humidifier"]}, humid, None, "")
    assert both.ask == "confirm.ask_whole_house"


def test_a_question_about_the_whole_house_carries_the_call(house: House) -> None:
    asked = judge(entry(OFF), LIGHTS, house, None, "Kitchen")
    assert (asked.rule, asked.tier, asked.ruling) == ("whole_house", Tier.COMFORT, Ruling.CONFIRM)
    assert asked.arguments == LIGHTS
    assert set(asked.entities) == {
        name for name, one in house.entities.items() if one.domain == "light" and one.exposed
    }
    assert asked.key == asked.ask
    assert asked.left == "confirm.left_whole_house"


def test_a_question_about_one_of_several_carries_the_call(house: House) -> None:
    verdict = judge(entry(ON), {"name": "Lamp"}, house, "lamp on", "")
    assert (verdict.tier, verdict.arguments) == (Tier.COMFORT, {"name": "Lamp"})


def test_a_guest_reads_no_private_things(house: House) -> None:
    listed = replace(
        house, entities={**house.entities, "todo.buy": Entity("todo.buy", "Buy", "2", (), None)}
    )
    tool = entry("todo__HassListAddItem")
    arguments = {"name": "Buy", "item": "milk"}
    asked = judge(tool, arguments, listed, "do", "", moment=Moment(mode=Mode.GUEST))
    assert (asked.decision, asked.rule) == (Decision.DENIED, "guest")
    assert judge(tool, arguments, listed, "do", "").decision is Decision.ALLOWED


def test_a_door_that_is_set_to_something_odd_counts_as_opened(house: House) -> None:
    odd = judge(entry(SET), {"name": "Garage Door", "position": "wide"}, house, "do", "")
    assert (odd.rule, odd.tier) == ("open", Tier.SECURE)


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        (OFF, {"device_class": ["outlet"]}, True),
        (REMEMBER, {}, True),
        ("intent__unheard_of", {}, False),
    ],
)
def test_where_words_may_decide(name: str, arguments: dict[str, Any], wanted: bool) -> None:
    assert wants_words(name, arguments) is wanted


@pytest.mark.parametrize(
    ("item", "sentence", "found"),
    [
        ("bread milk", "add bread, milk to the list", "bread, milk"),
        ("bread", "add shortbread", "bread"),
        ("", "add bread", ""),
        ("Milk", "add MILK please", "MILK"),
    ],
)
def test_an_item_stands_as_it_was_said(item: str, sentence: str, found: str) -> None:
    assert as_said(item, sentence) == found


def test_a_list_with_an_empty_place_has_no_empty_item() -> None:
    listed = spread("HassListAddItem", {"item": "milk,  , and bread"})
    assert [one["item"] for one in listed] == ["milk", "bread"]


def test_a_thousand_narrowed_turns_are_remembered() -> None:
    narrowing = Narrowing()
    for number in range(1_000):
        narrowing.narrow(f"turn{number}", ["HassTurnOn"])
    assert not narrowing.allows("turn0", ["HassTurnOff"])
    narrowing.narrow("turn1000", ["HassTurnOn"])
    assert narrowing.allows("turn0", ["HassTurnOff"]), "the oldest is forgotten"
    assert not narrowing.allows("turn1", ["HassTurnOff"])
