"""Every kind of JSON Schema becomes a declaration that the Gemini API's subset admits."""

import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.gemini.declarations import convert, legal_name
from tests.shared_data import shared

FIELDS = {
    *("type", "description", "nullable", "enum", "properties", "required", "items", "anyOf"),
    *("minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength"),
}
TYPES = {"STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"}


def check(schema: Any) -> None:
    """Refuse whatever is outside of the subset."""
    assert set(schema) <= FIELDS, schema
    if "anyOf" in schema:
        assert set(schema) == {"anyOf"}
        assert len(schema["anyOf"]) > 1
        for member in schema["anyOf"]:
            assert "anyOf" not in member
            check(member)
        return
    assert schema["type"] in TYPES
    if "enum" in schema:
        assert schema["type"] == "STRING"
        assert schema["enum"]
        assert all(isinstance(value, str) and value for value in schema["enum"])
        assert len(set(schema["enum"])) == len(schema["enum"])
    if schema["type"] == "OBJECT":
        assert schema["properties"]
        assert set(schema.get("required", [])) <= set(schema["properties"])
        for name, value in schema["properties"].items():
            assert len(name) <= 64
            assert set(name) <= set(string.ascii_letters + string.digits + "_")
            assert not name[0].isdigit()
            check(value)
    if schema["type"] == "ARRAY":
        check(schema["items"])
    json.dumps(schema, allow_nan=False)


def one(schema: Any, **top: Any) -> tuple[Any, tuple[str, ...]]:
    """Convert a tool with the single argument `x`."""
    declaration = convert("t", "", {"type": "object", "properties": {"x": schema}, **top})
    assert declaration.parameters is not None
    check(declaration.parameters)
    return declaration.parameters["properties"]["x"], declaration.losses


TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/tree"}},
}
CASES: list[tuple[str, Any, Any]] = [
    ("plain", {"type": "string"}, {"type": "STRING"}),
    ("empty", {}, {"type": "STRING"}),
    ("true", True, {"type": "STRING"}),
    ("false", False, {"type": "STRING"}),
    ("unknown type", {"type": "thing"}, {"type": "STRING"}),
    ("const", {"const": "a"}, {"type": "STRING", "enum": ["a"]}),
    ("enum without type", {"enum": ["a", "b", "a"]}, {"type": "STRING", "enum": ["a", "b"]}),
    (
        "integer enum",
        {"type": "integer", "enum": [3, 1, 2]},
        {"type": "INTEGER", "minimum": 1, "maximum": 3, "description": "One of: 3, 1, 2."},
    ),
    ("mixed enum", {"enum": ["a", 1]}, {"type": "STRING", "enum": ["a", "1"]}),
    ("enum with null", {"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
    ("empty choice", {"enum": ["", "a"]}, {"type": "STRING", "enum": ["a"]}),
    ("null list", {"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
    (
        "two types",
        {"type": ["string", "integer"]},
        {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
    ),
    (
        "anyOf null",
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
        {"type": "INTEGER", "description": "d", "nullable": True},
    ),
    (
        "anyOf with anything",
        {"anyOf": [{}, {"type": "array", "items": {"type": "string"}}]},
        {"type": "ARRAY", "items": {"type": "STRING"}},
    ),
    (
        "oneOf",
        {"oneOf": [{"type": "string"}, {"type": "number"}], "description": "d"},
        {
            "anyOf": [
                {"type": "STRING", "description": "d"},
                {"type": "NUMBER", "description": "d"},
            ]
        },
    ),
    (
        "allOf bounds",
        {"allOf": [{"type": "integer"}, {"type": "number", "minimum": 0, "maximum": 100}]},
        {"type": "INTEGER", "minimum": 0, "maximum": 100},
    ),
    (
        "allOf intersection",
        {"allOf": [{"minimum": 1, "maximum": 9}, {"minimum": 3}, {"maximum": 7}]},
        {"type": "NUMBER", "minimum": 3, "maximum": 7},
    ),
    (
        "exclusive integer",
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        {"type": "INTEGER", "minimum": 1, "maximum": 9},
    ),
    (
        "exclusive number",
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "NUMBER", "minimum": 0, "description": "Greater than 0."},
    ),
    (
        "draft 4 exclusive",
        {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        {"type": "INTEGER", "minimum": 1},
    ),
    ("ref", {"$ref": "#/$defs/colour"}, {"type": "STRING", "enum": ["red"]}),
    (
        "ref with sibling",
        {"$ref": "#/$defs/colour", "description": "d"},
        {"type": "STRING", "enum": ["red"], "description": "d"},
    ),
    ("ref to property", {"$ref": "#/properties/y"}, {"type": "BOOLEAN"}),
    ("remote ref", {"$ref": "https://example.org/s.json"}, {"type": "STRING"}),
    ("ref to itself", {"$ref": "#/properties/x"}, {"type": "STRING", "description": "JSON text."}),
    (
        "recursive ref",
        {"$ref": "#/$defs/tree"},
        {
            "type": "OBJECT",
            "properties": {
                "name": {"type": "STRING"},
                "child": {"type": "STRING", "description": "JSON text."},
            },
        },
    ),
    ("array without items", {"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
    (
        "items false",
        {"type": "array", "items": False},
        {"type": "ARRAY", "items": {"type": "STRING"}},
    ),
    (
        "tuple",
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}},
    ),
    (
        "unique items",
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
        {
            "type": "ARRAY",
            "items": {"type": "STRING"},
            "minItems": 1,
            "description": "No two alike.",
        },
    ),
    (
        "free object",
        {"type": "object", "additionalProperties": True},
        {"type": "STRING", "description": "JSON text."},
    ),
    (
        "format and pattern",
        {"type": "string", "format": "time", "pattern": "^a"},
        {"type": "STRING", "description": "Pattern: ^a. Format: time."},
    ),
    ("nullable", {"type": "string", "nullable": True}, {"type": "STRING", "nullable": True}),
    (
        "object",
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]},
        {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}, "required": ["a"]},
    ),
]


@pytest.mark.parametrize(
    ("schema", "wanted"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_one_argument(schema: Any, wanted: Any) -> None:
    properties = {"x": schema, "y": {"type": "boolean"}}
    definitions = {"colour": {"enum": ["red"]}, "tree": TREE}
    converted, _ = one(schema, properties=properties, **{"$defs": definitions})
    assert converted == wanted


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}, True, None, [], "x", 3]
)
def test_no_arguments(schema: Any) -> None:
    assert convert("t", "d", schema).parameters is None


@pytest.mark.parametrize(
    "keyword",
    [
        {"additionalProperties": False, "properties": {"a": {}}},
        {"format": "date", "type": "string"},
        {"not": {"type": "string"}},
        {"exclusiveMinimum": 0.5, "type": "number"},
        {"enum": [1, 2]},
    ],
)
def test_each_loss_is_told(keyword: dict[str, Any]) -> None:
    _, losses = one(keyword)
    assert any(next(iter(keyword)) in loss or "numbers" in loss for loss in losses), losses


def test_illegal_argument_names_are_renamed_and_remembered() -> None:
    schema = {"properties": {"a b": {}, "a_b": {}, "1": {}}, "required": ["a b"]}
    declaration = convert("t", "", schema)
    assert declaration.parameters is not None
    check(declaration.parameters)
    assert len(declaration.parameters["properties"]) == 3
    assert sorted(declaration.renamed.values()) == ["1", "a b"]
    (required,) = declaration.parameters["required"]
    assert declaration.renamed[required] == "a b"


@pytest.mark.parametrize("name", ["1bad", "a b", "", "ñandú", "x" * 300, "a.b:c-d_e", "_ok"])
def test_names_become_legal(name: str) -> None:
    legal = legal_name(name)
    assert 0 < len(legal) <= 128
    assert set(legal) <= set(string.ascii_letters + string.digits + "_.:-")
    assert not legal[0].isdigit()


def test_absurd_depth_and_size_end_in_time() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    one(deep)
    wide = {
        f"p{n}": {"type": "object", "properties": {"v": {"type": "integer"}}} for n in range(9_000)
    }
    declaration = convert("t", "d", {"properties": wide})
    check(declaration.parameters)
    assert declaration.losses


def _recorded() -> list[dict[str, Any]]:
    folder = shared("home-assistant")
    files = [folder / "tools-list-assist.json", folder / "tools-timers.json"]
    files.append(shared("data", "ha-mcp-tools-list.json"))
    tools: list[dict[str, Any]] = []
    for file in files:
        content = json.loads(file.read_text())
        found = content.get("result", content) if isinstance(content, dict) else content
        tools += found["tools"] if isinstance(found, dict) else found
    return tools


def test_recorded_tools_convert_and_the_sdk_accepts_them() -> None:
    types = pytest.importorskip("google.genai.types")
    tools = _recorded()
    assert len(tools) >= 50
    for tool in tools:
        declaration = convert(tool["name"], tool.get("description", ""), tool["inputSchema"])
        if declaration.parameters is not None:
            check(declaration.parameters)
            names = {declaration.renamed.get(n, n) for n in declaration.parameters["properties"]}
            assert names == set(tool["inputSchema"]["properties"])
        types.FunctionDeclaration(
            name=declaration.name,
            description=declaration.description,
            parameters=declaration.parameters,
        )


_SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.floats()
_KEYS = st.sampled_from(
    [
        *("type", "enum", "const", "anyOf", "oneOf", "allOf", "items", "prefixItems", "properties"),
        *("required", "$ref", "not", "minimum", "exclusiveMaximum", "maxLength", "format"),
        *("additionalProperties", "default", "description", "nullable"),
    ]
)
_VALUES = st.sampled_from(["string", "null", "object", "array", "#", "#/properties/a", ["null"]])
_JSON = st.recursive(
    _SCALARS | _VALUES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYS | st.sampled_from("ab"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(_KEYS, _JSON, max_size=4),
    st.dictionaries(st.text(max_size=3), _JSON, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_never_raises_and_never_leaves_the_subset(
    top: dict[str, Any], properties: dict[str, Any]
) -> None:
    for schema in (top, {**top, "properties": properties}):
        declaration = convert("t", "d", schema)
        if declaration.parameters is not None:
            check(declaration.parameters)
