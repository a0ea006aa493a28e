"""Tests that a call is no wider and no narrower than the words, in every shipped language."""

from typing import Any

import pytest

from assistant.domain.tool_call import Decision, SentenceMatch, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.policy.engine import judge, judge_sentence
from assistant.tools.policy.rules import PolicyDecision, Rulings
from assistant.tools.policy.words import read, scope
from integrations.home_assistant.house import Area, Entity, Floor, House
from tests.unit.assistant.tools.policy.test_keeps_running import COLD, MILD, OFF, ON, TOGGLE, entry

EXCEPTED, FREE = "which_thing", "comfort"
FLOORS = (Floor("ground", "Ground floor", ("downstairs",)), Floor("upper", "Upper floor"))
AREAS = (
    Area("kitchen", "Kitchen", (), "ground"),
    Area("den", "Den", ("TV room",), "ground"),
    Area("bedroom", "Bedroom", (), "upper"),
    Area("glass", "Greenhouse"),
    Area("summer", "Summer house"),
    Area("hall", "Hallway", (), "ground"),
)


def _at(area: str, *things: tuple[str, str, str]) -> list[Entity]:
    return [Entity(name, called, state, (), area) for name, called, state in things]


THINGS = [
    *_at(
        "kitchen",
        ("light.kitchen", "Kitchen", "on"),
        ("light.island", "Kitchen island", "on"),
        ("switch.coffee", "Coffee maker", "on"),
        ("switch.fridge", "Fridge", "on"),
        ("media_player.kitchen", "Kitchen", "playing"),
    ),
    *_at(
        "den",
        ("light.den", "Lights", "on"),
        ("light.reading", "Reading lamp", "on"),
        ("switch.corner", "Corner lamp", "on"),
        ("switch.vent", "Fish tank", "on"),
        ("cover.den", "Den blinds", "open"),
        ("fan.den", "Ceiling fan", "on"),
        ("climate.den", "Den heater", "heat"),
        ("climate.den_2", "Den radiator", "heat"),
        ("media_player.tv", "Den TV", "on"),
        ("vacuum.rusty", "Rusty", "docked"),
        ("automation.den", "Den at night", "on"),
        ("input_boolean.party", "Party mode", "on"),
        ("lock.den", "Patio lock", "locked"),
    ),
    *_at("bedroom", ("light.bed", "Bedside lamp", "on"), ("climate.bed", "Bedroom heat", "heat")),
    *_at("glass", ("light.glass", "Plant light", "on")),
    *_at("summer", ("light.summer", "Porch", "on"), ("switch.summer", "Freezer", "on")),
]
LIGHTS = {one.entity_id for one in THINGS if one.domain == "light"}
KITCHEN = {"light.kitchen", "light.island"}
DEN = {"light.den", "light.reading"}


def home(*more: Entity, weather: Entity = MILD) -> House:
    return House(
        {one.floor_id: one for one in FLOORS},
        {one.area_id: one for one in AREAS},
        {one.entity_id: one for one in (*THINGS, *more, weather)},
    )


HOME = home()


def judged(
    tool: str, arguments: dict[str, Any], heard: str | None, area: str = "", house: House = HOME
) -> PolicyDecision:
    return judge(entry(tool), arguments, house, heard, area)


