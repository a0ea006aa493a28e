"""From rows of the registries to entities."""

from typing import Any

import pytest

from integrations.home_assistant.registry import (
    Registries,
    read_devices,
    read_entity,
    read_listed,
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
