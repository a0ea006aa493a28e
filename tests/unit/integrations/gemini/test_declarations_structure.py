"""Objects, lists, references and whole tools: their declarations and losses."""

from typing import Any

import pytest

from integrations.gemini.declarations import convert
from tests.unit.integrations.gemini.declared import accepted, argument

TEXT = {"type": "STRING"}
PLAIN = [TEXT, {"type": "NUMBER"}, {"type": "BOOLEAN"}]
A_LIST = {"type": "ARRAY", "items": {"anyOf": PLAIN}}
ANY_PLAIN = {"anyOf": [{**one, "nullable": True} for one in PLAIN]}
ANYTHING = {"anyOf": [*ANY_PLAIN["anyOf"], {**A_LIST, "nullable": True}]}
RED = {**TEXT, "enum": ["red"]}
SAID = "(said in the description)"
ANY = "any value, but no object can be given"
FREE = "a free object, given as JSON text"
DEEPER = "recursion: deeper levels are given as JSON text"
DEFINITIONS: dict[str, Any] = {
    "colour": {"enum": ["red"]},
    "a/b": {"enum": ["red"]},
    "a~b c": {"enum": ["red"]},
    "anchored": {"$anchor": "here", "enum": ["red"]},
    "named": {"$id": "colour.json", "enum": ["red"]},
    "of draft 7": {"$id": "#there", "enum": ["red"]},
    "of draft 4": {"id": "#then", "enum": ["red"]},
    "via": {"$ref": "#/$defs/colour", "description": "inner"},
    "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "nothing": False,
    "all": True,
    "tree": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/tree"}},
    },
    "list": {"type": "array", "items": {"$ref": "#/$defs/list"}},
}

REFERENCES: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("plain", {"$ref": "#/$defs/colour"}, RED, ()),
    ("sibling", {"$ref": "#/$defs/colour", "description": "d"}, {**RED, "description": "d"}, ()),
    ("outer description", {"$ref": "#/$defs/via", "description": "outer"},
     {**RED, "description": "outer"}, ()),
    ("through another", {"$ref": "#/$defs/via"}, {**RED, "description": "inner"}, ()),
    ("a property", {"$ref": "#/properties/y"}, {"type": "BOOLEAN"}, ()),
    ("into a list", {"$ref": "#/$defs/colour/enum/0"}, ANYTHING,
     ("x: reference #/$defs/colour/enum/0", f"x: {ANY}")),
    ("into a list of schemas", {"$ref": "#/$defs/either/anyOf/1"}, TEXT, ()),
    *(
        (f"nowhere in a list: {place[:4]}", {"$ref": f"#/$defs/either/anyOf/{place}"}, ANYTHING,
         (f"x: reference {f'#/$defs/either/anyOf/{place}'[:60]}", f"x: {ANY}"))
        for place in ("2", "-1", "-", "", "9" * 5_000)  # the last one is too long to read
    ),
    ("~1", {"$ref": "#/$defs/a~1b"}, RED, ()),
    ("~0 and %20", {"$ref": "#/$defs/a~0b%20c"}, RED, ()),
    ("$anchor", {"$ref": "#here"}, RED, ()),
    ("$dynamicRef", {"$dynamicRef": "#here"}, RED, ()),
    ("$id", {"$ref": "colour.json"}, RED, ()),
    ("$id that is an anchor", {"$ref": "#there"}, RED, ()),
    ("id that is an anchor", {"$ref": "#then"}, RED, ()),
    ("beside null alone",
     {"properties": {"a": {"$ref": "#/$defs/colour"}}, "oneOf": [{"type": "null"}]},
     {"type": "OBJECT", "properties": {"a": RED}, "nullable": True}, ()),
    ("$id under the root's", {"$ref": "https://a.b/colour.json"}, RED, ()),
    ("$id with a pointer", {"$ref": "https://a.b/root.json#/$defs/colour"}, RED, ()),
    ("nowhere", {"$ref": "#/$defs/none"}, ANYTHING, ("x: reference #/$defs/none", f"x: {ANY}")),
    ("remote", {"$ref": "https://example.org/s.json"}, ANYTHING,
     ("x: reference https://example.org/s.json", f"x: {ANY}")),
    ("no URL", {"$ref": "http://[/s.json"}, ANYTHING,
     ("x: reference http://[/s.json", f"x: {ANY}")),
    ("of a wrong kind", {"$ref": 5}, ANYTHING, (f"x: {ANY}",)),
    ("to false", {"$ref": "#/$defs/nothing"}, ANYTHING, ("x: it admits nothing", f"x: {ANY}")),
    ("to true twice", {"$ref": "#/$defs/all", "properties": {"a": {"$ref": "#/$defs/all"}}},
     {"type": "OBJECT", "properties": {"a": ANYTHING}}, (f"x.a: {ANY}",)),
    ("to itself", {"$ref": "#/properties/x"}, {**TEXT, "description": "A value as JSON text."},
     (f"x: {DEEPER}", f"x: {FREE}")),
    ("recursive", {"$ref": "#/$defs/tree"},
     {"type": "OBJECT", "properties": {
         "name": TEXT,
         "child": {**TEXT, "description": "An object as JSON text, with name, child."}}},
     (f"x.child: {DEEPER}", f"x.child: {FREE}")),
    ("recursive list", {"$ref": "#/$defs/list"},
     {"type": "ARRAY", "items": {**TEXT, "description": "A list as JSON text."}},
     (f"x[]: {DEEPER}", f"x[]: {FREE}")),
]  # fmt: skip

