"""google-genai's Schema without its validation. Importing this module imports google-genai.

The SDK checks every field of every schema in Python to warn about wrong classes. Our schemas are
plain values that `subset.fault` has checked, and the SDK checks them again when it opens a session.
The first check took 40 of 70 ms for 1,000 tools.
"""

from typing import Any

from google.genai.types import Schema
from pydantic import model_validator


class CheckedSchema(Schema):
    """A schema that skips the SDK's field validation, for itself and its members."""

    properties: dict[str, "CheckedSchema"] | None = None  # type: ignore[assignment]
    items: "CheckedSchema | None" = None
    any_of: list["CheckedSchema"] | None = None  # type: ignore[assignment]

    @model_validator(mode="before")
    @classmethod
    def _check_field_type_mismatches(cls, data: Any) -> Any:
        """Override the SDK's validator of the same name."""
        return data
