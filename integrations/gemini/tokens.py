"""Estimate the tokens that Gemini reads."""

from collections.abc import Sequence

from integrations.gemini.declarations import Declaration
from integrations.gemini.subset import as_json

# google-genai 3.6.1 counts no Live model's tokens offline. Gemma 3's tokenizer, which it uses for
# Gemini 2.x and 3, gives 4.0 to 4.1 characters a token for schemas and texts.
_CHARACTERS_A_TOKEN = 4


def text_tokens(text: str) -> int:
    """Estimate how many tokens a text takes."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def tool_tokens(declaration: Declaration) -> int:
    """Estimate how many tokens of the prompt a tool takes."""
    schema = as_json(declaration.parameters, compact=True) if declaration.parameters else ""
    return text_tokens(f"{declaration.name}{declaration.description}{schema}")


def prompt_tokens(instruction: str, declarations: Sequence[Declaration]) -> int:
    """Estimate how many tokens an instruction and a menu take, which every turn pays for."""
    return text_tokens(instruction) + sum(map(tool_tokens, declarations))
