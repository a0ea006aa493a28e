"""Turns configuration errors into one sentence with the file, the key and the fix."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from assistant.config.kinds import Section, nearest, one_of
from assistant.config.schema import NAMED, SECTIONS, all_keys, keys_of, table_in

Place = tuple[str | int, ...]  # a place in the file: section, key, entry, ...


class ConfigError(Exception):
    """The configuration is unusable. `str(error)` is one sentence without secrets."""


@dataclass
class Origins:
    """The source of each value, so that an error message can name it."""

    file: str  # path of the configuration file, or "the configuration" without one
    others: dict[Place, str] = field(default_factory=dict)  # place -> name of the value's source

    def subject(self, place: Place) -> str:
        """Name a value for an error message: "audio.input in FILE" or "HEARTH_AUDIO__INPUT"."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.others:
                return self.others[place[:length]]
        return f"{spell(place)} in {self.file}"


def spell(place: Place) -> str:
    """Describe a place in the file: "audio.input" or "transport of mcp.servers entry 2"."""
    words = ""
    for part in place:
        if isinstance(part, int):
            words += f" entry {part + 1}"
        elif " entry " in words:
            words = f"{part} of {words}"
        elif part != "[key]":  # pydantic's mark for the key of a dictionary
            words += f".{part}" if words else part
    return words


def one_sentence(sentences: list[str]) -> ConfigError:
    """Return an error with the first sentence and the number of the remaining ones."""
    more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
    return ConfigError(sentences[0] + more)


def complaints(error: ValidationError, origins: Origins) -> list[str]:
    details = error.errors(include_url=False)
    return [_complaint(detail, origins) for detail in details]


def _complaint(detail: ErrorDetails, origins: Origins) -> str:
    place: Place = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return _unknown(place, detail["input"], origins)
    if detail["type"] == "missing":
        return f"{origins.subject(place[:-1])} has no {place[-1]}; add it"
    return f"{origins.subject(place)} {_predicate(detail)}"


def _predicate(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return _not_one_of(context["expected"], detail["input"])
    if kind == "finite_number":
        return "must be a finite number"
    if kind in _LIMITS:
        words, name = _LIMITS[kind]
        return f"must be {words} {context[name]:g}"
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}, not {_kind_of(detail['input'])}"
    return f"is not valid: {detail['msg']}"


_LIMITS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("more than", "gt"),
}
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


def _kind_of(value: Any) -> str:
    """Name the value's type without showing the value, which could be a misplaced secret."""
    for kind, words in (
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
        (str, "text"),
        (list, "a list"),
        (dict, "a table"),
    ):
        if isinstance(value, kind):
            return words
    return "a date or time"


def _not_one_of(expected: str, given: Any) -> str:
    named = re.findall(r"'([^']*)'", expected)  # pydantic gives "'a', 'b' or 'c'"
    choices = [choice or '""' for choice in named]
    near = nearest(given, choices) if isinstance(given, str) else None
    hint = f"; did you mean {near}?" if near else ""
    return f"must be {one_of(choices)}{hint}"


def _unknown(place: Place, value: Any, origins: Origins) -> str:
    name = str(place[-1])
    if len(place) == 1:
        return f"In {origins.file}, {_unknown_section(name, value)}"
    table, title = _table_at(place[:-1])
    source = origins.others.get(place[:2], origins.file)
    return f"In {source}, {title} has no key {name}{_hint(name, table, place)}"


def _unknown_section(name: str, value: Any) -> str:
    homes = [section for section, key, _ in all_keys() if key == name]
    if not isinstance(value, dict | list) and homes:
        return f"{name} is outside any section; move it under [{homes[0]}]"
    known = {**SECTIONS, **NAMED}
    near = nearest(name, known)
    hint = f"; did you mean [{near}]?" if near else f"; the sections are {_in_brackets(known)}"
    return f"there is no section [{name}]{hint}"


def _in_brackets(names: Mapping[str, object]) -> str:
    return ", ".join(f"[{name}]" for name in names)


def _table_at(place: Place) -> tuple[type[Section], str]:
    if place[0] in NAMED:
        return NAMED[str(place[0])], f"[{place[0]}.{place[1]}]"
    section = SECTIONS[str(place[0])]
    if len(place) == 1:
        return section, f"[{place[0]}]"
    inner = table_in(keys_of(section)[str(place[1])])
    if inner is None:  # the schema has no such table, so name the section
        return section, f"[{place[0]}]"
    return inner, spell(place[:3])


def _hint(name: str, table: type[Section], place: Place) -> str:
    near = nearest(name, keys_of(table))
    if near:
        return f"; did you mean {near}?"
    homes = [section for section, key, _ in all_keys() if key == name and len(place) == 2]
    if homes:
        return f"; did you mean {name} under [{homes[0]}]?"
    return f"; its keys are {', '.join(keys_of(table))}"
