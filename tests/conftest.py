"""Fixtures for all tests."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared_data import shared


@pytest.hookimpl(optionalhook=True)  # there are runs without xdist
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`, half as many again as there are cores: a third of their time tests wait."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared folder (with `data` and `home-assistant` in it); skips when missing."""
    return shared()


@pytest.fixture(scope="session")
def speech(shared_data: Path) -> Path:
    """Recorded speech; skips when missing."""
    return shared("data", "speech")


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Takes back what a command called in the test's process set up for its log.

    `hearth` logs to its standard error, which in a test is closed when the test ends: a handler
    left behind would tell every later test of that.
    """
    before = list(logging.root.handlers)
    levels = _levels()
    yield
    for handler in logging.root.handlers[:]:
        if handler not in before:
            logging.root.removeHandler(handler)
    for name, level in _levels().items():
        if level != levels.get(name, logging.NOTSET):
            logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


def _levels() -> dict[str, int]:
    known = logging.root.manager.loggerDict.copy().items()  # a thread may add one
    return {"root": logging.root.level} | {
        name: logger.level for name, logger in known if isinstance(logger, logging.Logger)
    }
