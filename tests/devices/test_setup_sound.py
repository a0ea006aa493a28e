"""The sound check of `hearth setup` with a simulated microphone and loudspeaker."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from assistant.config.schema import Settings
from assistant.setup.sound_check import Reading, greet, listen, verdict
from tests.devices.pulse import play, record

pytestmark = pytest.mark.devices

HERE = Settings.model_validate({"voice": {"engine": "espeak"}})


async def test_the_wake_word_that_is_said_is_seen(command: Path) -> None:
    shown: list[Reading] = []
    open_now = asyncio.Event()

    def show(reading: Reading) -> None:
        shown.append(reading)
        open_now.set()

    async with asyncio.TaskGroup() as group:
        listening = group.create_task(listen(HERE, show))
        await open_now.wait()
        group.create_task(play(command))
    reading = listening.result()
    assert reading.heard == "okay_nabu"
    assert reading.score > 0.69
    assert verdict(reading.loudness)[0]
    assert shown[-1] == reading
    assert max(one.loudness.now for one in shown) == reading.loudness.loudest


async def test_a_silent_microphone_is_told() -> None:
    reading = await listen(HERE, lambda reading: None, seconds=0.5)
    assert reading.heard == ""
    well, sentence = verdict(reading.loudness)
    assert not well
    assert "unmute it" in sentence


async def test_the_greeting_sounds() -> None:
    async with asyncio.TaskGroup() as group:
        recorded = group.create_task(record(6.0))
        group.create_task(greet(HERE))
    loud = np.abs(np.frombuffer(recorded.result(), "<i2").astype(int)) > 1000
    assert loud.sum() > 8_000  # half a second of voice
