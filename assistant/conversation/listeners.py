"""Who is told of turns while they happen."""

from typing import Protocol

from assistant.conversation.asking import Asking
from assistant.conversation.effects import OpenTurn
from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import ConfirmationRecord
from assistant.domain.turn_audio import TurnAudio


class Turn(Protocol):
    """What is told of a turn (`assistant.conversation.live.LiveTurn`)."""

    audio: TurnAudio | None
    heard: str | None
    asking: Asking | None  # where it is a program's question

    @property
    def turn_id(self) -> str:
        """As in the journal."""
        ...

    @property
    def opening(self) -> OpenTurn:
        """How it began."""
        ...

    @property
    def language(self) -> str:
        """Its language, as far as it is known."""
        ...

    @property
    def confirmation(self) -> ConfirmationRecord | None:
        """What was asked before a call, and what came back."""
        ...


class TurnListener:
    """Is told of every turn, on the loop's thread; must not block. By itself it does nothing."""

    def opened(self, turn: Turn) -> None:
        """It has begun."""

    def whole(self, turn: Turn) -> None:
        """Its sentence is over."""

    def understood(self, turn: Turn) -> None:
        """The brain has done its part, and what it heard is known."""

    def asked(self, turn: Turn) -> None:
        """A call waits for the person's yes."""

    def called(self, turn: Turn, outcome: ToolOutcome) -> None:
        """What came of a call is known."""


class TurnListeners(TurnListener):
    """All of them, in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[TurnListener] = []

    def add(self, follower: TurnListener) -> None:
        """Tell this one too, from now on."""
        self._all.append(follower)

    def opened(self, turn: Turn) -> None:
        for one in self._all:
            one.opened(turn)

    def whole(self, turn: Turn) -> None:
        for one in self._all:
            one.whole(turn)

    def understood(self, turn: Turn) -> None:
        for one in self._all:
            one.understood(turn)

    def asked(self, turn: Turn) -> None:
        for one in self._all:
            one.asked(turn)

    def called(self, turn: Turn, outcome: ToolOutcome) -> None:
        for one in self._all:
            one.called(turn, outcome)
