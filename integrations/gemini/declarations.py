"""Convert an MCP tool's JSON Schema to a function declaration that Gemini accepts.

Keywords that Gemini's subset lacks are described in sentences, and anything that cannot be
expressed is recorded as a loss. The model's arguments are still validated against the original
schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from integrations.gemini.merge import (
    ANNOTATIONS,
    BOUNDS,
    COUNTS,
    LENGTHS,
    REFERENCES,
    ArgumentNames,
    Lose,
    References,
    bounds,
    counts,
    legal_name,
    likely_type,
    mapping,
    merge,
    properties,
    required,
    united,
)
from integrations.gemini.subset import (
    MAX_CHOICES,
    Schema,
    as_json,
    choice_schema,
    clean,
    count,
    described,
    fault,
    is_noted,
    joined_choices,
    notes,
    nullable,
    types_of,
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function declaration for the model."""

    name: str
    description: str
    parameters: dict[str, Any] | None  # None: it has no arguments
    losses: tuple[str, ...]  # details that were omitted, as "argument: detail"
    # Declared argument name -> the server's name.
    renamed: Mapping[str, str] = field(default_factory=dict)


def convert(name: str, description: str, input_schema: Any) -> Declaration:
    """Convert a tool to a declaration. Never raises.

    If the schema is unreadable, the tool is declared without arguments.
    """
    translator = Translator(input_schema if isinstance(input_schema, dict) else {})
    try:
        parameters = translator.top()
        wrong = fault(parameters) if parameters else ""
    except Exception as error:
        # The schema is untrusted data; an error in reading it must not break the whole menu.
        parameters, wrong = None, type(error).__name__
    if wrong:
        translator.lose("", f"all arguments: the schema cannot be read ({wrong})")
        parameters = None
    text = clean(description)
    if len(text) < len(" ".join(description.split())):
        translator.lose("", "the end of the description")
    renamed = translator.renamed if parameters else {}
    return Declaration(legal_name(name), text, parameters, translator.losses(), renamed)


MAX_DEPTH = 8  # levels of nesting; deeper levels are declared as JSON text
MAX_NODES = 1_000  # nodes per tool; beyond that, lists and objects are declared as JSON text
MAX_ALTERNATIVES = 12
MAX_TEXT = 20_000  # characters of a tool's argument descriptions, about 5,000 tokens
_MAX_FLAT = 5_000  # nodes behind `$ref` and `allOf`, limited because they can grow exponentially
_MAX_LOSSES = 40
_INDIRECT = frozenset((*REFERENCES, "allOf"))
_BRANCHES = frozenset(("anyOf", "oneOf"))
_STRUCTURE = _INDIRECT | _BRANCHES | {"const", "enum", "nullable"}
_DESCRIBED = frozenset(("type", "description", "title"))
_PLAIN = ("STRING", "NUMBER", "BOOLEAN")
_SCALARS = {"string": "STRING", "integer": "INTEGER", "number": "NUMBER", "boolean": "BOOLEAN"}

Node = Mapping[str, Any]
Refs = tuple[str, ...]


