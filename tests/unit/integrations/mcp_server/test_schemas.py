"""What tools take, as clients are told."""

import json
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from integrations.mcp_server.server import TOOLS, tool_schema


class Inner(BaseModel):
    """Within."""

    title: str  # a field of that name is no title of a schema
    number: Annotated[int, Field(ge=1)] = 3


class Outer(BaseModel):
    """Around."""

    inner: list[Inner]
    maybe: Inner | None = None
    either: int | str = 1


TOLD = {"inner": "Things.", "maybe": "One more.", "either": "A number or a word."}


def test_a_model_becomes_a_plain_schema() -> None:
    thing = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "number": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
    }
    assert tool_schema(Outer, TOLD) == {
        "type": "object",
        "properties": {
            "inner": {"type": "array", "items": thing, "description": "Things."},
            "maybe": {**thing, "description": "One more."},
            "either": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "default": 1,
                "description": "A number or a word.",
            },
        },
        "required": ["inner"],
        "additionalProperties": False,
    }


def test_a_field_of_which_nothing_is_told_is_an_error() -> None:
    with pytest.raises(KeyError):
        tool_schema(Outer, {"inner": "Things."})


def test_the_tools_are_plain_too() -> None:
    for tool in TOOLS:
        written = json.dumps(tool.schema)
        assert not any(
            word in written for word in ("$ref", "$defs", '"null"', '"title":', '"pattern":')
        )