LISTS: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("without items", {"type": "array"}, {"items": ANY_PLAIN}, (f"x[]: {ANY}",)),
    ("items true", {"type": "array", "items": True}, {"items": ANY_PLAIN}, (f"x[]: {ANY}",)),
    ("items false", {"type": "array", "items": False}, {"items": ANY_PLAIN},
     ("x[]: it admits nothing", f"x[]: {ANY}")),
    ("items of a wrong kind", {"type": "array", "items": "a"}, {"items": ANY_PLAIN},
     (f"x[]: {ANY}",)),
    ("lengths", {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2.0},
     {"items": TEXT, "minItems": 1, "maxItems": 2}, ()),
    ("lengths of a wrong kind",
     {"type": "array", "items": {"type": "string"}, "minItems": -1, "maxItems": "2"},
     {"items": TEXT}, ()),
    ("unique", {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
     {"items": TEXT, "description": "No duplicates."}, (f"x: uniqueItems {SAID}",)),
    ("contains", {"type": "array", "items": {"type": "string"}, "contains": {"const": "a"}},
     {"items": TEXT}, ("x: contains",)),
    ("tuple", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}],
               "items": False},
     {"items": {"anyOf": [TEXT, {"type": "INTEGER"}]}, "maxItems": 2,
      "description": "In this order: string, integer."},
     (f"x: the positions of a list {SAID}",)),
    ("tuple of draft 7", {"items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
     {"items": {"anyOf": [TEXT, {"type": "INTEGER"}]},
      "description": "In this order: string, integer."},
     (f"x: the positions of a list {SAID}",)),
    ("tuple of places without a type", {"prefixItems": [{"type": "string"}, {"title": "t"}]},
     {"items": {"anyOf": [{**one, "nullable": True} for one in PLAIN]},
      "description": "In this order: string, any."},
     (f"x: the positions of a list {SAID}", "x[]: any other list or object")),
    ("lists of lists", {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
     {"items": {"type": "ARRAY", "items": {"type": "INTEGER"}}}, ()),
]  # fmt: skip

INNER = {"a": {"type": "integer"}}
NO_NAMES: tuple[Any, ...] = (["a"], "a", True, {})
OBJECTS: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("plain", {"type": "object", "properties": INNER, "required": ["a", "b", "a", 3, []]},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}, "required": ["a"]}, ()),
    ("missing type", {"properties": INNER},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}, ()),
    ("closed", {"properties": INNER, "additionalProperties": False},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}, ()),
    ("open", {"properties": INNER, "additionalProperties": {"type": "string"}},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}},
     ("x: further entries, whose names are free",)),
    ("patterns", {"properties": INNER, "patternProperties": {"^b": {}}},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}, ("x: patternProperties",)),
    ("no properties", {"type": "object"},
     {**TEXT, "description": "An object as JSON text."}, (f"x: {FREE}",)),
    ("free", {"type": "object", "additionalProperties": True, "minProperties": 1},
     {**TEXT, "description": "An object as JSON text. At least 1 entries."},
     (f"x: minProperties {SAID}", f"x: {FREE}")),
    ("properties of a wrong kind", {"type": "object", "properties": [1], "required": "a"},
     {**TEXT, "description": "An object as JSON text."}, (f"x: {FREE}",)),
    ("dependent", {"properties": INNER, "dependentRequired": {"a": ["b", "c"]}},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}},
      "description": "With a also b, c."}, (f"x: dependentRequired {SAID}",)),
    *(
        (f"dependent of a wrong kind: {one}", {"properties": INNER, "dependentRequired": one},
         {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}, ())
        for one in NO_NAMES
    ),
    ("conditions", {"properties": INNER, "if": {}, "then": {"properties": {"c": INNER["a"]}},
                    "dependentSchemas": {"a": {"properties": {"b": INNER["a"]}}}},
     {"type": "OBJECT", "properties": {name: {"type": "INTEGER"} for name in "acb"}},
     ("x: conditional rules",)),
    ("a condition that can be said",
     {"properties": INNER, "if": {"properties": {"a": {"enum": [1, 2]}}},
      "then": {"required": ["b"]}},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}},
      "description": "Where a is 1 or 2 also b."}, (f"x: conditional rules {SAID}",)),
    ("a condition beside dependentSchemas",
     {"properties": INNER, "if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]},
      "dependentSchemas": {"a": {"properties": {"b": INNER["a"]}}}},
     {"type": "OBJECT", "properties": {name: {"type": "INTEGER"} for name in "ab"}},
     ("x: conditional rules",)),
    ("a condition that is said in part",
     {"properties": INNER, "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
      "then": {"required": ["b"], "minProperties": 2}},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}},
      "description": "Where a is 1 also b."}, ("x: conditional rules",)),
    *(
        (f"a condition of another kind: {one}", {"properties": INNER, **one},
         {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}},
         ("x: conditional rules",))
        for one in (
            {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {}},
            {"if": {"properties": {"a": {"minimum": 1}}}, "then": {"required": ["b"]}},
            {"if": {"properties": {}}, "then": {"required": ["b"]}},
            {"if": {"minProperties": 1}, "then": {"required": ["b"]}},
            {"if": True, "then": {"required": ["b"]}},
            {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": "b"}},
        )
    ),
    ("allOf", {"allOf": [{"properties": INNER, "required": ["a"]},
                         {"properties": {"a": {"minimum": 1}, "b": {"type": "string"}}}]},
     {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "minimum": 1}, "b": TEXT},
      "required": ["a"]}, ()),
    ("anyOf of what is required",
     {"properties": INNER, "anyOf": [{"required": ["a"]}, {"description": "or nothing"}]},
     {"anyOf": [{"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}, "required": ["a"]},
                {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}},
                 "description": "or nothing"}]}, ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "wanted", "losses"),
    [case[1:] for case in (*REFERENCES, *OBJECTS)],
    ids=[case[0] for case in (*REFERENCES, *OBJECTS)],
)
def test_references_and_objects(schema: Any, wanted: Any, losses: tuple[str, ...]) -> None:
    properties = {"x": schema, "y": {"type": "boolean"}}
    top = {"$id": "https://a.b/root.json", "$defs": DEFINITIONS, "properties": properties}
    assert argument(schema, **top) == (wanted, losses)


