"""Tests of `hearth devices`: a table for people, JSON for programs."""

import json
import threading
from pathlib import Path
from typing import get_args

import pytest

from assistant.app.process import locked
from assistant.cli import devices
from assistant.cli.main import main
from assistant.config.schema import Settings
from assistant.sound.echo_plan import EchoPlan
from audio.devices import SILENCE_DBFS
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind, Plan
from audio.echo.measure import EchoPath, Pair
from audio.errors import AudioError, InputUnusable
from audio.timing import BoundedCalls

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
    """Return the machine's devices, which the test may change."""
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


PAIR = Pair(JABRA, SPEAKER, 1)
ECHO = EchoPath("echo", -6.2, 120.4, 12.0)
OWN = Plan("own", False, "An echo was measured, and Hearth removes it.")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[EchoPath | AudioError]:
    """Return the results of the next measurements, which the test fills."""
    results: list[EchoPath | AudioError] = [ECHO]

    async def measure(settings: Settings, pair: Pair) -> EchoPath:
        result = results.pop(0)
        if isinstance(result, AudioError):
            raise result
        return result

    async def plan(settings: Settings) -> EchoPlan:
        if results and isinstance(results[0], AudioError):
            raise results[0]
        return EchoPlan(OWN, None, "")

    monkeypatch.setenv("HEARTH_ASSISTANT__DATA", str(tmp_path))
    monkeypatch.setattr(devices, "find_pair", lambda *names: PAIR)
    monkeypatch.setattr(devices, "measure_echo", measure)
    monkeypatch.setattr(devices, "plan_echo", plan)
    return results


def test_the_echo_for_people(
    measured: list[EchoPath | AudioError], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices", "--measure"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "HDMI: 0, heard through alsa_input.usb-Jabra[510]:",
        "an echo of -6 dB, 120 ms after the tone was played",
        OWN.reason,
    ]


def test_a_hearth_that_runs_is_told_of(
    measured: list[EchoPath | AudioError], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path):
        assert main(["devices", "--measure"]) == 0
    assert "`hearth run` will use this after a restart." in capsys.readouterr().out


def test_the_echo_for_programs(
    measured: list[EchoPath | AudioError], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices", "--measure", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "input": "alsa_input.usb-Jabra[510]",
        "output": "HDMI: 0",
        "channel": 1,
        "kind": "echo",
        "level_db": -6.2,
        "delay_ms": 120.4,
        "noise_rms": 12.0,
        "cancellation": "own",
        "half_duplex": False,
        "reason": OWN.reason,
    }


@pytest.mark.parametrize("kind", get_args(PathKind))
def test_each_finding_has_its_words(
    measured: list[EchoPath | AudioError], kind: PathKind, capsys: pytest.CaptureFixture[str]
) -> None:
    measured[0] = EchoPath(kind, -100.0, 0.0, 12.0)
    assert main(["devices", "--measure"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_what_cannot_be_measured_is_said(
    measured: list[EchoPath | AudioError], capsys: pytest.CaptureFixture[str]
) -> None:
    measured[0] = InputUnusable("mic is muted in the sound server: turn it on there.")
    assert main(["devices", "--measure"]) == 1
    assert "Cannot measure the echo: mic is muted" in capsys.readouterr().err


def test_what_was_measured_is_kept_though_nothing_can_be_done_about_it(
    measured: list[EchoPath | AudioError], capsys: pytest.CaptureFixture[str]
) -> None:
    measured.append(InputUnusable("Echo cancellation needs an extra."))
    assert main(["devices", "--measure"]) == 1
    assert (
        "The echo was measured and saved (echo), but: Echo cancellation needs"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["INPUT", "OUTPUT"])
def test_a_file_has_no_echo(
    measured: list[EchoPath | AudioError],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(f"HEARTH_AUDIO__{name}", "null")
    assert main(["devices", "--measure"]) == 2
    assert (
        "Cannot measure the echo: set audio.input and audio.output to devices."
        in capsys.readouterr().err
    )