class Translator:
    """Translates one JSON Schema node by node, recording losses and renamed arguments."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._references = References(root)
        self._names = ArgumentNames()
        self._losses: dict[str, None] = {}  # ordered and unique
        self._nodes = 0
        self._flattened = 0
        self._characters = 0

    @property
    def renamed(self) -> dict[str, str]:
        return self._names.renamed

    def losses(self) -> tuple[str, ...]:
        """Return the details that the declaration omits, each as "argument: detail"."""
        told = tuple(self._losses)
        over = len(told) - _MAX_LOSSES
        return told if over <= 0 else (*told[:_MAX_LOSSES], f"and {over} more")

    def lose(self, path: str, text: str) -> None:
        """Record a loss for the argument at `path`, or for the whole tool if `path` is ""."""
        self._losses[f"{clean(path)[:80]}: {text}" if path else text] = None

    def top(self) -> Schema | None:
        """Return the object schema of all arguments, or None if no argument can be declared."""
        node, refs, _ = self._flat(self._root, "", ())
        if types_of(node) and "object" not in types_of(node):
            self.lose("", "all arguments, which are not an object")
            return None
        for key in _BRANCHES & node.keys():
            branches = node[key]
            if isinstance(branches, list) and branches:
                self.lose("", "that only some of the arguments go together")
                node = united(node, branches, lambda part: self._flat(part, "", refs)[0])
        if not mapping(node, "properties") and _is_open(node):
            self.lose("", "all arguments, whose names are free")
            return None
        schema = self._object(node, "", refs, 0)
        return schema if schema["properties"] else None

    def _losing(self, path: str) -> Lose:
        return lambda text: self.lose(path, text)

    def _notes(self, node: Node, path: str) -> list[str]:
        return notes(node, self._losing(path)) if is_noted(node) else []

    def _flat(self, node: Any, path: str, refs: Refs, level: int = 0) -> tuple[Node, Refs, bool]:
        """Resolve `$ref` and `allOf` in a node.

        Returns the resolved node, the references that were followed, and True if one of them is
        recursive.
        """
        if not isinstance(node, dict):
            if node is False:
                self.lose(path, "it admits nothing")
            return {}, refs, False
        if _INDIRECT.isdisjoint(node):
            return node, refs, False
        self._flattened += 1
        flat: Node = {key: value for key, value in node.items() if key not in _INDIRECT}
        if level > MAX_DEPTH or self._flattened > _MAX_FLAT:
            self.lose(path, "recursion: deeper levels are given as JSON text")
            return flat, refs, True
        below, recursive = refs, False
        parts: list[tuple[Any, Refs]] = []
        for ref in (node[key] for key in REFERENCES if isinstance(node.get(key), str)):
            target = self._references.resolve(ref)
            if not isinstance(target, dict | bool):
                self.lose(path, f"reference {clean(ref)[:60]}")
            elif isinstance(target, bool) or ref not in refs:
                parts.append((target, (*refs, ref)))
            else:
                self.lose(path, "recursion: deeper levels are given as JSON text")
                recursive = True
                parts.append(({k: v for k, v in target.items() if k not in _INDIRECT}, refs))
        every = node.get("allOf")
        parts += [(part, refs) for part in (every if isinstance(every, list) else ())]
        for part, via in parts:
            other, further, again = self._flat(part, path, via, level + 1)
            flat = merge(flat, other, self._losing(path))
            below = (*below, *(ref for ref in further if ref not in below))
            recursive = recursive or again
        return flat, below, recursive

    def _schema(self, raw: Any, path: str, refs: Refs, depth: int) -> Schema:
        self._nodes += 1
        if isinstance(raw, dict) and _STRUCTURE.isdisjoint(raw):
            kind = raw.get("type")
            if isinstance(kind, str) and kind in _SCALARS:  # the usual case
                return self._scalar(raw, kind, path)
        node, refs, recursive = self._flat(raw, path, refs)
        branches = next((node[key] for key in _BRANCHES if isinstance(node.get(key), list)), None)
        full = depth > MAX_DEPTH or self._nodes > MAX_NODES
        if recursive or (full and (branches or likely_type(node) in ("object", "array"))):
            return self._json_text(node, path)
        if branches:
            return self._alternatives(node, branches, path, refs, depth)
        listed = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(listed, list) and listed:
            return self._choices(node, listed, path)
        types = types_of(node)
        plain = [name for name in types if name != "null"]
        if not plain:
            if not types and not likely_type(node):
                return self._any(node, path)
            plain = [likely_type(node) or "string"]
        schema = self._typed(node, plain[0], path, refs, depth)
        if len(plain) > 1:
            others = [self._typed(node, name, path, refs, depth) for name in plain[1:]]
            schema = {"anyOf": [schema, *others]}
        return nullable(schema) if "null" in types or node.get("nullable") is True else schema

    def _typed(self, node: Node, kind: str, path: str, refs: Refs, depth: int) -> Schema:
        if kind == "object":
            schema = self._object(node, path, refs, depth)
            return schema if schema["properties"] else self._json_text(node, path)
        if kind == "array":
            return self._array(node, path, refs, depth)
        return self._scalar(node, kind, path)

    def _scalar(self, node: Node, kind: str, path: str) -> Schema:
        schema: Schema = {"type": _SCALARS[kind]}
        if node.keys() <= _DESCRIBED:  # the usual case
            own = self._own(node)
            return described(schema, own, []) if own else schema
        said = self._notes(node, path)
        if kind in ("integer", "number") and not BOUNDS.isdisjoint(node):
            limits, further = bounds(node, kind, self._losing(path))
            schema.update(limits)
            said += further
        elif kind == "string" and not LENGTHS.isdisjoint(node):
            schema.update(counts(node, "minLength", "maxLength", self._losing(path)))
        return described(schema, self._own(node), said)

    def _any(self, node: Node, path: str) -> Schema:
        # The value is declared as any plain type, or a list of plain types.
        self.lose(path, "any value, but no object can be given")
        said = self._notes(node, path)
        kinds: list[Schema] = [{"type": kind} for kind in _PLAIN]
        if not path.endswith("[]"):
            kinds.append({"type": "ARRAY", "items": {"anyOf": kinds.copy()}})
        return nullable({"anyOf": [described(one, self._own(node), said) for one in kinds]})

    def _wider(self, schema: Schema, base: Node, path: str) -> Schema:
        # One of the alternatives is unrestricted, so the schema must accept any plain value.
        self.lose(path, "any other list or object")
        told = schema.get("anyOf", [schema])
        there = {one["type"] for one in told if "enum" not in one}
        more = [{"type": kind} for kind in _PLAIN if kind not in there]
        return {"anyOf": [*told, *(described(one, self._own(base), []) for one in more)]}

    def _choices(self, node: Node, values: list[Any], path: str, note: str = "") -> Schema:
        schema = choice_schema(node, values, self._losing(path))
        self._characters += sum(map(len, schema.get("enum", ())))
        said = [note] if note else []
        said += self._notes(node, path)
        return described(schema, self._own(node), said)

    def _own(self, node: Node) -> str:
        own = node.get("description") or node.get("title")
        if not own or not isinstance(own, str):
            return ""
        self._characters += len(own)
        if self._characters > MAX_TEXT:
            self.lose("", "the descriptions of later arguments")
            return ""
        return own

    def _object(self, node: Node, path: str, refs: Refs, depth: int) -> Schema:
        found = properties(node, lambda part: self._flat(part, path, refs)[0], self._losing(path))
        declared: Schema = {}
        names: dict[str, str] = {}
        for name, value in found.items():
            names[name] = self._names.legal(name, declared, found)
            inside = f"{path}.{name}" if path else name
            declared[names[name]] = self._schema(value, inside, refs, depth + 1)
        schema: Schema = {"type": "OBJECT", "properties": declared}
        wanted = [names[name] for name in dict.fromkeys(required(node)) if name in names]
        if wanted:
            schema["required"] = wanted
        if declared and _is_open(node):
            self.lose(path, "further entries, whose names are free")
        said = self._notes(node, path)
        own = self._own(node) if depth else ""  # the tool itself has a description already
        return described(schema, own, said) if own or said else schema

    def _array(self, node: Node, path: str, refs: Refs, depth: int) -> Schema:
        said = self._notes(node, path)
        inside = f"{path}[]"
        items = node.get("items", True)
        places = items if isinstance(items, list) else node.get("prefixItems")
        if isinstance(places, list) and places:
            rest = node.get("additionalItems") if isinstance(items, list) else items
            kinds = [*places, *([rest] if isinstance(rest, dict) else [])]
            names = [likely_type(self._flat(one, inside, refs)[0]) or "any" for one in kinds[:20]]
            items = {"anyOf": kinds}
            self.lose(path, "the positions of a list (said in the description)")
            said.append(f"In this order: {', '.join(names)}.")
            if rest is False:
                most = count(node.get("maxItems"))
                node = {**node, "maxItems": min(len(places), most or len(places))}
        schema = {"type": "ARRAY", "items": self._schema(items, inside, refs, depth + 1)}
        if not COUNTS.isdisjoint(node):
            schema.update(counts(node, "minItems", "maxItems", self._losing(path)))
        return described(schema, self._own(node), said)

    def _alternatives(
        self, node: Node, branches: list[Any], path: str, refs: Refs, depth: int
    ) -> Schema:
        base = {key: value for key, value in node.items() if key not in _BRANCHES}
        shaped = not base.keys() <= ANNOTATIONS
        if node.keys() >= _BRANCHES:
            self.lose(path, "only one of anyOf and oneOf")
        null, anything = node.get("nullable") is True, False
        members: list[tuple[Node, Refs, bool]] = []
        for raw in branches[:MAX_CHOICES]:
            member, inner, recursive = self._flat(raw, path, refs)
            if types_of(member) == ["null"] or _only_null(member):
                null = True
            elif recursive or (shaped and raw is not False) or not member.keys() <= ANNOTATIONS:
                members.append((member, inner, recursive))
            elif raw is True or isinstance(raw, dict):
                null = anything = True
            elif raw is not False:
                self.lose(path, "any other value")
        joined = joined_choices([member for member, *_ in members])
        if not members:
            schema = self._schema(base, path, refs, depth + 1)
        elif joined:
            schema = self._choices(base, joined[0], path, joined[1])
        else:
            schema = self._several(base, members, path, depth)
        if anything and members:
            schema = self._wider(schema, base, path)
        return nullable(schema) if null else schema

    def _several(
        self, base: Node, members: list[tuple[Node, Refs, bool]], path: str, depth: int
    ) -> Schema:
        if len(members) > MAX_ALTERNATIVES:
            self.lose(path, f"{len(members) - MAX_ALTERNATIVES} of {len(members)} alternatives")
        shape = {key: value for key, value in base.items() if key not in ANNOTATIONS}
        converted = []
        for member, refs, recursive in members[:MAX_ALTERNATIVES]:
            whole = merge(member, shape, self._losing(path)) if shape else member
            if recursive:
                converted.append(self._json_text(whole, path))
            else:
                converted.append(self._schema(whole, path, refs, depth + 1))
        leaves = chain.from_iterable(one.get("anyOf", [one]) for one in converted)
        unique = list({as_json(one): one for one in leaves}.values())
        if len(unique) > MAX_ALTERNATIVES:
            self.lose(path, f"{len(unique) - MAX_ALTERNATIVES} of {len(unique)} alternatives")
        # Gemini's API allows no other field beside anyOf, so the description goes into the members.
        own = self._own(base)
        hints = {key: base[key] for key in ("default", "examples") if key in base}
        said = self._notes(hints, path)
        told = [described(one, own, said) for one in unique[:MAX_ALTERNATIVES]]
        return told[0] if len(told) == 1 else {"anyOf": told}

    def _json_text(self, node: Node, path: str) -> Schema:
        # The API requires properties for every object, but here they are unknown or nested too
        # deeply.
        self.lose(path, "a free object, given as JSON text")
        kind = {"object": "An object", "array": "A list"}.get(likely_type(node), "A value")
        names = ", ".join(str(name)[:40] for name in list(mapping(node, "properties"))[:20])
        said = [f"{kind} as JSON text{f', with {names}' if names else ''}."]
        said += self._notes(node, path)
        return described({"type": "STRING"}, self._own(node), said)


def _is_open(node: Node) -> bool:
    return node.get("additionalProperties") not in (None, False)


def _only_null(node: Node) -> bool:
    return ("const" in node and node["const"] is None) or node.get("enum") == [None]
