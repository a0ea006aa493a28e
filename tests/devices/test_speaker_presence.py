"""A loudspeaker that goes and returns in silence is noticed without opening it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from audio.device_status import AGAIN_S, SpeakerStatus
from audio.devices.watch import DeviceWatch
from audio.errors import AudioError
from audio.speaker import Speaker
from tests.devices.pulse import SoundServer, pactl

pytestmark = pytest.mark.devices

LIMIT_S = 10.0
READY, MISSING = SpeakerStatus.READY, SpeakerStatus.MISSING
TONE = b"\x00\x10" * 4_800, 48_000


@asynccontextmanager
async def _resting(name: str) -> AsyncIterator[Speaker]:
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, LIMIT_S)  # the server was found
        speaker = Speaker(name)
        speaker.presence.follow(watch)
        try:
            yield speaker
        finally:
            await speaker.close()


async def _until(condition: Callable[[], bool]) -> float:
    """Wait for the condition; returns the seconds that took."""
    began = time.monotonic()
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110  (nobody tells)
            await asyncio.sleep(0.01)
    return time.monotonic() - began


async def test_a_sink_that_is_unplugged_and_plugged_in_while_nothing_is_said() -> None:
    load = ("load-module", "module-null-sink", "sink_name=passing", "norewinds=1")
    module = await pactl(*load)
    async with _resting("passing") as speaker:
        presence = speaker.presence
        for _ in range(3):
            assert presence.status is READY
            await pactl("unload-module", module)
            assert await _until(lambda: presence.status is MISSING) < 3.0
            assert '"passing" is not here' in presence.sentence
            module = await pactl(*load)
            assert await _until(lambda: presence.status is READY) < 3.0
        await speaker.stream("voice").play(*TONE)
        await speaker.stream("voice").drain()
    await pactl("unload-module", module)


async def test_another_sink_is_no_reason_to_worry() -> None:
    async with _resting("speaker") as speaker:
        told: list[object] = []
        speaker.presence.on_change = told.append
        module = await pactl("load-module", "module-null-sink", "sink_name=passing")
        await pactl("unload-module", module)
        await asyncio.sleep(1.0)  # it has looked by now
        assert told == []


async def test_a_look_is_no_news() -> None:
    async with DeviceWatch() as watch:
        assert await watch.wait_change(0, LIMIT_S)
        speaker = Speaker("speaker")
        speaker.presence.follow(watch)
        speaker.presence._changed()
        await asyncio.sleep(1.0)
        seen = watch.changes
        for _ in range(3):
            assert await speaker._look()
        assert not await watch.wait_change(seen, 1.0), "a look would bring about the next"
        await speaker.close()


async def test_a_server_that_dies_and_returns_while_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SoundServer(tmp_path)
    monkeypatch.setenv("PULSE_SERVER", server.surroundings["PULSE_SERVER"])
    server.start()
    try:
        async with _resting("default") as speaker:
            presence = speaker.presence
            await speaker.stream("voice").play(*TONE)
            await speaker.stream("voice").drain()
            async with asyncio.timeout(LIMIT_S):
                while not await speaker.release():  # noqa: ASYNC110  (nobody tells)
                    await asyncio.sleep(0.02)
            server.kill()
            assert await _until(lambda: presence.status is MISSING) < 3.0
            with pytest.raises(AudioError):
                await speaker.stream("voice").play(*TONE)
            await asyncio.to_thread(server.start)
            assert await _until(lambda: presence.status is READY) < AGAIN_S + 1.0
            await speaker.stream("voice").play(*TONE)
            await speaker.stream("voice").drain()
    finally:
        server.stop()
