"""Bounds and lengths, which the subset has only in part; the rest becomes a sentence."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from integrations.gemini.subset import Schema, count, is_number

BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
LENGTHS = frozenset(("minLength", "maxLength"))
COUNTS = frozenset(("minItems", "maxItems"))

Node = Mapping[str, Any]
Lose = Callable[[str], None]


def bounds(node: Node, kind: str, lose: Lose) -> tuple[Schema, list[str]]:
    """minimum and maximum, and sentences for what they cannot say.

    An exclusive bound is a number of its own, or in draft 4 a flag beside the bound.
    """
    schema: Schema = {}
    notes: list[str] = []
    for key, exclusive, sign, word in (
        ("minimum", "exclusiveMinimum", 1, "Greater"),
        ("maximum", "exclusiveMaximum", -1, "Less"),
    ):
        bound, edge = node.get(key), node.get(exclusive)
        if edge is True:
            edge, bound = bound, None
        limits = [_inside(bound, sign) if kind == "integer" else bound] if is_number(bound) else []
        if is_number(edge) and kind == "integer":
            nearest = _inside(edge, sign)
            limits.append(nearest + sign if nearest == edge else nearest)
        elif is_number(edge):
            limits.append(edge)
            notes.append(f"{word} than {edge}.")
            lose(f"{exclusive} (said in the description)")
        if limits:
            schema[key] = max(limits) if sign > 0 else min(limits)
    return _in_order(schema, "minimum", "maximum", lose), notes


def counts(node: Node, low: str, high: str, lose: Lose) -> Schema:
    """The least and the greatest length of a text or list."""
    found = {key: count(node.get(key)) for key in (low, high)}
    schema = {key: value for key, value in found.items() if value is not None}
    return _in_order(schema, low, high, lose)


def _in_order(schema: Schema, low: str, high: str, lose: Lose) -> Schema:
    if low in schema and high in schema and schema[low] > schema[high]:
        lose(f"{low} above {high}")
        return {}
    return schema


def _inside(number: float, sign: int) -> int:
    """The integer at a bound: above a lower one (`sign` 1), below an upper one (-1)."""
    return math.ceil(number) if sign > 0 else math.floor(number)
