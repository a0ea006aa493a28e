"""Schemas that are too deep, too large, cyclic or nonsense are declared in bounded time."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import Declaration, convert
from tests.unit.integrations.gemini.declared import accepted
from tests.unit.integrations.gemini.schemas import broken, sound

SECONDS = 2.0  # on a loaded machine; each takes a few milliseconds


def in_time(schema: Any) -> Declaration:
    """Return the declaration, made without an error of ours and in time."""
    began = time.process_time()
    declaration = convert("t", "d", schema)
    assert time.process_time() - began < SECONDS
    assert not [loss for loss in declaration.losses if "cannot be read" in loss]
    return accepted(declaration)


def test_absurd_depth() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    declaration = in_time(deep)
    assert declaration.losses == (f"{'.'.join('a' * 9)}: a free object, given as JSON text",)


@pytest.mark.parametrize("keyword", ["items", "not", "additionalProperties"])
def test_absurd_depth_elsewhere(keyword: str) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {"type": "array", keyword: deep}
    assert in_time({"properties": {"a": deep, "b": {"type": "integer"}}}).parameters


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_absurd_depth_of_alternatives(keyword: str) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {keyword: [deep, {"type": "integer"}]}
    assert in_time({"properties": {"a": deep, "b": {"type": "integer"}}}).parameters
    assert in_time(deep)


def test_two_deep_things_are_compared() -> None:
    def deep() -> dict[str, Any]:
        made: dict[str, Any] = {}
        for _ in range(5_000):
            made = {"a": made}
        return made

    both = {"allOf": [{"const": deep()}, {"const": deep()}]}
    kinds = [{"properties": {"a": {"default": deep()}}} for _ in range(2)]
    assert in_time({"properties": {"a": both}, "anyOf": kinds})


def test_300_kilobytes() -> None:
    leaf = {"type": "string", "description": "What this is about, in a sentence or two. " * 3}
    branch = {"type": "object", "properties": {f"leaf_{n}": leaf for n in range(40)}}
    schema = {"properties": {f"branch_{n}": branch for n in range(50)}, "required": ["branch_49"]}
    assert len(json.dumps(schema)) > 300_000
    declaration = in_time(schema)
    assert "the descriptions of later arguments" in declaration.losses
    assert len(json.dumps(declaration.parameters)) < 80_000


def test_many_arguments_and_many_losses() -> None:
    wide = {f"p{n}": {"type": "string", "pattern": "a" * 1_000} for n in range(9_000)}
    declaration = in_time({"properties": wide})
    assert declaration.losses[0] == "8872 of 9000 arguments"
    assert declaration.losses[-1] == "and 89 more"


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_multiply(keyword: str) -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 60} for n in range(30)
    }
    definitions["d30"] = {"type": "string"}
    assert in_time({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}).parameters


def test_objects_that_multiply() -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"properties": {f"p{m}": {"$ref": f"#/$defs/d{n + 1}"} for m in range(20)}}
        for n in range(30)
    }
    assert in_time({"$ref": "#/$defs/d0", "$defs": definitions}).parameters


def test_what_holds_itself() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema["properties"]["a"] = schema
    assert in_time(schema).parameters
    for keyword in ("allOf", "anyOf", "oneOf", "not", "items", "if", "then", "$defs", "const"):
        cyclic: dict[str, Any] = {"properties": {"b": {"type": "string"}}}
        cyclic[keyword] = [cyclic] if keyword.endswith("Of") else cyclic
        declaration = in_time(cyclic)
        assert declaration.parameters, keyword
        in_time({"properties": {"a": cyclic, "b": {"enum": [cyclic]}}})


@pytest.mark.parametrize(
    "value", [None, True, 3, -1.5, float("nan"), "x", [], ["x", 3], {}, [[{}]]]
)
def test_every_keyword_with_every_kind_of_value(value: Any) -> None:
    keywords = (
        *("type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "items"),
        *("prefixItems", "additionalItems", "properties", "required", "additionalProperties"),
        *("$defs", "$ref", "$anchor", "$id", "minimum", "maximum", "exclusiveMinimum", "pattern"),
        *("exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
        *("uniqueItems", "format", "default", "description", "title", "nullable", "examples"),
        *("dependentSchemas", "dependentRequired", "patternProperties", "propertyNames"),
    )
    for keyword in keywords:
        for kind in ("string", "integer", "number", "boolean", "array", "object", "null"):
            in_time({"properties": {"a": {"type": kind, keyword: value}}})
        in_time({"properties": {"a": {"type": "string"}}, keyword: value})


_KEYS = st.sampled_from(
    [
        *("type", "enum", "const", "anyOf", "oneOf", "allOf", "items", "prefixItems", "properties"),
        *("required", "$ref", "not", "minimum", "exclusiveMaximum", "maxLength", "format"),
        *("additionalProperties", "default", "description", "nullable"),
    ]
)
_VALUES = st.sampled_from(["string", "null", "object", "array", "#", "#/properties/a", ["null"]])
_SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.floats()
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
def test_anything_at_all(top: dict[str, Any], properties: dict[str, Any]) -> None:
    in_time(top)
    in_time({**top, "properties": properties})


# --- A thousand generated schemas: each is declared, and arguments written for it are valid.

MANY = 2_000


def test_sound_schemas_are_declared_and_their_arguments_come_back() -> None:
    lossless = 0
    for number, (schema, arguments) in enumerate(sound(MANY)):
        declaration = accepted(convert("t", "", schema))
        assert not _unread(declaration), number
        fitted = fit(schema, arguments)
        assert (fitted.problem, fitted.arguments) == ("", _known(schema, arguments)), number
        if any("any other" in loss or "free" in loss for loss in declaration.losses):
            continue  # the declaration is text although more is allowed
        written = as_written(declaration, arguments)
        fitted = fit(schema, written, declaration.renamed)
        assert (fitted.problem, fitted.arguments) == ("", arguments), number
        if not declaration.losses and declaration.parameters:
            lossless += 1
            admits = Draft202012Validator(as_json_schema(declaration.parameters)).is_valid
            assert admits(written), number
    assert lossless > 150


def test_broken_schemas_are_declared_or_lose_their_arguments() -> None:
    for number, schema in enumerate(broken(MANY)):
        declaration = accepted(convert("t", "", schema))
        assert declaration == convert("t", "", schema), number
        assert not _unread(declaration), number
        fit(schema, {"a": "1", "name": ["x"], "other": {"a": None}}, declaration.renamed)


def _unread(declaration: Declaration) -> list[str]:
    """Return the losses that only an error of ours would cause."""
    return [loss for loss in declaration.losses if "cannot be read" in loss]


def _known(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments, none for a tool whose schema has none."""
    says = schema.get("properties") or schema.get("additionalProperties")
    return arguments if says else {}


