"""A schema of ours is told to google-genai as its own class would tell it."""

import warnings
from typing import Any

import pytest
from google.genai import types
from pydantic import ValidationError

from integrations.gemini.checked import CheckedSchema
from integrations.gemini.declarations import convert
from integrations.gemini.models import model_row
from integrations.gemini.setup import tools_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"line": {"type": ["integer", "string"], "minimum": 1}},
                "required": ["line"],
            },
        },
        "order": {"enum": ["name", "size"], "description": "By what"},
        "head": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["edits"],
}


def test_the_same_goes_out_as_from_the_sdk_s_class() -> None:
    declaration = convert("edit", "Edits", SCHEMA)
    assert declaration.parameters is not None
    theirs = types.Schema.model_validate(declaration.parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tool,) = tools_of(model_row("", "live")[0], [declaration], google_search=False)
        (function,) = tool.model_dump(exclude_none=True)["function_declarations"]
    assert function["parameters"] == theirs.model_dump(exclude_none=True)


def test_members_of_every_kind_are_of_the_class_that_does_not_look() -> None:
    schema = CheckedSchema.model_validate(convert("edit", "", SCHEMA).parameters)
    assert schema.properties is not None
    items = schema.properties["edits"].items
    assert isinstance(items, CheckedSchema)
    assert items.properties is not None
    either = items.properties["line"].any_of
    assert either is not None
    assert [type(one) for one in either] == [CheckedSchema, CheckedSchema]


def test_what_is_no_schema_is_refused_as_before() -> None:
    with pytest.raises(ValidationError):
        CheckedSchema.model_validate({"type": "OBJECT", "unheardOf": 1})
