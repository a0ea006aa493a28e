"""How the box is, in one word."""

from typing import Protocol

from audio.speaker_status import SpeakerStatus
from audio.steady import MicrophoneStatus
from integrations.web.health import Health

DEAF_S = 2.0  # without a frame for so long, a person who speaks now is not heard
STUCK_S = 10.0  # without any progress for so long, only a restart helps

_HEALTHY = (MicrophoneStatus.OPENING, MicrophoneStatus.LISTENING)


class Microphone(Protocol):
    """What is needed of `audio.steady.SteadyMicrophone`."""

    @property
    def status(self) -> MicrophoneStatus: ...

    @property
    def last_frame_age_s(self) -> float: ...

    @property
    def heartbeat_age_s(self) -> float: ...


class Loudspeaker(Protocol):
    """What is needed of `audio.speaker_status.Presence`."""

    @property
    def status(self) -> SpeakerStatus: ...


def health_of(microphone: Microphone | None, loudspeaker: Loudspeaker | None = None) -> Health:
    """`dead` where nothing goes on any more, `degraded` where nobody is heard though they should,
    or nobody would hear us.

    A microphone that a person has closed is as it should be. None: there is none to be looked at,
    but a file or nothing.
    """
    if microphone is not None and microphone.heartbeat_age_s > STUCK_S:
        return "dead"
    if loudspeaker is not None and loudspeaker.status is SpeakerStatus.MISSING:
        return "degraded"
    return "degraded" if microphone is not None and is_deaf(microphone) else "ok"


def is_deaf(microphone: Microphone) -> bool:
    """Nobody is heard though they should be."""
    if microphone.status is MicrophoneStatus.CLOSED:
        return False
    return microphone.status not in _HEALTHY or microphone.last_frame_age_s > DEAF_S
