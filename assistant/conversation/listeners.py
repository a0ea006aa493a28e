"""Who is told of turns while they happen."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.conversation.state import Machine, MicrophoneState, State
from assistant.domain.outcome import ToolOutcome
from audio.steady import MicrophoneStatus

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


# Where the conversation stands, for whoever shows it: lights, the API, Home Assistant.


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be seen of a conversation."""

    state: State
    muted: bool
    microphone: MicrophoneStatus


Observer = Callable[[Standing], None]


class Observers:
    """Tells everybody of every change, once."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self._observers: list[Observer] = []

    def add(self, observer: Observer) -> Callable[[], None]:
        """It is called on the loop's thread with each change, and must not block.

        Returns what ends that; calling it again does nothing.
        """
        self._observers.append(observer)

        def remove() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return remove

    def tell(self, standing: Standing) -> None:
        """It stands like this now."""
        if standing == self.standing:
            return
        self.standing = standing
        for observer in tuple(self._observers):
            try:
                observer(standing)
            except Exception:
                # The edge towards other people's code: the conversation goes on.
                _log.exception("an observer of the conversation broke")


def status_of(machine: Machine, heard: bool) -> MicrophoneStatus:
    """How the microphone stands where nobody tells more of it. `heard`: a frame has come."""
    match machine.microphone:
        case MicrophoneState.OPEN:
            return MicrophoneStatus.LISTENING if heard else MicrophoneStatus.OPENING
        case MicrophoneState.LOST:
            return MicrophoneStatus.MISSING
        case MicrophoneState.ENDED:
            return MicrophoneStatus.CLOSED
