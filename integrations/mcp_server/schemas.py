"""JSON Schemas of what our tools take, in the plain form that every client understands.

pydantic writes references, titles and `null` for what may be left out; models call a tool less well
with them, and some clients refuse the tool. Patterns are in the manner of JavaScript, of which Home
Assistant, in Python, does not understand all.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_DEFINITIONS = "$defs"
_REFERENCE = "#/$defs/"
_LEFT_OUT = frozenset({"title", "description", "pattern"})  # of each value; a field is described


def tool_schema(model: type[BaseModel], told: Mapping[str, str]) -> dict[str, Any]:
    """The schema of the model's fields, each described by `told`.

    Raises KeyError for a field of which nothing is told: a new one is not offered by accident.
    """
    whole = model.model_json_schema()
    definitions = whole.get(_DEFINITIONS, {})
    properties = {
        name: {**_plain(field, definitions), "description": told[name]}
        for name, field in whole["properties"].items()
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = whole.get("required")
    return {**schema, "required": required} if required else schema


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The same without references, and without what is in `_LEFT_OUT`, or null, or told twice."""
    if isinstance(schema, list):
        return [_plain(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].removeprefix(_REFERENCE)], definitions)
    if "anyOf" in schema:
        kinds = [one for one in schema["anyOf"] if one != {"type": "null"}]
        if len(kinds) == 1:
            return _plain(kinds[0], definitions)
    plain = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(one, definitions) for name, one in value.items()}
        elif key not in _LEFT_OUT and not (key == "default" and value is None):
            plain[key] = _plain(value, definitions)
    return plain
