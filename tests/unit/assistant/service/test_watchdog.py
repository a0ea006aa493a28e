"""The watchdog is fed while all goes on, starves while something is stuck, and is told why."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from assistant.domain.clock import VirtualClock
from assistant.service.notify import Manager
from assistant.service.service import Watchdog


class Told(Manager):
    """A manager that keeps what it is told."""

    def __init__(self, watchdog_s: float | None) -> None:
        super().__init__("/nowhere", watchdog_s)
        self.words: list[str] = []

    def _send(self, *lines: str) -> None:
        self.words.append(lines[0])


class Rig:
    def __init__(self, watchdog_s: float | None = 20.0) -> None:
        self.problem = self.status = ""
        self.clock = VirtualClock()
        self.manager = Told(watchdog_s)
        self.watchdog = Watchdog(
            self.manager, self.clock, lambda: self.problem, lambda: self.status
        )


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    task = asyncio.ensure_future(rig.watchdog.watch())
    yield rig
    task.cancel()
    await asyncio.wait([task])


async def test_it_is_fed_ten_times_as_often_as_needed(rig: Rig) -> None:
    await rig.clock.run(19.9)
    assert rig.manager.words == ["WATCHDOG=1"] * 10


async def test_what_is_stuck_for_one_look_only_is_not_fed(rig: Rig) -> None:
    await rig.clock.run(1)
    rig.problem = "It hangs."
    await rig.clock.run(2)
    rig.problem = ""
    await rig.clock.run(2)
    assert rig.manager.words == ["WATCHDOG=1"] * 2


async def test_what_stays_stuck_is_told_once_with_its_sentence(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.clock.run(1)
    rig.problem = "It hangs."
    with caplog.at_level(logging.ERROR):
        await rig.clock.run(30)
    assert rig.manager.words == ["WATCHDOG=1", "WATCHDOG=trigger"]
    assert caplog.messages == ["It hangs. Hearth has to be started anew."]


async def test_the_status_follows(rig: Rig) -> None:
    await rig.clock.run(1)
    rig.status = "Listens."
    await rig.clock.run(4)
    assert rig.manager.words == ["WATCHDOG=1", "WATCHDOG=1", "STATUS=Listens.", "WATCHDOG=1"]


async def test_where_nobody_watches_only_the_status_is_told() -> None:
    rig = Rig(None)
    task = asyncio.ensure_future(rig.watchdog.watch())
    rig.problem = "It hangs."
    await rig.clock.run(10)
    rig.problem, rig.status = "", "Listens."
    await rig.clock.run(10)
    task.cancel()
    await asyncio.wait([task])
    assert rig.manager.words == ["STATUS=Listens."]
