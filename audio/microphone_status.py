"""How a microphone that heals stands, for whoever wants to know."""

from dataclasses import dataclass
from enum import Enum, auto


class MicrophoneStatus(Enum):
    """How the microphone stands."""

    OPENING = auto()  # at the start, nothing was tried yet; and on the way back to listening
    LISTENING = auto()  # frames arrive
    MISSING = auto()  # it cannot be opened, or has stopped; it is looked for
    SILENT = auto()  # frames arrive, all of them digital silence: it is muted at the device
    ELSEWHERE = auto()  # the sound server moved us to what is no microphone; we wait
    CLOSED = auto()  # by the person: nothing is listened to


@dataclass(frozen=True, slots=True)
class MicrophoneChange:
    """It stands otherwise from now on."""

    status: MicrophoneStatus
    sentence: str  # for a person, in English; "" where there is nothing to say
