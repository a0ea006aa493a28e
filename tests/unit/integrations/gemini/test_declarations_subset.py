"""The last look at a declaration, whatever the translation may have made of it."""

from typing import Any

import pytest

from integrations.gemini.declarations import Translator, convert
from integrations.gemini.subset import fault

TEXT: dict[str, Any] = {"type": "STRING"}
WRONG: list[tuple[Any, str]] = [
    (None, "no schema"),
    ({}, "fields of None"),
    ({"type": "NULL"}, "fields of NULL"),
    ({"type": "string"}, "fields of string"),
    ({**TEXT, "title": "t"}, "fields of STRING"),
    ({**TEXT, "minimum": 1}, "fields of STRING"),
    ({**TEXT, "description": "\ud800"}, "description"),
    ({**TEXT, "enum": []}, "enum"),
    ({**TEXT, "enum": [1]}, "enum"),
    ({**TEXT, "enum": [""]}, "enum"),
    ({**TEXT, "enum": ["a", "a"]}, "enum"),
    ({**TEXT, "enum": ["\ud800"]}, "enum"),
    ({**TEXT, "minLength": 2, "maxLength": 1}, "minLength"),
    ({"type": "NUMBER", "minimum": "1"}, "minimum"),
    ({"type": "NUMBER", "maximum": float("inf")}, "minimum"),
    ({"type": "ARRAY"}, "no schema"),
    ({"type": "ARRAY", "items": {"type": "ARRAY"}}, "no schema"),
    ({"type": "ARRAY", "items": TEXT, "minItems": 2, "maxItems": 1}, "minItems"),
    ({"type": "OBJECT", "properties": {}}, "properties"),
    ({"type": "OBJECT", "properties": {"a b": TEXT}}, "a property's name"),
    ({"type": "OBJECT", "properties": {"a": {}}}, "fields of None"),
    ({"type": "OBJECT", "properties": {"a": TEXT}, "required": ["b"]}, "required"),
    ({"anyOf": [TEXT]}, "anyOf"),
    ({"anyOf": [TEXT, TEXT], "description": "d"}, "anyOf"),
    ({"anyOf": [TEXT, {}]}, "fields of None"),
]


@pytest.mark.parametrize(("schema", "wrong"), WRONG, ids=str)
def test_what_the_service_refuses_is_named(schema: Any, wrong: str) -> None:
    assert fault(schema) == wrong


@pytest.mark.parametrize(("schema", "wrong"), [one for one in WRONG if one[0]], ids=str)
def test_a_wrong_translation_is_not_declared(
    schema: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translator, "top", lambda _: schema)
    declaration = convert("t", "", {"properties": {"a": {}}})
    assert (declaration.parameters, declaration.renamed) == (None, {})
    assert declaration.losses == (f"all arguments: the schema cannot be read ({wrong})",)


def test_an_error_of_ours_costs_the_arguments_of_one_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Translator) -> None:
        raise RecursionError

    monkeypatch.setattr(Translator, "top", fail)
    declaration = convert("t", "d", {"properties": {"a": {}}})
    assert declaration.parameters is None
    assert declaration.losses == ("all arguments: the schema cannot be read (RecursionError)",)
