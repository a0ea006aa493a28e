"""Tests that a hostile schema neither hangs nor breaks the check of a call."""

import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from assistant.tools.catalog.arguments import fit
from assistant.tools.catalog.schema import Checks, TooMuch, ways

SECONDS = 2.0  # on a busy machine; most schemas take a few milliseconds
LONG = "a" * 5_000 + "!"
SLOW = (
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "^(a?){50}a{50}$",
    "a*a*a*a*a*b",
    r"(.*)\1\1b",
    "(?=(a+)+b)",
)


@pytest.mark.parametrize("pattern", SLOW)
@pytest.mark.parametrize("text", ["a" * 40 + "!", LONG])
def test_a_slow_pattern_is_left_to_the_server(pattern: str, text: str) -> None:
    began = time.process_time()
    for schema in (
        {"properties": {"x": {"type": "string", "pattern": pattern}}},
        {"properties": {"x": {}}, "patternProperties": {pattern: {"type": "string"}}},
        {"properties": {"x": {"patternProperties": {pattern: {}}, "additionalProperties": False}}},
        {"properties": {"x": {"propertyNames": {"pattern": pattern}}}},
        {"$schema": "http://json-schema.org/draft-07/schema#",
         "properties": {"x": {"$schema": "http://json-schema.org/draft-04/schema#",
                              "pattern": pattern}}},
    ):  # fmt: skip
        for value in (text, {text: 1}):
            assert "must match" not in fit(schema, {"x": value}).problem
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^[a-z_]+\.[a-z0-9_]+$", "light.kitchen_2", "kitchen"),
        (r"^\d{4}-\d{2}-\d{2}$", "2026-11-22", "22.11.2026"),
        (r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$", "07:30", "7.30"),
        ("^#[0-9a-fA-F]{6}$", "#00ff7F", "red"),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "somebody@example.org", "somebody"),
        ("a", "cat", "dog"),
    ],
)
def test_a_usual_pattern_is_looked_at(pattern: str, good: str, bad: str) -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": pattern}}}
    assert fit(schema, {"x": good}).problem == ""
    assert fit(schema, {"x": bad}).problem == f"x: it must match {pattern}"


@pytest.mark.parametrize("pattern", ["(", "[", r"\p{L}", "(?<name>a)", "a{99999999999}", "*"])
def test_a_pattern_that_is_none_of_ours_admits_all(pattern: str) -> None:
    assert fit({"properties": {"x": {"pattern": pattern}}}, {"x": "b"}).problem == ""


def test_ways() -> None:
    assert ways("^abc$", "x" * 1_000) == 1
    assert ways("abc", "x" * 9) == 10
    assert ways("^a+b*$", "x" * 9) == 100
    assert ways("^(a|b|c)$", "x") == 4
    assert ways(r"^[a*+]\*[]|]$", "x" * 9) == 1
    assert ways("(a+)+", "") == float("inf")
    assert ways("a" * 501, "") == float("inf")


def _multiplied(keyword: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(40)
    }
    definitions["d40"] = {"type": "integer"}
    return {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def _nested(keyword: str) -> dict[str, Any]:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(3_000):
        deep = {keyword: [deep]} if keyword.endswith("Of") else {keyword: deep}
    return {"properties": {"x": deep}}


def _cyclic() -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"y": {"type": "integer"}}}
    schema["properties"]["x"] = schema
    schema["allOf"] = [schema]
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        *(_multiplied(keyword) for keyword in ("anyOf", "oneOf", "allOf")),
        *(_nested(keyword) for keyword in ("anyOf", "not", "items", "additionalProperties")),
        _cyclic(),
        {"properties": {"x": {"$ref": "#/properties/x"}}},
        {"$ref": "#", "properties": {"x": {}}},
        {"properties": {"x": {"enum": [{"n": n} for n in range(100_000)]}}},
        {"properties": {f"p{n}": {"type": "string"} for n in range(20_000)} | {"x": {}}},
    ],
)
@pytest.mark.parametrize("value", ["word", "7", ["a"] * 500, {"x": {"x": {"x": "1"}}}])
def test_an_endless_schema_ends(schema: dict[str, Any], value: Any) -> None:
    began = time.process_time()
    fit(schema, {"x": value})
    assert time.process_time() - began < SECONDS


