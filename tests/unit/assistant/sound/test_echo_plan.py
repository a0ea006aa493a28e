"""Tests of the plan against our own voice: nothing unless it is wanted and available."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.config.load import load_settings
from assistant.sound import echo_plan
from assistant.sound import echo_plan as echo_paths
from assistant.sound.echo_plan import EchoPaths, measure_echo, plan_echo
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind, livekit
from audio.echo.measure import EchoPath, Pair
from audio.errors import InputUnusable

MICROPHONE = DeviceInfo("mic", "input", 1, 16_000, True, 4)
LOUDSPEAKER = DeviceInfo("speaker", "output", 2, 48_000, True, 5)
CLEAR = replace(MICROPHONE, name="clear", description="Mic (echo cancelled with Speaker)")
CLEAN = replace(LOUDSPEAKER, name="clean", description="Speaker (echo cancelled with Mic)")


def settings(**audio: str) -> Any:
    given = {f"HEARTH_AUDIO__{name.upper()}": value for name, value in audio.items()}
    return load_settings(None, {"HEARTH_AUDIO__INPUT": "null", "HOME": "/none", **given})


class Machine:
    """A machine's devices, and how often the tone was played."""

    def __init__(self) -> None:
        self.devices = [MICROPHONE, LOUDSPEAKER]
        self.tells: PathKind | Exception = "echo"
        self.chirps = 0

    def find(self, name: str, kind: str) -> DeviceInfo:
        for device in self.devices:
            if device.kind == kind:
                return device
        raise InputUnusable(f"There is no {kind}.")

    def pair(self, *names: Any) -> Pair:
        return Pair(self.find("default", "input"), self.find("default", "output"), None)

    async def measure(self, pair: Pair, lead_in_ms: int) -> EchoPath:
        self.chirps += 1
        if isinstance(self.tells, Exception):
            raise self.tells
        return EchoPath(self.tells, -6.0, 120.0, 12.0)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    here = Machine()
    monkeypatch.setattr(echo_plan, "find_device", here.find)
    monkeypatch.setattr(echo_plan, "list_devices", lambda: here.devices)
    monkeypatch.setattr(echo_plan, "find_pair", here.pair)
    monkeypatch.setattr(echo_paths, "find_pair", here.pair)
    monkeypatch.setattr(echo_plan, "EchoPaths", lambda kept: EchoPaths(kept, here.measure))
    return here


@pytest.fixture
def real(tmp_path: Path) -> Any:
    """Return settings with two devices and a data folder."""
    return _with_devices(tmp_path)


def _with_devices(folder: Path, **audio: str) -> Any:
    given = {f"HEARTH_AUDIO__{name.upper()}": value for name, value in audio.items()}
    return load_settings(None, {"HEARTH_ASSISTANT__DATA": str(folder), "HOME": "/none", **given})


