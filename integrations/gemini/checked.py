"""google-genai's schema for what is checked already. Imports google-genai: import it late.

The SDK looks at every field of every schema in Python, to warn of objects of the wrong class. Ours
are plain values that `subset.fault` has read, and the SDK looks again when it opens a session; of
the first look 40 of 70 ms for 1,000 tools were that.
"""

from typing import Any

from google.genai.types import Schema
from pydantic import model_validator


class CheckedSchema(Schema):
    """A schema whose members are of this class too, made without that look."""

    properties: dict[str, "CheckedSchema"] | None = None  # type: ignore[assignment]
    items: "CheckedSchema | None" = None
    any_of: list["CheckedSchema"] | None = None  # type: ignore[assignment]

    @model_validator(mode="before")
    @classmethod
    def _check_field_type_mismatches(cls, data: Any) -> Any:
        """In place of the SDK's, whose name it has."""
        return data
