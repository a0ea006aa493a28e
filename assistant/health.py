"""How the box is, in one word."""

from typing import Protocol

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


def health_of(microphone: Microphone) -> Health:
    """`dead` where nothing goes on any more, `degraded` where nobody is heard though they should.

    A microphone that a person has closed is as it should be.
    """
    if microphone.heartbeat_age_s > STUCK_S:
        return "dead"
    if microphone.status is MicrophoneStatus.CLOSED:
        return "ok"
    if microphone.status not in _HEALTHY or microphone.last_frame_age_s > DEAF_S:
        return "degraded"
    return "ok"
