"""Our device as every process knows it."""

import json
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.registration import META_KEY, DeviceFile, DeviceRecord, HouseDevice


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"data": str(tmp_path)},
            "home_assistant": {"url": "http://ha:8123", "token": "token"},
        }
    )


def test_a_short_command_reads_what_is_kept(settings: Settings, clock: VirtualClock) -> None:
    file = DeviceFile(settings.data_folder, clock)
    assert HouseDevice(settings, clock).meta() is None
    file.write(DeviceRecord("ours", "http://ha:8123", "hook", "device-9"))
    assert HouseDevice(settings, clock).meta() == {META_KEY: "device-9"}
    file.write(DeviceRecord("ours", "http://another", "hook", "device-9"))
    assert HouseDevice(settings, clock).meta() is None


def test_a_damaged_file_costs_the_device_alone(
    settings: Settings, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    DeviceFile(settings.data_folder, clock).path.write_text(json.dumps([]))
    assert HouseDevice(settings, clock).meta() is None
    assert "damaged" in caplog.text
