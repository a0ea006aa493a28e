"""Fixtures of the chaos tests: recordings of commands."""

from pathlib import Path

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wake word and a command for the house, in one breath."""
    folder = tmp_path_factory.mktemp("office")
    return make_clip(SpokenCommand("office", "turn on the office lights", "slt"), folder)


@pytest.fixture(scope="session")
def timer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wake word and a command that needs no house."""
    folder = tmp_path_factory.mktemp("timer")
    return make_clip(SpokenCommand("timer", "set a timer for ten minutes", "slt"), folder)
