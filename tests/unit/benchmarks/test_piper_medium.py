"""Tests of the simulated medium voice: its size is right, and the real Piper speaks with it."""

from pathlib import Path

import pytest

from audio.tts.piper import PiperVoice
from tests.benchmarks.piper_medium import RATE, make_medium_voice, parameters


def test_it_is_as_big_as_a_medium_voice_and_as_slow_of_speech(tmp_path: Path) -> None:
    path = make_medium_voice(tmp_path, "en", "en-us", seed=1)
    assert parameters(path) == pytest.approx(15.6e6, rel=0.01)
    assert path.stat().st_size == pytest.approx(62.6e6, rel=0.01)
    (chunk,) = PiperVoice(path).speak("The kitchen light is on.")
    assert 1.2 < len(chunk.pcm) / 2 / RATE < 1.8
    assert len(chunk.ends) == 5
