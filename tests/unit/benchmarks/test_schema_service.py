"""Tests of what the Gemini API reportedly refuses of a declaration, and of doubtful cases."""

from typing import Any

import pytest

from tests.benchmarks.schema_service import refusal

TEXT = {"type": "STRING"}


def of(schema: Any) -> str:
    """Return the refusal of a function with one argument `x`."""
    parameters = {"type": "OBJECT", "properties": {"x": schema}}
    return refusal({"name": "t", "parameters": parameters})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (5, "no schema"),
        ({**TEXT, "additionalProperties": False}, 'unknown name "additionalProperties"'),
        ({**TEXT, "exclusiveMinimum": 0}, "exclusiveMinimum"),
        ({"description": "d"}, "type must be specified"),
        ({"type": "string"}, "type 'string'"),
        ({**TEXT, "description": ["d"]}, "description"),
        ({"any_of": [TEXT, {}]}, "anyOf[1]: type must be specified"),
        ({"type": "INTEGER", "enum": [1]}, "1 is no string"),
        ({**TEXT, "enum": [""]}, "cannot be empty"),
        ({"type": "NUMBER", "minimum": True}, "minimum"),
        ({**TEXT, "max_length": "many"}, "maxLength"),
        ({"type": "ARRAY"}, "no items"),
        ({"type": "ARRAY", "items": {}}, "items: type must be specified"),
        ({"type": "OBJECT", "properties": {"a-b": TEXT}}, "the name 'a-b'"),
        ({"type": "OBJECT", "properties": {"a": {}}}, "x.a: type"),
        ({"type": "OBJECT", "properties": {"a": TEXT}, "required": ["b"]}, "'b' is not defined"),
    ],
)
def test_refused(schema: Any, words: str) -> None:
    assert words in of(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {**TEXT, "format": "uri", "title": "t", "default": "a", "pattern": "a", "example": "b"},
        {"any_of": [TEXT, {"type": "NULL"}], "description": "beside"},
        {"type": "OBJECT"},
        {"type": "INTEGER", "enum": ["1"], "format": "enum"},
        {"type": "ARRAY", "items": TEXT, "min_items": "1", "maxItems": 2, "nullable": None},
        {"type": "OBJECT", "properties": {"a": TEXT}, "required": ["a"], "property_ordering": []},
    ],
)
def test_taken(schema: Any) -> None:
    assert of(schema) == ""


@pytest.mark.parametrize("name", ["1st", "files/read", "", None, "a" * 129])
def test_a_name_that_is_none(name: Any) -> None:
    assert "name" in refusal({"name": name})


def test_parameters_are_an_object_or_none() -> None:
    assert refusal({"name": "t"}) == ""
    assert refusal({"name": "t", "parameters": TEXT}) == "parameters: type must be OBJECT"
