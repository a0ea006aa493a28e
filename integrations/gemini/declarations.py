"""JSON Schema of an MCP tool to a function declaration that Gemini takes.

What the subset (`subset`) has no word for goes into the description, and what cannot be said at all
is counted as a loss. The original schema stays the judge of the arguments that come back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.gemini.merge import legal_name
from integrations.gemini.subset import clean, fault
from integrations.gemini.translate import Translator


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any] | None  # None: it takes no arguments
    losses: tuple[str, ...]  # what the model is not told, as "argument: what"
    renamed: Mapping[str, str] = field(
        default_factory=dict
    )  # argument as declared -> as the server has it


def convert(name: str, description: str, input_schema: Any) -> Declaration:
    """The declaration of one tool. Never raises: an unreadable schema loses its arguments."""
    translator = Translator(input_schema if isinstance(input_schema, dict) else {})
    try:
        parameters = translator.top()
        wrong = fault(parameters) if parameters else ""
    except Exception as error:
        # A schema is foreign data: one that breaks our reading must not break the menu.
        parameters, wrong = None, type(error).__name__
    if wrong:
        translator.lose("", f"all arguments: the schema cannot be read ({wrong})")
        parameters = None
    text = clean(description)
    if len(text) < len(" ".join(description.split())):
        translator.lose("", "the end of the description")
    renamed = translator.renamed if parameters else {}
    return Declaration(legal_name(name), text, parameters, translator.losses(), renamed)
