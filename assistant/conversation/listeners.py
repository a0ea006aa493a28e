"""Who is told of turns while they happen."""

from typing import TYPE_CHECKING

from assistant.domain.outcome import ToolOutcome

if TYPE_CHECKING:
    from assistant.conversation.live import LiveTurn


class TurnListener:
    """Is told of every turn, on the loop's thread; must not block. By itself it does nothing."""

    def opened(self, turn: "LiveTurn") -> None:
        """It has begun."""

    def whole(self, turn: "LiveTurn") -> None:
        """Its sentence is over."""

    def understood(self, turn: "LiveTurn") -> None:
        """The brain has done its part, and what it heard is known."""

    def asked(self, turn: "LiveTurn") -> None:
        """A call waits for the person's yes."""

    def called(self, turn: "LiveTurn", outcome: ToolOutcome) -> None:
        """What came of a call is known."""


class TurnListeners(TurnListener):
    """All of them, in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[TurnListener] = []

    def add(self, follower: TurnListener) -> None:
        """Tell this one too, from now on."""
        self._all.append(follower)

    def opened(self, turn: "LiveTurn") -> None:
        for one in self._all:
            one.opened(turn)

    def whole(self, turn: "LiveTurn") -> None:
        for one in self._all:
            one.whole(turn)

    def understood(self, turn: "LiveTurn") -> None:
        for one in self._all:
            one.understood(turn)

    def asked(self, turn: "LiveTurn") -> None:
        for one in self._all:
            one.asked(turn)

    def called(self, turn: "LiveTurn", outcome: ToolOutcome) -> None:
        for one in self._all:
            one.called(turn, outcome)
