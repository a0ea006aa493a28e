"""Combine JSON Schema nodes: a `$ref` with its sibling keywords, or the parts of an `allOf`."""

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin

from integrations.gemini.subset import Schema, count, is_legal_name, is_number, types_of

# Convert names to those that Gemini accepts, and remember the server's names.


_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_STEM = 56  # characters of a changed name, before the number that makes it unique


def legal_name(name: str) -> str:
    """Return the closest function name that Gemini accepts: up to 128 letters, digits
    and `_.:-`."""
    if _FUNCTION.fullmatch(name):
        return name
    legal = re.sub(r"[^A-Za-z0-9_.:-]", "_", name)[:128]
    return legal if _FUNCTION.fullmatch(legal) else f"_{legal}"[:128]


class ArgumentNames:
    """Chooses the declared names of one tool's arguments.

    One map from declared to original names covers all nesting levels, so a declared name must never
    equal another argument's original name.
    """

    def __init__(self) -> None:
        self.renamed: dict[str, str] = {}  # declared name -> the server's name
        self._kept: set[str] = set()

    def legal(self, name: str, taken: Container[str], originals: Container[str]) -> str:
        """Return a valid name to declare, which is `name` itself if possible.

        A changed name is neither in `taken` (the names declared so far) nor in `originals`.
        """
        if is_legal_name(name) and name not in taken and name not in self.renamed:
            self._kept.add(name)
            return name
        stem = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_STEM] or "_"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        legal, number = stem, 1
        while (
            legal in taken
            or legal in originals
            or legal in self._kept
            or self.renamed.get(legal, name) != name
        ):
            number += 1
            legal = f"{stem}_{number}"
        self.renamed[legal] = name
        return legal


# Collect an object's arguments from all keywords of JSON Schema that can define them.


MAX_PROPERTIES = 128  # per object

Node = Mapping[str, Any]
Flat = Callable[[Any], Node]  # resolves `$ref` and `allOf`
Lose = Callable[[str], None]


def mapping(node: Node, key: str) -> Mapping[Any, Any]:
    """Return the JSON object under the key, or an empty one if the value is not an object."""
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def required(node: Node) -> list[str]:
    names = node.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def properties(node: Node, flat: Flat, lose: Lose) -> dict[str, Any]:
    """Return the possible arguments and their schemas by name, including those that a condition
    adds.

    At most MAX_PROPERTIES are returned, required ones first.
    """
    found = {str(name): sub for name, sub in mapping(node, "properties").items()}
    for part in (node.get("then"), node.get("else"), *mapping(node, "dependentSchemas").values()):
        if isinstance(part, dict):
            for name, sub in mapping(flat(part), "properties").items():
                found.setdefault(str(name), sub)
    if False in found.values():
        found = {name: sub for name, sub in found.items() if sub is not False}
    if len(found) <= MAX_PROPERTIES:
        return found
    lose(f"{len(found) - MAX_PROPERTIES} of {len(found)} arguments")
    wanted = set(required(node))
    first = sorted(found, key=lambda name: name not in wanted)[:MAX_PROPERTIES]
    return {name: found[name] for name in first}


def united(node: Node, branches: list[Any], flat: Flat) -> Node:
    """Merge alternative objects into one object that has the arguments of all of them.

    An argument is required only if `node` itself or every alternative requires it.
    """
    parts = [flat(branch) for branch in branches[:MAX_PROPERTIES]]
    offered: dict[str, list[Any]] = {}
    for part in (node, *parts):
        for name, sub in mapping(part, "properties").items():
            kinds = offered.setdefault(str(name), [])
            if not any(alike(sub, known) for known in kinds):
                kinds.append(sub)
    always = set.intersection(*(set(required(part)) for part in parts))
    joined = {name: s[0] if len(s) == 1 else {"anyOf": s} for name, s in offered.items()}
    return {**node, "properties": joined, "required": [*required(node), *sorted(always)]}


# Find the targets of `$ref` in the schema itself. Nothing is ever downloaded.


