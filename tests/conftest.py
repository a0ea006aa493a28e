"""Fixtures for all tests."""

from pathlib import Path

import pytest

from tests.shared_data import shared


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared folder (with `data` and `home-assistant` in it); skips when missing."""
    return shared()


@pytest.fixture(scope="session")
def speech(shared_data: Path) -> Path:
    """Recorded speech; skips when missing."""
    return shared("data", "speech")