@pytest.mark.parametrize(
    ("schema", "wanted", "losses"), [case[1:] for case in LISTS], ids=[case[0] for case in LISTS]
)
def test_lists(schema: Any, wanted: dict[str, Any], losses: tuple[str, ...]) -> None:
    assert argument(schema) == ({"type": "ARRAY", **wanted}, losses)


@pytest.mark.parametrize(
    ("schema", "losses"),
    [
        ({}, ()),
        ({"type": "object"}, ()),
        ({"type": "object", "properties": {}, "additionalProperties": False}, ()),
        ({"type": "object", "properties": None, "required": None}, ()),
        ({"properties": {"a": False}}, ()),
        ({"additionalProperties": {"type": "string"}}, ("all arguments, whose names are free",)),
        ({"type": "string"}, ("all arguments, which are not an object",)),
        (True, ()),
        (False, ()),
        (None, ()),
        ([], ()),
        ("x", ()),
    ],
)
def test_no_arguments(schema: Any, losses: tuple[str, ...]) -> None:
    declaration = accepted(convert("t", "d", schema))
    assert (declaration.parameters, declaration.losses) == (None, losses)


def test_named_arguments_of_an_open_tool_are_declared() -> None:
    declaration = accepted(convert("t", "", {"properties": INNER, "additionalProperties": True}))
    assert declaration.parameters == {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}
    assert declaration.losses == ("further entries, whose names are free",)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_of_the_whole_tool_are_offered_together(keyword: str) -> None:
    by_name = {"properties": {"kind": {"const": "name"}, "name": {"type": "string"}}}
    by_id = {"properties": {"kind": {"const": "id"}, "id": {"type": "integer"}}}
    schema: dict[str, Any] = {
        "properties": {"force": {"type": "boolean"}},
        "required": ["force"],
        keyword: [
            {**by_name, "required": ["kind", "name"]},
            {"$ref": "#/$defs/by_id"},
        ],
        "$defs": {"by_id": {**by_id, "required": ["kind", "id"]}},
    }
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters == {
        "type": "OBJECT",
        "properties": {
            "force": {"type": "BOOLEAN"},
            "kind": {"type": "STRING", "enum": ["name", "id"]},
            "name": TEXT,
            "id": {"type": "INTEGER"},
        },
        "required": ["force", "kind"],
    }
    assert declaration.losses == ("that only some of the arguments go together",)


