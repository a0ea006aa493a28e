"""Changes among the devices are reported from both sources, even if the server restarts."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from audio.devices import server as server_module
from audio.devices import watch as device_watch
from audio.devices.watch import DeviceWatch
from tests.unit.audio.devices.fake_pulse import FakeServer, source

LIMIT_S = 20.0  # a test that takes longer hangs


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    fake = FakeServer()
    for module in (server_module, device_watch):
        monkeypatch.setattr(module, "load_pulsectl", lambda: fake.module)
        monkeypatch.setattr(module, "ANSWER_S", 0.05)
    monkeypatch.setattr(device_watch, "RETRY_S", (0.0, 0.001))
    return fake


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Yield the kernel's end of its event socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    monkeypatch.setattr(device_watch, "_kernel_events", lambda: ours)
    yield theirs
    ours.close()
    theirs.close()


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_watch, "_kernel_events", lambda: None)


def handles() -> int:
    """Return the files and sockets that this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def own_threads() -> int:
    """Return the threads of this process, except those that asyncio keeps for reuse."""
    return sum(not one.name.startswith("asyncio_") for one in threading.enumerate())


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, LIMIT_S)
    event.clear()


async def test_the_servers_events_reach_everybody(server: FakeServer, no_kernel: None) -> None:
    calls: list[str] = []
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, LIMIT_S)  # the server was found
        await reached(server.listening)
        watch.listen(lambda: calls.append("first"))
        forget = watch.listen(lambda: calls.append("second"))
        seen = watch.changes
        server.happened.set()
        assert await watch.wait_change(seen, LIMIT_S)
        forget()
        forget()  # calling it twice counts once
        seen = watch.changes
        server.happened.set()
        assert await watch.wait_change(seen, LIMIT_S)
    assert calls == ["first", "second", "first"]
    assert server.open == 0


async def test_many_changes_at_a_time_are_one(server: FakeServer, no_kernel: None) -> None:
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, LIMIT_S)
        seen = watch.changes
        for _ in range(5):
            watch._changed()
        assert await watch.wait_change(seen, LIMIT_S)
        assert watch.changes == seen + 1


async def test_without_a_change_waiting_ends(server: FakeServer, no_kernel: None) -> None:
    server.up = False
    async with DeviceWatch() as watch:
        assert not await watch.wait_change(watch.changes, 0.01)
        assert await watch.wait_change(watch.changes - 1, 0.01)  # this change was earlier


async def test_the_servers_end_and_return_are_changes(server: FakeServer, no_kernel: None) -> None:
    threads, opened = own_threads(), handles()
    async with DeviceWatch() as watch:
        for _ in range(50):
            await reached(server.listening)
            seen = watch.changes
            server.up = False
            server.happened.set()
            assert await watch.wait_change(seen, LIMIT_S)
            seen = watch.changes
            server.up = True
            assert await watch.wait_change(seen, LIMIT_S)
        assert server.open == 1
    assert server.connections == 51
    assert server.open == 0
    assert own_threads() == threads
    assert handles() <= opened


async def test_a_server_that_hangs_holds_nothing_up(server: FakeServer, no_kernel: None) -> None:
    server.hangs = True
    async with asyncio.timeout(LIMIT_S), DeviceWatch() as watch:
        assert await watch.place() is None
    assert server.open == 0


async def test_a_system_without_libpulse(monkeypatch: pytest.MonkeyPatch, no_kernel: None) -> None:
    for module in (server_module, device_watch):
        monkeypatch.setattr(module, "load_pulsectl", lambda: None)
    async with DeviceWatch() as watch:
        assert await watch.place() is None
        assert not await watch.wait_change(0, 0.01)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (b"add@/devices/usb1/1-1/sound/card1\0ACTION=add\0SUBSYSTEM=sound\0SEQNUM=1\0", True),
        (b"libudev\0\xfe\xed\xca\xfeACTION=remove\0SUBSYSTEM=sound\0", True),
        (b"add@/devices/usb1/1-1\0ACTION=add\0SUBSYSTEM=usb\0SEQNUM=2\0", False),
    ],
)
async def test_the_kernels_events(
    server: FakeServer, kernel: socket.socket, event: bytes, told: bool
) -> None:
    server.up = False
    async with DeviceWatch() as watch:
        kernel.send(event)
        assert await watch.wait_change(0, LIMIT_S if told else 0.02) is told


def test_the_kernel_may_give_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refused)
    assert device_watch._kernel_events() is None


async def test_the_place_of_our_stream(server: FakeServer, no_kernel: None) -> None:
    properties = {"application.process.id": str(os.getpid())}
    server.sources = [source("speaker.monitor", 4, monitor_of_sink_name="speaker")]
    async with DeviceWatch() as watch:
        assert await watch.place() is None  # we have no stream
        server.source_outputs = [SimpleNamespace(index=1, source=4, proplist=properties)]
        found = await watch.place()
        assert await watch.place("output") is None
    assert found is not None
    assert (found.name, found.monitor, found.suspended) == ("speaker.monitor", True, False)
    assert (found.muted, found.volume) == (False, 1.0)
