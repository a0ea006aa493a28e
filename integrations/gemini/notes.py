"""Sentences for the keywords that the subset has no word for; they go into the description."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from integrations.gemini.merge import types_of
from integrations.gemini.subset import (
    Schema,
    all_text,
    as_json,
    described,
    is_number,
    is_text,
    nullable,
    type_of,
)

# Lists of choices (`enum`, `const`): the subset lists strings and nothing else.


MAX_CHOICES = 500
MAX_CHARACTERS = 8_000  # of all choices together; beyond either, they are said in part
_SAID = 40  # choices that a description names
_PLAIN = frozenset(("const", "enum", "type", "title", "description"))

Lose = Callable[[str], None]


def choice_schema(node: Mapping[str, Any], values: Sequence[Any], lose: Lose) -> Schema:
    """The schema of one of `values`. Strings are listed; numbers keep their type and are told in
    the description; a mixture is given as text, which becomes a value again when it comes back."""
    types = types_of(node)
    if all_text(values) and types in ([], ["string"]):
        schema = _texts(values, lose)  # as nearly all lists are
        return nullable(schema) if node.get("nullable") is True else schema
    known = [value for value in values if value is not None]
    kinds = {kind for kind in map(type_of, known) if not types or kind in (*types, *_wider(types))}
    known = [value for value in known if type_of(value) in kinds] or known
    if known and all(isinstance(value, bool) for value in known):
        notes = _one_of(known) if len(set(known)) == 1 else []
        schema = described({"type": "BOOLEAN"}, "", notes)
    elif known and all(is_number(value) for value in known):
        schema = _numbers(known, lose)
    else:
        schema = _texts(known, lose)
    admits_null = len(values) > sum(value is not None for value in values)
    return nullable(schema) if admits_null or "null" in types or node.get("nullable") else schema


def joined_choices(alternatives: Sequence[Any]) -> tuple[list[Any], str] | None:
    """Alternatives that are each a constant or a list, as one list, and what is said of each.

    None where one of them is something else.
    """
    values: list[Any] = []
    said: list[str] = []
    for one in alternatives:
        if not isinstance(one, dict) or not one.keys() <= _PLAIN:
            return None
        listed = [one["const"]] if "const" in one else one.get("enum")
        if not isinstance(listed, list) or not listed:
            return None
        values += listed
        about = one.get("description") or one.get("title")
        if isinstance(about, str) and about and about not in listed:
            said.append(f"{', '.join(map(_written, listed[:_SAID]))}: {about}")
    return values, f"{'; '.join(said)}." if said else ""


def _numbers(known: Sequence[Any], lose: Lose) -> Schema:
    least, most = min(known), max(known)
    whole = all(float(value).is_integer() for value in known)
    schema = {"type": "INTEGER" if whole else "NUMBER", "minimum": least, "maximum": most}
    if whole and len(set(known)) == most - least + 1:
        return described(schema, "", [])  # without gaps the bounds say all
    lose("a list of numbers (said in the description)")
    return described(schema, "", _one_of(known))


def _texts(known: Sequence[Any], lose: Lose) -> Schema:
    if all_text(known):
        written = dict.fromkeys(known)
    else:
        lose("a list of mixed values, given as text")
        written = dict.fromkeys(map(_written, known))
    sendable = is_text("".join(written)) and "" not in written  # as nearly all lists are
    texts = list(written) if sendable else [text for text in written if text and is_text(text)]
    if len(texts) < len(written):
        lose("a choice that cannot be written")
    if len(texts) > MAX_CHOICES or sum(map(len, texts)) > MAX_CHARACTERS:
        lose(f"a list of {len(texts)} choices (begun in the description)")
        return described({"type": "STRING"}, "", _one_of(texts))
    return described({"type": "STRING", **({"enum": texts} if texts else {})}, "", [])


def _one_of(values: Sequence[Any]) -> list[str]:
    names, room = [], 600  # characters
    for value in values[:_SAID]:
        names.append(as_json(value)[:80])
        room -= len(names[-1])
        if room < 0:
            break
    more = f" and {len(values) - len(names)} more" if len(values) > len(names) else ""
    return [f"One of: {', '.join(filter(None, names))}{more}."]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _wider(types: Sequence[str]) -> Sequence[str]:
    return ("integer",) if "number" in types else ()


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