# Columns: tool, arguments, words heard, entities reached.
CUT: list[tuple[str, dict[str, Any], str, set[str]]] = [
    (OFF, {"area": "Den"}, "turn off the den lights", {*DEN, "switch.corner"}),
    (OFF, {"area": "Den"}, "mach die Lichter im Den aus", {*DEN, "switch.corner"}),
    (OFF, {"area": "Den"}, "apaga las luces del den", {*DEN, "switch.corner"}),
    (OFF, {"area": "Den"}, "éteins les lampes du den", {*DEN, "switch.corner"}),
    (OFF, {"area": "Den"}, "apague as luzes do den", {*DEN, "switch.corner"}),
    (OFF, {"area": "Den"}, "tắt đèn den", {*DEN, "switch.corner"}),
    (TOGGLE, {"area": "Den"}, "switch the den lamps over", {*DEN, "switch.corner"}),
    (ON, {"area": "Kitchen"}, "turn the kitchen lights on please", KITCHEN),
    (ON, {"area": "Kitchen"}, "turn on the kitchen", KITCHEN),
    (ON, {"area": "Kitchen", "domain": ["light", "switch"]}, "kitchen lights on", KITCHEN),
    (OFF, {"area": "Den"}, "close the den blinds", {"cover.den"}),
    (
        OFF,
        {"area": "Den"},
        "turn off the fan and the TV in the den",
        {"fan.den", "media_player.tv"},
    ),
    (OFF, {"area": "Den"}, "turn off the heating in the den", {"climate.den", "climate.den_2"}),
    (OFF, {"area": "Den"}, "Heizung im Den aus", {"climate.den", "climate.den_2"}),
    (OFF, {"area": "Den"}, "turn off the corner lamp in the den", {*DEN, "switch.corner"}),
    (
        OFF,
        {"area": "Kitchen"},
        "turn off the kitchen",
        {*KITCHEN, "switch.coffee", "media_player.kitchen"},
    ),
    (
        OFF,
        {"area": "Den"},
        "turn off the den",
        {
            *(*DEN, "switch.corner", "fan.den", "climate.den", "climate.den_2"),
            "media_player.tv",
        },
    ),
    (OFF, {"floor": "Ground floor"}, "turn off the lights in the den", {*DEN, "switch.corner"}),
    (OFF, {"area": "Kitchen"}, "turn off the kitchen except the coffee maker", set()),
]


@pytest.mark.parametrize(("tool", "arguments", "heard", "reached"), CUT[:-2])
def test_a_call_by_place_is_cut_to_what_was_meant(
    tool: str, arguments: dict[str, Any], heard: str, reached: set[str]
) -> None:
    verdict = judged(tool, arguments, heard)
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) == reached
    assert verdict.narrowed


def test_what_was_left_on_is_told() -> None:
    verdict = judged(OFF, {"area": "Kitchen"}, "turn off the kitchen")
    assert verdict.left_on == ("Fridge",)
    assert judged(OFF, {"area": "Kitchen"}, "kitchen lights off").left_on == ()


ALL = [
    *("turn off all the lights", "lights off in the whole house", "every light off"),
    *("lights off everywhere", "schalte alle Lichter aus", "mach überall das Licht aus"),
    *("Licht im ganzen Haus aus", "apaga todas las luces", "apaga las luces de toda la casa"),
    *("éteins toutes les lumières", "éteins la lumière partout", "apague todas as luzes"),
    *("apaga as luzes da casa", "tắt tất cả đèn", "tắt hết đèn", "tắt đèn cả nhà"),
]


@pytest.mark.parametrize("heard", ALL)
def test_all_means_all(heard: str) -> None:
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) == LIGHTS


NOT_ALL = [
    *("turn off the lights", "all right, lights off", "turn the lights off, house number too"),
    *("lights off at all times here", "alles klar, Licht aus", "Licht aus, Hausnummer auch"),
    *("apaga la luz, sobre todo", "éteins la lumière tout de suite", "tudo bem, apague a luz"),
    *("tắt đèn", "turn off all the lights in here", "mach hier alle Lichter aus"),
    *("apaga todas las luces aquí", "éteins toutes les lumières ici", "apague todas as luzes aqui"),
    *("tắt hết đèn ở đây", "turn off all the kitchen lights", "alle Küchenlichter aus"),
    *("todas las luces de la cocina fuera", "éteins toutes les lumières de la cuisine"),
    *("apague todas as luzes da cozinha", "tắt hết đèn trong bếp", "Küchenlicht aus"),
]


@pytest.mark.parametrize("heard", NOT_ALL)
def test_one_room_means_one_room(heard: str) -> None:
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) == KITCHEN


@pytest.mark.parametrize(
    ("heard", "reached"),
    [
        ("turn off the greenhouse lights", {"light.glass"}),
        ("turn off the lights in the summer house", {"light.summer"}),
        ("turn off the lights in the den and the bedroom", {*DEN, "light.bed"}),
        ("Licht im Schlafzimmer aus", {"light.bed"}),
        ("turn off the lights upstairs", {"light.bed"}),
        ("lights off downstairs in the den", DEN),
    ],
)
def test_a_place_means_that_place(heard: str, reached: set[str]) -> None:
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) == reached


