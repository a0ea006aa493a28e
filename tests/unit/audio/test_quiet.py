"""Blocks of a quiet room come a few at once; whatever rises is heard when it comes."""

import asyncio
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.frames import SAMPLE_RATE
from audio.gate import HOLD_MS, LONGEST_MS, START_MS, QuietRoom
from audio.microphone import Blocks, DeviceCapture
from audio.timing import LoopClock
from tests.unit.audio.test_microphone import INVALID_RATE, PortAudio

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
    """Counts how often the loop was woken."""

    told = 0

    def _tell(self) -> None:
        self.told += 1
        super()._tell()


async def opened(
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
    portaudio, blocks, capture = await opened(monkeypatch, patient=True)
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
    portaudio, blocks, capture = await opened(monkeypatch, code, patient=patient)
    give(portaudio, noise(100))
    assert blocks.told == 100
    await asyncio.to_thread(capture.close)
