"""`hearth devices`: a table for people, JSON for programs."""

import json
import threading

import pytest

from assistant.cli import devices
from assistant.cli.main import main
from audio.bounded import BoundedCalls
from audio.devices import SILENCE_DBFS, DeviceInfo

JABRA = DeviceInfo(
    "alsa_input.usb-Jabra[510]",
    "input",
    1,
    16_000,
    default=True,
    index=4,
    description="Jabra SPEAK 510",
    backend="server",
    usb="usb:0b0e:0412:501AA5C0",
    muted=False,
    volume=0.399_994,
    target="alsa_input.usb-Jabra[510]",
)
QUIET = DeviceInfo("usb:0d8c:0014", "input", 2, 48_000, False, 5, description="USB PnP: Audio")
MUTED = DeviceInfo("alsa_input.pci", "input", 2, 44_100, False, 4, backend="server", muted=True)
SPEAKER = DeviceInfo("HDMI: 0", "output", 8, 44_100, False, 6, description="HDMI: 0")
LEVELS = {JABRA.name: -30.04, QUIET.name: None, MUTED.name: SILENCE_DBFS}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[DeviceInfo]:
    """Its devices, which the test may change."""
    there = [JABRA, QUIET, MUTED, SPEAKER]
    monkeypatch.setattr(devices, "list_devices", lambda: there)
    monkeypatch.setattr(devices, "measure_level", lambda device: LEVELS[device.name])
    monkeypatch.setenv("COLUMNS", "120")
    return there


def test_the_table(machine: list[DeviceInfo], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if "│" in line]
    shown = [[cell.strip() for cell in row] for row in rows]
    assert shown == [
        ["input", JABRA.name, "1", "16000 Hz", "yes", "server", "██░░░ -30 dB"],
        ["", "Jabra SPEAK 510", "", "", "", "", ""],
        ["input", QUIET.name, "2", "48000 Hz", "", "ALSA", ""],
        ["", "USB PnP: Audio", "", "", "", "", ""],
        ["input", MUTED.name, "2", "44100 Hz", "", "server", "muted"],
        ["output", "HDMI: 0", "8", "44100 Hz", "", "ALSA", ""],
    ]


def test_json(machine: list[DeviceInfo], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told[0] == {
        "name": "alsa_input.usb-Jabra[510]",
        "kind": "input",
        "description": "Jabra SPEAK 510",
        "channels": 1,
        "rate": 16_000,
        "default": True,
        "backend": "server",
        "usb": "usb:0b0e:0412:501AA5C0",
        "muted": False,
        "volume": 0.4,
        "level_dbfs": -30.0,
    }
    assert [one["level_dbfs"] for one in told] == [-30.0, None, -100.0, None]
    assert (told[1]["muted"], told[1]["volume"]) == (None, None)


def test_without_levels_nobody_listens(
    machine: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(devices, "measure_level")
    assert main(["devices", "--json", "--no-levels"]) == 0
    assert [one["level_dbfs"] for one in json.loads(capsys.readouterr().out)] == [None] * 4


def test_a_microphone_that_hangs_is_passed_over(
    machine: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    test_ends = threading.Event()
    monkeypatch.setattr(devices, "measure_level", lambda device: test_ends.wait())
    monkeypatch.setattr(devices, "BoundedCalls", lambda: BoundedCalls(longest_s=0.01))
    assert main(["devices", "--json"]) == 0
    test_ends.set()
    assert [one["level_dbfs"] for one in json.loads(capsys.readouterr().out)] == [None] * 4


@pytest.mark.parametrize(
    ("dbfs", "shown"),
    [
        (None, ""),
        (SILENCE_DBFS, "silent"),
        (-80.0, "░░░░░ -80 dB"),
        (-6.0, "████░ -6 dB"),
        (0.0, "█████ 0 dB"),
    ],
)
def test_the_bar(dbfs: float | None, shown: str) -> None:
    assert devices._level(dbfs) == shown


def test_a_machine_without_sound(
    machine: list[DeviceInfo], capsys: pytest.CaptureFixture[str]
) -> None:
    machine.clear()
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["devices"]) == 1
    assert "no sound device" in capsys.readouterr().err
