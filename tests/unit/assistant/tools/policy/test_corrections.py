"""Tests of names that Home Assistant would not find, and of their correction."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.tools.house.intents import INTENTS, MAX_ITEMS, as_said, spread
from assistant.tools.house.names import are_near, folded, slips, stemmed
from assistant.tools.policy.corrections import MendedArgument, mend
from integrations.home_assistant.house import Area, Entity, House

ON, OFF, SET = "HassTurnOn", "HassTurnOff", "HassLightSet"
MORE = [
    Entity("light.anna", "Anna’s Lamp", "off", (), "bedroom"),
    Entity("light.salon", "Lámpara del salón", "off", (), "living_room"),
    Entity("light.desk_1", "Desk 1", "off", (), "bedroom"),
    Entity("light.desk_2", "Desk 2", "off", (), "bedroom"),
    Entity("light.reading", "Reading Corner", "off", (), "bedroom"),
    Entity("light.writing", "Reeding Corner", "off", (), "bedroom"),
    Entity("light.window", "Window Lights", "off", ("luces",), "bedroom"),
]


@pytest.fixture
def home(house: House) -> House:
    """Return the house with some names that are easily missed."""
    return replace(house, entities={**house.entities, **{one.entity_id: one for one in MORE}})


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        (ON, {"name": "Lampara del salon"}, {"name": "Lámpara del salón"}),
        (ON, {"name": "La\u0301mpara del salo\u0301n"}, {"name": "Lámpara del salón"}),
        (ON, {"name": "Anna's Lamp"}, {"name": "Anna’s Lamp"}),
        (ON, {"name": "Anna`s lamp"}, {"name": "Anna’s Lamp"}),
        (ON, {"name": "Annas lamp"}, {"name": "Anna’s Lamp"}),
        (ON, {"name": "Kitchen  Light"}, {"name": "Kitchen Light"}),
        (ON, {"name": "KitchenLight"}, {"name": "Kitchen Light"}),
        (ON, {"name": "Kitchen-Light"}, {"name": "Kitchen Light"}),
        (ON, {"name": "the kitchen light"}, {"name": "Kitchen Light"}),
        (ON, {"name": "kitchen lights"}, {"name": "Kitchen Light"}),
        (ON, {"name": "window light"}, {"name": "Window Lights"}),
        (ON, {"name": "las luces"}, {"name": "luces"}),
        (ON, {"name": "luz"}, {"name": "luces"}),
        (ON, {"name": "kichen light"}, {"name": "Kitchen Light"}),
        (ON, {"name": "Kithcen Light"}, {"name": "Kitchen Light"}),
        (ON, {"name": "Kettel"}, {"name": "Kettle"}),
        (ON, {"name": "lamps", "area": "Bedroom"}, {"name": "Lamp", "area": "Bedroom"}),
        (ON, {"area": "kítchen"}, {"area": "Kitchen"}),
        (ON, {"area": "livingroom", "domain": "light"}, {"area": "Living Room", "domain": "light"}),
        (ON, {"area": "the bedroom"}, {"area": "Bedroom"}),
        (ON, {"area": "Bedrom"}, {"area": "Bedroom"}),
        (
            ON,
            {"area": "downstairs", "domain": "light"},
            {"floor": "Ground floor", "domain": "light"},
        ),
        (ON, {"floor": "Kitchen"}, {"area": "Kitchen"}),
        (
            ON,
            {"floor": "downstair", "domain": ["light"]},
            {"floor": "Ground floor", "domain": ["light"]},
        ),
        (ON, {"name": "Kitchen"}, {"area": "Kitchen"}),
        (
            ON,
            {"name": "the kitchen", "domain": ["light"]},
            {"area": "Kitchen", "domain": ["light"]},
        ),
        (ON, {"name": "Kitchen", "area": "Kitchen"}, {"area": "Kitchen"}),
        (
            ON,
            {"name": "downstairs", "domain": ["light"]},
            {"floor": "Ground floor", "domain": ["light"]},
        ),
        (SET, {"name": "Kitchen", "brightness": 5}, {"area": "Kitchen", "brightness": 5}),
        (ON, {"area": "Kitchen", "domain": ["Light "]}, {"area": "Kitchen", "domain": ["light"]}),
        (ON, {"device_class": "Blind"}, {"device_class": "blind"}),
        (ON, {"name": "Frönt door"}, {"name": "Front Door"}),
        ("HassVacuumCleanArea", {"area": "kitchn"}, {"area": "Kitchen"}),
        (
            "HassListAddItem",
            {"name": "Shopping lists", "item": "x"},
            {"name": "Shopping list", "item": "x"},
        ),
    ],
)
def test_what_can_only_mean_one_thing_is_mended(
    home: House, tool: str, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    mended = mend(INTENTS[tool], given, home)
    assert mended.arguments == meant
    assert mended.options == ()


@pytest.mark.parametrize(
    ("tool", "given", "options"),
    [
        (ON, {"name": "Desk 3"}, ("Desk 2", "Desk 1")),
        (ON, {"name": "Reeading Corner"}, ("Reading Corner", "Reeding Corner")),
        (ON, {"name": "lamps"}, ("light.lamp_living", "light.lamp_bed")),
        (ON, {"name": "Front Dor"}, ("Front Door",)),
        (ON, {"name": "the front door"}, ("Front Door",)),
        (ON, {"name": "Front  Door"}, ("Front Door",)),
        (ON, {"name": "garage doors"}, ("Garage Door",)),
        (ON, {"name": "Sirens"}, ("Siren",)),
        (ON, {"name": "Movie Nights"}, ("Movie Night",)),
        (ON, {"name": "the leave"}, ("Leave",)),
        (ON, {"name": "Hall"}, ("Hall",)),  # the hall contains a lock
        (ON, {"area": "Hal"}, ("Hall",)),
        (ON, {"area": "the garage"}, ("Garage",)),
        (ON, {"area": "downstairs"}, ("Ground floor",)),
        (ON, {"floor": "attic"}, ()),
        (ON, {"name": "xyzzy"}, ()),
    ],
)
def test_what_is_gated_or_in_doubt_is_only_offered(
    home: House, tool: str, given: dict[str, Any], options: tuple[str, ...]
) -> None:
    mended = mend(INTENTS[tool], given, home)
    assert (dict(mended.arguments), mended.changes, mended.options) == (given, (), options)


@pytest.mark.parametrize(
    "given",
    [
        {"name": "Kitchen Light"},
        {"name": " kitchen LIGHT "},
        {"name": "Secret Light"},  # not exposed, so the light itself was meant
        # Nothing that gives access is mistaken for a lamp.
        {"name": "Front Door", "domain": ["light"]},
        {"name": "Front Door", "area": "Kitchen"},
        {"name": "all", "domain": ["light"]},
        {"name": "lamp"},
        {"area": "cocina"},
        {"name": ["x"], "area": 5},
        {},
    ],
)
def test_what_home_assistant_knows_is_left_alone(home: House, given: dict[str, Any]) -> None:
    mended = mend(INTENTS[ON], given, home)
    assert (dict(mended.arguments), mended.changes, mended.options) == (given, (), ())


def test_a_wrong_domain_is_mended_where_one_thing_has_the_name(home: House) -> None:
    given = {"name": "Kitchen Light", "domain": ["switch"]}
    mended = mend(INTENTS[ON], given, home)
    assert mended.arguments == {"name": "Kitchen Light", "domain": ["light"]}
    assert mended.changes == (MendedArgument("domain", "switch", "light", "domain"),)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"name": "Kettle", "area": "Hall"}, {"name": "Kettle"}),
        ({"name": "Kettle", "floor": "First floor"}, {"name": "Kettle"}),
        (
            {"name": "Kitchen Light", "area": "Hall", "domain": ["switch"]},
            {"name": "Kitchen Light", "domain": ["light"]},
        ),
        ({"name": "Lamp", "area": "Hall"}, {"name": "Lamp", "area": "Hall"}),  # there are two
    ],
)
def test_a_wrong_place_is_mended_where_one_thing_has_the_name(
    home: House, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert mend(INTENTS[ON], given, home).arguments == meant
    # A person who said the place means it.
    said = mend(INTENTS[ON], given, home, None, ("Hall", "First floor"))
    assert {said.arguments.get(key) for key in ("area", "floor")} >= {
        given.get("area"),
        given.get("floor"),
    }


@pytest.mark.parametrize(
    ("room", "meant"),
    [
        ("bedroom", {"name": "Vase"}),  # both are set together
        ("kitchen", {"name": "Vase", "area": "Hall"}),  # in two rooms, so neither is meant
    ],
)
def test_a_wrong_place_is_mended_for_twins_of_one_room(
    home: House, room: str, meant: dict[str, Any]
) -> None:
    twins = (
        Entity("light.vase", "Vase", "off", (), "bedroom"),
        Entity("light.vase_2", "Vase", "off", (), room),
    )
    double = replace(home, entities={**home.entities, **{one.entity_id: one for one in twins}})
    given = {"name": "Vase", "area": "Hall"}
    assert mend(INTENTS[ON], given, double).arguments == meant
    assert mend(INTENTS[ON], given, double, None, ("Hall",)).arguments == given


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"name": "Heating", "area": "Bedroom"}, {"area": "Bedroom"}),
        ({"name": "thermostats", "floor": "First floor"}, {"floor": "First floor"}),
        ({"name": "termostato", "area": "Bedroom"}, {"area": "Bedroom"}),
        ({"name": "bedroom heating"}, {"area": "Bedroom"}),
        ({"name": "calefacción de la cocina"}, {"name": "calefacción de la cocina"}),  # none there
        ({"name": "Thermostat", "area": "Living Room"}, None),  # a device's own name
        ({"name": "Heating"}, None),
        ({"name": "boiler", "area": "Bedroom"}, None),
    ],
)
def test_a_word_for_the_heating_is_no_name(
    home: House, given: dict[str, Any], meant: dict[str, Any] | None
) -> None:
    mended = mend(INTENTS["HassClimateSetTemperature"], {**given, "temperature": 21}, home)
    assert mended.arguments == {**(meant or given), "temperature": 21}


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        (ON, "bedroom reading corner", {"name": "Reading Corner", "area": "Bedroom"}),
        (ON, "Desk 2 in the bedroom", {"name": "Desk 2", "area": "Bedroom"}),
        (ON, "lamp of the lounge", {"name": "Lamp", "area": "Living Room"}),
        (SET, "bedroom lights", {"area": "Bedroom", "brightness": 5}),
        (OFF, "lumières de la cocina", {"area": "Kitchen", "domain": ["light"]}),
        (ON, "lounge lights", {"area": "Living Room", "domain": ["light"]}),
        (ON, "hall front door", {"name": "hall front door"}),
        (ON, "bedroom xyzzy", {"name": "bedroom xyzzy"}),
    ],
)
def test_a_room_in_a_name_is_taken_apart(
    home: House, tool: str, given: str, meant: dict[str, Any]
) -> None:
    more = {"brightness": 5} if tool == SET else {}
    assert mend(INTENTS[tool], {"name": given, **more}, home).arguments == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Kitchen Light, luz de la cocina", "light.kitchen"),
        ("Kitchen Light, Kettle", None),  # two devices
    ],
)
def test_all_names_of_one_thing_in_a_row(home: House, given: str, meant: str | None) -> None:
    mended = mend(INTENTS[ON], {"name": given}, home)
    assert mended.arguments["name"] == (meant or given)


def test_a_name_is_that_of_the_thing_that_can_do_it(home: House) -> None:
    tree = {
        "light.tree": Entity("light.tree", "Tree", "on"),
        "scene.tree": Entity(
            "scene.tree", "Tree", "unknown", attributes={"entity_id": ["light.lamp_living"]}
        ),
        "sensor.kettle": Entity("sensor.kettle", "Kettle", "5"),
        "switch.den_dimmer": Entity("switch.den_dimmer", "Dimmer", "on"),
        "light.den_dimmer": Entity("light.den_dimmer", "Dimmer", "on"),
    }
    both = replace(home, entities={**home.entities, **tree})
    assert mend(INTENTS[OFF], {"name": "Tree"}, both).arguments == {"name": "light.tree"}
    assert mend(INTENTS[ON], {"name": "Tree"}, both).arguments == {"name": "light.tree"}
    scene = {"name": "Tree", "domain": ["scene"]}
    assert mend(INTENTS[ON], scene, both).arguments == scene
    assert mend(INTENTS[ON], {"name": "Kettle"}, both).arguments["name"] != "Kettle"
    assert mend(INTENTS[ON], {"name": "Dimmer"}, both).arguments == {"name": "Dimmer"}
    locked = {"scene.tree": replace(tree["scene.tree"], attributes={"entity_id": ["lock.front"]})}
    gated = replace(both, entities={**both.entities, **locked})
    assert mend(INTENTS[ON], {"name": "Tree"}, gated).arguments == {"name": "Tree"}


def test_a_script_of_known_effect_may_be_guessed(home: House) -> None:
    told = replace(home, touches={"script.movie_night": frozenset({"light.kitchen"})})
    assert mend(INTENTS[ON], {"name": "movie nights"}, told).arguments == {"name": "Movie Night"}
    told = replace(home, touches={"script.movie_night": frozenset({"lock.front"})})
    assert mend(INTENTS[ON], {"name": "movie nights"}, told).changes == ()


def test_names_that_look_the_same_are_never_told_apart(home: House) -> None:
    twins = {
        key: Entity(key, name, "off", (), "bedroom")
        for key, name in (("light.one", "Café"), ("light.two", "Cafe\u0301"))
    }
    double = replace(home, entities={**home.entities, **twins})
    mended = mend(INTENTS[ON], {"name": "cafe"}, double)
    assert (mended.changes, len(mended.options)) == ((), 2)


@pytest.mark.parametrize(
    ("given", "area", "sent"),
    [
        ({"name": "Lamp"}, "bedroom", {"name": "Lamp", "area": "Bedroom"}),
        ({"name": "lamps"}, "bedroom", {"name": "Lamp", "area": "Bedroom"}),
        ({"name": "Lamp"}, "kitchen", {"name": "Lamp", "area": "Living Room"}),
        ({"name": "Lamp"}, None, {"name": "Lamp"}),
        (
            {"name": "Lamp", "area": "Living Room"},
            "bedroom",
            {"name": "Lamp", "area": "Living Room"},
        ),
    ],
)
def test_this_room_settles_a_shared_name(
    home: House, given: dict[str, Any], area: str | None, sent: dict[str, Any]
) -> None:
    assert mend(INTENTS[ON], given, home, area).arguments == sent


def test_where_a_place_cannot_tell_them_apart_the_id_does(home: House) -> None:
    lists = {
        key: Entity(key, "List", "0", (), area)
        for key, area in (("todo.one", "bedroom"), ("todo.two", "kitchen"))
    }
    double = replace(home, entities={**home.entities, **lists})
    sent = mend(INTENTS["HassListAddItem"], {"name": "List", "item": "x"}, double, "bedroom")
    assert sent.arguments == {"name": "todo.one", "item": "x"}


def test_a_shared_alias_of_areas_is_no_miss(home: House) -> None:
    areas = {key: Area(key, key, ("Big",), None) for key in ("one", "two")}
    double = replace(home, areas={**home.areas, **areas})
    assert mend(INTENTS[ON], {"area": "big"}, double).changes == ()


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Kitchen Light", "Kichen Lihgt", True),
        ("Kitchen Light", "Kichn Lihgt", False),
        ("Lamp", "Lump", False),  # too short to guess
        ("Floor 1", "Floor 2", False),
        ("Bed light", "Red light", False),
        ("Lights", "Light", True),
    ],
)
def test_how_near_is_near(one: str, other: str, near: bool) -> None:
    assert are_near(one, other) is near


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("ab", "ba", 1), ("abc", "", 3), ("kitten", "sitting", 3), ("ca", "abc", 3)],
)
def test_slips(one: str, other: str, count: int) -> None:
    assert slips(one, other) == count


def test_keys_of_comparison() -> None:
    assert folded(" ÁRBOL’s\u200b ") == "arbols"
    assert stemmed("The Stories") == stemmed("story")
    assert stemmed("luces") == stemmed("Luz")
    assert stemmed("the") == "the"


@pytest.mark.parametrize(
    ("item", "items"),
    [
        ("milk", ["milk"]),
        ("milk, eggs and bread", ["milk", "eggs", "bread"]),
        ("milk, eggs, and bread", ["milk", "eggs", "bread"]),
        ("milk; eggs", ["milk", "eggs"]),
        ("leche, huevos y pan", ["leche", "huevos", "pan"]),
        ("Milch, Eier und Brot", ["Milch", "Eier", "Brot"]),
        ("salt and pepper", ["salt and pepper"]),
        ("1,5 l of milk", ["1,5 l of milk"]),
        ("candy", ["candy"]),
        ("brandy, andouille", ["brandy", "andouille"]),
        ("milk, ", ["milk, "]),
        (", ".join("abcdefghijklmn"), [", ".join("abcdefghijklmn")]),
    ],
)
def test_items(item: str, items: list[str]) -> None:
    calls = spread("HassListAddItem", {"item": item, "name": "Shopping"})
    assert calls == [{"item": one, "name": "Shopping"} for one in items]


@pytest.mark.parametrize(
    ("item", "sentence", "said"),
    [
        ("milk eggs and bread", "Add milk, eggs and bread to it.", "milk, eggs and bread"),
        ("leche huevos y pan", "añade Leche, huevos y pan", "Leche, huevos y pan"),
        ("milk", "add milky milk", "milk"),
        ("oil (2 l)", "add oil, (2 l)!", "oil, (2 l)"),
        ("tea", "add coffee", "tea"),
        ("", "add", ""),
    ],
)
def test_what_a_parser_took_out_of_it_is_put_back(item: str, sentence: str, said: str) -> None:
    assert as_said(item, sentence) == said


def test_only_lists_are_spread() -> None:
    arguments = {"item": "a, b and c"}
    assert spread("HassBroadcast", arguments) == [arguments]
    assert spread("", arguments) == [arguments]
    assert spread("HassListAddItem", {"item": 3}) == [{"item": 3}]


def test_as_many_as_allowed() -> None:
    items = [f"thing {number}" for number in range(MAX_ITEMS)]
    assert len(spread("HassListAddItem", {"item": ", ".join(items)})) == MAX_ITEMS
