"""A real sound server's changes are reported; a server that dies or hangs does no harm."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from audio.devices.watch import DeviceWatch
from audio.microphone import Microphone
from tests.benchmarks.figures import how_many
from tests.devices.pulse import SoundServer, pactl

pytestmark = pytest.mark.devices

LIMIT_S = 10.0


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
async def listening() -> AsyncIterator[None]:
    """Record from the microphone "mic" with our process."""
    frames = Microphone("mic").frames()
    await anext(frames)
    reading = asyncio.create_task(_read(frames))
    yield
    reading.cancel()
    await asyncio.wait([reading])


async def _read(frames: AsyncIterator[object]) -> None:
    async for _ in frames:
        pass


async def at(watch: DeviceWatch, name: str, *, monitor: bool) -> None:
    """Check that we record there, at full volume."""
    place = await watch.place()
    assert place is not None
    assert (place.name, place.monitor, place.suspended) == (name, monitor, False)
    assert (place.muted, place.volume) == (False, 1.0)


async def test_a_microphone_that_comes_and_goes_is_told() -> None:
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, LIMIT_S)  # the server was found
        seen = watch.changes
        module = await pactl("load-module", "module-null-sink", "sink_name=passing")
        assert await watch.wait_change(seen, LIMIT_S)
        seen = watch.changes
        await pactl("unload-module", module)
        assert await watch.wait_change(seen, LIMIT_S)


async def test_where_our_stream_is_and_that_it_was_moved(listening: None) -> None:
    async with DeviceWatch() as watch:
        await at(watch, "mic", monitor=False)
        await pactl("set-source-mute", "mic", "1")
        place = await watch.place()
        assert place is not None
        assert place.muted
        await pactl("set-source-mute", "mic", "0")
        outputs = (await pactl("list", "short", "source-outputs")).splitlines()
        ours = next(line.split()[0] for line in outputs if "protocol-native" in line)
        seen = watch.changes
        await pactl("move-source-output", ours, "speaker.monitor")
        assert await watch.wait_change(seen, LIMIT_S)
        await at(watch, "speaker.monitor", monitor=True)
        await pactl("move-source-output", ours, "mic")


async def test_a_suspended_microphone_is_seen(listening: None) -> None:
    async with DeviceWatch() as watch:
        await pactl("suspend-source", "mic", "1")
        place = await watch.place()
        await pactl("suspend-source", "mic", "0")
        assert place is not None
        assert place.suspended


async def test_a_server_that_dies_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SoundServer(tmp_path)
    monkeypatch.setenv("PULSE_SERVER", server.surroundings["PULSE_SERVER"])
    await asyncio.to_thread(server.start)
    try:
        async with DeviceWatch() as watch:
            assert await watch.wait_change(0, LIMIT_S)
            await watch.place()
            threads, handles = threading.active_count(), _handles()
            for _ in range(how_many(3, 50)):
                seen = watch.changes
                await asyncio.to_thread(server.kill)
                assert await watch.wait_change(seen, LIMIT_S)
                assert await watch.place() is None
                await asyncio.to_thread(server.start)
                seen = watch.changes
                module = await pactl("load-module", "module-null-sink", "sink_name=passing")
                assert await watch.wait_change(seen, LIMIT_S)
                await pactl("unload-module", module)
            assert threading.active_count() <= threads + 3  # asyncio's own, for waiting
            assert _handles() <= handles + 1
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_server_that_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles = 0
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "native"))
        silent.listen(100)  # it accepts every call and answers none
        monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/native")
        async with DeviceWatch() as watch:
            for _ in range(how_many(3, 50)):
                started = time.monotonic()
                assert await watch.place() is None
                assert time.monotonic() - started < 2.0
                handles = handles or _handles()
            assert _handles() <= handles + 6  # the watch itself may be making a call