def test_what_holds_itself_is_cut_where_it_begins_again() -> None:
    root = Checks(_cyclic()).root
    assert root["properties"]["x"] == {"properties": True, "allOf": [True]}
    assert root["properties"]["y"] == {"type": "integer"}


def test_what_asks_too_much_is_left_to_the_server() -> None:
    schema = _multiplied("anyOf")
    checks = Checks(schema)
    with pytest.raises(TooMuch):
        checks.problem({"x": "word"})
    assert fit(schema, {"x": "word"}).problem == ""


def test_deep_arguments_end() -> None:
    deep: Any = "x"
    for _ in range(3_000):
        deep = [deep]
    lists = {"items": {"$ref": "#/properties/x"}}
    for schema in (lists, {"type": "string"}, {"type": "array", "items": {"type": "string"}}):
        fitted = fit({"properties": {"x": schema}}, {"x": deep})
        assert fitted.arguments.keys() == {"x"}


def test_many_different_items_end() -> None:
    schema = {"properties": {"x": {"type": "array", "uniqueItems": True}}}
    began = time.process_time()
    assert fit(schema, {"x": [{"n": n} for n in range(20_000)]}).problem == ""
    assert time.process_time() - began < SECONDS
    assert (
        fit(schema, {"x": [1, {"a": 2}, {"a": 2}]}).problem == "x: its items must all be different"
    )


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"minimum": 0, "exclusiveMinimum": False}, 0, -1),
        ({"exclusiveMinimum": 0}, 0.5, 0),
        ({"maximum": 9, "exclusiveMaximum": True}, 8, 9),
        ({"multipleOf": 0.1}, 0.3, 0.35),
        ({"type": "INTEGER"}, 1, "a"),
        ({"type": "integer", "nullable": True}, 1, "a"),
        ({"enum": [1]}, 1, True),
        (
            {"items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}},
            [1, True],
            [1, 1],
        ),
        ({"prefixItems": [{"type": "integer"}], "items": False}, [1], [1, 1]),
        ({"additionalProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": []}),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n": 1, "m": "a"}, {"n": "a"}),
    ],
)
def test_each_dialect_and_our_own_checks(schema: dict[str, Any], good: Any, bad: Any) -> None:
    assert Checks({"properties": {"x": schema}}).problem({"x": good}) is None
    assert Checks({"properties": {"x": schema}}).problem({"x": bad}) is not None


def test_nothing_is_allowed_where_openapi_says_so() -> None:
    schema = {"type": "string", "enum": ["a"], "nullable": True}
    assert Checks({"properties": {"x": schema}}).problem({"x": None}) is None


VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    3,
    -1,
    2.5,
    "",
    "on",
    "light",
    [],
    [1],
    ["a", "a"],
    {},
    {"a": 1},
    {"b": []},
)
SCHEMAS: tuple[Any, ...] = (
    *({"type": kind} for kind in ("string", "integer", "number", "boolean", "array", "object")),
    *({"enum": ["on", 3, None]}, {"const": {"a": 1}}, {"minimum": 1}, {"maximum": 2.5}),
    *({"exclusiveMinimum": 0}, {"exclusiveMaximum": 3}, {"minLength": 1}, {"maxItems": 1}),
    *({"items": {"type": "string"}}, {"uniqueItems": True}, {"required": ["a"]}, {"pattern": "^o"}),
    *({"properties": {"a": {"type": "string"}}}, {"additionalProperties": False}, {"not": {}}),
    *({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"oneOf": [{"minimum": 1}, {}]}),
    *({"patternProperties": {"a": False}}, {"contains": {"const": "a"}}, {"minProperties": 1}),
    *({"if": {"type": "string"}, "then": {"minLength": 3}}, {"dependentRequired": {"b": ["a"]}}),
)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_sound_schemas_are_judged_as_the_standard_says(schema: Any) -> None:
    whole = {"properties": {"x": schema}}
    for value in VALUES:
        standard = Draft202012Validator(whole).is_valid({"x": value})
        assert (Checks(whole).problem({"x": value}) is None) is standard, value