EXCEPT = [
    *("turn off all the lights except the kitchen", "all the lights but the kitchen off"),
    *("all but the kitchen lights off", "turn off all lights but kitchen"),
    *("except for the kitchen, turn off all the lights", "lights off everywhere bar the kitchen"),
    *("leave the kitchen on and turn off all the other lights",),
    *("turn off all the lights and keep the kitchen on",),
    *("turn off all the lights except the kitchen and close the blinds",),
    *("schalte alle Lichter außer in der Küche aus", "alle Lichter aus, nur nicht die Küche"),
    *("apaga todas las luces menos las de la cocina", "apaga todas las luces excepto la cocina"),
    *("éteins toutes les lumières sauf la cuisine", "apague todas as luzes exceto a cozinha"),
    *("apague todas as luzes de menos as da cozinha", "tắt tất cả đèn trừ nhà bếp"),
]


@pytest.mark.parametrize("heard", EXCEPT)
def test_what_is_left_out_is_left_out(heard: str) -> None:
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Den")
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) == LIGHTS - KITCHEN
    assert verdict.parts
    assert verdict.narrowed
    refused = judged(OFF, {"domain": ["light"], "area": "Kitchen"}, heard, "Den")
    assert (refused.decision, refused.rule) == (Decision.DENIED, "which_thing")


@pytest.mark.parametrize(
    ("heard", "left"),
    [
        ("turn off the den except the fan", {"fan.den"}),
        ("turn off the den except the ceiling fan", {"fan.den"}),
        ("turn off the den apart from the den TV", {"media_player.tv"}),
        ("turn off the den but leave the heating on", {"climate.den", "climate.den_2"}),
        ("turn off the den except the reading lamp in the den", {"light.reading"}),
        ("turn off the den and leave the rest", set()),
    ],
)
def test_kinds_and_things_are_left_out_too(heard: str, left: set[str]) -> None:
    whole = set(judged(OFF, {"area": "Den"}, "turn off the den").entities)
    verdict = judged(OFF, {"area": "Den"}, heard)
    assert set(verdict.entities) == whole - left


@pytest.mark.parametrize(
    "heard",
    [
        *("not all the lights off", "nicht alle Lichter aus", "no apagues todas las luces"),
        *("n'éteins pas toutes les lumières", "não apague todas as luzes", "đừng tắt hết đèn"),
        *("turn off all the lights except you know which",),
    ],
)
def test_who_knows_which_is_asked(heard: str) -> None:
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "which_thing")


@pytest.mark.parametrize(
    ("arguments", "heard", "rule"),
    [
        ({"domain": ["light"]}, "turn on the bathroom lights", "which_room"),
        ({"domain": ["light"]}, "Licht im Kinderzimmer an", "which_room"),
        ({"domain": ["light"]}, "enciende la luz del baño", "which_room"),
        ({"domain": ["light"]}, "allume la salle de bain", "which_room"),
        ({"domain": ["light"]}, "acenda a luz do banheiro", "which_room"),
        ({"domain": ["light"]}, "bật đèn phòng tắm", "which_room"),
        ({"domain": ["light"]}, "turn on all the bathroom lights", "which_room"),
        ({"area": "Hallway"}, "turn on the hallway lights", "none_here"),
        ({"area": "Den", "domain": ["climate"]}, "turn off the den lights", "which_thing"),
        ({"area": "Bedroom"}, "close the bedroom blinds", "none_here"),
    ],
)
def test_what_is_not_there_is_not_replaced(
    arguments: dict[str, Any], heard: str, rule: str
) -> None:
    for tool in (ON, OFF):
        verdict = judged(tool, arguments, heard, "Kitchen")
        assert (verdict.decision, verdict.rule) == (Decision.DENIED, rule)


def test_a_thing_may_be_called_by_a_room_that_is_none() -> None:
    bath = Entity("light.bath", "Bathroom lamp", "off")
    verdict = judged(ON, {"domain": ["light"]}, "turn on the bathroom light", "Den", home(bath))
    assert verdict.entities == ("light.bath",)


def test_heating_elsewhere_is_offered() -> None:
    verdict = judged(OFF, {"domain": ["climate"]}, "turn off the heating", "Kitchen")
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "none_here")
    assert verdict.options == ("Den heater", "Den radiator", "Bedroom heat")
    for language in ("de", "en", "es", "fr", "pt", "vi"):
        told = Catalogue().say(verdict.key, language, **verdict.values)
        names = (
            ("the den radiator", "the kitchen") if language == "en" else ("Den radiator", "Kitchen")
        )
        assert all(name in told for name in names)


