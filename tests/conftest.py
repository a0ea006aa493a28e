"""Fixtures for all tests."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared_data import SPEECH, shared, skipped_for_recordings


@pytest.hookimpl(optionalhook=True)  # there are runs without xdist
def pytest_xdist_auto_num_workers() -> int:
    """Use half as many workers again as there are cores: tests wait a third of their time."""
    return (os.cpu_count() or 1) * 3 // 2


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line how many tests were skipped for want of recordings."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = (one.longrepr[2] for one in skipped if isinstance(one.longrepr, tuple))
    for line in skipped_for_recordings(reasons):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def speech() -> Path:
    """Return the folder of recorded speech; skip the test if it is missing."""
    return shared(*SPEECH)


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Undo the logging set-up of a command that ran in the test's process.

    `hearth` logs to its standard error, which in a test is closed when the test ends: a handler
    left behind would fail in every later test.
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
