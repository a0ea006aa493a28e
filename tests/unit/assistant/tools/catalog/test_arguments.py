"""Tests of a model's arguments, made to fit the server's schema."""

import socket
from typing import Any

import pytest

from assistant.tools.catalog.arguments import fit, in_own_degrees
from integrations.home_assistant.house import HouseSettings

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "area": {"type": "string"},
        "domain": {"type": "array", "items": {"type": "string", "enum": ["light", "fan"]}},
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
        "temperature": {"type": "number"},
        "position": {"allOf": [{"type": "integer"}, {"type": "number", "maximum": 100}]},
        "step": {"anyOf": [{"enum": ["up", "down"]}, {"type": "integer"}]},
        "mood": {"type": "string", "enum": ["calm", "action"]},
        "on": {"type": "boolean"},
        "options": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "kind": {"$ref": "#/$defs/kind"},
        "level": {"enum": [1, 2, "auto", True]},
        "volume": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "integer"}}]},
        "place": {"prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
        "tree": {"$ref": "#/$defs/tree"},
        "free": {"type": "object", "additionalProperties": {"type": "integer"}},
        "anything": {},
    },
    "$defs": {
        "kind": {"enum": ["x", "y"]},
        "tree": {
            "type": "object",
            "properties": {"size": {"type": "integer"}, "up": {"$ref": "#/$defs/tree"}},
        },
    },
}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"brightness": "30"}, {"brightness": 30}),
        ({"brightness": "30 %"}, {"brightness": 30}),
        ({"brightness": 30.0}, {"brightness": 30}),
        ({"brightness": [30]}, {"brightness": 30}),
        ({"temperature": "21.5"}, {"temperature": 21.5}),
        ({"temperature": "21 °C"}, {"temperature": 21}),
        ({"position": "40"}, {"position": 40}),
        ({"step": "-20"}, {"step": -20}),
        ({"step": "up"}, {"step": "up"}),
        ({"domain": "light"}, {"domain": ["light"]}),
        ({"domain": ["light"]}, {"domain": ["light"]}),
        ({"mood": "Calm"}, {"mood": "calm"}),
        ({"on": "True"}, {"on": True}),
        ({"name": 7}, {"name": "7"}),
        ({"kind": "X"}, {"kind": "x"}),
        ({"options": '{"a": 1}'}, {"options": {"a": 1}}),
        ({"name": "Lamp", "area": None, "domain": ""}, {"name": "Lamp"}),
        ({"temperature": "21,5"}, {"temperature": 21.5}),
        ({"temperature": "-3 °F"}, {"temperature": -3}),
        ({"on": "off"}, {"on": False}),
        ({"on": "Yes"}, {"on": True}),
        ({"on": 1}, {"on": True}),
        ({"on": "0"}, {"on": False}),
        ({"level": "2"}, {"level": 2}),
        ({"level": "AUTO"}, {"level": "auto"}),
        ({"level": "true"}, {"level": True}),
        ({"volume": "7"}, {"volume": [7]}),
        ({"volume": ["7", 8.0]}, {"volume": [7, 8]}),
        ({"volume": "[7, 8]"}, {"volume": [7, 8]}),
        ({"domain": ["Light", "FAN"]}, {"domain": ["light", "fan"]}),
        ({"domain": "Light"}, {"domain": ["light"]}),
        ({"place": ["1.5", 2]}, {"place": [1.5, "2"]}),
        ({"options": {"a": "1"}}, {"options": {"a": 1}}),
        ({"options": '{"a": "1"}'}, {"options": {"a": 1}}),
        ({"tree": {"size": "1", "up": '{"size": "2"}'}}, {"tree": {"size": 1, "up": {"size": 2}}}),
        ({"free": '{"a": 1}'}, {"free": {"a": 1}}),
        ({"anything": "5"}, {"anything": "5"}),
        ({"anything": {"a": [1]}}, {"anything": {"a": [1]}}),
    ],
)
def test_plain_meanings_are_mended(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    fitted = fit(SCHEMA, given)
    assert fitted.problem == ""
    assert fitted.arguments == wanted
    assert [type(value) for value in fitted.arguments.values()] == [
        type(value) for value in wanted.values()
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"brightness": "very"}, "brightness: it must be of type integer"),
        ({"brightness": 400}, "brightness: it must be at most 100"),
        ({"mood": "sad"}, "mood: it must be one of calm, action"),
        ({"bogus": 1}, "there is no argument bogus"),
        ({"preferred_area_id": "hall"}, "there is no argument preferred_area_id"),
        ({"domain": ["lock"]}, "domain.0: it must be one of light, fan"),
        # Number words depend on the language; the model writes digits after this error.
        ({"brightness": "thirty"}, "brightness: it must be of type integer"),
        ({"temperature": "1,000"}, "temperature: it must be of type number"),
        ({"temperature": "9" * 400}, "temperature: it must be of type number"),
        ({"volume": "[7, Infinity]"}, "volume: it must be of type"),
        ({"options": "{" * 5_000}, "options: it must be of type object"),
        ({"place": [1, "a", "b"]}, "place: Expected at most 2 items but found 1"),
        ({"tree": {"up": {"size": "big"}}}, "tree.up.size: it must be of type integer"),
        ({"on": "perhaps"}, "on: it must be of type boolean"),
        ({"name": ["a", "b"]}, "name: it must be of type string"),
        ({"x" * 500: 1}, "there is no argument xxx"),
    ],
)
def test_what_cannot_be_mended_is_said_shortly(given: dict[str, Any], words: str) -> None:
    problem = fit(SCHEMA, given).problem
    assert problem.startswith(words)
    assert len(problem) <= 200