@pytest.mark.parametrize(
    ("domain", "heard"),
    [
        ("cover", "turn off all the lights"),
        ("fan", "schalte alle Lichter aus"),
        ("climate", "apaga todas las luces"),
        ("media_player", "éteins toutes les lumières"),
        ("fan", "apague todas as luzes"),
        ("climate", "tắt tất cả đèn"),
        ("light", "turn off all the fans"),
    ],
)
def test_a_kind_that_was_not_said_is_not_switched_in_the_whole_house(
    domain: str, heard: str
) -> None:
    verdict = judged(OFF, {"domain": [domain]}, heard, "Kitchen")
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "which_thing")
    assert verdict.options


ALL_LIGHTS = {
    "de": "schalte alle Lichter aus",
    "en": "turn off all the lights",
    "es": "apaga todas las luces",
    "fr": "éteins toutes les lumières",
    "pt": "apague todas as luzes",
    "vi": "tắt tất cả đèn",
}


@pytest.mark.parametrize("place", [{"area": "Den"}, {"floor": "Ground floor"}])
@pytest.mark.parametrize("heard", ALL_LIGHTS.values(), ids=ALL_LIGHTS)
def test_a_call_for_one_room_does_all_that_was_said(heard: str, place: dict[str, str]) -> None:
    verdict = judged(OFF, {**place, "domain": ["light"]}, heard, "Den")
    assert (verdict.decision, set(verdict.entities)) == (Decision.ALLOWED, LIGHTS)


@pytest.mark.parametrize(
    "heard",
    [
        "turn off the lights",
        "turn off all the lights in here",
        "turn off all the lights in the den",
        "turn off all the lights except in the kitchen",
        "turn off everything in the den",
        "turn off all the fans, and the lights in here",
    ],
)
def test_a_call_for_the_room_that_was_said_stays_there(heard: str) -> None:
    verdict = judged(OFF, {"area": "Den", "domain": ["light"]}, heard, "Den")
    assert set(verdict.entities) == DEN


def test_all_that_was_said_is_judged_where_one_room_was_called() -> None:
    verdict = judged(OFF, {"area": "Hallway", "domain": ["lock"]}, "unlock all the locks", "Den")
    assert verdict.decision is not Decision.ALLOWED


def test_a_lamp_elsewhere_is_not_offered() -> None:
    verdict = judged(ON, {"domain": ["light"]}, "turn on the light", "Hallway")
    assert (verdict.rule, verdict.options) == ("none_here", ())


def test_a_kind_said_of_all_is_not_bound_to_the_room_of_another() -> None:
    heard = "turn off all the fans and the lights in here"
    assert judged(OFF, {"domain": ["fan"]}, heard, "Kitchen", home(FAN)).entities == (
        "fan.den",
        "fan.bed",
    )
    lights = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert set(lights.entities) == KITCHEN
    blinds = judged(OFF, {"domain": ["cover"]}, "all blinds in here down", "Kitchen", home(BLIND))
    assert blinds.decision is Decision.DENIED


FAN = Entity("fan.bed", "Bed fan", "on", (), "bedroom")
BLIND = Entity("cover.bed", "Bed blind", "open", (), "bedroom", "blind")


@pytest.mark.parametrize(
    ("arguments", "heard"),
    [
        ({"area": "Summer house"}, "turn off the summer house switches"),
        ({"area": "Summer house", "domain": ["switch"]}, "summer house off"),
    ],
)
def test_where_all_that_is_left_must_run_nothing_is_done(
    arguments: dict[str, Any], heard: str
) -> None:
    verdict = judged(OFF, arguments, heard)
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "left_on")
    assert verdict.values == {"names": "Freezer"}


@pytest.mark.parametrize(
    ("heard", "reached"),
    [
        ("turn off the fridge in the kitchen", {"switch.fridge"}),
        ("Kühlschrank in der Küche aus", {"switch.fridge"}),
        ("turn off the kitchen lights and the fridge", {*KITCHEN, "switch.fridge"}),
    ],
)
def test_what_must_run_is_asked_about_where_it_is_named(heard: str, reached: set[str]) -> None:
    verdict = judged(OFF, {"area": "Kitchen"}, heard)
    assert verdict.decision is Decision.NEEDS_CONFIRMATION
    assert (verdict.rule, verdict.tier) == ("keeps-running", Tier.COSTLY)
    assert reached <= set(verdict.entities)


