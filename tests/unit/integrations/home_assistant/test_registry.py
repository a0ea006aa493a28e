"""Entities from rows of the registries."""

from dataclasses import replace
from typing import Any

import pytest

from integrations.home_assistant.registry import (
    Registries,
    read_area_labels,
    read_areas,
    read_devices,
    read_entity,
    read_entries,
    read_floors,
    read_label_names,
    read_listed,
    with_registries,
    with_state,
)


def entity_of(entry: dict[str, Any], attributes: dict[str, Any] | None = None, **more: Any) -> Any:
    state = {"entity_id": "light.a", "state": "on", "attributes": attributes or {}}
    return read_entity(state, Registries(entities={"light.a": entry} if entry else {}, **more))


def test_all_of_an_entity() -> None:
    devices = read_devices([{"id": "d", "area_id": "k"}])
    entry = {
        "device_id": "d",
        "aliases": [None, "Leselampe", ""],
        "options": {"sensor": {"suggested_display_precision": 2, "display_precision": 1}},
    }
    entity = entity_of(entry, {"friendly_name": "Lamp", "supported_features": 40}, devices=devices)
    assert (entity.name, entity.aliases, entity.area_id) == ("Lamp", ("Leselampe",), "k")
    assert (entity.device_id, entity.features, entity.precision) == ("d", 40, 1)
    later = with_state(entity, {"state": "off", "attributes": {"supported_features": 8}})
    assert (later.state, later.features, later.device_id) == ("off", 8, "d")
    assert later.precision == 1


@pytest.mark.parametrize("features", [None, "many", 1.5])
def test_odd_features_are_none(features: Any) -> None:
    assert entity_of({}, {"supported_features": features}).features == 0


def test_a_part_stands_where_its_whole_does() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "whole", "area_id": "k", "labels": ["x"]},
        {"id": "part", "area_id": None, "parent_device_id": "whole"},
        {"id": "moved", "area_id": "h", "parent_device_id": "whole"},
        {"id": "alone", "area_id": None},
    ]
    devices = read_devices(rows)
    assert {name: one.area_id for name, one in devices.items()} == {
        "whole": "k",
        "part": "k",
        "moved": "h",
        "alone": None,
    }
    assert devices["whole"].labels == {"x"}


def test_labels_are_those_of_the_thing_its_device_and_its_area() -> None:
    (device,) = read_devices([{"id": "d", "area_id": "hall", "labels": ["doors"]}]).items()
    registries = Registries(
        area_labels=read_area_labels([{"area_id": "hall", "labels": ["outer"]}]),
        devices=dict([device]),
        entities={"lock.x": {"device_id": "d", "labels": ["mine", "gone"]}, "lock.y": {}},
        labels=read_label_names(
            [{"label_id": "mine", "name": "My things"}, {"label_id": "outer", "name": None}]
        ),
    )
    entity = read_entity({"entity_id": "lock.x", "state": "locked"}, registries)
    assert entity.labels == ("My things", "doors", "gone", "mine", "outer")
    assert read_entity({"entity_id": "lock.y", "state": "locked"}, registries).labels == ()
    moved = {"device_id": "d", "area_id": "attic"}
    registries = replace(registries, entities={"lock.x": moved})
    assert with_registries(entity, registries).labels == ("doors",)


ODD: list[Any] = [None, 5, True, "x", [], [5], [[1]], {}, {"a": 1}, float("nan")]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_value_costs_no_more_than_itself(odd: Any) -> None:
    sound = {"area_id": "k", "name": "Kitchen"}
    for key in ("area_id", "name", "aliases", "floor_id", "labels"):
        areas = read_areas([{**sound, key: odd}, odd, {"area_id": "h", "name": "Hall"}])
        assert areas["h"].name == "Hall"
        assert {type(name) for area in areas.values() for name in (area.name, *area.aliases)} == {
            str
        }
        assert {name: hash(area) for name, area in areas.items()}
        read_area_labels([{**sound, key: odd}, odd])
    for key in ("id", "area_id", "parent_device_id", "labels"):
        devices = read_devices([{"id": "d", "area_id": "k", key: odd}, odd])
        assert {name: hash(one) for name, one in devices.items()} or key == "id"
    assert read_floors([odd, {"floor_id": "g", "name": odd, "aliases": odd}]).keys() == {"g"}
    assert read_entries([odd, {"entity_id": odd}]).keys() <= {"x"}
    for answer in (odd, {"exposed_entities": odd}, {"exposed_entities": {"light.a": odd}}):
        assert not any(read_listed(answer).values())


