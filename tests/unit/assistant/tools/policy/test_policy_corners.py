"""Tests of the policy's edge cases: a verdict's contents, and the boundaries of rules."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from assistant.domain.tool_call import PLAIN, Decision, Mode, PolicyContext, Tier
from assistant.tools.builtin.protocol import REMEMBER
from assistant.tools.house.intents import INTENTS, Action, Intent, as_said, spread
from assistant.tools.house.names import celsius
from assistant.tools.policy.choices import Narrowing
from assistant.tools.policy.decisions import Case, told
from assistant.tools.policy.engine import judge, wants_words
from assistant.tools.policy.judge import Judge
from assistant.tools.policy.risk import is_harmless, is_safe_to_guess
from assistant.tools.policy.rules import STRICT, Caller, PolicyDecision, Ruling, stricter
from assistant.tools.policy.scope import cut_to, meant
from assistant.tools.policy.words import read, wants_open
from integrations.home_assistant.house import Area, Entity, House
from tests.fakes.home import StillHome
from tests.unit.assistant.tools.policy.test_policy import LIGHTS, OFF, ON, SET, entry

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
    both = judge(entry(OFF), {"domain": ["light", "cover"]}, humid, None, "")
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
    asked = judge(tool, arguments, listed, "do", "", moment=PolicyContext(mode=Mode.GUEST))
    assert (asked.decision, asked.rule) == (Decision.DENIED, "guest")
    assert judge(tool, arguments, listed, "do", "").decision is Decision.ALLOWED


def test_a_door_that_is_set_to_something_odd_counts_as_opened(house: House) -> None:
    odd = judge(entry(SET), {"name": "Garage Door", "position": "wide"}, house, "do", "")
    assert (odd.rule, odd.tier) == ("open", Tier.SECURE)


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        (OFF, {"device_class": ["outlet"]}, True),
        # The floor says what to clean, not which vacuum to use.
        ("HassVacuumCleanArea", {"floor": "Downstairs"}, True),
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


@pytest.mark.parametrize(
    ("entity_id", "safe"),
    [
        ("light.kitchen", True),
        ("light.gone", True),
        ("lock.front", False),
        ("group.outer", False),
        ("scene.cosy", True),
        ("scene.leave", False),
        ("scene.blank", False),
        ("script.movie_night", False),
        ("strange.thing", False),
    ],
)
def test_a_name_is_mended_only_towards_what_is_free_whatever_follows(
    house: House, entity_id: str, safe: bool
) -> None:
    assert is_safe_to_guess(entity_id, house) is safe


def test_a_script_that_is_known_to_touch_a_light_is_free_and_one_with_a_lock_is_not(
    house: House,
) -> None:
    for touched, safe in (("light.kitchen", True), ("lock.front", False)):
        known = replace(house, touches={"script.movie_night": frozenset({touched})})
        assert is_safe_to_guess("script.movie_night", known) is safe


@pytest.mark.parametrize(
    ("domain", "harmless"),
    [("light", True), ("cover", False), ("group", False), ("lock", False), ("strange", False)],
)
def test_of_these_domains_nothing_is_ever_asked_about(domain: str, harmless: bool) -> None:
    assert is_harmless(domain) is harmless


def cut(case: Case, arguments: dict[str, Any], things: list[Entity]) -> Mapping[str, Any] | None:
    ids = [one.entity_id for one in things]
    choice = meant(case, arguments, ids, read(case.house, case.heard or ""))
    found = cut_to(case, arguments, ids, ids, choice.things)
    return None if found is None or len(choice.things) == len(things) else found.saying.arguments


AWNING = Entity("cover.awning", "Awning", "closed", (), "garden", "awning")
NAMELESS = Entity("cover.roof", "Pergola Roof", "closed", (), "garden")
GATE = Entity("cover.gate", "Gate", "closed", (), "garden", "gate")
FOUNTAIN = Entity("switch.fountain", "Fountain", "off", (), "garden")
RELEASE = Entity("switch.release", "Gate release", "off", (), "garden")
DEGREES: dict[str, Any] = {"properties": {"name": {}, "temperature": {}}}
BOTH: dict[str, Any] = {"properties": {"domain": {}, "device_class": {}}}


@pytest.mark.parametrize(
    ("things", "schema", "chosen"),
    [
        ([AWNING, GATE], BOTH, {"domain": ["cover"], "device_class": ["awning"]}),
        ([AWNING, GATE], {"properties": {"domain": {}}}, None),
        ([AWNING, GATE], {"properties": {"device_class": {}}}, None),
        ([AWNING, GATE], {}, None),
        ([NAMELESS, GATE], BOTH, None),  # it has no class that distinguishes it from the gate
        ([FOUNTAIN, GATE], BOTH, {"domain": ["switch"]}),
        ([AWNING, FOUNTAIN, GATE, RELEASE], BOTH, None),  # two kinds, and each includes a gate
        ([AWNING, FOUNTAIN], BOTH, {"domain": ["switch"]}),  # an awning is never turned on
        ([GATE, RELEASE], BOTH, None),
    ],
)
def test_a_call_for_a_garden_is_cut_where_arguments_can_say_so(
    things: list[Entity], schema: dict[str, Any], chosen: dict[str, Any] | None
) -> None:
    garden = House({}, {"garden": Area("garden", "Garden")}, {one.entity_id: one for one in things})
    caller = Caller(("HassTurnOn",), "home_assistant", STRICT, PLAIN)
    case = Case(INTENTS["HassTurnOn"], garden, "the garden on", "", True, caller, schema)
    arguments = {"area": "Garden"}
    wanted = {**arguments, **chosen} if chosen else None
    assert cut(case, arguments, things) == wanted


def test_a_tool_that_tells_no_classes_takes_them_all() -> None:
    places = {"garden": Area("garden", "Garden")}
    garden = House({}, places, {one.entity_id: one for one in (AWNING, GATE)})
    caller = Caller(("Open",), "home_assistant", STRICT, PLAIN)
    case = Case(Intent(Action.ON), garden, "the garden on", "", True, caller, BOTH)
    chosen = {"domain": ["cover"], "device_class": ["awning"]}
    assert cut(case, {"area": "Garden"}, [AWNING, GATE]) == {"area": "Garden", **chosen}


def test_degrees_of_a_thermostat_without_bounds_are_its_own_business(house: House) -> None:
    judging = Judge(StillHome(house))
    tool = entry("HassClimateSetTemperature")
    tool = replace(tool, tool=replace(tool.tool, input_schema=DEGREES))
    verdict = judging.call(tool, {"name": "Thermostat", "temperature": 21}, "set it to 21")
    assert isinstance(verdict, PolicyDecision)
    assert (verdict.decision, verdict.rule) == (Decision.ALLOWED, "comfort")


def test_a_guest_does_not_switch_on_a_camera(house: House) -> None:
    watched = replace(
        house, entities={**house.entities, "camera.hall": Entity("camera.hall", "Eye", "idle")}
    )
    for mode, decision in ((Mode.GUEST, Decision.DENIED), (Mode.NORMAL, Decision.ALLOWED)):
        verdict = judge(
            entry(ON), {"name": "Eye"}, watched, "eye on", "", moment=PolicyContext(mode=mode)
        )
        assert verdict.decision is decision
    assert (
        judge(
            entry(ON), {"name": "Eye"}, watched, "eye on", "", moment=PolicyContext(mode=Mode.GUEST)
        ).rule
        == "guest"
    )


def test_a_call_is_not_cut_down_to_what_nothing_can_be_done_to(house: House) -> None:
    """No lock is toggled: cut down to the locks, as the words say, nothing would be left."""
    tool = entry("HassToggle")
    tool = replace(tool, tool=replace(tool.tool, input_schema={"properties": {"domain": {}}}))
    verdict = judge(tool, {"area": "Hall"}, house, "the lock in the hall", "")
    assert verdict.decision is Decision.NEEDS_CONFIRMATION
    assert (verdict.arguments, verdict.narrowed) == ({"area": "Hall"}, False)


@pytest.mark.parametrize(
    ("heard", "wanted"),
    [
        ("disarm it", True),
        ("abre o corredor", True),
        ("ouvrez le couloir", True),
        ("öffne den Flur", True),
        ("destranca tudo", True),
        ("mở khóa hành lang", True),
        ("turn off the hall", False),
        ("schalte den Flur aus", False),
    ],
)
def test_words_that_ask_for_something_to_be_opened(heard: str, wanted: bool) -> None:
    assert wants_open(heard) is wanted