@pytest.fixture(params=[True, False], ids=["extra", "no extra"])
def extra(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    there = bool(request.param)
    if there and importlib.util.find_spec("livekit") is None:
        pytest.skip("the extra is not installed")
    monkeypatch.setattr(echo_plan, "find_spec", lambda name: object() if there else None)
    return there


async def test_on_takes_the_echo_out_or_says_what_is_missing(extra: bool) -> None:
    echo = await plan_echo(settings(echo_cancellation="on"))
    assert (echo.cleaner is not None, echo.plan.half_duplex) == (extra, not extra)
    assert ("pip install" in echo.complaint) is not extra


@pytest.mark.parametrize("setting", ["auto", "off"])
async def test_without_a_measurement_only_the_wake_word_interrupts(
    extra: bool, setting: str
) -> None:
    echo = await plan_echo(settings(echo_cancellation=setting))
    assert (echo.cleaner, echo.plan.half_duplex, echo.complaint) == (None, True, "")


async def test_a_server_without_such_a_source_is_told(extra: bool) -> None:
    echo = await plan_echo(settings(echo_cancellation="system"))
    assert "echo-cancel" in echo.complaint


async def test_noise_alone_leaves_it_half_duplex() -> None:
    pytest.importorskip("livekit")
    echo = await plan_echo(settings(noise_suppression="true"))
    assert echo.cleaner is not None
    assert echo.plan.half_duplex
    assert len(echo.cleaner.clean(bytes(640))) == 640


@pytest.mark.parametrize(
    ("tells", "kind", "half_duplex"),
    [
        ("echo", "own", False),
        ("apart", "none", False),
        ("cancels", "device", False),
        ("deaf", "none", True),
    ],
)
async def test_auto_plans_by_what_was_measured(
    extra: bool, machine: Machine, real: Any, tells: PathKind, kind: str, half_duplex: bool
) -> None:
    machine.tells = tells
    before = await plan_echo(real)
    assert (before.plan.half_duplex, before.path, machine.chirps) == (True, None, 0)
    await measure_echo(real, machine.pair())
    plans = [await plan_echo(real) for _ in range(2)]
    if tells == "echo" and not extra:
        kind, half_duplex = "none", True
    for echo in plans:
        assert (echo.plan.kind, echo.plan.half_duplex) == (kind, half_duplex)
        assert (echo.cleaner is not None) is (kind == "own")
        assert echo.as_json()["path"] == tells
    assert machine.chirps == 1


@pytest.mark.parametrize("gone", [MICROPHONE, LOUDSPEAKER])
async def test_without_a_device_nothing_is_measured(
    machine: Machine, real: Any, gone: DeviceInfo
) -> None:
    machine.devices.remove(gone)
    assert (await plan_echo(real)).plan.half_duplex
    assert machine.chirps == 0


async def test_a_disk_that_does_not_open_is_no_end(
    machine: Machine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    assert (await plan_echo(_with_devices(tmp_path / "file"))).plan.half_duplex
    assert machine.chirps == 0
    assert not caplog.records


@pytest.mark.parametrize(
    "audio",
    [
        {"echo_cancellation": "on"},
        {"echo_cancellation": "off"},
        {"echo_cancellation": "system"},
        {"input": "file:/a.wav"},
        {"output": "null"},
    ],
)
async def test_nobody_hears_a_tone_for_nothing(
    machine: Machine, tmp_path: Path, audio: dict[str, str]
) -> None:
    if audio.get("echo_cancellation") == "on":
        pytest.importorskip("livekit")
    await plan_echo(_with_devices(tmp_path, **audio))
    assert machine.chirps == 0


async def test_a_person_may_have_it_measured_again(machine: Machine, real: Any) -> None:
    await measure_echo(real, machine.pair())
    machine.tells = "apart"
    assert (await measure_echo(real, machine.pair())).kind == "apart"
    assert not (await plan_echo(real)).plan.half_duplex
    assert machine.chirps == 2


@pytest.mark.parametrize(
    ("devices", "kind"),
    [
        ([CLEAR, LOUDSPEAKER], "system"),  # a canceller that listens to the loudspeaker itself
        ([CLEAR, CLEAN], "system"),
        ([CLEAR, LOUDSPEAKER, CLEAN], "none"),  # played past it
        ([MICROPHONE, CLEAN], "none"),
        ([CLEAR], "system"),  # there is no loudspeaker: nothing is played past it
    ],
)
async def test_the_servers_canceller_counts_by_the_default_devices(
    machine: Machine, tmp_path: Path, devices: list[DeviceInfo], kind: str
) -> None:
    machine.devices = devices
    echo = await plan_echo(_with_devices(tmp_path, echo_cancellation="system"))
    assert echo.plan.kind == kind
    assert bool(echo.complaint) is (kind == "none")


async def test_what_the_server_takes_out_is_not_measured(machine: Machine, real: Any) -> None:
    machine.devices = [CLEAR, CLEAN]
    assert (await plan_echo(real)).plan.kind == "system"
    assert machine.chirps == 0


async def test_a_canceller_that_does_not_load_is_no_end_of_auto(
    machine: Machine, real: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**switches: Any) -> None:
        raise InputUnusable("it cannot be loaded")

    monkeypatch.setattr(echo_plan, "find_spec", lambda name: object())
    monkeypatch.setattr(livekit, "LivekitCleaner", broken)
    await measure_echo(real, machine.pair())
    echo = await plan_echo(real)
    assert (echo.plan.half_duplex, echo.cleaner) == (True, None)
    assert "it cannot be loaded" in caplog.text
    with pytest.raises(InputUnusable):
        await plan_echo(settings(echo_cancellation="on"))


async def test_programs_see_the_counts(machine: Machine, real: Any) -> None:
    pytest.importorskip("livekit")
    await measure_echo(real, machine.pair())
    echo = await plan_echo(real)
    assert echo.cleaner is not None
    echo.cleaner.clean(bytes(640))
    echo.cleaner.clean(b"odd")
    told = echo.as_json()
    assert (told["cancellation"], told["half_duplex"], told["path"]) == ("own", False, "echo")
    counted = {name: told["frames"][name] for name in ("processed", "bypassed", "failed", "stalls")}
    assert counted == {"processed": 0, "bypassed": 1, "failed": 1, "stalls": 0}


async def test_programs_see_that_nothing_is_cleaned() -> None:
    echo = await plan_echo(settings(echo_cancellation="off"))
    assert echo.as_json() == {
        "cancellation": "none",
        "half_duplex": True,
        "reason": echo.plan.reason,
        "path": None,
        "frames": None,
    }
