"""Two streams that are aligned by counting samples, without a clock."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.echo.reference import PlayedSound
from audio.frames import FRAME_SAMPLES

RATE = 16_000
BLOCK = 160  # samples, 10 ms, of the output
MICROPHONE_MS = 40


def ramp(start: int, count: int) -> bytes:
    """Make samples that tell their own position; never 0."""
    return ((np.arange(start, start + count) % 30_000) + 1).astype(np.int16).tobytes()


class Streams:
    """An output that is `ahead` by some blocks, and a microphone with blocks of 40 ms."""

    def __init__(self, played: PlayedSound, ahead: int = 6, drift: float = 0.0) -> None:
        self.played = played
        self.ahead = ahead
        self.drift = drift
        self.given = 0  # blocks
        self.frames: list[NDArray[np.int16] | None] = []
        self.now = 0  # samples of the microphone
        self.silent = False

    def run(self, seconds: float, output: bool = True) -> None:
        for _ in range(round(seconds * 1000 / MICROPHONE_MS)):
            self.now += RATE * MICROPHONE_MS // 1000
            due = int(self.now * (1 + self.drift)) // BLOCK + self.ahead
            while output and self.given < due:
                block = bytes(2 * BLOCK) if self.silent else ramp(self.given * BLOCK, BLOCK)
                self.played.put(block, RATE)
                self.given += 1
            for _ in range(MICROPHONE_MS // 20):
                self.frames.append(self.played.take())


def offsets(frames: list[NDArray[np.int16] | None]) -> list[int]:
    """Return where each frame's first sample was played, minus the frame's position."""
    return [
        (int(frame[0]) - 1 - number * FRAME_SAMPLES) % 30_000
        for number, frame in enumerate(frames)
        if frame is not None and frame.all()
    ]


def test_nothing_was_opened() -> None:
    assert PlayedSound(MICROPHONE_MS).take() is None


def test_running_streams_keep_their_place() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(20)
    assert len(set(offsets(streams.frames[10:]))) == 1
    assert streams.played.realigned == 0
    assert streams.played.opened == 1


def test_a_drift_is_followed_in_pauses_and_nothing_is_lost() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS), drift=200e-6)
    streams.silent = True
    streams.run(600)
    streams.silent = False
    streams.run(5)
    assert streams.played.nudged > 1000  # 120 ms of drift are 1,920 samples
    assert streams.played.missing < 5
    assert all(frame is not None and frame.all() for frame in streams.frames[-50:])


def test_a_closed_output_gives_nothing_and_the_next_begins_anew() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(2)
    streams.run(2, output=False)
    assert streams.frames[-1] is None
    streams.given = streams.now // BLOCK
    streams.run(2)
    assert streams.played.opened == 2
    assert streams.frames[-1] is not None


def test_a_hiccup_of_the_output_keeps_the_place() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(5)
    before = offsets(streams.frames)[-1]
    streams.run(0.12, output=False)
    streams.run(5)
    assert offsets(streams.frames)[-1] == before
    assert streams.played.missing > 0


def test_silence_that_the_device_made_by_itself_keeps_the_place() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(5)
    before = offsets(streams.frames)[-1]
    streams.run(0.2, output=False)
    streams.played.stall(0.2)
    streams.ahead -= 20  # blocks of 10 ms that were never given
    streams.run(5)
    assert (offsets(streams.frames)[-1] - before) % 30_000 == 30_000 - RATE // 5
    assert streams.played.stalls == 1
    assert streams.played.realigned == 0
    assert min(streams.played._fills) >= 0


def test_every_doubt_about_the_place_is_counted() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(2)
    before = streams.played.breaks
    streams.played.stall(0.0)
    assert streams.played.breaks == before + 1
    streams.run(0.2, output=False)
    assert streams.played.breaks > before + 1


def test_a_frame_that_comes_a_little_late_is_no_doubt_about_the_place() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(2)
    place, before = offsets(streams.frames)[-1], streams.played.breaks
    streams.run(0.04, output=False)
    streams.run(2)
    assert streams.played.missing > 0
    assert streams.played.breaks == before
    assert offsets(streams.frames)[-1] == place


def test_where_frames_come_late_all_the_time_there_is_made_room_once() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(3)
    streams.ahead -= 3  # as many blocks were lost; just enough is left
    for _ in range(12):
        streams.run(1)
        streams.ahead -= 1  # every second one block comes 40 ms late
        streams.run(0.04)
        streams.ahead += 1
    assert streams.played.realigned == 1
    missing = streams.played.missing
    for _ in range(12):
        streams.run(1)
        streams.ahead -= 1
        streams.run(0.04)
        streams.ahead += 1
    assert streams.played.missing == missing


def test_lost_microphone_blocks_are_noticed() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(5)
    streams.now += RATE // 2
    streams.run(8)
    assert streams.played.realigned == 1


def test_what_waits_is_bounded() -> None:
    played = PlayedSound(MICROPHONE_MS)
    for number in range(5_000):
        played.put(ramp(number * BLOCK, BLOCK), RATE)
    assert played.take() is not None
    assert sum(len(pcm) for pcm, _ in played._blocks) == 0
    assert len(played._sound) < RATE


@pytest.mark.parametrize("rate", [48_000, 44_100, 24_000, 22_050])
def test_any_rate_comes_out_at_ours(rate: int) -> None:
    played = PlayedSound(MICROPHONE_MS)
    tone = (np.sin(np.arange(rate) * 2 * np.pi * 500 / rate) * 8000).astype(np.int16)
    taken = []
    for at in range(0, rate, rate // 50):
        played.put(tone[at : at + rate // 50].tobytes(), rate)
        taken.append(played.take())
    sound = np.concatenate([frame for frame in taken if frame is not None])[8_000:]
    peak = np.argmax(np.abs(np.fft.rfft(sound * np.hanning(len(sound)))))
    assert peak * RATE / len(sound) == pytest.approx(500, abs=4)


def test_a_new_microphone_begins_anew() -> None:
    streams = Streams(PlayedSound(MICROPHONE_MS))
    streams.run(1)
    streams.played.restart()
    assert streams.played.take() is None
