"""The words that Gemini has for a schema, and the check that nothing else is said.

Google documents the subset as `Schema` of the Gemini API: type, description, nullable, enum (of
strings), properties, required, items, minItems, maxItems, minimum, maximum, minLength, maxLength,
anyOf. `pattern`, `format`, `default` and `title` stand there too, but not every model takes them.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from integrations.cleaning import one_line

MAX_DESCRIPTION = 1_500  # characters of a tool's or argument's description
_MAX_NAME = 64  # characters of an argument's name
_ANYWHERE = frozenset(("type", "description", "nullable"))
_OF_TYPE = {
    "STRING": _ANYWHERE | {"enum", "minLength", "maxLength"},
    "NUMBER": _ANYWHERE | {"minimum", "maximum"},
    "INTEGER": _ANYWHERE | {"minimum", "maximum"},
    "BOOLEAN": _ANYWHERE,
    "ARRAY": _ANYWHERE | {"items", "minItems", "maxItems"},
    "OBJECT": _ANYWHERE | {"properties", "required"},
}
_TEXT = frozenset((str,))
_SURROGATE = re.compile("[\ud800-\udfff]")  # halves of characters, which UTF-8 cannot carry

Schema = dict[str, Any]


def described(schema: Schema, own: str, notes: list[str]) -> Schema:
    """The schema with a description and, whatever must be cut, the notes behind it."""
    kept = schema.get("description", "")
    if not own and not notes:
        return schema
    told = dict.fromkeys((kept, *notes)) if kept else dict.fromkeys(notes)
    said = clean(" ".join(told)) if told else ""
    room = MAX_DESCRIPTION - len(said) - 1
    text = f"{clean(own)[:room]} {said}".strip() if own and own != kept else said
    return {**schema, "description": text} if text else schema


def nullable(schema: Schema) -> Schema:
    """The same, or nothing. Beside anyOf the API allows no other field."""
    if "anyOf" in schema:
        return {"anyOf": [{**member, "nullable": True} for member in schema["anyOf"]]}
    return {**schema, "nullable": True}


def clean(text: str) -> str:
    """One line without control characters, capped."""
    return one_line(text, MAX_DESCRIPTION)


def is_number(value: Any) -> TypeGuard[float]:
    """A finite number; JSON has no other, but Python's reader lets NaN through."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) < 1e300


def type_of(value: Any) -> str:
    """The JSON Schema type of a value; of a whole number "integer", also of 2.0."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if is_number(value):
        return "integer" if float(value).is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def all_text(values: Sequence[Any]) -> bool:
    """Whether all of a list's values are strings."""
    return {*map(type, values)} <= _TEXT


def is_legal_name(name: str) -> bool:
    """Whether an argument may be called so: letters, digits and `_`, no digit first."""
    return name.isascii() and name.isidentifier() and len(name) <= _MAX_NAME


def is_text(value: Any) -> bool:
    """Text that can be sent."""
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def count(value: Any) -> int | None:
    """A length as JSON Schema writes it (also 2.0), or None where it is none."""
    if not is_number(value) or value != int(value) or not 0 <= value < 2**31:
        return None
    return int(value)


def as_json(value: Any) -> str:
    """JSON text of a foreign value; "" where it has none (cyclic, too deep, not finite)."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if is_text(text) else ""


def fault(schema: Any) -> str:
    """What the API would refuse in a schema; "" where nothing. One bad schema ends a session."""
    if not isinstance(schema, dict):
        return "no schema"
    members = schema.get("anyOf")
    if members is not None:
        if len(schema) > 1 or not isinstance(members, list) or len(members) < 2:
            return "anyOf"
        return next(filter(None, map(fault, members)), "")
    kind = schema.get("type")
    if kind not in _OF_TYPE or not schema.keys() <= _OF_TYPE[kind]:
        return f"fields of {kind}"
    plain = 1
    if "description" in schema:
        plain = 2
        if not is_text(schema["description"]):
            return "description"
    if len(schema) == plain and kind not in ("OBJECT", "ARRAY"):
        return ""  # as nearly all are
    if kind == "OBJECT":
        return _object_fault(schema)
    if kind == "ARRAY":
        return fault(schema.get("items")) or _limits_fault(schema, "minItems", "maxItems")
    if kind == "STRING":
        return _enum_fault(schema) or _limits_fault(schema, "minLength", "maxLength")
    return _limits_fault(schema, "minimum", "maximum")


def _object_fault(schema: Schema) -> str:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if not properties:
        return "properties"
    for name, inner in properties.items():
        if not is_legal_name(name):
            return "a property's name"
        if found := fault(inner):
            return found
    return "" if properties.keys() >= set(schema.get("required", ())) else "required"


def _enum_fault(schema: Schema) -> str:
    values = schema.get("enum")
    if values is None:
        return ""
    if not values or not all_text(values) or "" in values:
        return "enum"
    return "" if is_text("".join(values)) and len(set(values)) == len(values) else "enum"


def _limits_fault(schema: Schema, low: str, high: str) -> str:
    if low not in schema and high not in schema:
        return ""
    least, most = schema.get(low, -math.inf), schema.get(high, math.inf)
    legal = all(is_number(schema[key]) for key in (low, high) if key in schema)
    return "" if legal and least <= most else low
