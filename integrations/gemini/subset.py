"""Gemini's subset of JSON Schema: its keywords, sentences for other keywords, and a final check.

Google documents the subset as `Schema` of the Gemini API. It also lists `pattern`, `format`,
`default` and `title`, but not every model accepts them.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
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
_SURROGATE = re.compile("[\ud800-\udfff]")  # surrogates, which UTF-8 cannot encode

Schema = dict[str, Any]
ALL_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


def described(schema: Schema, own: str, notes: list[str]) -> Schema:
    """Return the schema with a description and notes added. A description that is too
    long is cut."""
    kept = schema.get("description", "")
    if not own and not notes:
        return schema
    told = dict.fromkeys((kept, *notes)) if kept else dict.fromkeys(notes)
    said = clean(" ".join(told)) if told else ""
    room = MAX_DESCRIPTION - len(said) - 1
    text = f"{clean(own)[:room]} {said}".strip() if own and own != kept else said
    return {**schema, "description": text} if text else schema


def nullable(schema: Schema) -> Schema:
    """Return the schema, extended to accept null."""
    # The API allows no other field beside `anyOf`, so each alternative is extended.
    if "anyOf" in schema:
        return {"anyOf": [{**member, "nullable": True} for member in schema["anyOf"]]}
    return {**schema, "nullable": True}


def clean(text: str) -> str:
    """Return the text on one line, without control characters and at most MAX_DESCRIPTION long."""
    return one_line(text, MAX_DESCRIPTION)


def is_number(value: Any) -> TypeGuard[float]:
    """Return True for a number with an absolute value below 1e300. Python's JSON parser accepts
    NaN."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and abs(value) < 1e300


def type_of(value: Any) -> str:
    """Return the value's JSON Schema type. Whole numbers are "integer", even 2.0."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if is_number(value):
        return "integer" if float(value).is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def types_of(node: Mapping[str, Any]) -> list[str]:
    """Return the declared types in lower case, or [] if there are none."""
    declared = node.get("type")
    if isinstance(declared, str) and declared in ALL_TYPES:
        return [declared]
    names = declared if isinstance(declared, list) else [declared]
    lower = (name.lower() for name in names if isinstance(name, str))
    return list(dict.fromkeys(name for name in lower if name in ALL_TYPES))


def all_text(values: Sequence[Any]) -> bool:
    return {*map(type, values)} <= _TEXT


def is_legal_name(name: str) -> bool:
    """Return True for a valid argument name: up to 64 letters, digits and `_`, without a digit at
    the start."""
    return name.isascii() and name.isidentifier() and len(name) <= _MAX_NAME


def is_text(value: Any) -> bool:
    """Return True for a string that can be encoded as UTF-8."""
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def count(value: Any) -> int | None:
    """Return the value of a length keyword as an integer, or None if it is invalid."""
    if not is_number(value) or value != int(value) or not 0 <= value < 2**31:
        return None
    return int(value)


def as_json(value: Any, *, compact: bool = False) -> str:
    """Return untrusted data as JSON, or "" if it is cyclic, nested too deeply or not finite."""
    separators = (",", ":") if compact else None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if is_text(text) else ""


def fault(schema: Any) -> str:
    """Return the reason why the API would refuse the schema, or "" if the schema is valid.

    A single invalid schema would end the session.
    """
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
        return ""  # the usual case
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


# Lists of choices (`enum`, `const`). The subset can list only strings.
MAX_CHOICES = 500
MAX_CHARACTERS = 8_000  # of all choices; beyond either limit, only some are listed
_SAID = 40  # choices to list in a description
_PLAIN = frozenset(("const", "enum", "type", "title", "description"))

Lose = Callable[[str], None]


def choice_schema(node: Mapping[str, Any], values: Sequence[Any], lose: Lose) -> Schema:
    """Return the schema of a value that must be one of `values`.

    Mixed values are declared as strings; the model's choice is converted back later.
    """
    types = types_of(node)
    if all_text(values) and types in ([], ["string"]):
        schema = _texts(values, lose)  # the usual case
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
    """Return the values and descriptions of alternatives that are constants or enums.

    Returns None if an alternative is neither.
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
        return described(schema, "", [])  # no gaps, so the bounds are enough
    lose("a list of numbers (said in the description)")
    return described(schema, "", _one_of(known))


def _texts(known: Sequence[Any], lose: Lose) -> Schema:
    if all_text(known):
        written = dict.fromkeys(known)
    else:
        lose("a list of mixed values, given as text")
        written = dict.fromkeys(map(_written, known))
    sendable = is_text("".join(written)) and "" not in written  # the usual case
    texts = list(written) if sendable else [text for text in written if text and is_text(text)]
    if len(texts) < len(written):
        lose("a choice that cannot be expressed")
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


# Describe the keywords that the subset lacks, in sentences for the description.

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
_MAX_VALUE = 200  # characters of a value from the schema
_MAX_NAMES = 10


def is_noted(node: Mapping[str, Any]) -> bool:
    """Return True if the node has a keyword that `notes` would describe or record as a loss."""
    return not _NOTED.isdisjoint(node)


def notes(node: Mapping[str, Any], lose: Lose) -> list[str]:
    """Return a sentence for each of a node's unsupported keywords, as far as that is possible."""
    said = []
    for key, text in _SPOKEN.items():
        if isinstance(node.get(key), str | int | float):
            said.append(text.format(str(node[key])[:_MAX_VALUE]))
            lose(f"{key} (said in the description)")
    if node.get("uniqueItems") is True:
        said.append("No duplicates.")
        lose("uniqueItems (said in the description)")
    for key in (*_UNSAID, *(key for key in _UNEVALUATED if node.get(key) is not False)):
        if key in node:
            lose(key)
    said += _on_condition(node, lose) + _together(node, lose) + _excluded(node, lose)
    # Defaults and examples are not binding, so they are no loss.
    if node.get("default") is not None and (default := as_json(node["default"])):
        said.append(f"Default: {default[:_MAX_VALUE]}.")
    examples = node.get("examples")
    if isinstance(examples, list) and examples and (example := as_json(examples[0])):
        said.append(f"For example {example[:_MAX_VALUE]}.")
    return said


def _on_condition(node: Mapping[str, Any], lose: Lose) -> list[str]:
    # Only a simple condition, in which values of some arguments require other arguments, is
    # described.
    if all(key not in node for key in _CONDITIONS):
        return []
    where, then = _condition(node.get("if")), node.get("then")
    wanted = then if isinstance(then, dict) else {}
    names = wanted.get("required")
    simple = node.keys().isdisjoint(("else", "dependentSchemas"))
    if not (where and simple and isinstance(names, list) and names):
        lose("conditional rules")
        return []
    only = wanted.keys() <= {"required"}
    lose(f"conditional rules{(' (said in the description)' if only else '')}")
    return [f"Where {where} also {', '.join(map(str, names[:_MAX_NAMES]))}."]


def _condition(node: Any) -> str:
    """Return a condition such as `{"properties": {"a": {"const": 1}}}` in words, or "" if it is
    more complex."""
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
