"""Validation of tool arguments against a server's JSON Schema, in bounded time.

The schema is untrusted. Invalid keywords are ignored, and checks that could take too long are left
to the server.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry

from integrations.gemini.subset import ALL_TYPES, is_number

MAX_STEPS = 2_000  # keywords checked in one call; 10 to 80 µs each
_MAX_NODES = 20_000  # of a schema
_MAX_DEPTH = 60
_MAX_ALIKE = 200  # items compared with each other
_MAX_PATTERN = 500  # characters
_MAX_WAYS = 200_000  # ways to try one pattern on one text; about 0.1 s
_left: ContextVar[int] = ContextVar("steps left for the schema at hand")


class TooMuch(Exception):
    """Validating the arguments would take more than `MAX_STEPS` steps."""


class Checks:
    def __init__(self, root: Mapping[str, Any]) -> None:
        nodes = iter(range(_MAX_NODES))
        self.root: Any = _tamed(dict(root), nodes, ())
        # The empty registry fetches nothing.
        self._validator = _Bounded(self.root, registry=Registry())
        _left.set(MAX_STEPS)

    def problem(self, value: Any) -> ValidationError | None:
        """Return the most relevant problem with a value, or None. Raises TooMuch or
        RecursionError."""
        found: ValidationError | None = best_match(self._validator.iter_errors(value))
        return found

    def admits(self, schema: Any, value: Any) -> bool:
        """Return True if a part of the schema allows a value. Raises TooMuch or RecursionError."""
        if not isinstance(schema, dict):
            return schema is not False
        return bool(self._validator.evolve(schema=schema).is_valid(value))


def ways(pattern: str, text: str) -> float:
    """Return an upper bound for the number of paths that a backtracking search for `pattern` in
    `text` can take.

    Returns infinity for patterns that it can't judge, such as those with lookarounds.
    """
    if len(pattern) > _MAX_PATTERN or re.search(r"\\[1-9]|\(\?[^:]", pattern):
        return float("inf")
    bare = re.sub(r"\\.", "x", pattern)  # replace escapes, then classes, then fixed counts
    bare = re.sub(r"\[\^?\]?[^\]]*\]", "x", bare).replace("(?:", "(")
    if re.search(r"\)[*+{]", bare):
        return float("inf")
    bare = re.sub(r"\{\d{1,3}\}", "", bare)
    choices = len(re.findall(r"[*+?]|\{", bare)) + (not bare.startswith("^"))
    ends, halves = float(len(text) + 1), float(bare.count("|"))
    return ends ** min(choices, 50) * 2 ** min(halves, 500)


def _found(pattern: str, text: str) -> bool:
    if ways(pattern, text) > _MAX_WAYS:
        return True
    try:
        return re.search(pattern, text) is not None
    except (re.error, OverflowError):  # not all of JavaScript's patterns work in Python
        return True


def _tamed(node: Any, nodes: Iterator[int], above: tuple[int, ...]) -> Any:
    """Return a finite copy of a schema without `$schema`, which could select another validator.

    `above` contains the ids of the enclosing nodes.
    """
    if not isinstance(node, dict | list):
        return node
    if len(above) > _MAX_DEPTH or id(node) in above or next(nodes, None) is None:
        return True
    below = (*above, id(node))
    if isinstance(node, list):
        return [_tamed(one, nodes, below) for one in node]
    return {
        str(key): _tamed(one, nodes, below)
        for key, one in node.items()
        if key != "$schema" or not isinstance(one, str)
    }


Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def _bounded(check: Check) -> Check:
    def checked(
        validator: Any, value: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        steps = _left.get() - 1
        if steps < 0:
            raise TooMuch
        _left.set(steps)
        try:
            yield from check(validator, value, instance, schema) or ()
        except (TooMuch, RecursionError):
            raise
        except Exception:  # a schema can be invalid in any way
            return

    return checked


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check a value's type. `nullable` is supported as in OpenAPI, and unknown types allow
    anything."""
    names = types if isinstance(types, list) else [types]
    if instance is None and schema.get("nullable") is True:
        return
    if not any(validator.is_type(instance, name) for name in names):
        yield ValidationError(f"it must be of type {' or '.join(names).lower()}")


