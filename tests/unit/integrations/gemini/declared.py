"""Check that the service accepts a declaration, by our simulator and Google's own types."""

import json
from typing import Any

from google.genai import types

from integrations.gemini.declarations import Declaration, convert
from tests.simulators.schema import read_tools


def accepted(declaration: Declaration) -> Declaration:
    """Return the declaration if both accept it and it can be sent."""
    plain: dict[str, Any] = {"name": declaration.name, "description": declaration.description}
    if declaration.parameters is not None:
        plain["parameters"] = declaration.parameters
    json.dumps(plain, allow_nan=False, ensure_ascii=False).encode()
    read_tools([{"functionDeclarations": [plain]}], None, "tools")
    parameters = declaration.parameters
    types.FunctionDeclaration(
        name=declaration.name,
        description=declaration.description,
        parameters=types.Schema.model_validate(parameters) if parameters else None,
    )
    assert all(isinstance(loss, str) and loss.isprintable() for loss in declaration.losses)
    return declaration


def argument(schema: Any, **top: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the declaration of a tool's argument `x`, and its losses."""
    tool = {"type": "object", "properties": {"x": schema}, **top}
    declaration = accepted(convert("t", "", tool))
    assert declaration.parameters is not None
    return declaration.parameters["properties"].get("x"), declaration.losses