@pytest.mark.parametrize("odd", ODD)
def test_an_entity_of_odd_values_is_still_one(odd: Any) -> None:
    entry = dict.fromkeys(("name", "aliases", "area_id", "device_id", "options", "labels"), odd)
    attributes = dict.fromkeys(
        ("friendly_name", "device_class", "supported_features", "entity_id"), odd
    )
    for given in (
        entity_of(entry, attributes),
        entity_of({"options": {"conversation": odd, "sensor": odd}}, odd),
        with_state(entity_of({}), {"state": odd, "attributes": attributes}),
        with_state(entity_of({}), {"state": odd, "attributes": odd}),
    ):
        assert isinstance(given.name, str)
        assert isinstance(given.state, str)
        assert hash((given.area_id, given.device_id, given.device_class, given.aliases))
        assert isinstance(given.features, int)


SEEN, UNSEEN = {"light.a": True}, {"light.a": False}


def options(value: bool) -> dict[str, Any]:
    return {"options": {"conversation": {"should_expose": value}}}


@pytest.mark.parametrize(
    ("entry", "learned", "listed", "exposed"),
    [
        ({}, {}, {}, True),
        ({"hidden_by": "user"}, {}, {}, False),
        ({"entity_category": "config"}, {}, {}, False),
        (options(False), SEEN, SEEN, False),
        (options(True), UNSEEN, UNSEEN, True),
        ({"hidden_by": "user"}, SEEN, {}, True),
        ({}, UNSEEN, SEEN, False),
        ({}, {}, UNSEEN, False),
    ],
)
def test_who_says_what_is_exposed(
    entry: dict[str, Any], learned: dict[str, bool], listed: dict[str, bool], exposed: bool
) -> None:
    assert entity_of(entry, learned=learned, listed=listed).exposed is exposed


def test_the_list_for_admins() -> None:
    answer = {"exposed_entities": {"light.a": {"conversation": True}, "light.b": {"cloud": True}}}
    assert read_listed(answer) == {"light.a": True}
    assert read_listed({}) == {}


def test_an_area_names_the_sensors_of_its_air() -> None:
    row = {"area_id": "h", "name": "Hall", "temperature_entity_id": "sensor.t"}
    hall = read_areas([row])["h"]
    assert (hall.temperature_entity_id, hall.humidity_entity_id) == ("sensor.t", None)


@pytest.mark.parametrize(
    ("entry", "platform"),
    [
        ({"platform": "template"}, "template"),
        ({"platform": "zha"}, "zha"),
        ({"name": "Lamp"}, None),  # an entry without a value
        ({"platform": 7}, None),
        (None, ""),  # YAML without a `unique_id`
    ],
)
def test_what_made_it(entry: dict[str, Any] | None, platform: str | None) -> None:
    known = Registries(entities={"switch.a": entry} if entry else {})
    entity = read_entity({"entity_id": "switch.a", "state": "on"}, known)
    assert entity.platform == platform
    newer = with_registries(entity, Registries(entities={"switch.a": {"platform": "rest"}}))
    assert newer.platform == "rest"
    assert with_state(newer, {"entity_id": "switch.a", "state": "off"}).platform == "rest"


def test_new_registries_keep_everything_that_the_state_tells() -> None:
    state = {
        "entity_id": "media_player.radio",
        "state": "paused",
        "attributes": {
            "friendly_name": "Radio",
            "device_class": "speaker",
            "supported_features": 5,
        },
        "last_changed": "2026-11-27T08:00:00+00:00",
    }
    registries = Registries(entities={"media_player.radio": {"area_id": "kitchen"}})
    without = read_entity(state, Registries())
    assert with_registries(without, registries) == read_entity(state, registries)
