"""What a brain asks for: one call of one tool."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The brain wants a tool run. It must be answered exactly once, by `BrainTurn.answer`."""

    id: str
    name: str  # as the menu names it
    arguments: dict[str, Any]
