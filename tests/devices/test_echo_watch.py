"""Another loudspeaker becomes the default while we run: from then on speech does not interrupt."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from assistant.sound.echo_plan import EchoPaths, plan_echo
from assistant.sound.echo_watch import EchoWatch
from audio.devices.watch import DeviceWatch
from audio.echo import PathKind
from audio.echo.measure import EchoPath, Pair, find_pair
from tests.benchmarks.figures import how_many
from tests.devices.monitor import monitor
from tests.devices.pulse import pactl
from tests.devices.test_echo_measure import auto, loud

pytestmark = [pytest.mark.devices, pytest.mark.timeout(240)]

LIMIT_S = 10.0


class Told:
    """The conversation's messages in order."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[bool] = asyncio.Queue()

    def __call__(self, full_duplex: bool) -> None:
        self._told.put_nowait(full_duplex)

    async def next(self) -> bool:
        async with asyncio.timeout(LIMIT_S):
            return await self._told.get()


async def knows(settings: Settings, kind: PathKind) -> None:
    """Act as if the default devices had been measured."""

    async def measure(pair: Pair, lead_in_ms: int) -> EchoPath:
        return EchoPath(kind, -30.0, 20.0, 12.0)

    async with Store(settings.database, SystemClock()) as store:
        pair = await asyncio.to_thread(find_pair, "default", "default")
        await EchoPaths(store, measure).measured(pair, settings.audio)


@asynccontextmanager
async def other_loudspeaker() -> AsyncIterator[Callable[[], Awaitable[object]]]:
    """Add a loudspeaker, which becomes the default; yields a function that removes it."""
    module = await pactl("load-module", "module-null-sink", "sink_name=hdmi")
    try:
        await pactl("set-default-sink", "hdmi")
        yield lambda: pactl("unload-module", module)
    finally:
        if "hdmi" in await pactl("list", "short", "sinks"):
            await pactl("unload-module", module)
        await pactl("set-default-sink", "speaker")


@asynccontextmanager
async def watching(settings: Settings) -> AsyncIterator[tuple[EchoWatch, Told]]:
    told = Told()
    first = await plan_echo(settings)
    async with Store(settings.database, SystemClock()) as store, DeviceWatch() as news:
        known = EchoPaths(store).known
        async with EchoWatch(settings.audio, first, told, known, SystemClock()) as watch:
            watch.follow(news)
            yield watch, told


async def test_the_plan_follows_the_default_loudspeaker_there_and_back(tmp_path: Path) -> None:
    settings = auto(tmp_path)
    await knows(settings, "cancels")
    async with monitor() as sound, watching(settings) as (watch, told):
        assert await told.next()
        for _ in range(how_many(2, 20)):
            async with other_loudspeaker() as pull:
                assert not await told.next()
                now = watch.as_json()
                assert (now["cancellation"], now["half_duplex"]) == ("none", True)
                await pull()
                assert await told.next()
            assert watch.as_json()["cancellation"] == "device"
        assert loud(sound) == 0, "nothing may be measured in the middle"


async def test_a_pair_that_was_measured_once_is_known(tmp_path: Path) -> None:
    settings = auto(tmp_path)
    await knows(settings, "deaf")
    async with other_loudspeaker():
        await knows(settings, "apart")
    async with watching(settings) as (watch, told):
        assert not await told.next()
        async with other_loudspeaker():
            assert await told.next()
            assert watch.as_json()["path"] == "apart"
        assert not await told.next()
        for _ in range(100):  # a third one may briefly be the default
            if watch.as_json()["path"] == "deaf":
                break
            await asyncio.sleep(LIMIT_S / 100)
        assert watch.as_json()["path"] == "deaf"
