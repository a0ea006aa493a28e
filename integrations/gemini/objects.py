"""The arguments of an object in JSON Schema, wherever its keywords hide them."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.gemini.merge import alike

MAX_PROPERTIES = 128  # of one object

Node = Mapping[str, Any]
Flat = Callable[[Any], Node]  # resolves `$ref` and `allOf`
Lose = Callable[[str], None]


def mapping(node: Node, key: str) -> Mapping[Any, Any]:
    """The object under a keyword; empty where it is something else."""
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def required(node: Node) -> list[str]:
    """The names that must be given."""
    names = node.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def properties(node: Node, flat: Flat, lose: Lose) -> dict[str, Any]:
    """What may be given, by name, also what a condition adds; where it is too much, what must be
    given goes before the rest. What admits nothing is no argument."""
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
    """An object with alternatives as one object that has the arguments of them all; required is
    what every alternative requires."""
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