def as_written(declaration: Declaration, arguments: dict[str, Any]) -> Any:
    """Write the arguments as a model does that knows only the declaration."""
    return _written(declaration.parameters or {"type": "OBJECT"}, arguments, declaration.renamed)


def _written(schema: dict[str, Any], value: Any, renamed: Mapping[str, str]) -> Any:
    members = schema.get("anyOf", [schema])
    fitting = [one for one in members if _takes(one, value)]
    if value is None and any(one.get("nullable") for one in members):
        return None
    if not fitting:
        assert any(one["type"] == "STRING" for one in members), (schema, value)
        return json.dumps(value)
    inner = fitting[0]
    if isinstance(value, dict):
        names = {renamed.get(name, name): name for name in inner.get("properties", {})}
        return {
            names[own]: _written(inner["properties"][names[own]], one, renamed)
            for own, one in value.items()
        }
    if isinstance(value, list):
        return [_written(inner["items"], one, renamed) for one in value]
    return value


def _takes(schema: dict[str, Any], value: Any) -> bool:
    kinds = {"OBJECT": dict, "ARRAY": list, "STRING": str, "BOOLEAN": bool}
    if schema["type"] in kinds:
        return isinstance(value, kinds[schema["type"]])
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    number = isinstance(value, int | float) and (whole or schema["type"] == "NUMBER")
    return number and not isinstance(value, bool)


def as_json_schema(schema: Any) -> Any:
    """Convert a declaration to JSON Schema."""
    if "anyOf" in schema:
        return {"anyOf": [as_json_schema(one) for one in schema["anyOf"]]}
    plain = {**schema, "type": schema["type"].lower()}
    if "properties" in plain:
        plain["properties"] = {k: as_json_schema(one) for k, one in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = as_json_schema(plain["items"])
    return {"anyOf": [plain, {"type": "null"}]} if plain.pop("nullable", False) else plain
