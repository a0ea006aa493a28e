"""Tests of the doctor's checks of microphone and loudspeaker."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import sound
from assistant.doctor.daemon import Daemon, May
from assistant.doctor.finding import Finding, examine
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from assistant.sound.echo_plan import EchoPaths
from assistant.sound.mute import NAME as MUTED
from audio.devices.portaudio import DeviceInfo, Kind
from audio.echo.measure import EchoPath, Pair
from audio.errors import DeviceLost, InputUnusable
from tests.unit.assistant.doctor.scenes import RUNS, look, scene, settings

SITS_THERE = May(listen=True, play=True)
ECHO = EchoPath("echo", -12.3, 84.0, 20.0)
QUIET = {"rms_db": -52.0, "peak_db": -31.0, "clipped": 0, "noise_floor_db": -58.0, "at_ms": 2000.0}


def device(name: str, kind: Kind, **more: Any) -> DeviceInfo:
    return DeviceInfo(name, kind, 1, 48_000, False, 3, backend="server", **more)


PAIR = Pair(device("mic", "input"), device("box", "output"), None)


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings that name the two devices of a fake machine."""
    monkeypatch.setattr(sound, "find_device", lambda name, kind: getattr(PAIR, kind))
    monkeypatch.setattr(sound, "find_pair", lambda *names: PAIR)
    monkeypatch.setattr(sound, "server_out_of_reach", lambda: False)
    return settings(tmp_path, audio={"input": "mic", "output": "box"})


async def found(name: str, settings: Settings, may: May, daemon: Daemon | None = None) -> Finding:
    return await look(sound.CHECKS, name, scene(settings, may, daemon))


async def test_without_devices_nothing_is_wrong(tmp_path: Path) -> None:
    findings = await examine(sound.CHECKS, scene(settings(tmp_path), SITS_THERE))
    assert {finding.status for finding in findings} == {"ok"}


