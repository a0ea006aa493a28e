"""Conversion of a model's arguments to a tool's schema, as long as their meaning is clear."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from jsonschema.exceptions import ValidationError

from assistant.tools.catalog.schema import Checks
from assistant.tools.house.names import nearest
from integrations.gemini.merge import REFERENCES, References, likely_type, mapping, required
from integrations.gemini.subset import as_json, clean, type_of, types_of
from integrations.home_assistant.house import HouseSettings, in_unit_of

MAX_PROBLEM = 200  # characters
MAX_OPTIONS = 8
_MAX_PARTS = 100  # parts of one schema, including references and alternatives
_MAX_CHOICES = 1_000  # choices to compare with a given value
_MAX_DEPTH = 12
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")
_DEGREES = re.compile(
    r"(-?\d{1,4}(?:[.,]\d{1,2})?)\s*(?:°|º|degrees?)?\s*([CF])(?:elsius|ahrenheit)?", re.IGNORECASE
)
_WORDS = {  # messages for violated limits
    "const": "it must be {}",
    "minimum": "it must be at least {}",
    "maximum": "it must be at most {}",
    "minLength": "it must have at least {} characters",
    "maxLength": "it must have at most {} characters",
    "minItems": "it must have at least {} items",
    "maxItems": "it must have at most {} items",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    arguments: dict[str, Any]
    problem: str = ""  # one phrase for the model; empty if the arguments are valid
    options: tuple[str, ...] = ()  # valid values instead, nearest first


def fit(
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
) -> Fitted:
    """Convert arguments to a tool's schema and validate them. Never raises.

    For example, "30" becomes 30 for an integer, and "light" becomes ["light"] for a list. `renamed`
    maps the argument names in the declaration to those of the server.
    """
    given = dict(arguments)
    try:
        given = _restored(arguments, renamed or {})
        return _Fitting(schema).fitted(given)
    except Exception:
        # A schema can be broken in any way. The server then has to validate the arguments.
        return Fitted(given)


def in_own_degrees(arguments: Mapping[str, Any], house: HouseSettings) -> Mapping[str, Any]:
    """Convert a temperature that is given with its unit, such as "70 °F", to the house's unit."""
    given = arguments.get("temperature")
    found = _DEGREES.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        return arguments
    degrees = float(found[1].replace(",", "."))
    return {**arguments, "temperature": in_unit_of(house, degrees, f"°{found[2].upper()}")}


class _Fitting:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._checks = Checks(schema)
        self._references = References(self._checks.root)

    def fitted(self, given: dict[str, Any]) -> Fitted:
        parts = self._parts(self._checks.root)
        known = _properties(parts)
        extra = any(part.get("additionalProperties") not in (None, False) for part in parts)
        extra = extra or any(mapping(part, "patternProperties") for part in parts)
        if not known and not extra:
            return Fitted({})  # arguments of a tool that takes none are dropped
        needed = set(chain.from_iterable(required(part) for part in parts))
        given = {
            key: value
            for key, value in given.items()
            if (value is not None and value != "")
            or (
                (key in needed or self._speaks_of_null(known.get(key), value))
                and self._checks.admits(known.get(key, True), value)
            )
        }
        unknown = [key for key in given if key not in known]
        if unknown and not extra:
            problem = f"there is no argument {unknown[0]}; the arguments are {', '.join(known)}"
            return Fitted(given, problem[:MAX_PROBLEM], _options(unknown[0], list(known)))
        given = {key: self._coerced(known.get(key, True), one) for key, one in given.items()}
        error = self._checks.problem(given)
        if error is None:
            return Fitted(given)
        choices = _texts(error.validator_value) if error.validator == "enum" else []
        return Fitted(given, _phrase(error), _options(str(error.instance), choices))

    def _speaks_of_null(self, schema: Any, value: Any) -> bool:
        if value is not None:
            return False
        parts = self._parts(schema)
        return "null" in _wanted(parts) or any(part.get("nullable") is True for part in parts)

    def _coerced(self, schema: Any, value: Any, depth: int = 0) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # the same number in JSON, and the type that Home Assistant expects
        if self._checks.admits(schema, value) or depth > _MAX_DEPTH:
            return value
        parts = self._parts(schema)
        wanted = _wanted(parts)
        readings = (one for one in self._readings(parts, value, depth) if type_of(one) in wanted)
        return next((one for one in readings if self._checks.admits(schema, one)), value)

    def _readings(self, parts: list[Mapping[str, Any]], value: Any, depth: int) -> Iterator[Any]:
        if isinstance(value, str):
            yield from _numbers(value)
            yield from (one for one in _choices(parts) if one.casefold() == value.casefold())
            yield from _truths(value)
            parsed = _parsed(value)
            if parsed is not None:
                yield parsed
                yield from self._inside(parts, parsed, depth)
        elif isinstance(value, list | dict):
            if isinstance(value, list) and len(value) == 1:
                yield value[0]
            yield from self._inside(parts, value, depth)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)
            yield from _truths(str(value))
        if not isinstance(value, list):
            yield [value]
            yield from self._inside(parts, [value], depth)

    def _inside(self, parts: list[Mapping[str, Any]], value: Any, depth: int) -> Iterator[Any]:
        if isinstance(value, list):
            for places, rest in map(_items, parts):
                # At least as many as values.
                kinds = [*places, *[rest] * (len(value) - len(places))]
                pairs = zip(kinds, value, strict=False)
                yield [self._coerced(kind, item, depth + 1) for kind, item in pairs]
        elif isinstance(value, dict):
            known = _properties(parts)
            yield {k: self._coerced(known.get(k, True), one, depth + 1) for k, one in value.items()}

    def _parts(self, schema: Any) -> list[Mapping[str, Any]]:
        waiting: list[Any] = [schema]
        seen: set[int] = set()
        parts: list[Mapping[str, Any]] = []
        for node in waiting:  # grows during the loop
            if not isinstance(node, dict) or id(node) in seen or len(parts) >= _MAX_PARTS:
                continue
            seen.add(id(node))
            parts.append(node)
            for key in REFERENCES:
                if isinstance(node.get(key), str):
                    waiting.append(self._references.resolve(node[key]))
            for key in ("allOf", "anyOf", "oneOf"):
                waiting += node[key] if isinstance(node.get(key), list) else ()
            waiting += [node.get("then"), node.get("else")]
            waiting += mapping(node, "dependentSchemas").values()
        return parts


