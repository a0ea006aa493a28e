"""Limits of a declaration, and merging of schema parts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import Translator, convert
from integrations.gemini.merge import legal_name
from integrations.gemini.subset import fault
from tests.shared_data import shared
from tests.unit.integrations.gemini.declared import accepted, argument

TEXT: dict[str, Any] = {"type": "STRING"}
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
     {"type": "ARRAY", "items": TEXT, "description": "No duplicates."},
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


# --- Names that Gemini does not accept are changed and mapped back.


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("HassTurnOn", "HassTurnOn"),
        ("a.b:c-d_e", "a.b:c-d_e"),
        ("1bad", "_1bad"),
        ("-a", "_-a"),
        ("a b", "a_b"),
        ("ñandú", "_and_"),
        ("", "_"),
        ("x" * 300, "x" * 128),
        ("1" * 128, "_" + "1" * 127),
    ],
)
def test_tools(name: str, legal: str) -> None:
    assert accepted(convert(name, "", {})).name == legal == legal_name(name)


@pytest.mark.parametrize(
    ("names", "declared"),
    [
        (["a", "_b", "C3"], ["a", "_b", "C3"]),
        (["a b"], ["a_b"]),
        (["a b", "a_b"], ["a_b_2", "a_b"]),
        (["a_b", "a b", "a.b"], ["a_b", "a_b_2", "a_b_3"]),
        (["größe", "1st", ""], ["gr__e", "_1st", "_"]),
        (["日本", "中国"], ["__", "___2"]),
        (["x" * 64, "x" * 65, "x" * 66], ["x" * 64, "x" * 56, "x" * 56 + "_2"]),
        ([1, "1"], ["_1"]),
    ],
)
def test_arguments(names: list[Any], declared: list[str]) -> None:
    schema = {"properties": {name: {"type": "integer"} for name in names}, "required": names}
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters is not None
    assert list(declaration.parameters["properties"]) == declared
    written = {name: number for number, name in enumerate(declared)}
    texts = dict.fromkeys(str(name) for name in names)
    given = fit(schema, written, declaration.renamed)
    assert given.arguments == {name: number for number, name in enumerate(texts)}


@pytest.mark.parametrize("order", [("outer", "inner"), ("inner", "outer")])
def test_one_level_does_not_take_the_names_of_another(order: tuple[str, str]) -> None:
    kinds: dict[str, Any] = {
        "outer": {"a b": {"type": "integer"}},
        "inner": {"in": {"type": "object", "properties": {"a_b": {"type": "integer"}}}},
    }
    schema = {"properties": {**kinds[order[0]], **kinds[order[1]]}}
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters is not None
    properties = declaration.parameters["properties"]
    (inner,) = properties["in"]["properties"]
    (outer,) = properties.keys() - {"in"}
    fitted = fit(schema, {outer: 1, "in": {inner: 2}}, declaration.renamed)
    assert fitted.arguments == {"a b": 1, "in": {"a_b": 2}}


# --- The final check of a declaration, whatever the translation made.

WRONG: list[tuple[Any, str]] = [
    (None, "no schema"),
    ({}, "fields of None"),
    ({"type": "NULL"}, "fields of NULL"),
    ({"type": "string"}, "fields of string"),
    ({**TEXT, "title": "t"}, "fields of STRING"),
    ({**TEXT, "minimum": 1}, "fields of STRING"),
    ({**TEXT, "description": "\ud800"}, "description"),
    ({**TEXT, "enum": []}, "enum"),
    ({**TEXT, "enum": [1]}, "enum"),
    ({**TEXT, "enum": [""]}, "enum"),
    ({**TEXT, "enum": ["a", "a"]}, "enum"),
    ({**TEXT, "enum": ["\ud800"]}, "enum"),
    ({**TEXT, "minLength": 2, "maxLength": 1}, "minLength"),
    ({"type": "NUMBER", "minimum": "1"}, "minimum"),
    ({"type": "NUMBER", "maximum": float("inf")}, "minimum"),
    ({"type": "ARRAY"}, "no schema"),
    ({"type": "ARRAY", "items": {"type": "ARRAY"}}, "no schema"),
    (
        {"type": "ARRAY", "items": TEXT, "minItems": 2, "maxItems": 1},
        "minItems",
    ),
    ({"type": "OBJECT", "properties": {}}, "properties"),
    ({"type": "OBJECT", "properties": {"a b": TEXT}}, "a property's name"),
    ({"type": "OBJECT", "properties": {"a": {}}}, "fields of None"),
    (
        {"type": "OBJECT", "properties": {"a": TEXT}, "required": ["b"]},
        "required",
    ),
    ({"anyOf": [TEXT]}, "anyOf"),
    ({"anyOf": [TEXT, TEXT], "description": "d"}, "anyOf"),
    ({"anyOf": [TEXT, {}]}, "fields of None"),
]


@pytest.mark.parametrize(("schema", "wrong"), WRONG, ids=str)
def test_what_the_service_refuses_is_named(schema: Any, wrong: str) -> None:
    assert fault(schema) == wrong


@pytest.mark.parametrize(("schema", "wrong"), [one for one in WRONG if one[0]], ids=str)
def test_a_wrong_translation_is_not_declared(
    schema: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translator, "top", lambda _: schema)
    declaration = convert("t", "", {"properties": {"a": {}}})
    assert (declaration.parameters, declaration.renamed) == (None, {})
    assert declaration.losses == (f"all arguments: the schema cannot be read ({wrong})",)


def test_an_error_of_ours_costs_the_arguments_of_one_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Translator) -> None:
        raise RecursionError

    monkeypatch.setattr(Translator, "top", fail)
    declaration = convert("t", "d", {"properties": {"a": {}}})
    assert declaration.parameters is None
    assert declaration.losses == ("all arguments: the schema cannot be read (RecursionError)",)


# --- Recorded menus of real Home Assistants: only one odd argument is lost.

# Home Assistant gives only a description of it.
UNTYPED = ("is_volume_muted: any value, but no object can be given",)


def tools(*parts: str) -> Iterator[dict[str, Any]]:
    """Yield the tools of one recorded reply."""
    content = json.loads(shared(*parts).read_text())
    found = content["result"]["tools"] if isinstance(content, dict) else content
    assert found
    yield from found


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        (("data", "ha-mcp-tools-list.json"), 16),
        (("home-assistant", "tools-list-assist.json"), 32),
        (("home-assistant", "tools-timers.json"), 8),
    ],
)
def test_every_tool_is_declared(parts: tuple[str, ...], count: int) -> None:
    listed = list(tools(*parts))
    assert len(listed) == count
    for tool in listed:
        declaration = accepted(convert(tool["name"], tool["description"], tool["inputSchema"]))
        assert declaration.name == tool["name"]
        arguments = tool["inputSchema"]["properties"]
        declared = (declaration.parameters or {}).get("properties", {})
        assert list(declared) == list(arguments)
        assert declaration.losses == (UNTYPED if "is_volume_muted" in arguments else ())
        assert declaration.renamed == {}
        required = tool["inputSchema"].get("required", [])
        assert (declaration.parameters or {}).get("required", []) == required
