"""Health of the device and its audio hardware: ok, degraded or dead."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from audio.device_status import MicrophoneStatus, SpeakerStatus

if TYPE_CHECKING:  # slow imports, which would delay listening
    from audio.device_status import Presence
    from audio.steady import SteadyMicrophone
    from integrations.web.box import Health

STUCK_S = 10.0  # after this time without progress, only a restart helps
DEAF_S = 2.0  # after this time without a frame, speech is missed

_HEALTHY = (MicrophoneStatus.OPENING, MicrophoneStatus.LISTENING)


def health_of(
    microphone: "SteadyMicrophone | None", loudspeaker: "Presence | None" = None
) -> "Health":
    """Return the health of the microphone and the loudspeaker. Pass None for a device that isn't
    used.

    "dead" means that the microphone's thread hangs; "degraded" means that Hearth can't hear, or
    can't be heard.
    """
    if microphone is not None and microphone.heartbeat_age_s > STUCK_S:
        return "dead"
    if loudspeaker is not None and loudspeaker.status is SpeakerStatus.MISSING:
        return "degraded"
    return "degraded" if microphone is not None and is_deaf(microphone) else "ok"


def word_of(sound: "Health", stuck: str, troubles: Collection[str]) -> "Health":
    """Return the health of the whole device.

    `sound` is the result of `health_of`. `stuck` says why only a restart can help, or is "" if
    nothing hangs. `troubles` are the current problems.
    """
    if stuck or sound == "dead":
        return "dead"
    return "degraded" if troubles else sound


def is_deaf(microphone: "SteadyMicrophone") -> bool:
    """Return True if the microphone should be open but delivers no audio."""
    if microphone.status is MicrophoneStatus.CLOSED:
        return False
    return microphone.status not in _HEALTHY or microphone.last_frame_age_s > DEAF_S
