"""How much of a menu a model is shown."""

from collections.abc import Sequence

from integrations.gemini.declarations import Declaration
from integrations.gemini.subset import as_json

MAX_TOOLS = 512  # declarations of one Tool, as google-genai says of `function_declarations`
MAX_TOKENS = 16_000
"""Of all declarations together. They are billed anew with every turn: so many cost some 0.012 USD a
turn with gemini-3.8-live (0.75 USD per million). A full house with all of its 50 tools takes 7,000,
and the more tools there are, the more often a model takes the wrong one
(google-gemini/gemini-live-api-examples #46)."""
PORTION = 2_000  # tokens of one server that come before the next server's; some 15 tools
_CHARACTERS_A_TOKEN = 4  # a usual estimate for English text and JSON

_TOO_MANY = f"there are more than {MAX_TOOLS} tools, and others come first"
_TOO_LONG = (
    f"all tools would take more than {MAX_TOKENS:,} tokens of every turn, and others come first"
)


def tokens(declaration: Declaration) -> int:
    """About how many tokens the model reads for a tool."""
    said = len(declaration.name) + len(declaration.description)
    return 1 + (said + len(as_json(declaration.parameters))) // _CHARACTERS_A_TOKEN


def in_turns(servers: Sequence[str], ranked: Sequence[Declaration]) -> list[int]:
    """For each tool in how many-th portion of its server it is, from 0.

    `servers`: whose each tool is, as they stand in `ranked`. So no server takes all the room.
    """
    so_far: dict[str, int] = {}
    portions = []
    for server, declaration in zip(servers, ranked, strict=True):
        portions.append(so_far.get(server, 0) // PORTION)
        so_far[server] = so_far.get(server, 0) + tokens(declaration)
    return portions


def left_out(ranked: Sequence[Declaration]) -> dict[str, str]:
    """What is not shown, by name, and why. `ranked`: the most useful first.

    A tool too large for the room that is left makes way for smaller ones behind it.
    """
    reasons: dict[str, str] = {}
    shown, room = 0, MAX_TOKENS
    for declaration in ranked:
        size = tokens(declaration)
        if shown >= MAX_TOOLS:
            reasons[declaration.name] = _TOO_MANY
        elif size > room:
            reasons[declaration.name] = _TOO_LONG
        else:
            shown, room = shown + 1, room - size
    return reasons
