"""Device tests run only beside the simulated sound server."""

import os
import subprocess
from pathlib import Path

import pytest

from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav, write_wav
from tests.devices.pulse import MARK


@pytest.fixture(autouse=True)
def _sound() -> None:
    if MARK not in os.environ:
        pytest.skip("needs the simulated sound devices: make test-devices")


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a spoken sentence of about two seconds with flite, 16 kHz mono."""
    path = tmp_path_factory.mktemp("clip") / "sentence.wav"
    sentence = "turn on the light in the dining room"
    subprocess.run(["flite", "-voice", "slt", "-t", sentence, "-o", str(path)], check=True)
    return path


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """Make wake word and command in one breath with flite."""
    path = tmp_path / "command.wav"
    words = "okay naboo, turn off the dining room light"
    subprocess.run(["flite", "-voice", "rms", "-t", words, "-o", str(path)], check=True)
    silence = bytes(SAMPLE_RATE)  # half a second
    write_wav(path, silence + read_wav(path) + silence, SAMPLE_RATE)
    return path