def test_a_missing_argument_is_named() -> None:
    for given in ({}, {"name": None}):
        assert fit({**SCHEMA, "required": ["name"]}, given).problem == "name is missing"


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"type": "string"}, ""), ({}, None), ({}, "")],
)
def test_nothing_is_kept_where_something_must_be_given(schema: dict[str, Any], value: Any) -> None:
    tool = {"properties": {"x": schema}}
    assert fit({**tool, "required": ["x"]}, {"x": value}).arguments == {"x": value}
    assert fit(tool, {"x": value}).arguments == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 10},
        {"enum": ["a", None]},
        {"type": "string", "nullable": True},
        {"$ref": "#/$defs/maybe"},
    ],
)
def test_a_null_that_the_schema_speaks_of_is_sent(schema: dict[str, Any]) -> None:
    maybe = {"oneOf": [{"const": None}, {"type": "string"}]}
    tool = {"properties": {"x": schema}, "$defs": {"maybe": maybe}}
    assert fit(tool, {"x": None}).arguments == {"x": None}
    assert fit({**tool, "required": ["x"]}, {"x": None}).arguments == {"x": None}


def test_a_null_that_another_part_of_the_schema_refuses_is_not_sent() -> None:
    both = {"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}
    assert fit({"properties": {"x": both}}, {"x": None}).arguments == {}


@pytest.mark.parametrize(
    ("limit", "bad", "words"),
    [
        ({"minimum": 3}, 2, "it must be at least 3"),
        ({"exclusiveMaximum": 3}, 3, "it must be less than 3"),
        ({"multipleOf": 5}, 3, "it must be a multiple of 5"),
        ({"minLength": 2}, "a", "it must have at least 2 characters"),
        ({"maxLength": 2}, "abc", "it must have at most 2 characters"),
        ({"minItems": 1}, [], "it must have at least 1 items"),
        ({"maxItems": 1}, [1, 2], "it must have at most 1 items"),
        ({"const": "a"}, "b", "it must be a"),
    ],
)
def test_each_limit_in_words(limit: dict[str, Any], bad: Any, words: str) -> None:
    assert fit({"properties": {"x": limit}}, {"x": bad}).problem == f"x: {words}"


@pytest.mark.parametrize(
    "top",
    [
        {"$ref": "#/$defs/all"},
        {"allOf": [{"$ref": "#/$defs/all"}]},
        {"anyOf": [{"$ref": "#/$defs/all"}, {"properties": {"other": {"type": "string"}}}]},
        {"properties": {"other": {}}, "if": {}, "then": {"$ref": "#/$defs/all"}},
    ],
)
def test_arguments_behind_references_and_alternatives(top: dict[str, Any]) -> None:
    schema = {**top, "$defs": {"all": {"properties": {"x": {"type": "integer"}}}}}
    assert fit(schema, {"x": "1"}).arguments == {"x": 1}
    assert fit(schema, {"y": "1"}).problem.startswith("there is no argument y")


@pytest.mark.parametrize("free", [True, {}, {"type": "string"}])
def test_free_arguments_pass(free: Any) -> None:
    assert fit({"additionalProperties": free}, {"x": "1"}).arguments == {"x": "1"}
    schema = {"properties": {"y": {}}, "additionalProperties": free}
    assert fit(schema, {"x": "1"}).problem == ""


def test_renamed_arguments_go_back() -> None:
    schema = {"properties": {"a b": {"type": "integer"}}}
    assert fit(schema, {"a_b": "1"}, {"a_b": "a b"}).arguments == {"a b": 1}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_ignores_them(schema: dict[str, Any]) -> None:
    assert fit(schema, {"x": 1}).arguments == {}
    assert fit(schema, {"x": 1}).problem == ""


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "nonsense"},
        {"minimum": True, "exclusiveMinimum": "x"},
        {"$ref": "https://example.org/schema.json"},
        {"pattern": "("},
        {"enum": 5},
        {"required": True},
        {"properties": [1]},
        {"items": "x"},
        {"multipleOf": 0},
        {"anyOf": {"type": "string"}},
        {"$id": 5, "$ref": 5},
    ],
)
def test_a_broken_schema_leaves_the_judgement_to_the_server(
    bad: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a schema is never fetched")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    fitted = fit({"properties": {"x": bad}}, {"x": "1"})
    assert fitted.problem == ""
    assert "x" in fitted.arguments


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"mood": "calmer"}, ("calm",)),
        ({"mood": "wild"}, ("calm", "action")),
        ({"domain": ["lights"]}, ("light",)),
        ({"brightnes": 5}, ("brightness",)),
        ({"brightness": 500}, ()),
        ({"mood": "calm"}, ()),
    ],
)
def test_what_would_be_right_is_told(given: dict[str, Any], options: tuple[str, ...]) -> None:
    assert fit(SCHEMA, given).options == options


@pytest.mark.parametrize(
    ("given", "unit", "wanted"),
    [
        ("70 °F", "°C", 21),
        ("70 degrees Fahrenheit", "°C", 21),
        ("21 °C", "°F", 70),
        ("21,5°C", "°C", 21.5),
        ("72F", "°F", 72),
        ("70 °F", "", 70),  # the house's unit isn't known
        ("21", "°F", "21"),
        (21, "°F", 21),
        ("warm", "°F", "warm"),
    ],
)
def test_degrees_of_another_unit_are_converted(given: object, unit: str, wanted: object) -> None:
    house = HouseSettings(temperature=unit)
    arguments = {"area": "Kitchen", "temperature": given}
    assert in_own_degrees(arguments, house) == {"area": "Kitchen", "temperature": wanted}