def _enum(_: Any, values: Any, instance: Any, schema: Any) -> Iterator[Any]:
    nothing = instance is None and schema.get("nullable") is True
    same = (one for one in values if one == instance)  # although 1 == True in Python
    if not nothing and not any(isinstance(one, bool) is isinstance(instance, bool) for one in same):
        yield ValidationError("it must be one of the allowed values")


def _above(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[Any]:
    yield from _beyond(validator, bound, instance, schema, "minimum", 1)


def _below(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[Any]:
    yield from _beyond(validator, bound, instance, schema, "maximum", -1)


def _beyond(
    validator: Any, bound: Any, instance: Any, schema: Any, beside: str, sign: int
) -> Iterator[Any]:
    """Check an exclusive bound. In draft 4, it was a flag for the ordinary bound; since then it has
    been a number."""
    edge = schema[beside] if bound is True else bound
    if bound is False or not validator.is_type(instance, "number"):
        return
    if (instance - edge) * sign <= 0:
        yield ValidationError(f"it must be {'greater' if sign > 0 else 'less'} than {edge}")


def _items(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check the items of a list. Up to draft 2019-09, `items` could be a list with one schema per
    position."""
    if not isinstance(items, list):
        yield from Draft202012Validator.VALIDATORS["items"](validator, items, instance, schema)
    elif isinstance(instance, list):
        rest = [schema.get("additionalItems", True)] * max(0, len(instance) - len(items))
        for place, (one, inner) in enumerate(zip(instance, [*items, *rest], strict=False)):
            yield from validator.descend(one, inner, path=place)


def _pattern(_: Any, pattern: Any, instance: Any, __: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"it must match {pattern}")


def _unique(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[Any]:
    if wanted is not True or not isinstance(instance, list) or len(instance) > _MAX_ALIKE:
        return
    if any(one in instance[:place] for place, one in enumerate(instance)):
        yield ValidationError("its items must all be different")


def _multiple(_: Any, step: Any, instance: Any, __: Any) -> Iterator[Any]:
    if not is_number(instance) or not is_number(step):
        return
    times = instance / step
    if abs(times - round(times)) > 1e-9 * max(1.0, abs(times)):  # 0.3 is a multiple of 0.1
        yield ValidationError(f"it must be a multiple of {step}")


def _server_judges(*_: Any) -> None:
    """Skip a keyword whose check could take too long."""


def _by_pattern(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:
    for pattern, inner in patterns.items():
        for name in instance if isinstance(instance, dict) else ():
            if ways(pattern, name) <= _MAX_WAYS and re.search(pattern, name):
                yield from validator.descend(instance[name], inner, path=name)


def _additional(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in instance.keys() - set(known):
        if any(_found(pattern, name) for pattern in patterns):
            continue
        if inner is False:
            yield ValidationError(f"there is no key {name}; the keys are {', '.join(known)}")
        else:
            yield from validator.descend(instance[name], inner, path=name)


_OWN: dict[str, Check] = {
    "type": _type,
    "enum": _enum,
    "exclusiveMinimum": _above,
    "exclusiveMaximum": _below,
    "items": _items,
    "pattern": _pattern,
    "patternProperties": _by_pattern,
    "additionalProperties": _additional,
    "uniqueItems": _unique,
    "multipleOf": _multiple,
    "unevaluatedItems": _server_judges,
    "unevaluatedProperties": _server_judges,
}


def _is(name: str) -> Callable[[Any, Any], bool]:
    return lambda checker, instance: bool(checker.is_type(instance, name))


_Bounded: Any = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        keyword: _bounded(check)
        for keyword, check in {**Draft202012Validator.VALIDATORS, **_OWN}.items()
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {name.upper(): _is(name) for name in ALL_TYPES}
    ),
)
