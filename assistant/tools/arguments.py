"""What a model gave as arguments, made to fit the server's schema where the meaning is plain."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from referencing import Registry

from assistant.tools.nearest import nearest
from integrations.gemini.merge import resolve_pointer

MAX_PROBLEM = 200  # characters
MAX_OPTIONS = 8


@dataclass(frozen=True, slots=True)
class Fitted:
    """Arguments as to be sent, or what is wrong with them."""

    arguments: dict[str, Any]
    problem: str = ""  # one phrase for the model; empty where the arguments are valid
    options: tuple[str, ...] = ()  # what would be right instead, the nearest first


def fit(
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
) -> Fitted:
    """Coerce and validate against the original schema.

    null and "" are dropped, as Home Assistant does; "30" becomes 30 where an integer is wanted,
    "light" becomes ["light"] where a list is. `renamed`: as declared -> as the server has it.
    """
    given = {
        key: value
        for key, value in _restored(arguments, renamed or {}).items()
        if value is not None and value != ""
    }
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        free = schema.get("additionalProperties") not in (None, False)
        return Fitted(given if free else {})  # a tool without arguments ignores them
    unknown = [key for key in given if key not in properties]
    if unknown and not schema.get("additionalProperties") and not schema.get("patternProperties"):
        known = ", ".join(properties)
        problem = f"there is no argument {unknown[0]}; there are {known}"[:MAX_PROBLEM]
        return Fitted(given, problem, _options(unknown[0], list(properties)))
    try:
        for key, value in given.items():
            if key in properties:
                given[key] = _coerced(schema, properties[key], value)
        error = best_match(_validator(schema, schema).iter_errors(given))
    except Exception:
        # A server's schema may itself be broken in any way; then the server judges the arguments.
        return Fitted(given)
    if error is None:
        return Fitted(given)
    choices = _choices({"enum": error.validator_value}) if error.validator == "enum" else []
    return Fitted(given, _phrase(error), _options(str(error.instance), choices))


def _options(given: str, choices: list[str]) -> tuple[str, ...]:
    """The choices nearest to what was given, else the first few."""
    return nearest(given, choices) or tuple(choices[:MAX_OPTIONS])


def _validator(root: Mapping[str, Any], schema: Any) -> Validator:
    """`schema` in the light of `root`'s definitions; an empty registry fetches nothing."""
    return Draft202012Validator(root, registry=Registry()).evolve(schema=schema)


def _coerced(root: Mapping[str, Any], schema: Any, value: Any) -> Any:
    """The value, or the first plain reading of it that the schema admits."""
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        schema = resolve_pointer(root, schema["$ref"]) or schema
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # the same number to JSON, and what Home Assistant wants
    validator = _validator(root, schema)
    return next(
        (
            reading
            for reading in (value, *_readings(root, schema, value))
            if validator.is_valid(reading)
        ),
        value,
    )


def _readings(root: Mapping[str, Any], schema: Any, value: Any) -> Iterator[Any]:
    """Other ways to write the same thing, the likeliest first."""
    if isinstance(value, str):
        yield from _numbers(value)
        yield from (choice for choice in _choices(schema) if choice.casefold() == value.casefold())
        if value.strip().lower() in ("true", "false"):
            yield value.strip().lower() == "true"
        if value.lstrip()[:1] in ("[", "{"):
            try:
                yield json.loads(value)
            except (ValueError, RecursionError):  # the latter: nested a thousand times
                return
    elif isinstance(value, list):
        if len(value) == 1:
            yield value[0]
        items = schema.get("items") if isinstance(schema, Mapping) else None
        if isinstance(items, Mapping):
            yield [_coerced(root, items, item) for item in value]
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    yield [value]


def _numbers(text: str) -> Iterator[int | float]:
    """ "30", "21.5", "30 %", "21 °C"."""
    found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(?:%|°\s*[CF]?|K)?\s*", text)
    if found:
        number = float(found[1])
        if number.is_integer():
            yield int(number)
        yield number


def _choices(schema: Any) -> list[str]:
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    return [value for value in values or () if isinstance(value, str)]


def _restored(value: Any, renamed: Mapping[str, str]) -> Any:
    """The server's own argument names, at every level."""
    if isinstance(value, Mapping):
        return {renamed.get(key, key): _restored(inner, renamed) for key, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, renamed) for inner in value]
    return value


def _phrase(error: ValidationError) -> str:
    """What is wrong, with the argument in front and never the whole schema behind."""
    where = ".".join(str(part) for part in error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "required" and isinstance(wanted, list):
        missing = [name for name in wanted if name not in instance]
        text = f"{', '.join(missing)} is missing"
    elif error.validator == "enum":
        text = f"it must be one of {', '.join(str(choice) for choice in wanted)}"
    elif error.validator == "type":
        text = f"it must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    elif error.validator in ("minimum", "maximum"):
        text = f"it must be at {'least' if error.validator == 'minimum' else 'most'} {wanted}"
    else:
        text = error.message
    return (f"{where}: {text}" if where else text)[:MAX_PROBLEM]
