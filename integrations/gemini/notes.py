"""Sentences for the keywords that the subset has no word for; they go into the description."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.gemini.choices import joined_choices
from integrations.gemini.subset import as_json

_SPOKEN = {
    "pattern": "Pattern: {}.",
    "format": "Format: {}.",
    "multipleOf": "Multiple of {}.",
    "contentEncoding": "Encoding: {}.",
    "contentMediaType": "Media type: {}.",
    "minProperties": "At least {} entries.",
    "maxProperties": "At most {} entries.",
}
_UNSAID = ("contains", "dependencies", "patternProperties", "propertyNames")
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_CONDITIONS = ("if", "then", "else", "dependentSchemas")
_NOTED = frozenset((*_SPOKEN, *_UNSAID, *_UNEVALUATED, *_CONDITIONS)) | {
    *("default", "dependentRequired", "examples", "not", "uniqueItems")
}
_MAX_VALUE = 200  # characters of a value of the schema's own
_MAX_NAMES = 10

Lose = Callable[[str], None]


def is_noted(node: Mapping[str, Any]) -> bool:
    """Whether `notes` has anything to do."""
    return not _NOTED.isdisjoint(node)


def notes(node: Mapping[str, Any], lose: Lose) -> list[str]:
    """What is to be said of a node; what only a sentence tells is a loss too, except for defaults
    and examples, which bind nobody."""
    said = []
    for key, text in _SPOKEN.items():
        if isinstance(node.get(key), str | int | float):
            said.append(text.format(str(node[key])[:_MAX_VALUE]))
            lose(f"{key} (said in the description)")
    if node.get("uniqueItems") is True:
        said.append("No two alike.")
        lose("uniqueItems (said in the description)")
    for key in (*_UNSAID, *(key for key in _UNEVALUATED if node.get(key) is not False)):
        if key in node:
            lose(key)
    said += _on_condition(node, lose) + _together(node, lose) + _excluded(node, lose)
    if node.get("default") is not None and (default := as_json(node["default"])):
        said.append(f"Default: {default[:_MAX_VALUE]}.")
    examples = node.get("examples")
    if isinstance(examples, list) and examples and (example := as_json(examples[0])):
        said.append(f"For example {example[:_MAX_VALUE]}.")
    return said


def _on_condition(node: Mapping[str, Any], lose: Lose) -> list[str]:
    """Of conditions only this kind is said: where an argument is one of some values, others must be
    given too."""
    if all(key not in node for key in _CONDITIONS):
        return []
    where, then = _condition(node.get("if")), node.get("then")
    wanted = then if isinstance(then, dict) else {}
    names = wanted.get("required")
    simple = node.keys().isdisjoint(("else", "dependentSchemas"))
    if not (where and simple and isinstance(names, list) and names):
        lose("what holds on a condition")
        return []
    only = wanted.keys() <= {"required"}
    lose(f"what holds on a condition{' (said in the description)' if only else ''}")
    return [f"Where {where} also {', '.join(map(str, names[:_MAX_NAMES]))}."]


def _condition(node: Any) -> str:
    """`{"properties": {"a": {"const": 1}}}` in words; "" for any other kind of condition."""
    if not isinstance(node, dict) or not node.keys() <= {"properties", "required"}:
        return ""
    properties = node.get("properties")
    if not isinstance(properties, dict) or not properties or len(properties) > _MAX_NAMES:
        return ""
    said = []
    for name, schema in properties.items():
        values = joined_choices([schema])
        if values is None:
            return ""
        told = " or ".join(as_json(value)[:_MAX_VALUE] for value in values[0][:_MAX_NAMES])
        said.append(f"{name} is {told}")
    return " and ".join(said)


def _together(node: Mapping[str, Any], lose: Lose) -> list[str]:
    dependent = node.get("dependentRequired")
    if not isinstance(dependent, dict) or not dependent:
        return []
    lose("dependentRequired (said in the description)")
    listed = [(name, also) for name, also in dependent.items() if isinstance(also, list)]
    return [
        f"With {name} also {', '.join(map(str, also[:_MAX_NAMES]))}."
        for name, also in listed[:_MAX_NAMES]
    ]


def _excluded(node: Mapping[str, Any], lose: Lose) -> list[str]:
    if "not" not in node:
        return []
    values = joined_choices([node["not"]])
    if values is None:
        lose("not")
        return []
    lose("not (said in the description)")
    return [f"Not {', '.join(as_json(value)[:_MAX_VALUE] for value in values[0][:_MAX_NAMES])}."]
