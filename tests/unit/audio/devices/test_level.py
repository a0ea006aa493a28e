"""Measuring the level at a microphone."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audio import devices as level
from audio.devices import SILENCE_DBFS, level_of, measure_level
from audio.devices.portaudio import DeviceInfo, refresh

RATE = 16_000
DEVICE = DeviceInfo("box", "input", 2, RATE, default=True, index=3)


def sine(amplitude: float) -> bytes:
    wave = np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE) * amplitude * 32_767
    return bytes(wave.astype("<i2").tobytes())


@pytest.mark.parametrize(
    ("pcm", "dbfs"),
    [
        (sine(1.0), -3.0),
        (sine(0.1), -23.0),
        (np.full(100, -32_768, "<i2").tobytes(), 0.0),
        (bytes(100), SILENCE_DBFS),
        (b"", SILENCE_DBFS),
        (np.array([1, *[0] * 2000], "<i2").tobytes(), SILENCE_DBFS),
    ],
)
def test_levels(pcm: bytes, dbfs: float) -> None:
    assert level_of(pcm) == pytest.approx(dbfs, abs=0.1)


class FakeStream:
    """A stream that delivers all its blocks as soon as it is started: a click, then the given
    ones."""

    def __init__(self, blocks: int, callback: Callable[..., None], **wish: Any) -> None:
        assert (wish["device"], wish["samplerate"], wish["channels"]) == (3, RATE, 2)
        self._samples = wish["blocksize"] * wish["channels"]
        self._blocks = blocks
        self._callback = callback
        self.closed = False

    def start(self) -> None:
        self._callback(np.full(self._samples, 32_767, "<i2").tobytes(), 0, None, None)
        for _ in range(self._blocks):
            self._callback(np.full(self._samples, 3_277, "<i2").tobytes(), 0, None, None)

    def close(self, ignore_errors: bool) -> None:
        self.closed = True


class FakePortAudio(SimpleNamespace):
    class PortAudioError(Exception):
        pass


def portaudio(monkeypatch: pytest.MonkeyPatch, opens: Callable[..., FakeStream]) -> None:
    fake = FakePortAudio(
        RawInputStream=opens, _initialized=0, _terminate=lambda: None, _initialize=lambda: None
    )
    monkeypatch.setitem(sys.modules, "sounddevice", fake)


def test_a_microphone_is_measured_without_its_first_click(monkeypatch: pytest.MonkeyPatch) -> None:
    streams: list[FakeStream] = []

    def opens(**wish: Any) -> FakeStream:
        streams.append(FakeStream(100, **wish))
        return streams[-1]

    portaudio(monkeypatch, opens)
    assert measure_level(DEVICE) == pytest.approx(-20.0, abs=0.1)
    assert streams[0].closed
    assert refresh()  # no stream is left open


def test_a_microphone_that_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level, "_PATIENCE_S", 0.0)
    portaudio(monkeypatch, lambda **wish: FakeStream(1, **wish))
    assert measure_level(DEVICE, seconds=0.1) is None
    assert refresh()


def test_a_microphone_that_another_program_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def opens(**wish: Any) -> FakeStream:
        raise FakePortAudio.PortAudioError("Device unavailable")

    portaudio(monkeypatch, opens)
    assert measure_level(DEVICE) is None
    assert refresh()
