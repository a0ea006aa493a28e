"""Tests of the things that a selection reaches, matched as Home Assistant matches."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.tools.house.intents import INTENTS, Action
from assistant.tools.house.targets import Miss, consequences, reach
from integrations.home_assistant.house import Area, Entity, Floor, House


@pytest.mark.parametrize(
    ("tool", "arguments", "touched"),
    [
        ("HassTurnOn", {"name": "lamp", "area": "Bedroom"}, ["light.lamp_bed"]),
        ("HassTurnOn", {"name": "lamp", "floor": "first"}, ["light.lamp_bed"]),
        ("HassTurnOn", {"name": " Luz de la COCINA "}, ["light.kitchen"]),
        ("HassTurnOn", {"name": "light.kitchen"}, ["light.kitchen"]),
        ("HassTurnOn", {"area": "LOUNGE", "domain": "light"}, ["light.lamp_living"]),
        ("HassTurnOn", {"area": "living_room", "domain": ["light"]}, ["light.lamp_living"]),
        ("HassTurnOn", {"floor": "first", "domain": ["light"]}, ["light.lamp_bed"]),
        ("HassTurnOn", {"device_class": ["blind"]}, ["cover.blinds"]),
        ("HassTurnOn", {"name": "all", "domain": ["fan"]}, ["fan.bed"]),
        ("HassTurnOn", {"name": "Fan", "area": None, "floor": " "}, ["fan.bed"]),
        ("HassTurnOn", {"name": "Opener"}, ["button.opener"]),
        ("HassTurnOn", {"name": "Movie Night"}, ["script.movie_night"]),
        ("HassTurnOff", {"name": "Front Door"}, ["lock.front"]),
        ("HassLightSet", {"area": "Kitchen"}, ["light.kitchen"]),
        (
            "HassLightSet",
            {},
            ["light.kitchen", "light.lamp_living", "light.lamp_bed", "light.hall"],
        ),
        ("HassMediaPause", {}, ["media_player.kitchen"]),
        ("HassSetVolume", {}, ["media_player.kitchen", "media_player.living"]),
        ("HassSetVolumeRelative", {}, ["media_player.kitchen"]),
        ("HassSetVolumeRelative", {"name": "Speaker"}, ["media_player.living"]),
        ("HassClimateSetTemperature", {"area": "Bedroom"}, ["climate.us"]),
        ("HassSetPosition", {"area": "Garage"}, ["cover.garage", "cover.half"]),
        ("HassVacuumCleanArea", {"area": "Kitchen"}, ["vacuum.robbie"]),
        ("HassListAddItem", {"name": "shopping list", "item": "x"}, ["todo.shopping"]),
        (
            "HassTurnOff",
            {"area": "Kitchen"},
            ["light.kitchen", "switch.kettle", "media_player.kitchen"],
        ),
    ],
)
def test_what_is_touched(
    house: House, tool: str, arguments: dict[str, Any], touched: list[str]
) -> None:
    found = reach(INTENTS[tool], arguments, house)
    assert (list(found.touched), found.reason) == (touched, Miss.NONE)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason", "doubtful"),
    [
        ("HassTurnOn", {"name": "lamp"}, "several", ["light.lamp_living", "light.lamp_bed"]),
        ("HassTurnOn", {"name": "Lámp"}, "name", []),
        ("HassTurnOn", {"name": "Light.kitchen"}, "name", []),
        ("HassTurnOn", {"name": "Secret Light"}, "not_exposed", []),
        ("HassTurnOn", {"name": "All", "domain": ["light"]}, "name", []),
        ("HassTurnOn", {"name": " all ", "domain": ["light"]}, "name", []),
        ("HassTurnOn", {"name": "Kettle", "area": "Hall"}, "area", []),
        ("HassTurnOn", {"name": "Kettle", "area": "Moon"}, "no_area", []),
        ("HassTurnOn", {"name": "Kettle", "floor": "First floor"}, "floor", []),
        ("HassTurnOn", {"name": "Kettle", "floor": "Cellar"}, "no_floor", []),
        ("HassTurnOn", {"floor": "First floor", "area": "Kitchen"}, "area", []),
        ("HassTurnOn", {"area": "Kitchen", "domain": ["lock"]}, "area", []),
        ("HassTurnOn", {"area": "Kitchen", "domain": ["Light"]}, "domain", []),
        ("HassTurnOn", {"area": "Kitchen", "domain": []}, "domain", []),
        ("HassTurnOn", {"device_class": ["Blind"]}, "arguments", []),
        ("HassTurnOn", {"device_class": ["motion"]}, "arguments", []),
        ("HassLightSet", {"domain": ["switch"]}, "arguments", []),
        ("HassTurnOn", {"name": ["Kettle"]}, "arguments", []),
        ("HassTurnOff", {"name": "Opener"}, "unsupported", ["button.opener"]),
        ("HassTurnOn", {"name": "Alarm"}, "unsupported", ["alarm_control_panel.home"]),
        ("HassTurnOn", {"name": "Thing"}, "unsupported", ["strange.thing"]),
        ("HassTurnOn", {"name": "Doors"}, "unsupported", ["group.doors"]),
        ("HassSetPosition", {"area": "Living Room"}, "unsupported", ["cover.blinds"]),
        ("HassSetVolume", {"name": "Kitchen Light"}, "name", []),
        ("HassMediaPause", {"name": "Speaker"}, "name", []),
        ("HassClimateSetTemperature", {}, "several", ["climate.living", "climate.us"]),
        ("HassVacuumCleanArea", {"area": "Moon"}, "no_area", []),
    ],
)
def test_why_nothing_is_touched(
    house: House, tool: str, arguments: dict[str, Any], reason: str, doubtful: list[str]
) -> None:
    found = reach(INTENTS[tool], arguments, house)
    assert (found.touched, found.reason, list(found.candidates)) == ((), reason, doubtful)


@pytest.mark.parametrize("arguments", [{}, {"name": "all"}, {"name": "", "domain": None}])
def test_a_call_that_chooses_nothing_is_refused_and_doubts_everything(
    house: House, arguments: dict[str, Any]
) -> None:
    found = reach(INTENTS["HassTurnOff"], arguments, house)
    assert (found.touched, found.reason) == ((), Miss.EVERYTHING)
    assert found.candidates == tuple(one.entity_id for one in house.exposed())


@pytest.mark.parametrize(
    ("area", "tool", "arguments", "touched"),
    [
        ("bedroom", "HassTurnOn", {"name": "Lamp"}, ("light.lamp_bed",)),
        ("kitchen", "HassTurnOn", {"name": "Lamp"}, ("light.lamp_living",)),  # on the same floor
        ("bedroom", "HassTurnOn", {"name": "Kettle"}, ("switch.kettle",)),
        ("bedroom", "HassClimateSetTemperature", {}, ("climate.us",)),
        # The action takes one target, so only the room counts.
        ("kitchen", "HassClimateSetTemperature", {}, ()),
        ("nowhere", "HassTurnOn", {"name": "Lamp"}, ()),
    ],
)
def test_the_asking_devices_room_settles(
    house: House, area: str, tool: str, arguments: dict[str, Any], touched: tuple[str, ...]
) -> None:
    assert reach(INTENTS[tool], arguments, house, area).touched == touched


def test_a_shared_name_in_the_wrong_room_is_nobody(house: House) -> None:
    upstairs = replace(house, areas={**house.areas, "roof": Area("roof", "Roof", (), "attic")})
    found = reach(INTENTS["HassTurnOn"], {"name": "Lamp"}, upstairs, "roof")
    assert (found.touched, found.reason) == ((), Miss.SEVERAL)
    assert found.candidates == ("light.lamp_living", "light.lamp_bed")


def test_aliases_of_places_may_be_shared() -> None:
    house = House(
        {"one": Floor("one", "One", ("Up",)), "two": Floor("two", "Two", ("Up",))},
        {"a": Area("a", "A", ("Big",), "one"), "b": Area("b", "B", ("Big",), "two")},
        {
            "light.a": Entity("light.a", "First", "on", area_id="a"),
            "light.b": Entity("light.b", "Second", "on", area_id="b"),
        },
    )
    for arguments in ({"area": "big"}, {"floor": "up"}, {"area": "Big", "floor": "Up"}):
        assert reach(INTENTS["HassTurnOn"], arguments, house).touched == ("light.a", "light.b")
    assert reach(INTENTS["HassTurnOn"], {"area": "Big", "floor": "Two"}, house).touched == (
        "light.b",
    )


def test_what_cannot_do_it_is_not_touched() -> None:
    roof = Entity("cover.roof", "Roof", "closed", attributes={"supported_features": 240})
    roof = replace(roof, features=240)  # it can only tilt
    house = House(entities={"cover.roof": roof})
    named = reach(INTENTS["HassTurnOn"], {"name": "Roof"}, house)
    assert (named.touched, named.candidates, named.reason) == ((), ("cover.roof",), "unsupported")
    able = House(entities={"cover.roof": replace(roof, features=241)})
    assert reach(INTENTS["HassTurnOn"], {"name": "Roof"}, able).touched == ("cover.roof",)
    quiet = Entity("media_player.x", "X", "playing", attributes={"supported_features": 0})
    found = reach(INTENTS["HassSetVolume"], {}, House(entities={"media_player.x": quiet}))
    assert (found.touched, found.reason) == ((), Miss.FEATURE)


@pytest.mark.parametrize("name", ["Front\u200b Door", "Front Door\u200f", "Front\u00a0Door"])
def test_a_name_that_only_looks_the_same_is_in_doubt(house: House, name: str) -> None:
    false = Entity("light.false", name, "off")
    twice = replace(house, entities={**house.entities, "light.false": false})
    found = reach(INTENTS["HassTurnOff"], {"name": "Front Door"}, twice)
    assert (found.touched, found.candidates) == (("lock.front",), ("light.false",))


def test_in_a_room_what_nobody_knows_is_in_doubt_and_what_ignores_it_is_not() -> None:
    things = [
        Entity("light.a", "A", "on", area_id="a"),
        Entity("sensor.a", "B", "1", area_id="a"),
        Entity("alarm_control_panel.a", "C", "armed_away", area_id="a"),
        Entity("strange.a", "D", "on", area_id="a"),
        Entity("lock.a", "E", "locked", area_id="a"),
    ]
    house = House({}, {"a": Area("a", "A")}, {one.entity_id: one for one in things})
    off = reach(INTENTS["HassTurnOff"], {"area": "A"}, house)
    assert (off.touched, off.candidates) == (("light.a", "lock.a"), ("strange.a",))
    toggle = reach(INTENTS["HassToggle"], {"area": "A"}, house)
    assert (toggle.touched, toggle.candidates) == (("light.a",), ("strange.a", "lock.a"))


def test_members_are_followed_and_a_circle_ends(house: House) -> None:
    loop = replace(house.entities["group.doors"], attributes={"entity_id": ["group.doors", "x.y"]})
    circular = House(house.floors, house.areas, {"group.doors": loop})
    for seen, names in ((circular, ["group.doors", "x.y"]), (house, ["group.doors", "lock.front"])):
        reached = consequences(["group.doors"], Action.SET, seen)
        assert list(dict.fromkeys(name for name, _ in reached)) == names


def test_what_a_script_touches_goes_either_way(house: House) -> None:
    told = replace(house, touches={"script.movie_night": frozenset({"group.doors"})})
    assert consequences(["script.movie_night"], Action.ON, told) == [
        ("script.movie_night", Action.ON),
        ("group.doors", Action.TOGGLE),
        ("lock.front", Action.TOGGLE),
    ]
    assert consequences(["group.doors"], Action.ON, house) == [
        ("group.doors", Action.ON),
        ("lock.front", Action.ON),
    ]
