"""Makes one JSON Schema node out of `$ref`, its siblings and `allOf`."""

from collections.abc import Callable, Mapping
from typing import Any

Json = Mapping[str, Any]
Lose = Callable[[str], None]

ALL_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_LOWER = ("minimum", "exclusiveMinimum", "minItems", "minLength")  # the greater of two holds
_UPPER = ("maximum", "exclusiveMaximum", "maxItems", "maxLength")  # the lesser of two holds


def resolve_pointer(root: Json, ref: str) -> Any:
    """What `#/a/b` points to (RFC 6901), or None: elsewhere is never fetched."""
    if not ref.startswith("#"):
        return None
    node: Any = root
    for part in ref[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def types_of(node: Json) -> list[str]:
    """The declared types in lower case; empty where none is declared."""
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    return [name.lower() for name in names if isinstance(name, str) and name.lower() in ALL_TYPES]


def merge(first: Json, second: Json, lose: Lose) -> dict[str, Any]:
    """The node that both admit, as far as the keywords used for declarations go."""
    merged = {**second, **first}
    for key in set(first) & set(second):
        merged[key] = _both(key, first[key], second[key], lose)
    types = _common_types(types_of(first), types_of(second))
    if types:
        merged["type"] = types if len(types) > 1 else types[0]
    return merged


def _both(key: str, one: Any, other: Any, lose: Lose) -> Any:
    """One keyword that stands in both nodes."""
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if key in _LOWER and numbers:
        return max(one, other)
    if key in _UPPER and numbers:
        return min(one, other)
    if key == "required" and isinstance(one, list) and isinstance(other, list):
        return [*one, *(name for name in other if name not in one)]
    if key == "enum" and isinstance(one, list) and isinstance(other, list):
        return [value for value in one if value in other] or one
    if key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
        return {
            name: {"allOf": [one[name], other[name]]} if name in one and name in other else value
            for name, value in {**other, **one}.items()
        }
    if key in ("anyOf", "oneOf", "const", "items") and one != other:
        lose(f"only the first of two {key}")
    return one


def _common_types(one: list[str], other: list[str]) -> list[str]:
    """Types that both admit; an integer is a number too."""
    if not one or not other:
        return one or other
    common = [name for name in one if name in other]
    if not common and {"integer", "number"} <= {*one, *other}:
        return ["integer"]
    return common or one
