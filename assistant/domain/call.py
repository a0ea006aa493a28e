"""What a brain asks for: one call of one tool, or one sentence for the home's own engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """What Home Assistant's conversation engine would make of a sentence; nothing has been done.

    From `conversation/agent/homeassistant/debug` (Home Assistant 2026.11).
    """

    text: str  # as it would be sent
    language: str
    source: Literal["builtin", "custom", "trigger"]  # "trigger": an automation, of unknown effect
    intent: str = ""  # such as "HassTurnOn"; "" for a trigger
    slots: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()  # entity ids


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The brain wants a tool run. It must be answered exactly once, by `BrainTurn.answer`."""

    id: str
    name: str  # as the menu names it
    arguments: dict[str, Any]
    # Set by a brain of the home's alone, never from a model's words: the sentence is then said to
    # Home Assistant's conversation engine, on the same path as every call.
    sentence: SentenceMatch | None = None
