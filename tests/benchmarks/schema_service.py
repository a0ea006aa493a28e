"""Rules by which the Gemini API refuses a function declaration, as far as they are known.

Source of each rule: "Schema" and "FunctionDeclaration" of the Gemini API reference, and messages of
the service that people reported: an unknown field (zed-industries/zed #44875, nanbingxyz/5ire #42),
no type (danny-avila/LibreChat #6971), a choice that is no text (microsoft/azure-devops-mcp #139,
ihor-sokoliuk/mcp-searxng #89), a list without items, something required that is not there
(iBUHub/AIStudioToAPI #154), a function's name (mcp-router/mcp-router #176).

Where reports differ it is taken as accepted: `format` of any kind, fields beside `anyOf`, an object
without properties. Our simulator is stricter (`tests/simulators/schema.py`); it judges us alone.
"""

import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

FIELDS = frozenset(
    (
        *("type", "format", "title", "description", "nullable", "enum", "minItems", "maxItems"),
        *("properties", "required", "minProperties", "maxProperties", "minLength", "maxLength"),
        *("pattern", "example", "anyOf", "propertyOrdering", "default", "items"),
        *("minimum", "maximum"),
    )
)
TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def camel(name: str) -> str:
    """Return a field's name as in JSON; protobuf's reader accepts both spellings."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def refusal(declaration: Mapping[str, Any]) -> str:
    """Return why the service would refuse the declaration, or "" if it accepts it."""
    name = declaration.get("name")
    if not isinstance(name, str) or not _FUNCTION.fullmatch(name):
        return f"the function's name {name!r}"
    parameters = declaration.get("parameters")
    if parameters is None:
        return ""
    found = _schema(parameters, "parameters")
    if not found and "anyOf" not in parameters and parameters["type"] != "OBJECT":
        return "parameters: type must be OBJECT"
    return found


def _schema(schema: Any, where: str) -> str:
    if not isinstance(schema, dict):
        return f"{where}: no schema"
    fields = {camel(key): value for key, value in schema.items() if value is not None}
    if unknown := sorted(fields.keys() - FIELDS):
        return f'{where}: unknown name "{unknown[0]}"'
    kind = fields.get("type")
    if kind is None and "anyOf" not in fields:
        return f"{where}: type must be specified"
    if kind is not None and kind not in TYPES:
        return f"{where}: type {kind!r}"
    if not isinstance(fields.get("description", ""), str):
        return f"{where}: description"
    for index, member in enumerate(fields.get("anyOf", ())):
        if found := _schema(member, f"{where}.anyOf[{index}]"):
            return found
    return (
        _enum(fields, where)
        or _limits(fields, where)
        or _items(fields, where)
        or _properties(fields, where)
    )


def _enum(fields: Json, where: str) -> str:
    for value in fields.get("enum", ()):
        if not isinstance(value, str):
            return f"{where}.enum: {value!r} is no string"
        if not value:
            return f"{where}.enum: cannot be empty"
    return ""


def _limits(fields: Json, where: str) -> str:
    for key in ("minimum", "maximum"):
        value = fields.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{where}.{key}: {value!r}"
    for key in _COUNTS:
        if key in fields and not re.fullmatch(r"\d+", str(fields[key])):  # as text too: int64
            return f"{where}.{key}: {fields[key]!r}"
    return ""


def _items(fields: Json, where: str) -> str:
    if fields.get("type") != "ARRAY":
        return ""
    return _schema(fields["items"], f"{where}.items") if "items" in fields else f"{where}: no items"


def _properties(fields: Json, where: str) -> str:
    properties = fields.get("properties", {})
    for name, inner in properties.items():
        if not _ARGUMENT.fullmatch(name):
            return f"{where}: the name {name!r}"
        if found := _schema(inner, f"{where}.{name}"):
            return found
    missing = [name for name in fields.get("required", ()) if name not in properties]
    return f"{where}.required: {missing[0]!r} is not defined" if missing else ""
