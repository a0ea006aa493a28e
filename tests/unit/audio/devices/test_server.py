"""The sound server's devices, and time limits for a server that does not answer."""

import builtins
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audio.devices import server
from audio.devices.server import (
    NoServer,
    ServerDevice,
    connection,
    has_server,
    load_pulsectl,
    our_device,
    server_devices,
    usb_names,
)
from tests.unit.audio.devices.fake_pulse import FakeServer, source


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    fake = FakeServer(
        sources=[
            source("speaker.monitor", 0, monitor_of_sink_name="speaker"),
            source("mic", 1, mute=1, state="suspended", proplist={"alsa.card": "2"}),
            source("headset", 2, description="", volume=SimpleNamespace(value_flat=0.25)),
        ],
        sinks=[source("speaker", 0), source("auto_null", 1)],
        default_source="mic",
        default_sink="speaker",
    )
    monkeypatch.setattr(server, "load_pulsectl", lambda: fake.module)
    monkeypatch.setattr(server, "ANSWER_S", 0.05)
    return fake


def test_sources_and_sinks(fake: FakeServer) -> None:
    monitor, mic, headset, speaker = server_devices()
    assert (monitor.monitor, monitor.default) == (True, False)
    assert mic == ServerDevice(
        name="mic",
        kind="input",
        description="The mic",
        channels=2,
        rate=44_100,
        default=True,
        monitor=False,
        suspended=True,
        muted=True,
        volume=1.0,
        card=2,
        index=1,
    )
    assert (headset.description, headset.volume) == ("headset", 0.25)
    assert (speaker.name, speaker.kind, speaker.default) == ("speaker", "output", True)
    assert fake.open == 0


def stream(index: int, place: int, process: int) -> Any:
    properties = {"application.process.id": str(process)}
    return SimpleNamespace(index=index, source=place, sink=place, proplist=properties)


@pytest.mark.parametrize(
    ("streams", "name"),
    [
        ([], None),
        ([stream(1, 1, 1)], None),  # another process's stream
        ([stream(1, 1, 0)], "mic"),
        # our newest stream
        ([stream(5, 0, 0), stream(1, 1, 0), stream(9, 1, 1)], "speaker.monitor"),
        ([SimpleNamespace(index=7, source=1, proplist={})], None),  # the server's own stream
        ([stream(1, 77, 0)], None),  # a device that is just being removed
    ],
)
def test_where_our_stream_is(fake: FakeServer, streams: list[Any], name: str | None) -> None:
    for one in streams:
        if one.proplist.get("application.process.id") == "0":
            one.proplist["application.process.id"] = str(os.getpid())
    fake.source_outputs = streams
    found = our_device("input")
    assert (found and found.name) == name


def test_where_our_sound_goes(fake: FakeServer) -> None:
    fake.sink_inputs = [stream(1, 1, os.getpid())]
    found = our_device("output")
    assert found is not None
    assert (found.name, found.kind, found.default) == ("auto_null", "output", False)


@pytest.mark.parametrize("state", ["down", "hangs", "goes"])
def test_a_server_that_does_not_answer(fake: FakeServer, state: str) -> None:
    fake.up, fake.hangs = state != "down", state == "hangs"
    assert has_server() is (state == "goes")
    with pytest.raises(NoServer):
        _ask_and_lose(fake)
    assert fake.open == 0


def _ask_and_lose(fake: FakeServer) -> None:
    with connection(0.05) as pulse:
        fake.up = False
        pulse.source_list()


def test_a_system_without_libpulse(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "pulsectl":
            raise OSError("libpulse.so.0: cannot open shared object file")
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    load_pulsectl.cache_clear()
    try:
        assert load_pulsectl() is None
        with pytest.raises(NoServer, match="libpulse"):
            server_devices()
        assert not has_server()
    finally:
        load_pulsectl.cache_clear()


# USB cards are named by their ids, not by their current number.


def plug(sys: Path, number: int, socket: str, **attributes: str) -> None:
    """Add a card as in sysfs: a link to an interface, one level below the device."""
    device = sys / "devices" / "usb1" / socket
    interface = device / f"{socket}:1.0"
    interface.mkdir(parents=True)
    for name, value in attributes.items():
        (device / name).write_text(f"{value}\n")
    card = sys / "class" / "sound" / f"card{number}"
    card.mkdir(parents=True)
    (card / "device").symlink_to(interface)


JABRA = {"idVendor": "0b0e", "idProduct": "0412", "serial": "501AA5C0"}
CHEAP = {"idVendor": "0d8c", "idProduct": "0014"}


@pytest.mark.parametrize(
    ("cards", "names"),
    [
        ({}, {}),
        ({1: ("1-1", JABRA)}, {1: "usb:0b0e:0412:501AA5C0"}),
        ({3: ("1-2", JABRA)}, {3: "usb:0b0e:0412:501AA5C0"}),
        ({1: ("1-1", CHEAP), 2: ("1-3", JABRA)}, {1: "usb:0d8c:0014", 2: "usb:0b0e:0412:501AA5C0"}),
        ({1: ("1-1", CHEAP), 2: ("1-3", CHEAP)}, {1: "usb:0d8c:0014@1-1", 2: "usb:0d8c:0014@1-3"}),
        ({0: ("platform", {})}, {}),
    ],
)
def test_names(
    tmp_path: Path, cards: dict[int, tuple[str, dict[str, str]]], names: dict[int, str]
) -> None:
    for number, (socket, attributes) in cards.items():
        plug(tmp_path, number, socket, **attributes)
    assert usb_names(tmp_path) == names


def test_what_else_the_kernel_shows_is_passed_over(tmp_path: Path) -> None:
    plug(tmp_path, 1, "1-1", **JABRA)
    for name in ("controlC1", "card1x", "pcmC1D0c", "timer"):
        (tmp_path / "class" / "sound" / name).mkdir()
    (tmp_path / "class" / "sound" / "card7").mkdir()  # a card without a device, e.g. a loopback
    assert list(usb_names(tmp_path)) == [1]


def test_a_machine_without_sys(tmp_path: Path) -> None:
    assert usb_names(tmp_path / "nowhere") == {}