def test_a_whole_tool_behind_a_reference() -> None:
    schema = {"$ref": "#/$defs/arguments", "$defs": {"arguments": {"properties": INNER}}}
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters is not None
    assert declaration.parameters["properties"] == {"a": {"type": "INTEGER"}}


def test_too_many_arguments_lose_those_that_need_not_be_given() -> None:
    properties = {f"p{n}": {"type": "integer"} for n in range(300)}
    declaration = accepted(convert("t", "", {"properties": properties, "required": ["p299"]}))
    assert declaration.parameters is not None
    kept = list(declaration.parameters["properties"])
    assert (len(kept), kept[0], kept[-1]) == (128, "p299", "p126")
    assert declaration.losses == ("172 of 300 arguments",)


DEEP: list[tuple[str, Any, Any, str]] = [
    ("object", {"properties": INNER}, {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}},
     "An object as JSON text, with a."),
    ("list", {"type": "array", "items": {"type": "string"}}, {"type": "ARRAY", "items": TEXT},
     "A list as JSON text."),
    ("alternatives", {"anyOf": [{"type": "string"}, {"type": "number"}]}, {"anyOf": PLAIN[:2]},
     "A value as JSON text."),
    ("text", {"type": "string"}, TEXT, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "whole", "told"), [case[1:] for case in DEEP], ids=[case[0] for case in DEEP]
)
def test_what_is_too_deep_is_given_as_text(schema: Any, whole: Any, told: str) -> None:
    as_text = {**TEXT, "description": told} if told else TEXT
    for levels, wanted in ((7, whole), (8, as_text)):
        outer = schema
        for _ in range(levels):
            outer = {"type": "object", "properties": {"a": outer}}
        declared, losses = argument(outer)
        for _ in range(levels):
            declared = declared["properties"]["a"]
        path = ".".join(["x", *"a" * levels])
        assert declared == wanted
        assert losses == ((f"{path}: {FREE}",) if wanted != whole else ())


def test_what_stands_beside_null_counts_among_the_levels() -> None:
    schema: Any = {"type": "integer"}
    for _ in range(6):
        schema = {"properties": {"a": schema}, "anyOf": [{"type": "null"}]}
    declared, losses = argument(schema)
    for _ in range(4):  # of the schema; each counts as two
        assert declared["nullable"] is True
        declared = declared["properties"]["a"]
    assert declared == {**TEXT, "description": "An object as JSON text, with a."}
    assert losses == (f"x.a.a.a.a: {FREE}",)