def test_in_frost_the_heating_stays_on_with_a_room() -> None:
    cold = home(weather=COLD)
    verdict = judged(OFF, {"area": "Den"}, "turn off the den", house=cold)
    assert verdict.decision is Decision.ALLOWED
    assert not {"climate.den", "climate.den_2"} & set(verdict.entities)
    assert verdict.left_on == ("Fish tank", "Den heater", "Den radiator")
    asked = judged(OFF, {"area": "Den"}, "turn off the den heating", house=cold)
    assert (asked.decision, asked.rule) == (Decision.NEEDS_CONFIRMATION, "frost")


def test_without_words_nothing_is_cut() -> None:
    verdict = judged(OFF, {"area": "Kitchen"}, None)
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, "keeps-running")
    assert not verdict.narrowed


UNPAUSE = "HassMediaUnpause"


def player(name: str, state: str, area: str, minute: int) -> Entity:
    when = f"2026-11-26T10:{minute:02}:00+00:00"
    return Entity(f"media_player.{name}", name.title(), state, (), area, last_changed=when)


@pytest.mark.parametrize(
    ("players", "arguments", "heard", "reached"),
    [
        # The media paused last goes on, in any room.
        ([("a", "paused", "bedroom", 1), ("b", "paused", "den", 2)], {}, "resume", ["b"]),
        ([("a", "paused", "bedroom", 3), ("b", "paused", "den", 2)], {}, "resume", ["a"]),
        # A player in this room comes first.
        ([("a", "paused", "kitchen", 1), ("b", "paused", "den", 2)], {}, "resume", ["a"]),
        ([("a", "paused", "kitchen", 1), ("b", "paused", "kitchen", 9)], {}, "go on", ["b"]),
        ([("a", "paused", "kitchen", 9), ("b", "paused", "kitchen", 9)], {}, "on", ["a", "b"]),
        # The model has added its own room, which was not mentioned.
        ([("a", "paused", "den", 1)], {"area": "Kitchen"}, "resume", ["a"]),
        ([("a", "paused", "den", 1)], {"area": "Kitchen"}, None, ["kitchen"]),
        ([("a", "paused", "den", 1)], {"area": "Kitchen"}, "resume in the kitchen", ["kitchen"]),
        ([("a", "paused", "den", 1)], {"area": "Den"}, "resume", ["tv", "a"]),
        ([("a", "paused", "den", 1)], {"name": "Den TV"}, "resume", ["tv"]),
        # Nothing is paused, so this room's player is used.
        ([], {}, "resume", ["kitchen"]),
    ],
)
def test_what_was_paused_goes_on(
    players: list[tuple[str, str, str, int]],
    arguments: dict[str, Any],
    heard: str | None,
    reached: list[str],
) -> None:
    house = home(*(player(*one) for one in players))
    verdict = judged(UNPAUSE, arguments, heard, "Kitchen", house)
    assert list(verdict.entities) == [f"media_player.{name}" for name in reached]


def test_a_player_that_does_not_tell_when_it_stopped_was_not_the_last() -> None:
    silent = Entity("media_player.a", "A", "paused", (), "den")
    verdict = judged(UNPAUSE, {}, "resume", "", home(silent, player("b", "paused", "bedroom", 1)))
    assert verdict.entities == ("media_player.b",)


def test_where_no_arguments_say_it_nothing_is_done() -> None:
    many = [Entity(f"light.n{one}", f"N{one}", "on", (), None) for one in range(120)]
    heard = "turn off all the lights except the kitchen"
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Den", home(*many))
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "which_thing")


def test_words_are_taken_apart() -> None:
    heard = read(HOME, "Turn off all the lights in the den except the reading lamp")
    assert [place.found.name for place in heard.wanted.places] == ["Den"]
    assert heard.left is not None
    assert heard.leaves(HOME.entities["light.reading"], HOME)
    assert not heard.leaves(HOME.entities["light.kitchen"], HOME)


def test_a_longer_name_leaves_out_no_shorter_one() -> None:
    lamp = Entity("light.lamp", "Lamp", "on", (), "den")
    house = home(lamp)
    heard = read(house, "turn off all the lights except the reading lamp")
    assert heard.leaves(house.entities["light.reading"], house)
    assert not heard.leaves(lamp, house)
    verdict = judged(
        OFF, {"domain": ["light"]}, "close the den blinds and turn everything off", "Den"
    )
    assert set(verdict.entities) == LIGHTS


