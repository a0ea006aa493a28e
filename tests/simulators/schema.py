"""Function declarations as the service accepts them: its OpenAPI subset, checked strictly.

Sources: "Schema" and "FunctionDeclaration" of the Gemini API reference; the service's own messages
in goruck/home-generative-agent #525, langchain-ai/langchain-google #1216, danny-avila/LibreChat
#6971 and microsoft/azure-devops-mcp #139. Stricter than the service in one respect: `title`,
`default`, `pattern`, `format` and `example` exist in its reference, but not all of its models
accept them, so Hearth must not send them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulators.wire import Json, Refusal, known_fields

MAX_DECLARATIONS = 512  # of one setup
_MAX_DEPTH = 32
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT")
_ANYWHERE = {"type", "description", "nullable"}
_OF_TYPE = {
    "STRING": {"enum", "minLength", "maxLength"},
    "NUMBER": {"minimum", "maximum"},
    "INTEGER": {"minimum", "maximum"},
    "BOOLEAN": set[str](),
    "ARRAY": {"items", "minItems", "maxItems"},
    "OBJECT": {"properties", "required", "propertyOrdering"},
}
_ALL = {"anyOf"} | _ANYWHERE | set().union(*_OF_TYPE.values())
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Declared:
    """A function that the client declares."""

    name: str
    description: str
    parameters: Json | None  # as checked; None: no arguments
    behavior: str | None  # "BLOCKING", "NON_BLOCKING"; None: not given


@dataclass(frozen=True, slots=True)
class Tools:
    """All tools of a client."""

    functions: tuple[Declared, ...] = ()
    search: bool = False

    def named(self, name: str) -> Declared | None:
        """Return the function of this name; None if there is none."""
        return next((one for one in self.functions if one.name == name), None)


def read_tools(tools: Any, behaviors: Sequence[str] | None, where: str) -> Tools:
    """Check a list of Tool. Raises Refusal.

    `behaviors` are the values of `behavior` that the model accepts; None if the field does not
    exist (generateContent).
    """
    if not isinstance(tools, list):
        raise Refusal(f"Invalid value at '{where}'.")
    functions: list[Declared] = []
    search = False
    for index, tool in enumerate(tools):
        at = f"{where}[{index}]"
        fields = known_fields(tool, ("functionDeclarations", "googleSearch"), at)
        if "googleSearch" in fields:
            known_fields(fields["googleSearch"], (), f"{at}.google_search")
            search = True
        if "functionDeclarations" in fields:
            functions += _functions(fields["functionDeclarations"], behaviors, at)
        if not fields:
            raise Refusal(f"{at}: tool_type must have one initialized field.")
    _check_names(functions, where)
    return Tools(tuple(functions), search)


def _functions(declarations: Any, behaviors: Sequence[str] | None, where: str) -> list[Declared]:
    at = f"{where}.function_declarations"
    if not isinstance(declarations, list) or not declarations:
        raise Refusal(f"{at}: should not be empty.")
    return [
        _declared(declaration, behaviors, f"{at}[{index}]")
        for index, declaration in enumerate(declarations)
    ]


def _check_names(functions: list[Declared], where: str) -> None:
    if len(functions) > MAX_DECLARATIONS:
        raise Refusal(f"{where}: at most {MAX_DECLARATIONS} function declarations are allowed.")
    seen = set()
    for function in functions:
        if function.name in seen:
            raise Refusal(f"Duplicate function declaration found: {function.name}")
        seen.add(function.name)


def _declared(declaration: Any, behaviors: Sequence[str] | None, where: str) -> Declared:
    # parametersJsonSchema is refused as unknown: Live rejected it (livekit/agents PR #3135) or
    # ignored it (python-genai #1147), so that calls came without arguments.
    allowed = ["name", "description", "parameters"] + ([] if behaviors is None else ["behavior"])
    fields = known_fields(declaration, allowed, where)
    name, behavior = fields.get("name"), fields.get("behavior")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refusal(
            f"{where}.name: Invalid function name. Must start with a letter or an underscore. "
            "Must be alphameric, underscores, dots, colons or dashes, at most 128 long."
        )
    if behavior is not None and behavior not in (behaviors or ()):
        raise Refusal(f"{where}.behavior: {behavior} is not supported for this model")
    description = fields.get("description", "")
    if not isinstance(description, str):
        raise Refusal(f"Invalid value at '{where}.description' (TYPE_STRING).")
    parameters = fields.get("parameters")
    if parameters is not None:
        _check(parameters, f"{where}.parameters", 0)
        if parameters.get("type") != "OBJECT":
            raise Refusal(f"{where}.parameters.type: must be OBJECT")
    return Declared(name, description, parameters, behavior)


def _check(schema: Any, where: str, depth: int) -> None:
    """Raise Refusal if `schema` is outside of the subset."""
    fields = known_fields(schema, _ALL, where)
    if depth > _MAX_DEPTH:
        raise Refusal(f"{where}: nesting is too deep.")
    if "anyOf" in fields:
        _check_alternatives(fields, where, depth)
        return
    kind = fields.get("type")
    if kind not in _TYPES:
        raise Refusal(
            f"{where}.type: must be specified when not using one_of, any_of or all_of fields"
            if kind is None
            else f"Invalid value at '{where}.type' (Type), \"{kind}\""
        )
    for key in fields.keys() - _ANYWHERE - _OF_TYPE[kind]:
        raise Refusal(f"{where}.{key}: not allowed for {kind} type")
    if not isinstance(fields.get("nullable", False), bool):
        raise Refusal(f"Invalid value at '{where}.nullable' (TYPE_BOOL).")
    if not isinstance(fields.get("description", ""), str):
        raise Refusal(f"Invalid value at '{where}.description' (TYPE_STRING).")
    _check_limits(fields, where)
    if kind == "STRING":
        _check_enum(fields, where)
    elif kind == "ARRAY":
        if "items" not in fields:
            raise Refusal(f"{where}.items: missing field.")
        _check(fields["items"], f"{where}.items", depth + 1)
    elif kind == "OBJECT":
        _check_object(fields, where, depth)


def _check_alternatives(fields: Json, where: str, depth: int) -> None:
    alternatives = fields["anyOf"]
    if len(fields) > 1:
        raise Refusal(
            f"{where} schema specified other fields alongside any_of. "
            "When using any_of, it must be the only field set."
        )
    if not isinstance(alternatives, list) or not alternatives:
        raise Refusal(f"{where}.any_of: should not be empty.")
    for index, alternative in enumerate(alternatives):
        _check(alternative, f"{where}.any_of[{index}]", depth + 1)


def _check_enum(fields: Json, where: str) -> None:
    values = fields.get("enum")
    if values is None:
        return
    if not isinstance(values, list) or not values:
        raise Refusal(f"{where}.enum: should not be empty.")
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise Refusal(f"Invalid value at '{where}.enum[{index}]' (TYPE_STRING), {value}")
        if not value:
            raise Refusal(f"{where}.enum[{index}]: cannot be empty")
    if len(set(values)) < len(values):
        raise Refusal(f"{where}.enum: duplicate values.")


def _check_limits(fields: Json, where: str) -> None:
    for key in ("minimum", "maximum"):
        if key in fields and (
            isinstance(fields[key], bool) or not isinstance(fields[key], int | float)
        ):
            raise Refusal(f"Invalid value at '{where}.{key}' (TYPE_DOUBLE).")
    for key in ("minItems", "maxItems", "minLength", "maxLength"):
        # 64-bit integers may be text too (protobuf's JSON mapping).
        if key in fields and not re.fullmatch(r"\d+", str(fields[key])):
            raise Refusal(f"Invalid value at '{where}.{key}' (TYPE_INT64).")


def _check_object(fields: Json, where: str, depth: int) -> None:
    properties = fields.get("properties", {})
    if not isinstance(properties, dict):
        raise Refusal(f"Invalid value at '{where}.properties'.")
    for name, schema in properties.items():
        if not _PROPERTY.fullmatch(name):
            raise Refusal(f'{where}.properties: invalid property name "{name}"')
        _check(schema, f"{where}.properties[{name}]", depth + 1)
    for key in ("required", "propertyOrdering"):
        names = fields.get(key, [])
        if not isinstance(names, list):
            raise Refusal(f"Invalid value at '{where}.{key}'.")
        for index, name in enumerate(names):
            if name not in properties:
                raise Refusal(f"{where}.{key}[{index}]: property is not defined")
