"""JSON Schema of an MCP tool to the OpenAPI subset that Gemini takes in `parameters`.

Google documents the subset as `Schema` of the Gemini API: type, description, nullable, enum (of
strings), properties, required, items, minItems, maxItems, minimum, maximum, minLength, maxLength,
anyOf. What it has no word for goes into the description, and what cannot be said at all is counted
as a loss. The original schema stays the judge of the arguments that come back.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.gemini.merge import merge, resolve_pointer, types_of

MAX_DEPTH = 8  # levels of nesting; deeper is given as JSON text
MAX_NODES = 4_000  # of one tool; beyond, what is left is given as JSON text
MAX_DESCRIPTION = 1_500  # characters of a tool's or argument's description
MAX_ENUM = 500
_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_LEGAL_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SPOKEN = {  # keywords that the subset lacks: said in the description
    "pattern": "Pattern: {}.",
    "format": "Format: {}.",
    "multipleOf": "Multiple of {}.",
    "default": "Default: {}.",
    "minProperties": "At least {} entries.",
    "maxProperties": "At most {} entries.",
}
_DROPPED = (
    *("$schema", "additionalItems", "additionalProperties", "contains", "dependentRequired"),
    *("dependentSchemas", "if", "not", "patternProperties", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "uniqueItems"),
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any] | None  # None: it takes no arguments
    losses: tuple[str, ...]  # what the model is not told, in short texts
    renamed: Mapping[str, str] = field(
        default_factory=dict
    )  # argument as declared -> as the server has it


def legal_name(name: str) -> str:
    """The nearest name that Gemini accepts: at most 128 of letters, digits, `_.:-`."""
    legal = re.sub(r"[^A-Za-z0-9_.:-]", "_", name)[:128]
    return legal if _LEGAL_NAME.fullmatch(legal) else f"_{legal}"[:128]


def convert(name: str, description: str, input_schema: Any) -> Declaration:
    """The declaration of one tool. Never raises: an unreadable schema loses its arguments."""
    converter = _Converter(input_schema if isinstance(input_schema, Mapping) else {})
    try:
        parameters = converter.top()
    except Exception as error:
        # A schema is foreign data: one that breaks our reading must not break the menu.
        converter.lose(f"all arguments: the schema cannot be read ({type(error).__name__})")
        parameters = None
    text = _clean(description)
    if len(text) < len(description):
        converter.lose("the end of the description")
    return Declaration(legal_name(name), text, parameters, converter.losses(), converter.renamed)


class _Converter:
    """The state of one conversion: root for references, losses, budget."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._losses: dict[str, None] = {}  # ordered and unique
        self._nodes = 0
        self.renamed: dict[str, str] = {}

    def losses(self) -> tuple[str, ...]:
        return tuple(self._losses)

    def lose(self, text: str) -> None:
        self._losses[text] = None

    def top(self) -> dict[str, Any] | None:
        """The whole tool: an object with properties, or None."""
        node = self._flat(self._root, ())[0]
        if not isinstance(node.get("properties"), Mapping):
            branches = node.get("anyOf") or node.get("oneOf")
            if isinstance(branches, list) and branches:
                self.lose("alternatives of the whole argument object, all offered together")
                for branch in branches:
                    node = merge(node, self._flat(branch, ())[0], self.lose)
                node = {**node, "required": []}
        schema = self._object(node, (), 0)
        return schema if schema.get("properties") else None

    def _flat(self, node: Any, refs: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The node without `$ref` and `allOf`, and the references it went through."""
        if not isinstance(node, Mapping):
            if node is False:
                self.lose("an argument that admits nothing")
            return {}, refs
        flat = {key: value for key, value in node.items() if key not in ("$ref", "allOf")}
        ref = node.get("$ref")
        if isinstance(ref, str):
            target = resolve_pointer(self._root, ref)
            if ref in refs or len(refs) > MAX_DEPTH:
                self.lose("recursion: deeper levels are given as JSON text")
                return {**flat, "x-json-text": True}, refs
            if not isinstance(target, Mapping):
                self.lose(f"reference {ref[:60]}")
            else:
                inner, refs = self._flat(target, (*refs, ref))
                flat = merge(flat, inner, self.lose)
        below = refs
        for part in node.get("allOf") or ():
            inner, further = self._flat(part, refs)
            flat = merge(flat, inner, self.lose)
            below = (*below, *further[len(refs) :])
        return flat, below

    def _schema(self, raw: Any, refs: tuple[str, ...], depth: int) -> dict[str, Any]:
        """One argument, item or alternative."""
        self._nodes += 1
        node, refs = self._flat(raw, refs)
        if depth > MAX_DEPTH or self._nodes > MAX_NODES or node.get("x-json-text"):
            return self._json_text(node)
        self._count_dropped(node)
        alternatives = node.get("anyOf", node.get("oneOf"))
        if isinstance(alternatives, list) and alternatives:
            return self._alternatives(node, alternatives, refs, depth)
        if "const" in node:
            node = {**node, "enum": [node["const"]]}
        if isinstance(node.get("enum"), list) and node["enum"]:
            return self._enum(node, node["enum"])
        types = types_of(node)
        nullable = "null" in types or node.get("nullable") is True
        plain = [name for name in types if name != "null"] or [_guess(node)]
        if len(plain) > 1:
            schema: dict[str, Any] = {
                "anyOf": [self._typed({**node, "type": name}, name, refs, depth) for name in plain]
            }
        else:
            schema = self._typed(node, plain[0], refs, depth)
        return _nullable(schema) if nullable else schema

    def _typed(
        self, node: Mapping[str, Any], kind: str, refs: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        if kind == "object":
            schema = self._object(node, refs, depth)
            return schema if schema.get("properties") else self._json_text(node)
        if kind == "array":
            return self._array(node, refs, depth)
        schema = {"type": kind.upper()}
        notes = [text.format(node[key]) for key, text in _SPOKEN.items() if _sayable(node, key)]
        if kind in ("integer", "number"):
            notes += self._bounds(node, kind, schema)
        if kind == "string":
            _copy_counts(node, schema, ("minLength", "maxLength"))
        return _described(schema, node, notes)

    def _bounds(self, node: Mapping[str, Any], kind: str, schema: dict[str, Any]) -> list[str]:
        """minimum and maximum into the schema; what they cannot say is returned as notes."""
        notes: list[str] = []
        for key, exclusive, step, word in (
            ("minimum", "exclusiveMinimum", 1, "Greater"),
            ("maximum", "exclusiveMaximum", -1, "Less"),
        ):
            bound, edge = node.get(key), node.get(exclusive)
            if edge is True:  # draft 4: a flag beside the bound
                edge, bound = bound, None
            if _number(bound):
                schema[key] = bound
            if edge is not None and _number(edge):
                if kind == "integer" and float(edge).is_integer():
                    inner = int(edge) + step
                    outer = schema.get(key, inner)
                    schema[key] = max(inner, outer) if step > 0 else min(inner, outer)
                else:
                    schema.setdefault(key, edge)
                    notes.append(f"{word} than {edge}.")
                    self.lose(f"{exclusive} (said in the description)")
        return notes

    def _object(self, node: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> dict[str, Any]:
        found = node.get("properties")
        properties = found if isinstance(found, Mapping) else {}
        schema: dict[str, Any] = {"type": "OBJECT", "properties": {}}
        names: dict[str, str] = {}
        for name, value in properties.items():
            names[name] = self._property_name(str(name), schema["properties"], properties)
            schema["properties"][names[name]] = self._schema(value, refs, depth + 1)
        required = node.get("required")
        wanted = [
            names[name]
            for name in (required if isinstance(required, list) else ())
            if name in names
        ]
        if wanted:
            schema["required"] = wanted
        return _described(schema, node, []) if depth else schema

    def _property_name(
        self, name: str, taken: Mapping[str, Any], originals: Mapping[str, Any]
    ) -> str:
        """A name that Gemini accepts for an argument; remembered where it differs."""
        legal = name
        if not _LEGAL_PROPERTY.fullmatch(name):
            legal = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60] or "_"
            legal = legal if _LEGAL_PROPERTY.fullmatch(legal) else f"_{legal}"
        while (
            legal in taken
            or (legal != name and legal in originals)
            or (legal != name and self.renamed.get(legal, name) != name)
        ):
            legal += "_"
        if legal != name:
            self.renamed[legal] = name
        return legal

    def _array(self, node: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> dict[str, Any]:
        items = node.get("prefixItems", node.get("items"))
        if isinstance(items, list):
            self.lose("positions of a list with fixed places")
            unique = list(
                {json.dumps(item, sort_keys=True, default=str): item for item in items}.values()
            )
            items = unique[0] if len(unique) == 1 else {"anyOf": unique}
        inner = (
            self._schema(items, refs, depth + 1)
            if isinstance(items, Mapping)
            else {"type": "STRING"}
        )
        schema = {"type": "ARRAY", "items": inner}
        _copy_counts(node, schema, ("minItems", "maxItems"))
        return _described(
            schema, node, ["No two alike."] if node.get("uniqueItems") is True else []
        )

    def _alternatives(
        self, node: Mapping[str, Any], alternatives: list[Any], refs: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        """anyOf and oneOf. An alternative that admits anything says nothing and is left out."""
        base = {key: value for key, value in node.items() if key not in ("anyOf", "oneOf")}
        shape = {key: value for key, value in base.items() if key not in ("description", "title")}
        nullable, members = types_of(base) == ["null"], []
        for raw in alternatives:
            member, inner_refs = self._flat(raw, refs)
            if types_of(member) == ["null"] or member.get("enum") == [None]:
                nullable = True
            elif member:
                members.append((merge(member, shape, self.lose) if shape else member, inner_refs))
        if not members:
            only = self._schema(base, refs, depth + 1)
            return _nullable(only) if nullable else only
        converted = [self._schema(member, inner, depth + 1) for member, inner in members]
        unique = list({json.dumps(one, sort_keys=True): one for one in converted}.values())
        flat = [leaf for one in unique for leaf in one.get("anyOf", [one])]
        # Beside anyOf the API allows no other field, so the description moves into the members.
        described = [
            _described(one, {"description": node.get("description", "")}, []) for one in flat
        ]
        schema = described[0] if len(described) == 1 else {"anyOf": described}
        return _nullable(schema) if nullable else schema

    def _enum(self, node: Mapping[str, Any], values: list[Any]) -> dict[str, Any]:
        """Only strings may be listed; other values keep their type and go into the description."""
        known = [value for value in values if value is not None]
        nullable = len(known) < len(values) or "null" in types_of(node)
        said = f"One of: {', '.join(json.dumps(value, default=str) for value in known[:60])}."
        if all(isinstance(value, str) for value in known):
            names = [value for value in dict.fromkeys(known) if value][:MAX_ENUM]
            if len(names) < len(set(known)):
                self.lose("empty or surplus values of a list of choices")
            schema: dict[str, Any] = {"type": "STRING", **({"enum": names} if names else {})}
            schema = _described(schema, node, [])
        elif all(isinstance(value, bool) for value in known):
            schema = _described({"type": "BOOLEAN"}, node, [said] if len(known) == 1 else [])
        elif all(_number(value) for value in known):
            kind = "INTEGER" if all(float(value).is_integer() for value in known) else "NUMBER"
            self.lose("a list of numbers (said in the description)")
            bounds = {"minimum": min(known), "maximum": max(known)}
            schema = _described({"type": kind, **bounds}, node, [said])
        elif all(isinstance(value, str | int | float) for value in known):
            self.lose("a list of mixed values, given as text")
            texts = dict.fromkeys(text for text in map(_as_text, known) if text)
            schema = _described({"type": "STRING", "enum": list(texts)[:MAX_ENUM]}, node, [])
        else:
            self.lose("a list of objects to choose from (said in the description)")
            schema = _described({"type": "STRING"}, node, ["JSON text.", said])
        return _nullable(schema) if nullable else schema

    def _json_text(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """An object whose members are not known: the API wants properties, so it comes as text."""
        self.lose("a free object, given as JSON text")
        return _described({"type": "STRING"}, node, ["JSON text."])

    def _count_dropped(self, node: Mapping[str, Any]) -> None:
        for key in _DROPPED:
            if key in node:
                self.lose(key)
        for key in _SPOKEN:
            if _sayable(node, key):
                self.lose(f"{key} (said in the description)")


def _guess(node: Mapping[str, Any]) -> str:
    """The type of a node that names none, by the keywords it uses."""
    if isinstance(node.get("properties"), Mapping) or "additionalProperties" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    numeric = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    return "number" if any(key in node for key in numeric) else "string"


def _described(schema: dict[str, Any], node: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """The schema with the node's description (or title) and further notes."""
    own = node.get("description") or node.get("title") or ""
    parts = [schema.get("description", ""), own if isinstance(own, str) else "", *notes]
    text = _clean(" ".join(part for part in dict.fromkeys(parts) if part))
    return {**schema, "description": text} if text else schema


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {"anyOf": [{**member, "nullable": True} for member in schema["anyOf"]]}
    return {**schema, "nullable": True}


def _copy_counts(node: Mapping[str, Any], schema: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        value = node.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
            schema[key] = value


def _sayable(node: Mapping[str, Any], key: str) -> bool:
    return key in node and isinstance(node[key], str | int | float | list)


def _number(value: Any) -> bool:
    """A finite number; JSON has no other, but Python's reader lets NaN through."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) < 1e300


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _clean(text: str) -> str:
    """One line without control characters, capped."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]
