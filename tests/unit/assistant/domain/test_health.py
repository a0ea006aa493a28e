"""Tests that a box without a working microphone or loudspeaker is unhealthy, unless it is
meant so."""

from types import SimpleNamespace
from typing import cast

import pytest

from assistant.domain.health import health_of
from audio.device_status import MicrophoneStatus as Status
from audio.device_status import Presence, SpeakerStatus
from audio.steady import SteadyMicrophone


def microphone_of(status: Status, frame_age_s: float, heartbeat_age_s: float) -> SteadyMicrophone:
    """Return a microphone in that state."""
    ages = {"last_frame_age_s": frame_age_s, "heartbeat_age_s": heartbeat_age_s}
    return cast(SteadyMicrophone, SimpleNamespace(status=status, **ages))


@pytest.mark.parametrize(
    ("status", "frame_age_s", "heartbeat_age_s", "word"),
    [
        (Status.LISTENING, 0.05, 0.05, "ok"),
        (Status.LISTENING, 2.0, 2.0, "ok"),
        (Status.LISTENING, 2.1, 2.1, "degraded"),  # for any reason
        (Status.OPENING, 0.5, 0.5, "ok"),
        (Status.OPENING, 3.0, 0.5, "degraded"),
        (Status.MISSING, 0.5, 0.5, "degraded"),
        # The process is alive and looks for the device.
        (Status.MISSING, 36_000.0, 0.9, "degraded"),
        (Status.ELSEWHERE, 0.5, 0.5, "degraded"),
        (Status.SILENT, 0.05, 0.05, "degraded"),
        (Status.CLOSED, 36_000.0, 0.9, "ok"),  # closed on purpose
        (Status.LISTENING, 10.1, 10.1, "dead"),
        (Status.MISSING, 10.1, 10.1, "dead"),
        (Status.CLOSED, 10.1, 10.1, "dead"),
    ],
)
def test_one_word(status: Status, frame_age_s: float, heartbeat_age_s: float, word: str) -> None:
    assert health_of(microphone_of(status, frame_age_s, heartbeat_age_s)) == word


def loudspeaker_of(status: SpeakerStatus) -> Presence:
    """Return a loudspeaker in that state."""
    return cast(Presence, SimpleNamespace(status=status))


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
    ear = None if microphone is None else microphone_of(microphone, 0.5, 0.5)
    assert health_of(ear, None if loudspeaker is None else loudspeaker_of(loudspeaker)) == word


def test_a_process_that_stands_still_is_dead_with_or_without_a_loudspeaker() -> None:
    stuck = microphone_of(Status.LISTENING, 11.0, 11.0)
    assert health_of(stuck, loudspeaker_of(SpeakerStatus.MISSING)) == "dead"
