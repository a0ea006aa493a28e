"""What can think about something for long (`gemini.once_model`), as the jobs see it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from assistant.domain.brain import BrainFault, Spent
from assistant.domain.call import ToolCall
from assistant.domain.outcome import ToolOutcome
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import Picture

RunCall = Callable[[ToolCall], Awaitable[ToolOutcome]]
# Told of each further piece of what a work costs; the work by its id (see `BuiltInRequest.id`).
Spend = Callable[[str, Spent], Awaitable[None]]


class Thought(Protocol):
    """What came of it."""

    @property
    def text(self) -> str:
        """The answer; empty where there is none."""
        ...

    @property
    def fault(self) -> BrainFault | None:
        """Why there is no text, or why it is not whole."""
        ...


class Thinker(Protocol):
    """A model that may call tools over several rounds."""

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: tuple[Declaration, ...],
        call: RunCall,
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> Thought:
        """Answer the question in at most so many rounds; `spend` is told of each as it is paid.
        `picture`: what the question is about.

        Never raises for what the service does; what `call` raises may come in a group.
        """
        ...


@dataclass(frozen=True, slots=True)
class Guidance:
    """How to think for the newest turn."""

    instruction: str  # of the system: persona, home, rules
    thinking: str  # thinking level of the turn's profile; "" for the model's own


# Told whether whoever asks may be told what people asked to remember; never raises.
Guide = Callable[[bool], Awaitable[Guidance]]
