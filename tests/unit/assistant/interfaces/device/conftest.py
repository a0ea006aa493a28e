"""Fixtures: a house that accepts devices, and the file of ours."""

from pathlib import Path

import pytest

from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.registration import DeviceFile
from tests.unit.assistant.interfaces.device.doubles import TakesDevices


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def home() -> TakesDevices:
    return TakesDevices()


@pytest.fixture
def file(tmp_path: Path, clock: VirtualClock) -> DeviceFile:
    return DeviceFile(tmp_path / "data", clock)
