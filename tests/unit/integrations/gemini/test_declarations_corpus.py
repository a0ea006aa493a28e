"""Some thousand generated schemas: each is declared, and what a model then writes fits again."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import Declaration, convert
from tests.unit.integrations.gemini.declared import accepted
from tests.unit.integrations.gemini.schemas import broken, sound

MANY = 2_000


def test_sound_schemas_are_declared_and_their_arguments_come_back() -> None:
    lossless = 0
    for number, (schema, arguments) in enumerate(sound(MANY)):
        declaration = accepted(convert("t", "", schema))
        assert not _unread(declaration), number
        fitted = fit(schema, arguments)
        assert (fitted.problem, fitted.arguments) == ("", _known(schema, arguments)), number
        if any("any other" in loss or "free" in loss for loss in declaration.losses):
            continue  # the model is told of text where there may be more
        written = as_written(declaration, arguments)
        fitted = fit(schema, written, declaration.renamed)
        assert (fitted.problem, fitted.arguments) == ("", arguments), number
        if not declaration.losses and declaration.parameters:
            lossless += 1
            admits = Draft202012Validator(as_json_schema(declaration.parameters)).is_valid
            assert admits(written), number
    assert lossless > 150


def test_broken_schemas_are_declared_or_lose_their_arguments() -> None:
    for number, schema in enumerate(broken(MANY)):
        declaration = accepted(convert("t", "", schema))
        assert declaration == convert("t", "", schema), number
        assert not _unread(declaration), number
        fit(schema, {"a": "1", "name": ["x"], "other": {"a": None}}, declaration.renamed)


def _unread(declaration: Declaration) -> list[str]:
    """The loss of all arguments that only an error of ours would bring."""
    return [loss for loss in declaration.losses if "cannot be read" in loss]


def _known(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool that says nothing of arguments is given none."""
    says = schema.get("properties") or schema.get("additionalProperties")
    return arguments if says else {}


def as_written(declaration: Declaration, arguments: dict[str, Any]) -> Any:
    """The arguments as a model writes them that knows the declaration alone."""
    return _written(declaration.parameters or {"type": "OBJECT"}, arguments, declaration.renamed)


def _written(schema: dict[str, Any], value: Any, renamed: Mapping[str, str]) -> Any:
    members = schema.get("anyOf", [schema])
    fitting = [one for one in members if _takes(one, value)]
    if value is None and any(one.get("nullable") for one in members):
        return None
    if not fitting:
        assert any(one["type"] == "STRING" for one in members), (schema, value)
        return json.dumps(value)
    inner = fitting[0]
    if isinstance(value, dict):
        names = {renamed.get(name, name): name for name in inner.get("properties", {})}
        return {
            names[own]: _written(inner["properties"][names[own]], one, renamed)
            for own, one in value.items()
        }
    if isinstance(value, list):
        return [_written(inner["items"], one, renamed) for one in value]
    return value


def _takes(schema: dict[str, Any], value: Any) -> bool:
    kinds = {"OBJECT": dict, "ARRAY": list, "STRING": str, "BOOLEAN": bool}
    if schema["type"] in kinds:
        return isinstance(value, kinds[schema["type"]])
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    number = isinstance(value, int | float) and (whole or schema["type"] == "NUMBER")
    return number and not isinstance(value, bool)


def as_json_schema(schema: Any) -> Any:
    """A declaration in the words of JSON Schema."""
    if "anyOf" in schema:
        return {"anyOf": [as_json_schema(one) for one in schema["anyOf"]]}
    plain = {**schema, "type": schema["type"].lower()}
    if "properties" in plain:
        plain["properties"] = {k: as_json_schema(one) for k, one in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = as_json_schema(plain["items"])
    return {"anyOf": [plain, {"type": "null"}]} if plain.pop("nullable", False) else plain
