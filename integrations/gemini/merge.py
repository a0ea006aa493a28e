"""Makes one JSON Schema node out of two: of `$ref` and its siblings, or of the parts of `allOf`."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.gemini.subset import is_number

Json = Mapping[str, Any]
Lose = Callable[[str], None]

ALL_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
ANNOTATIONS = frozenset(
    ("$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "default")
) | {"definitions", "deprecated", "description", "examples", "id", "readOnly", "title", "writeOnly"}
_LOWER = ("minimum", "exclusiveMinimum", "minItems", "minLength", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxItems", "maxLength", "maxProperties")
_USED_BY = (
    ("object", frozenset(("properties", "additionalProperties"))),
    (
        "array",
        frozenset(("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")),
    ),
    ("number", frozenset((*_LOWER[:2], *_UPPER[:2], "multipleOf"))),
    ("string", frozenset(("minLength", "maxLength", "pattern", "format", "contentEncoding"))),
)


def types_of(node: Json) -> list[str]:
    """The declared types in lower case; empty where none is declared."""
    declared = node.get("type")
    if isinstance(declared, str) and declared in ALL_TYPES:
        return [declared]
    names = declared if isinstance(declared, list) else [declared]
    lower = (name.lower() for name in names if isinstance(name, str))
    return list(dict.fromkeys(name for name in lower if name in ALL_TYPES))


def likely_type(node: Json) -> str:
    """The first declared type but null, else the one that the keywords are of; "" if none is."""
    declared = next((name for name in types_of(node) if name != "null"), "")
    return declared or next((kind for kind, keys in _USED_BY if not keys.isdisjoint(node)), "")


def alike(one: Any, other: Any) -> bool:
    """Equal; what is nested too deeply to compare is not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def merge(first: Json, second: Json, lose: Lose) -> dict[str, Any]:
    """The node that both admit, as far as the keywords used for declarations go."""
    merged = {**second, **first}
    for key in first.keys() & second.keys() - {"type"}:
        merged[key] = _both(key, first[key], second[key], lose)
    types = _common_types(types_of(first), types_of(second), lose)
    if types:
        merged["type"] = types if len(types) > 1 else types[0]
    return merged


def _both(key: str, one: Any, other: Any, lose: Lose) -> Any:
    """One keyword that stands in both nodes."""
    if key in ANNOTATIONS or alike(one, other):
        return one
    if is_number(one) and is_number(other) and key in _LOWER + _UPPER:
        return max(one, other) if key in _LOWER else min(one, other)
    if isinstance(one, list) and isinstance(other, list) and key in ("required", "enum"):
        if key == "required":
            return [*one, *(name for name in other if name not in one)]
        return [value for value in one if any(alike(value, also) for also in other)] or one
    if isinstance(one, dict) and isinstance(other, dict):
        if key == "properties":
            return {
                name: {"allOf": [one[name], other[name]]} if name in one and name in other else sub
                for name, sub in {**other, **one}.items()
            }
        if key == "items":
            return {"allOf": [one, other]}
    if isinstance(one, bool) and isinstance(other, bool):  # false forbids, except of uniqueItems
        return (one or other) if key == "uniqueItems" else (one and other)
    if key == "additionalProperties" and (one is False or other is False):
        return False
    lose(f"only the first of two {key}")
    return one


def _common_types(one: list[str], other: list[str], lose: Lose) -> list[str]:
    """Types that both admit; an integer is a number too."""
    if not one or not other:
        return one or other
    common = [name for name in one if name in other or (name == "integer" and "number" in other)]
    if "integer" in other and "number" in one and not {"integer", "number"} & set(common):
        common.append("integer")
    if not common:
        lose("types that exclude each other")
    return common or one
