"""An open microphone lends its device for a moment."""

import asyncio

import pytest

from audio.device_status import MicrophoneStatus
from tests.unit.audio.steady_stage import BLOCK_S, Stage, listening

Status = MicrophoneStatus


class Use:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.began, self.over = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> None:
        assert not self._stage.device.open, "two would use it"
        self.began.set()
        await self.over.wait()


async def test_it_is_closed_meanwhile_and_nobody_is_told() -> None:
    stage = Stage()
    use = Use(stage)
    async with listening(stage):
        await stage.room(6.0)
        assert stage.told == [Status.LISTENING]
        stage.microphone.lend(use)
        await stage.room(3.0)
        assert use.began.is_set()
        assert stage.microphone.last_frame_age_s == 0
        count = len(stage.frames)
        use.over.set()
        await stage.clock.settle()
        await stage.room(1.04)
        assert len(stage.frames) > count
        lost = stage.frames[count].start - stage.frames[count - 1].end
        assert lost / 16_000 == pytest.approx(3.0, abs=2 * BLOCK_S + 0.3)
        assert stage.told == []
        assert stage.device.open


async def test_a_microphone_that_is_switched_off_meanwhile_stays_closed() -> None:
    stage = Stage()
    use = Use(stage)
    async with listening(stage):
        await stage.room(6.0)
        stage.microphone.lend(use)
        await stage.room(1.04)
        stage.microphone.pause(True)
        use.over.set()
        await stage.room(2.0)
        assert not stage.device.open
        assert len(stage.device.attempts) == 1
        stage.microphone.pause(False)
        await stage.room(2.0)
        assert stage.device.open


async def test_one_that_is_switched_off_lends_nothing_until_it_is_on() -> None:
    stage = Stage()
    use = Use(stage)
    async with listening(stage):
        await stage.room(1.04)
        stage.microphone.pause(True)
        stage.microphone.lend(use)
        await stage.room(2.0)
        assert not use.began.is_set()
        stage.microphone.pause(False)
        use.over.set()
        await stage.room(2.0)
        assert use.began.is_set()
        assert stage.device.open
