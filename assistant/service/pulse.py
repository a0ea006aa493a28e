"""Whether Hearth still does its work, or is stuck so that only a new process helps.

It does its work where frames of the microphone are judged, and as well where the device is known to
be absent or switched off and is being looked for. The ear's thread has to answer in any case: of a
silent room it is given nothing to judge, and nobody would notice. Whoever asks does so on the event
loop, so that this goes on is shown by the asking.
"""

from collections.abc import Callable
from typing import Protocol

from assistant.domain.health import STUCK_S
from audio.steady import MicrophoneStatus

OPENING_S = 60.0  # whoever does not listen after so long never will
STANDING_S = 180.0  # nor will the house and the rest be open, for which every turn waits
HELD_S = 60.0  # a device that a stuck call of ours keeps from us for so long stays kept

_HEARS = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)


class Microphone(Protocol):
    """What is needed of `audio.steady.SteadyMicrophone`."""

    @property
    def status(self) -> MicrophoneStatus: ...

    @property
    def heartbeat_age_s(self) -> float: ...

    @property
    def stuck(self) -> int: ...


class Ear(Protocol):
    """What is needed of `assistant.conversation.hearing.Hearing`."""

    @property
    def frames_heard(self) -> int: ...

    @property
    def frames_passed(self) -> int: ...

    def ping(self, pong: Callable[[], None]) -> None: ...


class Pulse:
    """Is asked every few seconds. It begins with settings being opened."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds that never go back."""
        self._now = now
        self._microphone: Microphone | None = None
        self._ear: Ear | None = None
        self._opening = True  # nobody listens yet
        self._stands = False  # the rest is open too
        self._opening_since = now()
        self._count = 0
        self._count_at = 0.0  # when it was last seen to grow, or need not grow
        self._status: MicrophoneStatus | None = None
        self._held_since: float | None = None
        self._pinged_at: float | None = None  # and no answer yet

    def open(self) -> None:
        """Settings are being opened from now on; until `listen` nothing more is expected."""
        self._opening, self._stands, self._opening_since = True, False, self._now()
        self._microphone = self._ear = None

    def listen(self, microphone: Microphone | None, ear: Ear) -> None:
        """The ear is open. `microphone`: None where a file or nothing is listened to."""
        self._opening = False
        self._microphone, self._ear = microphone, ear
        self._count, self._count_at, self._status = 0, self._now(), None
        self._held_since = self._pinged_at = None

    def stand(self) -> None:
        """So is everything else."""
        self._stands = True

    def problem(self) -> str:
        """What is stuck, in a sentence; "" where all goes on."""
        now = self._now()
        passed = now - self._opening_since
        if self._opening:
            late = passed > OPENING_S
            return f"The settings are not open after {OPENING_S:g} s." if late else ""
        if not self._stands and passed > STANDING_S:
            return f"The house, the brains and the rest are not open after {STANDING_S:g} s."
        microphone, ear = self._microphone, self._ear
        if microphone is None or ear is None:
            return ""
        if microphone.heartbeat_age_s > STUCK_S:
            return f"Nobody has taken anything from the microphone for {STUCK_S:g} s."
        return (
            self._of_thread(ear, now)
            or self._of_frames(ear, microphone.status, now)
            or self._of_device(microphone, now)
        )

    def _of_thread(self, ear: Ear, now: float) -> str:
        asked = self._pinged_at  # once: the ear's thread may change it at any time
        if asked is None:
            self._pinged_at = now
            ear.ping(self._answered)
        elif now - asked > STUCK_S:
            return f"The ear's thread has not answered for {STUCK_S:g} s."
        return ""

    def _answered(self) -> None:
        """On the ear's thread."""
        self._pinged_at = None

    def _of_frames(self, ear: Ear, status: MicrophoneStatus, now: float) -> str:
        count = ear.frames_heard + ear.frames_passed
        if count != self._count or status is not self._status or status not in _HEARS:
            self._count, self._status, self._count_at = count, status, now
        if now - self._count_at > STUCK_S:
            return f"The ear has judged no sound for {STUCK_S:g} s, though the microphone listens."
        return ""

    def _of_device(self, microphone: Microphone, now: float) -> str:
        if microphone.status is not MicrophoneStatus.MISSING or not microphone.stuck:
            self._held_since = None
            return ""
        if self._held_since is None:
            self._held_since = now
        if now - self._held_since > HELD_S:
            return "The microphone is kept by a call into the sound system that does not return."
        return ""
