"""No box that hears nobody, or that nobody hears, is healthy, unless it was told to be deaf."""

from dataclasses import dataclass

import pytest

from assistant.domain.health import health_of
from audio.device_status import MicrophoneStatus as Status
from audio.device_status import SpeakerStatus


@dataclass
class Microphone:
    status: Status
    last_frame_age_s: float
    heartbeat_age_s: float


@pytest.mark.parametrize(
    ("status", "frame_age_s", "heartbeat_age_s", "word"),
    [
        (Status.LISTENING, 0.05, 0.05, "ok"),
        (Status.LISTENING, 2.0, 2.0, "ok"),
        (Status.LISTENING, 2.1, 2.1, "degraded"),  # whatever the cause
        (Status.OPENING, 0.5, 0.5, "ok"),
        (Status.OPENING, 3.0, 0.5, "degraded"),
        (Status.MISSING, 0.5, 0.5, "degraded"),
        (Status.MISSING, 36_000.0, 0.9, "degraded"),  # the process lives and looks for it
        (Status.ELSEWHERE, 0.5, 0.5, "degraded"),
        (Status.SILENT, 0.05, 0.05, "degraded"),
        (Status.CLOSED, 36_000.0, 0.9, "ok"),  # as the person wants it
        (Status.LISTENING, 10.1, 10.1, "dead"),
        (Status.MISSING, 10.1, 10.1, "dead"),
        (Status.CLOSED, 10.1, 10.1, "dead"),
    ],
)
def test_one_word(status: Status, frame_age_s: float, heartbeat_age_s: float, word: str) -> None:
    assert health_of(Microphone(status, frame_age_s, heartbeat_age_s)) == word


@dataclass
class Loudspeaker:
    status: SpeakerStatus


@pytest.mark.parametrize(
    ("microphone", "loudspeaker", "word"),
    [
        (Status.LISTENING, SpeakerStatus.READY, "ok"),
        (Status.LISTENING, SpeakerStatus.MISSING, "degraded"),
        (Status.CLOSED, SpeakerStatus.MISSING, "degraded"),
        (Status.MISSING, SpeakerStatus.READY, "degraded"),
        (None, SpeakerStatus.READY, "ok"),
        (None, SpeakerStatus.MISSING, "degraded"),
        (None, None, "ok"),
    ],
)
def test_who_cannot_be_heard_is_not_healthy(
    microphone: Status | None, loudspeaker: SpeakerStatus | None, word: str
) -> None:
    ear = None if microphone is None else Microphone(microphone, 0.5, 0.5)
    assert health_of(ear, None if loudspeaker is None else Loudspeaker(loudspeaker)) == word


def test_a_process_that_stands_still_is_dead_with_or_without_a_loudspeaker() -> None:
    stuck = Microphone(Status.LISTENING, 11.0, 11.0)
    assert health_of(stuck, Loudspeaker(SpeakerStatus.MISSING)) == "dead"