_MAX_SEARCHED = 20_000  # nodes to search for anchors and ids
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class References:
    """The parts of a schema to which a `$ref` can refer."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._named: dict[str, Any] | None = None  # by anchor ("#a") or id; read on first use

    def resolve(self, ref: str) -> Any:
        """Return the part of the schema that `ref` refers to, or None if there is none."""
        base, _, fragment = ref.partition("#")
        document = self._root if not base else self._document(base)
        if not fragment or document is None:
            return document
        if fragment.startswith("/"):
            return resolve_pointer(document, fragment)
        return self._names().get(f"#{fragment}")

    def _document(self, base: str) -> Any:
        names = self._names()
        return names.get(base, names.get(self._absolute(base)))

    def _absolute(self, name: str) -> str:
        own = self._root.get("$id")
        try:
            return urljoin(own, name) if isinstance(own, str) else name
        except ValueError:  # not a URL
            return name

    def _names(self) -> dict[str, Any]:
        if self._named is None:
            self._named = {}
            for node in _nodes(self._root):
                for key in ("$anchor", "$dynamicAnchor"):
                    if isinstance(node.get(key), str):
                        self._named.setdefault(f"#{node[key]}", node)
                for key in ("$id", "id"):  # "id" is draft 4's keyword, where "#a" is an anchor
                    if isinstance(node.get(key), str):
                        name = node[key].removesuffix("#")
                        self._named.setdefault(name, node)
                        self._named.setdefault(self._absolute(name), node)
        return self._named


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Return the target of a JSON pointer such as "/a/b" (RFC 6901), or None if it does not exist.

    The pointer is percent-encoded as in a URL.
    """
    node = document
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key)
        elif isinstance(node, list) and key.isdecimal() and len(key) < 7 and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _nodes(root: Any) -> Iterator[Mapping[Any, Any]]:
    """Yield the objects in a schema once each, outer objects first. The schema may be cyclic."""
    waiting, seen = [root], {id(root)}
    for node in waiting:  # the list grows during the loop
        if len(waiting) > _MAX_SEARCHED:
            return
        if isinstance(node, dict):
            yield node
        children = node.values() if isinstance(node, dict) else node
        for child in children:
            if isinstance(child, dict | list) and id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)


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


def likely_type(node: Node) -> str:
    """Return the first declared type other than null, or the type that the keywords
    suggest, or ""."""
    declared = next((name for name in types_of(node) if name != "null"), "")
    return declared or next((kind for kind, keys in _USED_BY if not keys.isdisjoint(node)), "")


def alike(one: Any, other: Any) -> bool:
    """Return True if the values are equal, and False if they are too deeply nested to compare."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def merge(first: Node, second: Node, lose: Lose) -> dict[str, Any]:
    """Return a node that accepts what both nodes accept, as far as that can be expressed."""
    merged = {**second, **first}
    for key in first.keys() & second.keys() - {"type"}:
        merged[key] = _both(key, first[key], second[key], lose)
    types = _common_types(types_of(first), types_of(second), lose)
    if types:
        merged["type"] = types if len(types) > 1 else types[0]
    return merged


def _both(key: str, one: Any, other: Any, lose: Lose) -> Any:
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
    if isinstance(one, bool) and isinstance(other, bool):  # False is stricter; not for uniqueItems
        return (one or other) if key == "uniqueItems" else (one and other)
    if key == "additionalProperties" and (one is False or other is False):
        return False
    lose(f"only the first of two {key}")
    return one


def _common_types(one: list[str], other: list[str], lose: Lose) -> list[str]:
    if not one or not other:
        return one or other
    # An integer is also a number.
    common = [name for name in one if name in other or (name == "integer" and "number" in other)]
    if "integer" in other and "number" in one and not {"integer", "number"} & set(common):
        common.append("integer")
    if not common:
        lose("types that exclude each other")
    return common or one


# The subset supports bounds and lengths only in part. Other limits become sentences.


BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
LENGTHS = frozenset(("minLength", "maxLength"))
COUNTS = frozenset(("minItems", "maxItems"))


def bounds(node: Node, kind: str, lose: Lose) -> tuple[Schema, list[str]]:
    """Return the minimum and maximum, and sentences for the limits that these cannot express."""
    schema: Schema = {}
    notes: list[str] = []
    for key, exclusive, sign, word in (
        ("minimum", "exclusiveMinimum", 1, "Greater"),
        ("maximum", "exclusiveMaximum", -1, "Less"),
    ):
        bound, edge = node.get(key), node.get(exclusive)
        # In draft 4 of JSON Schema, an exclusive bound is a flag; in newer drafts, it is a number.
        if edge is True:
            edge, bound = bound, None
        limits = [_inside(bound, sign) if kind == "integer" else bound] if is_number(bound) else []
        if is_number(edge) and kind == "integer":
            nearest = _inside(edge, sign)
            limits.append(nearest + sign if nearest == edge else nearest)
        elif is_number(edge):
            limits.append(edge)
            notes.append(f"{word} than {edge}.")
            lose(f"{exclusive} (said in the description)")
        if limits:
            schema[key] = max(limits) if sign > 0 else min(limits)
    return _in_order(schema, "minimum", "maximum", lose), notes


def counts(node: Node, low: str, high: str, lose: Lose) -> Schema:
    """Return the limits for the length of a string or list. `low` and `high` are their keywords."""
    found = {key: count(node.get(key)) for key in (low, high)}
    schema = {key: value for key, value in found.items() if value is not None}
    return _in_order(schema, low, high, lose)


def _in_order(schema: Schema, low: str, high: str, lose: Lose) -> Schema:
    if low in schema and high in schema and schema[low] > schema[high]:
        lose(f"{low} above {high}")
        return {}
    return schema


def _inside(number: float, sign: int) -> int:
    # Bounds are rounded inwards: a lower bound (`sign` 1) up, and an upper bound (`sign` -1) down.
    return math.ceil(number) if sign > 0 else math.floor(number)
