"""Whose voice it is that asks and talks for programs."""

from typing import Protocol

from assistant.conversation.programs import Then
from assistant.conversation.standing import Standing
from assistant.speech.manner import Manner


class Speaker(Protocol):
    """Whoever says it, and listens then (`assistant.conversation.runner.Runner`)."""

    @property
    def standing(self) -> Standing:
        """How the conversation and the microphone stand."""
        ...

    async def put(self, text: str, language: str, manner: Manner, then: Then) -> bool:
        """Say it once the conversation rests; False: everything ends."""
        ...

    def withdraw(self, then: Then) -> None:
        """Nobody wants to know any more."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...
