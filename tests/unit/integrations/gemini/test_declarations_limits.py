"""Where a declaration ends what it takes over, and what two parts of a schema leave together."""

from typing import Any

import pytest

from integrations.gemini.declarations import convert
from tests.unit.integrations.gemini.declared import accepted, argument

TEXT = {"type": "STRING"}
INTEGER = {"type": "INTEGER"}
INNER = {"a": {"type": "integer"}}
OPEN = "x: further entries, whose names are free"
ANY = "any value, but no object can be given"

TOGETHER: list[tuple[str, list[Any], Any, tuple[str, ...]]] = [
    ("required", [{"properties": {**INNER, "b": {"type": "string"}}, "required": ["a"]},
                  {"required": ["b", "a"]}],
     {"type": "OBJECT", "properties": {"a": INTEGER, "b": TEXT}, "required": ["a", "b"]}, ()),
    ("unique", [{"type": "array", "items": {"type": "string"}, "uniqueItems": False},
                {"uniqueItems": True}],
     {"type": "ARRAY", "items": TEXT, "description": "No two alike."},
     ("x: uniqueItems (said in the description)",)),
    ("closed and open", [{"properties": INNER, "additionalProperties": False},
                         {"additionalProperties": True}],
     {"type": "OBJECT", "properties": {"a": INTEGER}}, ()),
    ("closed and open to text", [{"properties": INNER, "additionalProperties": False},
                                 {"additionalProperties": {"type": "string"}}],
     {"type": "OBJECT", "properties": {"a": INTEGER}}, ()),
    ("open to text and closed", [{"properties": INNER, "additionalProperties": {"type": "string"}},
                                 {"additionalProperties": False}],
     {"type": "OBJECT", "properties": {"a": INTEGER}}, ()),
    ("open to two kinds", [{"properties": INNER, "additionalProperties": {"type": "string"}},
                           {"additionalProperties": {"type": "integer"}}],
     {"type": "OBJECT", "properties": {"a": INTEGER}},
     ("x: only the first of two additionalProperties", OPEN)),
    ("types", [{"type": ["string", "number", "null"]}, {"type": ["string", "null", "integer"]}],
     {"anyOf": [{**TEXT, "nullable": True}, {**INTEGER, "nullable": True}]}, ()),
    ("the narrower type", [{"type": ["number", "string"]}, {"type": ["integer", "number"]}],
     {"type": "NUMBER"}, ()),
    ("a length of a wrong kind", [{"type": "string", "maxLength": "9"}, {"maxLength": 5}], TEXT,
     ("x: only the first of two maxLength",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "wanted", "losses"), [case[1:] for case in TOGETHER], ids=[one[0] for one in TOGETHER]
)
def test_parts_of_one_argument(parts: list[Any], wanted: Any, losses: tuple[str, ...]) -> None:
    assert argument({"allOf": parts}) == (wanted, losses)


@pytest.mark.parametrize("values", [["a"], [1, 2], ["a", 1]], ids=str)
@pytest.mark.parametrize("schema", [{}, {"type": ["string", "integer"]}], ids=str)
def test_choices_may_be_nullable(values: list[Any], schema: dict[str, Any]) -> None:
    declared, losses = argument({**schema, "enum": values})
    assert argument({**schema, "enum": values, "nullable": True}) == (
        {**declared, "nullable": True},
        losses,
    )


def test_what_comes_back_to_itself_may_be_nullable() -> None:
    up = {"nullable": True, "anyOf": [{"$ref": "#/$defs/t"}, {"type": "string"}]}
    declared, _ = argument({"$ref": "#/$defs/t"}, **{"$defs": {"t": {"properties": {"up": up}}}})
    as_text = {**TEXT, "description": "An object as JSON text, with up.", "nullable": True}
    assert declared["properties"]["up"] == {"anyOf": [as_text, {**TEXT, "nullable": True}]}


@pytest.mark.parametrize(
    ("schema", "wanted", "losses"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 2}, {"minLength": 2, "maxLength": 2}, ()),
        ({"type": "string", "minLength": 3, "maxLength": 2}, {}, ("x: minLength above maxLength",)),
        ({"type": "integer", "minimum": 2, "maximum": 2}, {"minimum": 2, "maximum": 2}, ()),
        ({"type": "number", "minimum": 0.5}, {"minimum": 0.5}, ()),
        ({"type": "integer", "maximum": 2, "exclusiveMaximum": 9}, {"maximum": 2}, ()),
    ],
    ids=str,
)
def test_bounds_that_meet(schema: Any, wanted: dict[str, Any], losses: tuple[str, ...]) -> None:
    assert argument(schema) == ({"type": schema["type"].upper(), **wanted}, losses)


def test_a_list_whose_lengths_exclude_each_other_has_none() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 2}
    assert argument(schema) == (
        {"type": "ARRAY", "items": TEXT},
        ("x: minItems above maxItems",),
    )


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ([str(n) for n in range(500)], True),
        ([str(n) for n in range(501)], False),
        (["a" * 4_000, "b" * 4_000], True),
        (["a" * 4_000, "b" * 4_001], False),
    ],
    ids=["500", "501", "8,000 characters", "8,001 characters"],
)
def test_how_many_choices_are_listed(values: list[str], whole: bool) -> None:
    declared, losses = argument({"enum": values})
    assert declared.get("enum") == (values if whole else None)
    assert bool(losses) is not whole


def test_descriptions_end_where_there_is_no_more_room() -> None:
    texts = {f"a{n}": {"type": "string", "description": "x" * 1_000} for n in range(25)}
    declaration = accepted(convert("t", "", {"properties": texts}))
    assert declaration.parameters is not None
    declared = declaration.parameters["properties"]
    assert [name for name in declared if "description" in declared[name]] == list(texts)[:20]
    assert declared["a20"] == TEXT
    assert declaration.losses == ("the descriptions of later arguments",)


def test_choices_take_room_from_the_descriptions() -> None:
    lists = {f"e{n}": {"enum": [f"{n}" + "v" * 7_998]} for n in range(2)}  # 15,998 characters
    texts = {f"a{n}": {"type": "string", "description": "x" * 1_000} for n in range(6)}
    declaration = accepted(convert("t", "", {"properties": {**lists, **texts}}))
    assert declaration.parameters is not None
    declared = declaration.parameters["properties"]
    assert [name for name in declared if "description" in declared[name]] == list(texts)[:4]


def test_objects_after_a_thousand_arguments_are_given_as_text() -> None:
    many = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(128)}}
    objects = {f"a{n}": many for n in range(9)}
    declaration = accepted(convert("t", "", {"properties": objects}))
    assert declaration.parameters is not None
    kinds = [one["type"] for one in declaration.parameters["properties"].values()]
    assert kinds == ["OBJECT"] * 8 + ["STRING"]
    assert declaration.losses == ("a8: a free object, given as JSON text",)


@pytest.mark.parametrize(("count", "more"), [(40, []), (41, ["and 1 more"]), (45, ["and 5 more"])])
def test_forty_losses_are_told(count: int, more: list[str]) -> None:
    arguments: dict[str, Any] = {f"a{n}": {} for n in range(count)}
    declaration = accepted(convert("t", "", {"properties": arguments}))
    assert list(declaration.losses) == [*(f"a{n}: {ANY}" for n in range(40)), *more]
