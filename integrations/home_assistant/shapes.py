"""Reads answers of Home Assistant with patience: what is of the wrong type counts as absent.

One odd row, of an integration that somebody wrote at home, must not cost the rest of the house.
"""

from collections.abc import Iterable, Mapping
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, without empty ones."""
    return tuple(one for one in value if text(one)) if isinstance(value, list) else ()


def keyed(values: Iterable[Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Rows by the id that they hold under `key`. Raises TypeError where `values` are no rows."""
    return {
        row[key]: row
        for row in values
        if isinstance(row, Mapping) and isinstance(row.get(key), str)
    }
