"""Fixtures of the pipeline's tests."""

from pathlib import Path

import pytest

from assistant.demo.scenes import Spoken
from assistant.demo.speech import make_clip


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording: the wake word and "turn on the office lights" in one breath."""
    folder = tmp_path_factory.mktemp("command")
    return make_clip(Spoken("command", "turn on the office lights", "rms"), folder)
