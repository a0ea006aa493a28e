"""Whose voice it is that asks and talks for programs."""

from typing import Protocol

from assistant.speech.manner import Manner
from assistant.turn.programs import Then
from assistant.turn.standing import Standing


class Speaker(Protocol):
    """Whoever says it, and listens then (`assistant.turn.runner.Runner`)."""

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