@pytest.mark.parametrize(("name", "kind"), [("microphone", "input"), ("speaker", "output")])
async def test_a_device(
    devices: Settings, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    def away(wanted: str, asked: str) -> DeviceInfo:
        raise InputUnusable("There is no such thing: plug it in.")

    well = await found(name, devices, May())
    assert (well.status, well.detail[-10:]) == ("ok", ", 48000 Hz")
    monkeypatch.setattr(sound, "server_out_of_reach", lambda: True)
    far = await found(name, devices, May())
    assert (far.status, "libasound2-plugins" in far.mend) == ("warn", True)
    monkeypatch.setattr(sound, "find_device", away)
    gone = await found(name, devices, May())
    assert (gone.status, gone.mend) == ("fail", "There is no such thing: plug it in.")


@pytest.mark.parametrize(
    ("kind", "more", "detail", "mend"),
    [
        ("input", {"muted": True}, "mic is muted", "pactl set-source-mute mic 0"),
        ("output", {"muted": True}, "mic is muted", "pactl set-sink-mute mic 0"),
        ("input", {"volume": 0.0}, "mic is at volume 0", "pactl set-source-volume mic 80%"),
        ("output", {"volume": 0.0}, "mic is at volume 0", "pactl set-sink-volume mic 80%"),
        ("input", {"monitor": True}, "mic is not a microphone", "hearth devices"),
    ],
)
async def test_a_device_that_lets_nothing_through(
    devices: Settings,
    monkeypatch: pytest.MonkeyPatch,
    kind: Kind,
    more: dict[str, Any],
    detail: str,
    mend: str,
) -> None:
    closed = device("mic", kind, **more)
    monkeypatch.setattr(sound, "find_device", lambda wanted, asked: closed)
    one = await found({"input": "microphone", "output": "speaker"}[kind], devices, May())
    assert one.status == "fail"
    assert detail in one.detail
    assert mend in one.mend


async def test_what_a_running_hearth_says_against_a_device(devices: Settings) -> None:
    troubles = {"microphone": "It gives digital silence: unmute it."}
    daemon = replace(RUNS, state={"troubles": troubles})
    one = await found("microphone", devices, SITS_THERE, daemon)
    assert (one.status, one.mend) == ("fail", troubles["microphone"])
    assert (await found("speaker", devices, SITS_THERE, daemon)).status == "ok"


@pytest.mark.parametrize(
    ("figures", "status", "words"),
    [
        (QUIET, "ok", "-52 dB, peak -31, room -58, 0 clipped samples (so)"),
        ({**QUIET, "clipped": 16}, "ok", "16 clipped samples"),
        ({**QUIET, "clipped": 17}, "warn", "17 clipped samples"),
        ({**QUIET, "noise_floor_db": -30.0}, "warn", "room -30"),
        ({**QUIET, "rms_db": -96.0, "peak_db": -96.0}, "fail", "digital silence"),
        (dict.fromkeys(QUIET), "fail", "gives no sound"),
        ({}, "fail", "gives no sound"),
    ],
)
def test_a_level(figures: Mapping[str, Any], status: str, words: str) -> None:
    one = sound.judge_level(figures, "so")
    assert one.status == status
    assert words in one.detail
    assert bool(one.mend) == (status != "ok")


async def test_the_level_is_listened_to_only_where_it_may_be(
    devices: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    async def listen(name: str, channel: int | None) -> Mapping[str, Any]:
        opened.append(name)
        return QUIET

    monkeypatch.setattr(sound, "_listen", listen)
    assert (await found("microphone level", devices, May())).detail == "not measured"
    held = await found("microphone level", devices, SITS_THERE, RUNS)
    assert "`hearth run` is using the devices" in held.detail
    told = replace(RUNS, level={**QUIET, "rms_db": -44.0})
    assert "-44 dB" in (await found("microphone level", devices, SITS_THERE, told)).detail
    shut = replace(told, state={"muted": True})
    assert (
        "the microphone is muted"
        in (await found("microphone level", devices, SITS_THERE, shut)).detail
    )
    async with Store(devices.database, SystemClock()) as store:
        await store.keep(MUTED, True)
    assert (
        "the microphone is muted" in (await found("microphone level", devices, SITS_THERE)).detail
    )
    assert opened == []
    async with Store(devices.database, SystemClock()) as store:
        await store.keep(MUTED, False)
    heard = await found("microphone level", devices, SITS_THERE)
    assert (heard.status, opened) == ("ok", ["mic"])


async def test_a_microphone_that_breaks_while_it_is_listened_to(
    devices: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listen(name: str, channel: int | None) -> Mapping[str, Any]:
        raise DeviceLost("It has disappeared: plug it in again.")

    monkeypatch.setattr(sound, "_listen", listen)
    one = await found("microphone level", devices, SITS_THERE)
    assert (one.status, one.mend) == ("fail", "It has disappeared: plug it in again.")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (ECHO, "ok", "84 ms, an echo of -12 dB (so)"),
        (replace(ECHO, delay_ms=620.0), "warn", "620 ms"),
        (replace(ECHO, kind="cancels"), "ok", "cancel their own echo"),
        (replace(ECHO, kind="deaf"), "warn", "is off while"),
        (replace(ECHO, kind="apart"), "warn", "does not hear the loudspeaker"),
    ],
)
def test_a_path(path: EchoPath, status: str, words: str) -> None:
    one = sound.judge_path(path, "so")
    assert one.status == status
    assert words in one.detail
    assert bool(one.mend) == (status != "ok")


async def test_the_chirp_is_played_only_where_it_may_be(
    devices: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Pair] = []

    async def measure(pair: Pair, lead_in_ms: int) -> EchoPath:
        played.append(pair)
        return ECHO

    monkeypatch.setattr(sound, "measure_pair", measure)
    monkeypatch.setattr("assistant.sound.echo_plan.find_pair", lambda *names: PAIR)
    silent = await found("round trip", devices, May(listen=True))
    assert silent.detail == "not measured: no test sound was allowed"
    held = await found("round trip", devices, SITS_THERE, RUNS)
    assert "`hearth run` is using the devices" in held.detail
    assert played == []
    one = await found("round trip", devices, SITS_THERE)
    assert (one.status, len(played)) == ("ok", 1)
    assert "measured now and saved" in one.detail
    again = await found("round trip", devices, SITS_THERE)
    assert (again.status, len(played)) == ("ok", 2)
    assert again.detail.endswith("(measured now)")
    async with Store(devices.database, SystemClock()) as store:
        await store.keep(MUTED, True)
    muted = await found("round trip", devices, SITS_THERE)
    assert (len(played), "measured earlier" in muted.detail) == (2, True)


def test_a_bad_moment_does_not_change_what_is_known() -> None:
    one = sound.judge_again(replace(ECHO, kind="deaf"), ECHO)
    assert (one.status, "hearth devices --measure" in one.mend) == ("warn", True)
    assert "Hearth uses echo" in one.detail


async def test_what_was_measured_before_is_told_beside_a_running_hearth(
    devices: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.sound.echo_plan.find_pair", lambda *names: PAIR)

    async def measure(pair: Pair, lead_in_ms: int) -> EchoPath:
        return ECHO

    async with Store(devices.database, SystemClock()) as store:
        await EchoPaths(store, measure).measured(PAIR, devices.audio)
    one = await found("round trip", devices, SITS_THERE, RUNS)
    assert one.detail == "84 ms, an echo of -12 dB (measured earlier)"


async def test_a_chirp_that_tells_nothing(
    devices: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def measure(pair: Pair, lead_in_ms: int) -> EchoPath:
        raise InputUnusable("It was too loud in the room: wait for quiet.")

    monkeypatch.setattr(sound, "measure_pair", measure)
    one = await found("round trip", devices, SITS_THERE)
    assert (one.status, one.mend) == ("warn", "It was too loud in the room: wait for quiet.")
