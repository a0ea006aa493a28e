"""Where the conversation stands, for whoever shows it: lights, the API, Home Assistant."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from assistant.conversation.state import Machine, MicrophoneState, State
from audio.steady import MicrophoneStatus

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
