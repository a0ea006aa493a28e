"""How the box is, in one word."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from audio.device_status import MicrophoneStatus, SpeakerStatus

if TYPE_CHECKING:  # they bring what listening does not wait for
    from audio.device_status import Presence
    from audio.steady import SteadyMicrophone
    from integrations.web.box import Health

STUCK_S = 10.0  # without any progress for so long, only a restart helps
DEAF_S = 2.0  # without a frame for so long, a person who speaks now is not heard

_HEALTHY = (MicrophoneStatus.OPENING, MicrophoneStatus.LISTENING)


def health_of(
    microphone: "SteadyMicrophone | None", loudspeaker: "Presence | None" = None
) -> "Health":
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


def word_of(sound: "Health", stuck: str, troubles: Collection[str]) -> "Health":
    """For the whole box. `sound`: as `health_of` says. `stuck`: why only a restart helps, "" for
    nothing. `troubles`: what does not work now."""
    if stuck or sound == "dead":
        return "dead"
    return "degraded" if troubles else sound


def is_deaf(microphone: "SteadyMicrophone") -> bool:
    """Nobody is heard though they should be."""
    if microphone.status is MicrophoneStatus.CLOSED:
        return False
    return microphone.status not in _HEALTHY or microphone.last_frame_age_s > DEAF_S
