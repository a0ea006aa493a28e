"""Tests of a verdict's contents: the question, the call as it came, the rule behind it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import (
    CALLERS,
    TALK,
    Decision,
    Mode,
    PolicyContext,
    Program,
    SentenceMatch,
    Tier,
)
from assistant.tools.builtin.protocol import AskFirst
from assistant.tools.catalog.menu import build_menu
from assistant.tools.house.intents import Action
from assistant.tools.policy.engine import judge, judge_sentence
from assistant.tools.policy.risk import Risk, cost, directions, gate, weigh
from assistant.tools.policy.rules import STRICT, Caller, Ruled, Ruling, rule_thing
from integrations.home_assistant.house import Entity, House
from integrations.mcp.servers import ServerSpec
from tests.unit.assistant.tools.doubles import nothing, own_tool
from tests.unit.assistant.tools.policy.test_policy import LIGHTS, OFF, ON, OTHER, entry

HEAT = "HassClimateSetTemperature"
TRUSTED = ServerSpec("weather", "http", trust="trusted")


@pytest.mark.parametrize(
    ("entity_id", "name", "action", "ways"),
    [
        ("lock.front", "Front", Action.OFF, {"open"}),
        ("lock.front", "Front", Action.ON, {"close"}),
        ("alarm_control_panel.home", "Alarm", Action.OFF, {"open"}),
        ("alarm_control_panel.home", "Alarm", Action.ON, {"close"}),
        ("cover.gate", "Gate", Action.ON, {"open"}),
        ("valve.main", "Main", Action.OFF, {"close"}),
        ("cover.gate", "Gate", Action.TOGGLE, {"open", "close"}),
        ("cover.gate", "Gate", Action.STOP, set()),
        ("switch.door", "Door opener", Action.ON, {"open", "close"}),
        ("switch.kettle", "Kettle", Action.ON, set()),
        ("light.hall", "Door light", Action.ON, set()),
    ],
)
def test_which_way_a_thing_goes(entity_id: str, name: str, action: Action, ways: set[str]) -> None:
    assert directions(Entity(entity_id, name, "unknown"), action, {}, House()) == ways


@pytest.mark.parametrize(
    ("now", "wanted", "way", "rule"),
    [
        (50, 80, "open", "open"),
        (50, 20, "close", None),
        (50, 50, "close", None),
        (50, "wide", "open", "open"),
        # It does not report its position: it may be shut.
        (None, 1, "open", "open"),
        (None, 0, "close", None),
    ],
)
def test_a_gate_goes_the_way_of_where_it_stands(
    now: int | None, wanted: Any, way: str, rule: str | None, house: House
) -> None:
    standing = Entity("cover.gate", "Gate", "open", attributes={"current_position": now})
    arguments = {"position": wanted}
    assert directions(standing, Action.POSITION, arguments, house) == {way}
    assert gate(standing, Action.POSITION, arguments, house) == rule


@pytest.mark.parametrize(
    ("entity_id", "name", "rule"),
    [
        ("script.unlock_all", "Bye", "open"),
        ("script.bye", "Unlock everything", "open"),
        ("script.bye", "Open every lock", "open"),
        ("script.bye", "Abrir portón", "open"),
        ("script.open_window_warning", "Warning", "script"),
        ("script.bye", "Lock up", "script"),
        ("button.bye", "Gate release", "open"),
        ("button.gate_release", "Bye", "open"),
        ("script.all_open_the_gate", "Bye", "open"),
        ("button.bye", "Doorbell", "button"),
    ],
)
def test_what_a_script_is_called_tells_what_it_opens(
    entity_id: str, name: str, rule: str, house: House
) -> None:
    assert gate(Entity(entity_id, name, "off"), Action.ON, {}, house) == rule


def test_degrees_count_only_where_they_are_set(house: House) -> None:
    thermostat = house.entities["climate.living"]
    assert cost(thermostat, Action.SET, {"temperature": 40}) == "heat"
    assert cost(thermostat, Action.ON, {"temperature": 40}) is None
    assert cost(thermostat, Action.SET, {"temperature": "40"}) is None


def test_the_question_about_strong_heating_tells_the_degrees(house: House) -> None:
    asked = judge(entry(HEAT), {"name": "Thermostat", "temperature": 31}, house, "31", "")
    assert (asked.rule, asked.values) == ("heat", {"names": "Thermostat", "degrees": "31"})


@pytest.mark.parametrize(
    ("rating", "stake"),
    [
        (Tier.COMFORT, Risk(Tier.COMFORT, "rated")),
        (Tier.COSTLY, Risk(Tier.COSTLY, "script")),
        (Tier.SECURE, Risk(Tier.SECURE, "script")),
    ],
)
def test_a_rating_stands_for_an_effect_that_nobody_knows(
    rating: Tier, stake: Risk, house: House
) -> None:
    ratings = {"script.movie_night": rating}
    assert weigh("script.movie_night", Action.ON, {}, house, ratings) == stake


@pytest.mark.parametrize(
    ("rating", "stake"),
    [
        (Tier.READ, Risk(Tier.COMFORT, "comfort")),
        (Tier.COMFORT, Risk(Tier.COMFORT, "comfort")),
        (Tier.COSTLY, Risk(Tier.COSTLY, "scene")),
        (Tier.SECURE, Risk(Tier.SECURE, "scene")),
    ],
)
def test_a_rating_only_raises_an_effect_that_is_known(rating: Tier, stake: Risk) -> None:
    members = {"entity_id": ["light.kitchen"]}
    evening = Entity("scene.evening", "Evening", "", (), None, None, members)
    house = House({}, {}, {evening.entity_id: evening})
    assert weigh("scene.evening", Action.ON, {}, house, {"scene.evening": rating}) == stake


@pytest.mark.parametrize(
    ("rating", "action", "stake"),
    [
        (Tier.COMFORT, Action.ON, Risk(Tier.COMFORT, "comfort")),
        (Tier.SECURE, Action.ON, Risk(Tier.SECURE, "raised")),
        (Tier.COSTLY, Action.OFF, Risk(Tier.COSTLY, "raised")),
        (Tier.SECURE, Action.STOP, Risk(Tier.COMFORT, "comfort")),
    ],
)
def test_a_rating_raises_what_everybody_knows(
    rating: Tier, action: Action, stake: Risk, house: House
) -> None:
    assert weigh("light.kitchen", action, {}, house, {"light.kitchen": rating}) == stake


def test_to_guests_it_is_said_that_they_are_guests(house: House) -> None:
    watched = replace(
        house, entities={**house.entities, "camera.hall": Entity("camera.hall", "Eye", "idle")}
    )
    refused = judge(
        entry(ON), {"name": "Eye"}, watched, "eye on", "", moment=PolicyContext(mode=Mode.GUEST)
    )
    assert (refused.decision, refused.key) == (Decision.DENIED, "policy.guest")
    assert refused.tier is Tier.COMFORT
    guest = Caller(("HassTurnOn",), "home_assistant", STRICT, PolicyContext(mode=Mode.GUEST))
    ruled = rule_thing("camera.hall", Action.ON, {}, watched, guest)  # one of several in a room
    assert ruled == Ruled(Risk(Tier.COMFORT, "comfort"), Ruling.DENY, "guest")


@pytest.mark.parametrize(
    ("tool", "rule", "decision"),
    [
        (entry("weather", TRUSTED, read_only=True), "read", Decision.ALLOWED),
        (entry("good", OTHER), "allow", Decision.ALLOWED),
        (entry("unheard_of", OTHER), "unknown_tool", Decision.NEEDS_CONFIRMATION),
    ],
)
def test_a_call_to_another_server_is_carried_on_as_it_came(
    tool: Any, rule: str, decision: Decision, house: House
) -> None:
    verdict = judge(tool, {"place": "Oslo"}, house, "what is it like", "")
    assert (verdict.decision, verdict.rule) == (decision, rule)
    assert verdict.arguments == {"place": "Oslo"}


def test_a_sentence_of_the_owners_is_asked_about_in_its_own_words(house: House) -> None:
    match = SentenceMatch("good night all", "en", "trigger", "Night", {"who": "all"}, ())
    asked = judge_sentence(match, house, "good night all", "")
    assert (asked.rule, asked.decision) == ("sentence", Decision.NEEDS_CONFIRMATION)
    assert asked.arguments == {"who": "all"}
    assert asked.values["names"] == "good night all"


def test_a_sentence_without_a_place_may_run_where_all_of_it_is_in_this_room(house: House) -> None:
    slots = {"domain": ["light"]}
    match = SentenceMatch("lights off", "en", "builtin", "HassTurnOff", slots, ("light.kitchen",))
    one_room = replace(
        house, entities={name: house.entities[name] for name in ("light.kitchen", "switch.kettle")}
    )
    assert judge_sentence(match, one_room, "lights off", "Kitchen").decision is Decision.ALLOWED
    refused = judge_sentence(match, house, "lights off", "")
    assert (refused.decision, refused.rule) == (Decision.DENIED, "which_room")


def test_a_question_for_the_room_carries_the_call(house: House) -> None:
    refused = judge(entry(OFF), LIGHTS, house, "lights off", "")
    assert (refused.decision, refused.rule) == (Decision.DENIED, "which_room")
    assert (refused.arguments, refused.tier, refused.values) == (LIGHTS, Tier.COMFORT, {})
    assert set(refused.entities) == {
        name for name, one in house.entities.items() if one.domain == "light" and one.exposed
    }


@pytest.mark.parametrize(
    ("tool", "domain", "heard", "touched"),
    [
        (ON, "light", "lights on", {"light.kitchen"}),
        (ON, "lock", "lock up", {"lock.front", "lock.back"}),
        (OFF, "lock", "unlock", {"lock.back"}),
    ],
)
def test_only_locking_is_meant_for_the_whole_house(
    tool: str, domain: str, heard: str, touched: set[str], house: House
) -> None:
    back = replace(house.entities["lock.front"], entity_id="lock.back", area_id="kitchen")
    two = replace(house, entities={**house.entities, "lock.back": back})
    verdict = judge(entry(tool), {"domain": [domain]}, two, heard, "Kitchen")
    assert set(verdict.entities) == touched


def test_an_old_picture_of_a_group_tells_the_locks_in_it(house: House) -> None:
    asked = judge(entry(OFF), {"name": "Outer"}, house, "x", "", live=False)
    assert (asked.decision, asked.rule) == (Decision.NEEDS_CONFIRMATION, "unlock")


@pytest.mark.parametrize(
    ("moment", "rule"),
    [
        (PolicyContext(Mode.GUEST), "guest"),
        (PolicyContext().asked_by(Program("mcp:kitchen", CALLERS)), "caller"),
        (PolicyContext().asked_by(Program("mcp:kitchen", TALK)), "in_talk"),
    ],
)
def test_what_is_not_there_for_somebody_is_noted_as_it_came(
    moment: PolicyContext, rule: str, house: House
) -> None:
    tool = "HassListAddItem" if rule == "guest" else "HassBroadcast"
    refused = judge(entry(tool), {"item": "milk"}, house, "x", "", moment=moment)
    assert (refused.decision, refused.rule, refused.tier) == (Decision.DENIED, rule, Tier.COMFORT)
    assert refused.arguments == {"item": "milk"}


@pytest.mark.parametrize(
    ("heard", "decision"), [("it", Decision.NEEDS_CONFIRMATION), ("milk", Decision.ALLOWED)]
)
def test_one_of_our_own_tools_asks_by_what_was_heard(
    heard: str, decision: Decision, house: House
) -> None:
    def asks(arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
        return None if heard == "milk" else AskFirst("keep", "milk")

    own = replace(own_tool("keep", nothing), asks=asks)
    (tool,) = build_menu([], {}, [own]).entries
    assert judge(tool, {"query": "milk"}, house, heard, "").decision is decision


def test_what_follows_is_told_beside_what_is_touched(house: House) -> None:
    asked = judge(entry(ON), {"name": "Leave"}, house, "leave", "")
    assert asked.entities == ("scene.leave",)
    assert set(asked.effects) == {"light.kitchen", "lock.front"}
    free = judge(entry(ON), {"name": "Cosy"}, house, "cosy", "")
    assert free.effects == ("light.lamp_living",)
