"""One judge for all converters of tool schemas, ours and others', by what a declaration allows.

It looks at the declaration as it goes over the wire and at what becomes of the arguments of a call:

- crash: the converter raised, or the session's set-up could not be written.
- wrong: the service refuses the declaration (`schema_service`), or arguments that the tool takes
  cannot be written in it, or do not arrive as they were meant.
- loss: something has gone without a word. Arguments that the tool refuses can be written, or some
  that it takes and Gemini has no words for cannot; and neither the model can read of it (the words
  stand nowhere in the declaration) nor the operator (no warning names the argument or the keyword).
  Or a text of the schema's own has gone.
- right: none of these.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from tests.benchmarks.schema_corpus import Asked, Case
from tests.benchmarks.schema_service import camel, refusal

Json = dict[str, Any]
_NAMES = frozenset(("name", "type", "required", "propertyOrdering", "property_ordering"))


class Verdict(StrEnum):
    """A verdict; the worst comes first."""

    CRASH = "crash"
    WRONG = "wrong"
    LOSS = "loss"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Converted:
    """The result of a converter for one tool."""

    declaration: Json = field(default_factory=dict)  # as on the wire: name, description, parameters
    error: str = ""  # it raised
    reports: tuple[str, ...] = ()  # its warnings, or what it returns as lost
    renamed: Mapping[str, str] = field(default_factory=dict)  # as declared -> as the server has it
    # The arguments sent to the server for those of the model; most send them unchanged.
    back: Callable[[Json], Any] = lambda written: written


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict and its reason."""

    verdict: Verdict
    why: str = ""


class _Unsayable(Exception):
    """A value that the declaration has no place for."""


def judge(case: Case, converted: Converted) -> Judged:
    """Return the verdict on the conversion of one tool."""
    if converted.error:
        return Judged(Verdict.CRASH, converted.error)
    if refused := refusal(converted.declaration):
        return Judged(Verdict.WRONG, f"rejected by the service: {refused}")
    for arguments in case.takes:
        written = _written(converted, arguments)
        if written is None:
            return Judged(Verdict.WRONG, f"can't be expressed: {_json(arguments)}")
        arrived = converted.back(written)
        if not _same(arrived, arguments):
            return Judged(Verdict.WRONG, f"{_json(arguments)} arrives as {_json(arrived)}")
    lost = _lost(case, converted)
    return Judged(Verdict.LOSS, lost) if lost else Judged(Verdict.RIGHT)


def _lost(case: Case, converted: Converted) -> str:
    """Return what was lost silently, or ""."""
    text = "\n".join(_texts(converted.declaration)).casefold()
    for words in case.says:
        if words.casefold() not in text:
            return f"missing in the declaration: {words}"
    kind = validator_for(case.schema, default=Draft202012Validator)
    takes = kind(case.schema).is_valid
    for one in case.refuses:
        written = _written(converted, one.arguments)
        # What is written as text may be well for the tool, as the text that it is.
        if written is None or takes(_restored(written, converted.renamed)):
            continue
        if not _told(one, text, converted):
            return f"{one.keyword}: doesn't rule out {_json(one.arguments)}"
    for one in case.beyond:
        written = _written(converted, one.arguments)
        sayable = written is not None and _same(converted.back(written), one.arguments)
        if not sayable and not _told(one, text, converted):
            return f"{one.keyword}: {_json(one.arguments)} can't be expressed"
    return ""


def _told(asked: Asked, text: str, converted: Converted) -> bool:
    """Return whether the model can read why, or the operator was warned."""
    words = asked.said
    if words and all(any(word.casefold() in text for word in choice) for choice in words):
        return True
    names = (asked.of or "arguments", asked.keyword)
    return any(name in report for report in converted.reports for name in names)


def _texts(schema: Any) -> Iterator[str]:
    """Yield all texts of a declaration except names and types."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from _texts(list(value.values()))
            elif key not in _NAMES:
                yield from _texts(value)
    elif schema is not None and not isinstance(schema, bool):
        yield str(schema)


def _written(converted: Converted, arguments: Json) -> Json | None:
    """Return the arguments as a model that knows only the declaration writes them, or None.

    None means that it cannot write them.
    """
    parameters = converted.declaration.get("parameters")
    if parameters is None or not (parameters.get("properties") or parameters.get("anyOf")):
        return None if arguments else {}
    names = {own: declared for declared, own in converted.renamed.items()}
    try:
        written: Json = _write(parameters, arguments, names)
    except _Unsayable:
        return None
    return written


def _restored(value: Any, renamed: Mapping[str, str]) -> Any:
    """Return the value with the server's own names."""
    if isinstance(value, dict):
        return {renamed.get(name, name): _restored(one, renamed) for name, one in value.items()}
    return [_restored(one, renamed) for one in value] if isinstance(value, list) else value


def _write(schema: Json, value: Any, names: Mapping[str, str]) -> Any:
    """Return the value as the schema allows: itself, or else as text. Raises _Unsayable."""
    fields = {camel(key): inner for key, inner in schema.items()}
    members = fields.pop("anyOf", None)
    forms = [{**fields, **member} for member in members] if members else [fields]
    for as_text in (False, True):
        for form in forms:
            try:
                written = _as_text(form, value) if as_text else _natural(form, value, names)
            except _Unsayable:
                continue
            if _admits(form, written):
                return written
    raise _Unsayable


def _natural(form: Json, value: Any, names: Mapping[str, str]) -> Any:
    if "anyOf" in form:
        return _write(form, value, names)
    if isinstance(value, dict) and form.get("type") == "OBJECT" and form.get("properties"):
        known = form["properties"]
        written = {}
        for own, inner in value.items():
            declared = names.get(own, own)
            if declared not in known:
                raise _Unsayable
            written[declared] = _write(known[declared], inner, names)
        return written
    if isinstance(value, list) and form.get("type") == "ARRAY":
        return [_write(form["items"], inner, names) for inner in value]
    return value


def _as_text(form: Json, value: Any) -> str:
    if form.get("type") != "STRING" or value is None:
        raise _Unsayable
    return value if isinstance(value, str) else _json(value)


def _admits(form: Json, written: Any) -> bool:
    return Draft202012Validator(_json_schema(form)).is_valid(written)


def _json_schema(form: Json) -> Json:
    """Return the declared schema as JSON Schema."""
    fields = {camel(key): value for key, value in form.items()}
    plain: Json = {}
    for key in ("minItems", "maxItems", "minLength", "maxLength"):
        if key in fields:
            plain[key] = int(fields[key])
    for key in ("minimum", "maximum", "pattern", "required"):
        if key in fields:
            plain[key] = fields[key]
    if "type" in fields:
        plain["type"] = fields["type"].lower()
    if "enum" in fields:
        numeric = fields.get("type") in ("INTEGER", "NUMBER")
        plain["enum"] = [json.loads(one) for one in fields["enum"]] if numeric else fields["enum"]
    if fields.get("properties"):
        inner = fields["properties"]
        plain["properties"] = {name: _json_schema(one) for name, one in inner.items()}
        plain["additionalProperties"] = False  # a model writes the names that it knows
    if "items" in fields:
        plain["items"] = _json_schema(fields["items"])
    if "anyOf" in fields:
        plain["anyOf"] = [_json_schema(one) for one in fields["anyOf"]]
    return {"anyOf": [plain, {"type": "null"}]} if fields.get("nullable") else plain


def _same(one: Any, other: Any) -> bool:
    """Return whether both are equal as JSON: 2 is 2.0, but true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same(*pair) for pair in pairs)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
