"""The meter at the microphone."""

import numpy as np
import pytest

from assistant.conversation.hearing import Level, Reading
from audio.frames import FRAME_SAMPLES, Frame


class Room:
    """A microphone that hears a tone of any loudness, and a clock that goes along."""

    def __init__(self) -> None:
        self.now = 50.0
        self.samples = 0
        self.level = Level(lambda: self.now)

    def hears(self, seconds: float, amplitude: float) -> Reading:
        """`amplitude`: 0 to 1 of full scale, of a 1 kHz sine."""
        for _ in range(round(seconds * 50)):
            times = (self.samples + np.arange(FRAME_SAMPLES)) / 16_000
            sound = np.sin(2 * np.pi * 1000 * times) * amplitude * 32_768
            pcm = np.clip(np.round(sound), -32_768, 32_767).astype("<i2").tobytes()
            self.level.take(Frame(pcm, self.samples))
            self.samples += FRAME_SAMPLES
            self.now += 0.02
        return self.level.read()


@pytest.fixture
def room() -> Room:
    return Room()


def test_without_a_microphone_there_is_no_figure(room: Room) -> None:
    assert room.level.read() == Reading(None, None, None, None, None)


def test_a_tone_is_measured(room: Room) -> None:
    told = room.hears(2, 0.1)
    assert told.rms_db == pytest.approx(-23.0, abs=0.1)  # a sine: 3 dB below its peak
    assert told.peak_db == pytest.approx(-20.0, abs=0.1)
    assert told.noise_floor_db == pytest.approx(-23.0, abs=0.1)
    assert told.clipped == 0
    assert told.at_ms == 2000.0


def test_it_is_of_the_last_second_and_the_floor_of_half_a_minute(room: Room) -> None:
    room.hears(5, 0.001)
    told = room.hears(1, 0.5)
    assert told.rms_db == pytest.approx(-9.0, abs=0.1)
    assert told.noise_floor_db == pytest.approx(-63.0, abs=0.2)
    assert room.hears(1, 0.01).rms_db == pytest.approx(-43.0, abs=0.1)
    for _ in range(31):
        told = room.hears(1, 0.05)
    assert told.noise_floor_db == pytest.approx(-29.0, abs=0.1)


def test_what_is_too_loud_is_counted(room: Room) -> None:
    told = room.hears(1, 1.5)
    assert told.clipped is not None
    assert told.clipped > 1000
    assert told.peak_db == 0.0
    room.hears(0.9, 0.1)
    assert room.hears(0.1, 0.1).clipped == 0


def test_digital_silence_has_a_figure_too(room: Room) -> None:
    told = room.hears(1, 0)
    assert (told.rms_db, told.peak_db, told.noise_floor_db) == (-96.0, -96.0, -96.0)


def test_the_first_frames_tell_nothing_yet(room: Room) -> None:
    assert room.hears(0.08, 0.1) == Reading()
    assert room.hears(0.02, 0.1).at_ms == 100.0


def test_what_has_ended_is_not_told_and_does_not_count_later(room: Room) -> None:
    room.hears(3, 0.0001)
    room.now += 1.1
    assert room.level.read() == Reading()  # muted, or the device is gone
    told = room.hears(1, 0.1)
    assert told.noise_floor_db == pytest.approx(-23.0, abs=0.1)
