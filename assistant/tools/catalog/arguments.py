"""Arguments of a model, made to fit the server's schema where the meaning is plain."""

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

MAX_PROBLEM = 200  # characters
MAX_OPTIONS = 8
_MAX_PARTS = 100  # of one schema, behind references and alternatives
_MAX_CHOICES = 1_000  # compared with what was given
_MAX_DEPTH = 12
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")
_WORDS = {  # of a broken limit
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

    null and "" are dropped where nothing must be given, as Home Assistant does, but for a null that
    the schema itself speaks of. "30" becomes 30 where an integer is wanted, "light" becomes
    ["light"] where a list is, JSON text what it says. A number in words is no number: it goes
    back. `renamed`: as declared -> as the server has it. `format` binds nobody (JSON Schema,
    format-annotation). Never raises.
    """
    given = dict(arguments)
    try:
        given = _restored(arguments, renamed or {})
        return _Fitting(schema).fitted(given)
    except Exception:
        # A server's schema may be broken in any way; then the server judges the arguments.
        return Fitted(given)


class _Fitting:
    """One schema and the arguments of one call."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._checks = Checks(schema)
        self._references = References(self._checks.root)

    def fitted(self, given: dict[str, Any]) -> Fitted:
        """The arguments as to be sent, or what is wrong."""
        parts = self._parts(self._checks.root)
        known = _properties(parts)
        extra = any(part.get("additionalProperties") not in (None, False) for part in parts)
        extra = extra or any(mapping(part, "patternProperties") for part in parts)
        if not known and not extra:
            return Fitted({})  # a tool without arguments ignores them
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
            problem = f"there is no argument {unknown[0]}; there are {', '.join(known)}"
            return Fitted(given, problem[:MAX_PROBLEM], _options(unknown[0], list(known)))
        given = {key: self._coerced(known.get(key, True), one) for key, one in given.items()}
        error = self._checks.problem(given)
        if error is None:
            return Fitted(given)
        choices = _texts(error.validator_value) if error.validator == "enum" else []
        return Fitted(given, _phrase(error), _options(str(error.instance), choices))

    def _speaks_of_null(self, schema: Any, value: Any) -> bool:
        """Return whether it is a null, and one that is named: it says something else than
        nothing."""
        if value is not None:
            return False
        parts = self._parts(schema)
        return "null" in _wanted(parts) or any(part.get("nullable") is True for part in parts)

    def _coerced(self, schema: Any, value: Any, depth: int = 0) -> Any:
        """The value, or the first plain reading of it that the schema admits."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # the same number to JSON, and what Home Assistant wants
        if self._checks.admits(schema, value) or depth > _MAX_DEPTH:
            return value
        parts = self._parts(schema)
        wanted = _wanted(parts)
        readings = (one for one in self._readings(parts, value, depth) if type_of(one) in wanted)
        return next((one for one in readings if self._checks.admits(schema, one)), value)

    def _readings(self, parts: list[Mapping[str, Any]], value: Any, depth: int) -> Iterator[Any]:
        """Other ways to write the same thing, the likeliest first."""
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
        """A list or an object with everything in it made to fit."""
        if isinstance(value, list):
            for places, rest in map(_items, parts):
                kinds = [*places, *[rest] * (len(value) - len(places))]  # at least as many
                pairs = zip(kinds, value, strict=False)
                yield [self._coerced(kind, item, depth + 1) for kind, item in pairs]
        elif isinstance(value, dict):
            known = _properties(parts)
            yield {k: self._coerced(known.get(k, True), one, depth + 1) for k, one in value.items()}

    def _parts(self, schema: Any) -> list[Mapping[str, Any]]:
        """The schema and what stands behind its references and alternatives, each once."""
        waiting: list[Any] = [schema]
        seen: set[int] = set()
        parts: list[Mapping[str, Any]] = []
        for node in waiting:  # grows while it is walked
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
    """The arguments of all parts; one that several know may be as any of them says."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, schema in mapping(part, "properties").items():
            found.setdefault(name, []).append(schema)
    return {name: one[0] if len(one) == 1 else {"anyOf": one} for name, one in found.items()}


def _wanted(parts: list[Mapping[str, Any]]) -> set[str]:
    """The types that the parts speak of; another would only slip past them."""
    found = {name for part in parts for name in (*types_of(part), likely_type(part))}
    found |= {type_of(one) for part in parts for one in _listed(part)}
    return found | {"integer"} if "number" in found else found


def _items(part: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of a list's first places, and that of all further ones."""
    items = part.get("items", True)
    if isinstance(items, list):
        return items, part.get("additionalItems", True)
    places = part.get("prefixItems")
    return (places if isinstance(places, list) else []), items


def _options(given: str, choices: list[str]) -> tuple[str, ...]:
    """The choices nearest to what was given, else the first few."""
    return nearest(given, choices[:_MAX_CHOICES]) or tuple(choices[:MAX_OPTIONS])


def _numbers(text: str) -> Iterator[int | float]:
    """ "30", "21.5", "21,5", "30 %", "21 °C"."""
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
    """The list or object that a text is the JSON of, else None."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # the latter: nested a thousand times
        return None
    return value if as_json(value) else None  # JSON itself has neither NaN nor Infinity


def _choices(parts: list[Mapping[str, Any]]) -> list[str]:
    return _texts([one for part in parts for one in _listed(part)])


def _listed(part: Mapping[str, Any]) -> list[Any]:
    values = [part["const"]] if "const" in part else part.get("enum")
    return values if isinstance(values, list) else []


def _texts(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []


def _restored(value: Any, renamed: Mapping[str, str]) -> Any:
    """The server's own argument names, at every level."""
    if isinstance(value, Mapping):
        return {renamed.get(key, key): _restored(inner, renamed) for key, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, renamed) for inner in value]
    return value


def _phrase(error: ValidationError) -> str:
    """Return what is wrong, with the argument in front and never the whole schema behind."""
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
