"""The gate is closed while the room does not change, and opens for anything that rises, however
quiet."""

import asyncio
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.frames import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE
from audio.gate import GLANCE_MS, HOLD_MS, LONGEST_MS, START_MS, EnergyGate, QuietRoom
from audio.microphone import Blocks, DeviceCapture
from audio.timing import LoopClock
from tests.unit.audio.test_microphone import INVALID_RATE, PortAudio

Samples = NDArray[np.float64]
SILENCE = np.zeros(10 * SAMPLE_RATE)


def frames(sound: Samples) -> list[bytes]:
    pcm = np.rint(sound).clip(-32768, 32767).astype("<i2").tobytes()
    return [pcm[at : at + FRAME_SAMPLES * 2] for at in range(0, len(pcm), FRAME_SAMPLES * 2)]


def hiss(rms: float, seconds: float = 10.0, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).normal(0, rms, round(seconds * SAMPLE_RATE))


def tone(hertz: float, rms: float, seconds: float = 10.0) -> Samples:
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return np.asarray(rms * math.sqrt(2) * np.sin(2 * np.pi * hertz * time), np.float64)


def opened(room: Samples, event: Samples | None = None) -> list[bool]:
    """Return for each frame whether the gate is open; the event comes 5 s after the start."""
    sound = room.copy()
    if event is not None:
        at = 5 * SAMPLE_RATE
        sound[at : at + len(event)] += event
    gate = EnergyGate()
    return [gate.hear(frame) for frame in frames(sound)][(START_MS + 500) // FRAME_MS :]


ROOMS = {
    "digital silence": SILENCE,
    "the last bit": hiss(0.5),
    "a quiet room": hiss(10),
    "a loud fan": hiss(2_000),
    "hum": tone(100, 500) + hiss(5),
    "an offset": hiss(5) + 900,
}


@pytest.mark.parametrize("room", ROOMS)
def test_it_closes_where_nothing_changes(room: str) -> None:
    assert not any(opened(ROOMS[room]))


@pytest.mark.parametrize(
    ("room", "event"),
    [
        ("digital silence", tone(300, 8, 0.2)),  # -72 dBFS
        ("a quiet room", tone(300, 12, 0.2)),
        ("a loud fan", tone(300, 2_000, 0.2)),
        ("hum", hiss(60, 0.2, seed=2)),  # 18 dB below the hum
        ("an offset", tone(300, 12, 0.2)),
    ],
)
def test_a_small_rise_opens_it_and_it_closes_again(room: str, event: Samples) -> None:
    frames_open = opened(ROOMS[room], event)
    first = frames_open.index(True)
    assert abs(first * FRAME_MS - (5_000 - START_MS - 500)) <= 120
    assert not frames_open[-1]
    assert HOLD_MS <= sum(frames_open) * FRAME_MS <= HOLD_MS + 600


def test_a_word_at_the_very_beginning_is_not_taken_for_the_room() -> None:
    gate = EnergyGate()
    sound = np.concatenate([tone(300, 3_000, 1.0), hiss(10, 6.0), tone(300, 30, 0.2)])
    states = [gate.hear(frame) for frame in frames(sound)]
    assert all(states[: START_MS // FRAME_MS - 1])
    assert not states[349]
    assert states[-1]


def test_a_steady_noise_that_begins_is_the_room_after_a_while() -> None:
    gate = EnergyGate()
    for frame in frames(hiss(10, 5.0)):
        gate.hear(frame)
    states = [gate.hear(frame) for frame in frames(hiss(100, 60.0))]
    assert states[10 * 50]  # 20 dB more: the floor must not follow a sentence
    assert not states[-1]


@pytest.mark.parametrize("together", [1, 2, 3, 4, 7])
def test_frames_that_come_together_are_judged_as_one_by_one(together: int) -> None:
    gate, other = EnergyGate(), EnergyGate()
    sound = np.concatenate([hiss(10, 8.0), tone(300, 300, 0.1), hiss(10, 3.0, seed=2)])
    one_by_one = [other.hear(frame) for frame in frames(sound)]
    parts = [frames(sound)[at : at + together] for at in range(0, len(one_by_one), together)]
    assert [gate.hear(b"".join(part)) for part in parts if len(part) == together] == (
        one_by_one[together - 1 :: together]
    )


def test_who_only_glances_sees_it_open_at_once_and_close_a_little_later() -> None:
    gate, other = EnergyGate(), EnergyGate()
    sound = np.concatenate([hiss(10, 8.0), tone(300, 300, 0.1), hiss(10, 3.0, seed=2)])
    exact = [other.hear(frame) for frame in frames(sound)]
    seen = [gate.glance(frame) for frame in frames(sound)]
    known = (START_MS + 500) // FRAME_MS
    assert seen.index(True, known) == exact.index(True, known)
    assert all(state or not open_ for state, open_ in zip(seen, exact, strict=True))
    assert 0 <= sum(seen[known:]) - sum(exact[known:]) < GLANCE_MS // FRAME_MS
    assert not seen[-1]


def test_another_stream_begins_open() -> None:
    gate = EnergyGate()
    assert not all(gate.hear(frame) for frame in frames(hiss(10, 8.0)))
    gate.restart()
    assert gate.open


# Blocks of a quiet room arrive a few at once; sounds are handed over at once.


BLOCK_MS = 80
BLOCK = SAMPLE_RATE * BLOCK_MS // 1000
TOGETHER = LONGEST_MS // BLOCK_MS
KNOWN = (START_MS + 480) // BLOCK_MS  # blocks after which the room's noise is known


def noise(blocks: int, rms: float = 20.0, seed: int = 1) -> list[bytes]:
    rng = np.random.default_rng(seed)
    samples: NDArray[np.float64] = rng.normal(0, rms, blocks * BLOCK)
    pcm = np.rint(samples).astype("<i2").tobytes()
    return [pcm[at : at + 2 * BLOCK] for at in range(0, len(pcm), 2 * BLOCK)]


def waited(blocks: list[bytes]) -> list[bool]:
    room = QuietRoom(BLOCK_MS)
    return [room.may_wait(block) for block in blocks]


def test_at_first_nothing_waits() -> None:
    assert not any(waited(noise(START_MS // BLOCK_MS - 1)))


def test_in_a_quiet_room_every_few_come_together() -> None:
    told = [number for number, may in enumerate(waited(noise(100))) if not may]
    assert np.diff(told[KNOWN:]).tolist() == [TOGETHER] * (len(told) - KNOWN - 1)
    assert len(told) > KNOWN + 5


def test_digital_silence_waits_too() -> None:
    assert sum(waited([bytes(2 * BLOCK)] * 100)) > 50


@pytest.mark.parametrize("at", range(60, 60 + TOGETHER))
def test_what_rises_does_not_wait_nor_what_follows_for_a_while(at: int) -> None:
    blocks = noise(100)
    blocks[at : at + 3] = noise(3, 200.0, seed=2)
    waits = waited(blocks)
    assert not any(waits[at : at + 3 + HOLD_MS // BLOCK_MS - 1])
    assert any(waits[at + 4 + HOLD_MS // BLOCK_MS :])


class Counting(Blocks):
    told = 0

    def _tell(self) -> None:
        self.told += 1
        super()._tell()


async def opened_microphone(
    monkeypatch: pytest.MonkeyPatch, code: int = 0, **wishes: bool
) -> tuple[PortAudio, Counting, DeviceCapture]:
    def accepts(rate: int, channels: int) -> int:
        return code if rate == SAMPLE_RATE else 0

    portaudio = PortAudio(accepts)
    monkeypatch.setitem(sys.modules, "sounddevice", portaudio)
    blocks = Counting(100, LoopClock().monotonic)
    capture = DeviceCapture("default", blocks, BLOCK_MS, **wishes)
    await asyncio.to_thread(capture.open)
    return portaudio, blocks, capture


def give(portaudio: PortAudio, sound: list[bytes]) -> None:
    for block in sound:
        status = SimpleNamespace(input_overflow=False)
        portaudio.streams[0].arguments["callback"](memoryview(block), 0, None, status)


async def test_a_patient_capture_wakes_the_loop_less_often_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    portaudio, blocks, capture = await opened_microphone(monkeypatch, patient=True)
    sound = noise(100)
    give(portaudio, sound)
    assert blocks.told < 50
    taken = [block.pcm for block in iter(blocks.take, None)]
    assert taken == sound
    await asyncio.to_thread(capture.close)


@pytest.mark.parametrize(
    ("code", "patient"), [(0, False), (INVALID_RATE, True)], ids=["not asked for", "48 kHz"]
)
async def test_others_tell_of_every_block(
    monkeypatch: pytest.MonkeyPatch, code: int, patient: bool
) -> None:
    portaudio, blocks, capture = await opened_microphone(monkeypatch, code, patient=patient)
    give(portaudio, noise(100))
    assert blocks.told == 100
    await asyncio.to_thread(capture.close)
