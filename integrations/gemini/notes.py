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
    if any(key in node for key in _CONDITIONS):
        lose("what holds on a condition")
    said += _together(node, lose) + _excluded(node, lose)
    if node.get("default") is not None and (default := as_json(node["default"])):
        said.append(f"Default: {default[:_MAX_VALUE]}.")
    examples = node.get("examples")
    if isinstance(examples, list) and examples and (example := as_json(examples[0])):
        said.append(f"For example {example[:_MAX_VALUE]}.")
    return said


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
