"""How the sound devices are, for programs: a word each, sentences, and what was counted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.domain.health import DEAF_S, health_of, is_deaf
from assistant.sound.echo_plan import EchoPlan
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import Presence
from audio.player import Outputs
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from integrations.web.health import Health

NONE = "none"  # a file or nothing, where a device could be
_DEAF = f"The microphone has given no sound for more than {DEAF_S:g} s."


def _none() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class SoundState:
    """What is asked whenever somebody looks; nothing of it waits."""

    microphone: SteadyMicrophone | None  # None: a file, or nothing
    outputs: Outputs
    echo: EchoPlan | EchoWatch | None = None  # None: there are no devices to plan for
    near_misses: Callable[[], int] = _none  # of wake words since the start

    @property
    def presence(self) -> Presence | None:
        """Of the loudspeaker; None: a file, or nothing."""
        return self.outputs.presence if isinstance(self.outputs, Speaker) else None

    @property
    def health(self) -> Health:
        """One word for all of it."""
        return health_of(self.microphone, self.presence)

    @property
    def loudspeaker(self) -> str:
        """How the loudspeaker stands: "ready", "missing" or NONE."""
        return NONE if self.presence is None else self.presence.status.name.lower()

    @property
    def troubles(self) -> Mapping[str, str]:
        """What does not work, "microphone" or "loudspeaker", and a sentence in English on it."""
        found = {}
        if self.microphone is not None and is_deaf(self.microphone):
            found["microphone"] = self.microphone.sentence or _DEAF
        if self.presence is not None and self.presence.sentence:
            found["loudspeaker"] = self.presence.sentence
        return found

    @property
    def problems(self) -> list[str]:
        """The sentences alone."""
        return list(self.troubles.values())

    def report(self) -> Mapping[str, Any]:
        """All of it with what was counted since the start, as JSON."""
        return {
            "microphone": self._microphone(),
            "loudspeaker": self._loudspeaker(),
            "wake": {"near_misses": self.near_misses()},
            "echo": None if self.echo is None else self.echo.as_json(),
        }

    def _microphone(self) -> dict[str, Any] | None:
        microphone = self.microphone
        if microphone is None:
            return None
        return {
            "status": microphone.status.name.lower(),
            "last_frame_age_s": round(microphone.last_frame_age_s, 2),
            # Blocks that the ear, and so the wake word, took too late.
            "dropped_blocks": microphone.dropped,
            "reopened": microphone.reopened,
            "abandoned_calls": microphone.abandoned,
        }

    def _loudspeaker(self) -> dict[str, Any] | None:
        if not isinstance(self.outputs, Speaker):
            return None
        speaker = self.outputs
        return {
            "status": speaker.presence.status.name.lower(),
            "since_s": round(speaker.presence.since_s, 1),
            "lost": speaker.lost,
            "dropped": speaker.drops,
            "underruns": speaker.underruns,
            "gaps": speaker.gaps,
        }