BATH = Entity("light.bath", "Bathroom lamp", "off")


@pytest.mark.parametrize(
    ("said", "targets", "rule"),
    [
        ("turn on the bathroom lights", ("light.kitchen",), "which_room"),
        ("turn on the bathroom lights", ("light.bath",), None),
        ("turn off all the lights", ("light.kitchen", "light.bed"), None),
        ("turn off the lights", ("light.kitchen", "light.island"), None),
        ("turn off the lights in the den", ("light.den", "light.bed"), "which_room"),
        ("turn off all the lights except the kitchen", ("light.kitchen", "light.bed"), EXCEPTED),
        ("not all the lights off", ("light.kitchen", "light.bed"), EXCEPTED),
    ],
)
def test_a_sentence_that_would_do_more_is_not_said(
    said: str, targets: tuple[str, ...], rule: str | None
) -> None:
    things = {name: one for name, one in home(BATH).entities.items() if name in targets}
    house = House(HOME.floors, HOME.areas, things)
    match = SentenceMatch(said, "en", "builtin", "HassTurnOff", {"domain": "light"}, targets)
    verdict = judge_sentence(match, house, said, "Kitchen")
    assert (verdict.decision is Decision.DENIED, verdict.rule) == (rule is not None, rule or FREE)


@pytest.mark.parametrize(
    ("heard", "live", "rule"),
    [
        ("turn off the lights in the den and the hallway", True, FREE),
        ("turn off the lights in the den and the hallway", False, "which_room"),
        ("turn off the fans in the kitchen and the bedroom", True, "none_here"),
    ],
)
def test_several_places_at_once(heard: str, live: bool, rule: str) -> None:
    domain = "fan" if "fans" in heard else "light"
    fans = home(Entity("fan.one", "Fan one", "on", (), "den"))
    verdict = judge(entry(OFF), {"domain": [domain]}, fans, heard, "Kitchen", live=live)
    assert verdict.rule == rule


def test_two_floors_at_once() -> None:
    heard = "turn off the lights downstairs and on the upper floor"
    verdict = judged(OFF, {"domain": ["light"]}, heard, "Kitchen")
    assert set(verdict.entities) == {*KITCHEN, *DEN, "light.bed"}


def test_all_of_what_nobody_named_is_of_the_room() -> None:
    heard = "all of it off in here"
    verdict = judged(OFF, {"domain": ["vacuum", "fan"]}, heard, "Kitchen", home(FAN))
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "none_here")


def test_two_locks_of_one_name_that_are_forbidden_stay_so() -> None:
    doors = [Entity(f"lock.{one}", "Door", "locked", (), None) for one in ("a", "b")]
    forbidden = Rulings(secure="deny")
    verdict = judge(entry(OFF), {"name": "Door"}, home(*doors), "unlock", "", rulings=forbidden)
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "unlock")


def test_everything_is_what_people_mean_by_it() -> None:
    verdict = judged(OFF, {"name": "all"}, "turn everything off, we are leaving", "Kitchen")
    assert verdict.decision is Decision.ALLOWED
    assert set(verdict.entities) > LIGHTS
    assert not {"cover.den", "lock.den", "switch.fridge"} & set(verdict.entities)
    assert verdict.left_on == ("Fridge", "Fish tank", "Freezer")
    assert verdict.parts


def test_a_room_of_many_things_is_said_by_their_domains() -> None:
    many = [Entity(f"light.n{one}", f"N{one}", "on", (), "den") for one in range(300)]
    verdict = judged(OFF, {"area": "Den"}, "turn off the den", house=home(*many))
    assert verdict.decision is Decision.ALLOWED
    assert len(verdict.entities) > 300
    assert len(verdict.parts) == 2  # all but the switches, and the one lamp that is a switch


def test_a_longer_name_is_taken_before_the_one_within_it() -> None:
    more = House(
        HOME.floors,
        {**HOME.areas, "walk": Area("walk", "Den walk-in")},
        {"light.walk": Entity("light.walk", "Spot", "on", (), "walk"), **HOME.entities},
    )
    verdict = judged(OFF, {"domain": ["light"]}, "lights off in the den walk-in", "", more)
    assert verdict.entities == ("light.walk",)
    lacking = read(HOME, "the bathroom lights").wanted
    assert (lacking.lacking, scope(lacking, None)) == (("room_bath",), None)
