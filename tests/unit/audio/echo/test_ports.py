"""Through which jack a device of the sound server sounds, and that it tells pairs apart."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from audio.devices import server
from audio.devices.portaudio import DeviceInfo
from audio.echo import measure as pairs
from audio.echo.measure import Pair, find_pair, ports_of
from audio.errors import InputUnusable
from tests.unit.audio.devices.fake_pulse import FakeServer, source

MICROPHONE = DeviceInfo("card", "input", 1, 16_000, True, 4, backend="server")
LOUDSPEAKER = DeviceInfo("card", "output", 2, 48_000, True, 5, backend="server")


def port(name: str) -> Any:
    return SimpleNamespace(name=name)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """One card, whose two sides have the same name here."""
    fake = FakeServer(
        sources=[source("card", 0, port_active=port("mic"))],
        sinks=[source("card", 0, port_active=port("speaker")), source("null", 1, port_active=None)],
    )
    monkeypatch.setattr(server, "load_pulsectl", lambda: fake.module)
    monkeypatch.setattr(server, "ANSWER_S", 0.05)
    return fake


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, DeviceInfo]:
    """What the names in the settings mean."""
    devices = {"input": MICROPHONE, "output": LOUDSPEAKER}
    monkeypatch.setattr(pairs, "find_device", lambda name, kind: devices[kind])
    return devices


def test_each_side_has_the_port_of_its_own_list(fake: FakeServer) -> None:
    assert ports_of(MICROPHONE, LOUDSPEAKER) == ("mic", "speaker")
    assert ports_of(MICROPHONE, replace(LOUDSPEAKER, name="null")) == ("mic", "")
    assert ports_of(replace(MICROPHONE, name="gone"), LOUDSPEAKER) == ("", "speaker")
    assert fake.open == 0


def test_without_a_server_nobody_is_asked(fake: FakeServer) -> None:
    fake.up = False
    apart = [replace(device, backend="alsa") for device in (MICROPHONE, LOUDSPEAKER)]
    assert ports_of(*apart) == ("", "")
    mixed = replace(MICROPHONE, backend="alsa"), LOUDSPEAKER
    fake.up = True
    assert ports_of(*mixed) == ("", "speaker")


@pytest.mark.parametrize("state", ["down", "hangs"])
def test_a_server_that_does_not_answer_leaves_the_pair_unknown(
    fake: FakeServer, found: dict[str, DeviceInfo], state: str
) -> None:
    fake.up, fake.hangs = state != "down", state == "hangs"
    with pytest.raises(InputUnusable, match="sound server"):
        find_pair("default", "default")
    assert fake.open == 0


def test_another_jack_of_the_same_card_is_another_pair(
    fake: FakeServer, found: dict[str, DeviceInfo]
) -> None:
    names = {find_pair("default", "default").names}
    fake.sinks[0].port_active = port("headphones")
    names.add(find_pair("default", "default").names)
    fake.sources[0].port_active = port("headset-mic")
    names.add(find_pair("default", "default").names)
    assert len(names) == 3
    fake.sinks[0].port_active, fake.sources[0].port_active = port("speaker"), port("mic")
    assert find_pair("default", "default").names in names


def test_devices_without_ports_are_called_as_they_are() -> None:
    assert Pair(MICROPHONE, LOUDSPEAKER, 2).names == ("card", 2, "card")
