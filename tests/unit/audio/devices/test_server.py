"""What the sound server has, and that nothing waits for a server that does not answer."""

import builtins
import os
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
        ([stream(1, 1, 1)], None),  # another process
        ([stream(1, 1, 0)], "mic"),
        ([stream(5, 0, 0), stream(1, 1, 0), stream(9, 1, 1)], "speaker.monitor"),  # our newest
        ([SimpleNamespace(index=7, source=1, proplist={})], None),  # the server's own
        ([stream(1, 77, 0)], None),  # just going
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
