"""What is stuck, and what is only absent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from assistant.conversation.hearing import Hearing
from assistant.domain.health import STUCK_S
from assistant.service.service import HELD_S, OPENING_S, STANDING_S, Pulse
from audio.device_status import MicrophoneStatus as Status
from audio.steady import SteadyMicrophone


@dataclass
class Microphone:
    status: Status = Status.LISTENING
    heartbeat_age_s: float = 0.1
    stuck: int = 0


@dataclass
class Ear:
    frames_heard: int = 0
    frames_passed: int = 0
    answers: bool = True
    pings: list[Callable[[], None]] = field(default_factory=list)

    def ping(self, pong: Callable[[], None]) -> None:
        if self.answers:
            pong()
        else:
            self.pings.append(pong)


class Box:
    """A pulse with everything that it is taken of."""

    def __init__(self, microphone: Microphone | None = None) -> None:
        self.now = 100.0
        self.microphone = microphone or Microphone()
        self.ear = Ear()
        self.pulse = Pulse(lambda: self.now)
        self.listen(self.microphone)
        self.pulse.stand()

    def listen(self, microphone: Microphone | None) -> None:
        """The ear is open, and this is what it listens to."""
        self.pulse.listen(cast(SteadyMicrophone | None, microphone), cast(Hearing, self.ear))

    def after(self, seconds: float, frames: int = 0, passed: int = 0) -> str:
        """The problem after so long, looked at each second; frames come each second."""
        problem = ""
        for _ in range(round(seconds)):
            self.now += 1
            self.ear.frames_heard += frames
            self.ear.frames_passed += passed
            problem = self.pulse.problem()
        return problem


def test_frames_that_are_judged_are_life() -> None:
    assert Box().after(3600, frames=50) == ""


def test_so_are_frames_of_a_silent_room() -> None:
    assert Box(Microphone(Status.SILENT)).after(3600, passed=50) == ""


def test_a_microphone_that_listens_has_its_frames_judged() -> None:
    box = Box()
    assert box.after(STUCK_S, frames=0) == ""
    assert "judged no sound" in box.after(2)
    assert box.after(1, frames=1) == ""


@pytest.mark.parametrize("status", [Status.MISSING, Status.ELSEWHERE, Status.CLOSED])
def test_a_device_that_is_known_to_be_absent_is_waited_for(status: Status) -> None:
    box = Box(Microphone(status))
    assert box.after(3600) == ""
    box.microphone.status = Status.LISTENING  # it is back, and has its time
    assert box.after(STUCK_S) == ""


@pytest.mark.parametrize("status", list(Status))
def test_whoever_looks_for_it_must_go_on(status: Status) -> None:
    box = Box(Microphone(status, heartbeat_age_s=STUCK_S + 0.1))
    assert "Nobody has taken anything" in box.after(1, frames=50)


@pytest.mark.parametrize("status", list(Status))
def test_the_ears_thread_must_answer_also_where_it_has_nothing_to_judge(status: Status) -> None:
    box = Box(Microphone(status))
    box.ear.answers = False
    assert box.after(STUCK_S, passed=50) == ""
    assert "thread has not answered" in box.after(2, passed=50)
    assert len(box.ear.pings) == 1  # one question at a time
    box.ear.pings[0]()
    box.ear.answers = True
    assert box.after(1, passed=50) == ""


def test_a_device_that_our_own_stuck_call_holds_comes_back_with_a_new_process_alone() -> None:
    box = Box(Microphone(Status.MISSING, stuck=1))
    assert box.after(HELD_S) == ""
    assert "does not return" in box.after(2)
    box.microphone.stuck = 0
    assert box.after(1) == ""


def test_a_stuck_call_beside_a_microphone_that_listens_is_none() -> None:
    assert Box(Microphone(Status.LISTENING, stuck=2)).after(3600, frames=50) == ""


def test_settings_are_open_in_time() -> None:
    box = Box()
    box.pulse.open()
    assert box.after(OPENING_S) == ""
    assert "not open" in box.after(1)
    box.listen(box.microphone)
    assert box.after(1) == ""


@pytest.mark.parametrize("microphone", [Microphone(), None])
def test_who_listens_has_somebody_to_serve_what_is_heard(microphone: Microphone | None) -> None:
    box = Box()
    box.pulse.open()
    box.listen(microphone)
    assert box.after(STANDING_S, frames=50) == ""
    assert "not open" in box.after(1, frames=50)
    box.pulse.stand()
    assert box.after(3600, frames=50) == ""


def test_without_a_microphone_the_loop_alone_counts() -> None:
    box = Box()
    box.listen(None)
    box.ear.answers = False
    assert box.after(3600) == ""