def _properties(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, schema in mapping(part, "properties").items():
            found.setdefault(name, []).append(schema)
    return {name: one[0] if len(one) == 1 else {"anyOf": one} for name, one in found.items()}


def _wanted(parts: list[Mapping[str, Any]]) -> set[str]:
    found = {name for part in parts for name in (*types_of(part), likely_type(part))}
    found |= {type_of(one) for part in parts for one in _listed(part)}
    return found | {"integer"} if "number" in found else found


def _items(part: Mapping[str, Any]) -> tuple[list[Any], Any]:
    items = part.get("items", True)
    if isinstance(items, list):
        return items, part.get("additionalItems", True)
    places = part.get("prefixItems")
    return (places if isinstance(places, list) else []), items


def _options(given: str, choices: list[str]) -> tuple[str, ...]:
    return nearest(given, choices[:_MAX_CHOICES]) or tuple(choices[:MAX_OPTIONS])


def _numbers(text: str) -> Iterator[int | float]:
    """Yield the number in a string such as "30", "21.5", "21,5", "30 %" or "21 °C"."""
    number = r"(-?\d{1,15}(?:\.\d{1,15}|,\d{1,2})?)"
    found = re.fullmatch(rf"\s*{number}\s*(?:%|°\s*[CF]?|K)?\s*", text, re.ASCII)
    if found:
        value = float(found[1].replace(",", "."))
        if value.is_integer():
            yield int(value)
        yield value


def _truths(text: str) -> Iterator[bool]:
    word = text.strip().lower()
    if word in (*_YES, "1", *_NO, "0"):
        yield word in (*_YES, "1")


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: nested a thousand levels
        return None
    return value if as_json(value) else None  # JSON has no NaN or Infinity


def _choices(parts: list[Mapping[str, Any]]) -> list[str]:
    return _texts([one for part in parts for one in _listed(part)])


def _listed(part: Mapping[str, Any]) -> list[Any]:
    values = [part["const"]] if "const" in part else part.get("enum")
    return values if isinstance(values, list) else []


def _texts(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def _restored(value: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {renamed.get(key, key): _restored(inner, renamed) for key, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, renamed) for inner in value]
    return value


def _phrase(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    kind = str(error.validator)
    if kind == "required" and isinstance(wanted, list):
        missing = [str(name) for name in wanted if name not in instance]
        text = f"{', '.join(missing)} is missing"
    elif kind == "enum":
        text = f"it must be one of {', '.join(str(choice) for choice in wanted[:40])}"
    elif kind in ("anyOf", "oneOf") and error.context:
        types = [str(one.validator_value) for one in error.context if one.validator == "type"]
        text = f"it must be of type {' or '.join(types)}" if types else error.context[0].message
    elif kind in _WORDS:
        text = _WORDS[kind].format(wanted)
    else:
        text = error.message
    return clean(f"{where}: {text}" if where else text)[:MAX_PROBLEM]
