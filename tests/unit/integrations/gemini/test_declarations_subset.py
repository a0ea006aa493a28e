"""The last look at a declaration, whatever the translation may have made of it."""

from typing import Any

import pytest

from integrations.gemini.declarations import convert
from integrations.gemini.subset import fault
from integrations.gemini.translate import Translator

TEXT: dict[str, Any] = {"type": "STRING"}
WRONG: list[Any] = [
    None,
    {},
    {"type": "NULL"},
    {"type": "string"},
    {**TEXT, "title": "t"},
    {**TEXT, "minimum": 1},
    {**TEXT, "description": "\ud800"},
    {**TEXT, "enum": []},
    {**TEXT, "enum": [1]},
    {**TEXT, "enum": [""]},
    {**TEXT, "enum": ["a", "a"]},
    {**TEXT, "enum": ["\ud800"]},
    {**TEXT, "minLength": 2, "maxLength": 1},
    {"type": "NUMBER", "minimum": "1"},
    {"type": "NUMBER", "maximum": float("inf")},
    {"type": "ARRAY"},
    {"type": "ARRAY", "items": {"type": "ARRAY"}},
    {"type": "OBJECT", "properties": {}},
    {"type": "OBJECT", "properties": {"a b": TEXT}},
    {"type": "OBJECT", "properties": {"a": {}}},
    {"type": "OBJECT", "properties": {"a": TEXT}, "required": ["b"]},
    {"anyOf": [TEXT]},
    {"anyOf": [TEXT, TEXT], "description": "d"},
    {"anyOf": [TEXT, {}]},
]


@pytest.mark.parametrize("schema", WRONG, ids=str)
def test_what_the_service_refuses_is_found(schema: Any) -> None:
    assert fault(schema)


@pytest.mark.parametrize("schema", [one for one in WRONG if one], ids=str)
def test_a_wrong_translation_is_not_declared(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Translator, "top", lambda _: schema)
    declaration = convert("t", "", {"properties": {"a": {}}})
    assert (declaration.parameters, declaration.renamed) == (None, {})
    assert declaration.losses[0].startswith("all arguments: the schema cannot be read")


def test_an_error_of_ours_costs_the_arguments_of_one_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Translator) -> None:
        raise RecursionError

    monkeypatch.setattr(Translator, "top", fail)
    declaration = convert("t", "d", {"properties": {"a": {}}})
    assert declaration.parameters is None
    assert declaration.losses == ("all arguments: the schema cannot be read (RecursionError)",)
