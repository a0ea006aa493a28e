"""Lists of choices (`enum`, `const`): the subset lists strings and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from integrations.gemini.merge import types_of
from integrations.gemini.subset import (
    Schema,
    all_text,
    as_json,
    described,
    is_number,
    is_text,
    nullable,
    type_of,
)

MAX_CHOICES = 500
MAX_CHARACTERS = 8_000  # of all choices together; beyond either, they are said in part
_SAID = 40  # choices that a description names
_PLAIN = frozenset(("const", "enum", "type", "title", "description"))

Lose = Callable[[str], None]


def choice_schema(node: Mapping[str, Any], values: Sequence[Any], lose: Lose) -> Schema:
    """The schema of one of `values`. Strings are listed; numbers keep their type and are told in
    the description; a mixture is given as text, which becomes a value again when it comes back."""
    types = types_of(node)
    if all_text(values) and types in ([], ["string"]):
        schema = _texts(values, lose)  # as nearly all lists are
        return nullable(schema) if node.get("nullable") is True else schema
    known = [value for value in values if value is not None]
    kinds = {kind for kind in map(type_of, known) if not types or kind in (*types, *_wider(types))}
    known = [value for value in known if type_of(value) in kinds] or known
    if known and all(isinstance(value, bool) for value in known):
        notes = _one_of(known) if len(set(known)) == 1 else []
        schema = described({"type": "BOOLEAN"}, "", notes)
    elif known and all(is_number(value) for value in known):
        schema = _numbers(known, lose)
    else:
        schema = _texts(known, lose)
    admits_null = len(values) > sum(value is not None for value in values)
    return nullable(schema) if admits_null or "null" in types or node.get("nullable") else schema


def joined_choices(alternatives: Sequence[Any]) -> tuple[list[Any], str] | None:
    """Alternatives that are each a constant or a list, as one list, and what is said of each.

    None where one of them is something else.
    """
    values: list[Any] = []
    said: list[str] = []
    for one in alternatives:
        if not isinstance(one, dict) or not one.keys() <= _PLAIN:
            return None
        listed = [one["const"]] if "const" in one else one.get("enum")
        if not isinstance(listed, list) or not listed:
            return None
        values += listed
        about = one.get("description") or one.get("title")
        if isinstance(about, str) and about and about not in listed:
            said.append(f"{', '.join(map(_written, listed[:_SAID]))}: {about}")
    return values, f"{'; '.join(said)}." if said else ""


def _numbers(known: Sequence[Any], lose: Lose) -> Schema:
    least, most = min(known), max(known)
    whole = all(float(value).is_integer() for value in known)
    schema = {"type": "INTEGER" if whole else "NUMBER", "minimum": least, "maximum": most}
    if whole and len(set(known)) == most - least + 1:
        return described(schema, "", [])  # without gaps the bounds say all
    lose("a list of numbers (said in the description)")
    return described(schema, "", _one_of(known))


def _texts(known: Sequence[Any], lose: Lose) -> Schema:
    if all_text(known):
        written = dict.fromkeys(known)
    else:
        lose("a list of mixed values, given as text")
        written = dict.fromkeys(map(_written, known))
    sendable = is_text("".join(written)) and "" not in written  # as nearly all lists are
    texts = list(written) if sendable else [text for text in written if text and is_text(text)]
    if len(texts) < len(written):
        lose("a choice that cannot be written")
    if len(texts) > MAX_CHOICES or sum(map(len, texts)) > MAX_CHARACTERS:
        lose(f"a list of {len(texts)} choices (begun in the description)")
        return described({"type": "STRING"}, "", _one_of(texts))
    return described({"type": "STRING", **({"enum": texts} if texts else {})}, "", [])


def _one_of(values: Sequence[Any]) -> list[str]:
    names, room = [], 600  # characters
    for value in values[:_SAID]:
        names.append(as_json(value)[:80])
        room -= len(names[-1])
        if room < 0:
            break
    more = f" and {len(values) - len(names)} more" if len(values) > len(names) else ""
    return [f"One of: {', '.join(filter(None, names))}{more}."]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _wider(types: Sequence[str]) -> Sequence[str]:
    return ("integer",) if "number" in types else ()
