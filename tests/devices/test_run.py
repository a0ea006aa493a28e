"""`hearth run` with microphone and loudspeaker: a spoken command, the house, a spoken answer."""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from tests.devices.daemon import daemon, settings
from tests.devices.pulse import play, recording

pytestmark = pytest.mark.devices


async def test_a_spoken_command_changes_the_house_and_is_answered_aloud(
    command: Path, tmp_path: Path
) -> None:
    surroundings = settings(tmp_path)
    async with daemon(surroundings) as hearth, recording() as recorder:
        await recorder.read(2.0)  # the microphone opens in the meantime
        await play(command)
        await hearth.shows("light.dining_room on")
        answer = await hearth.says("dining room light")
        sound = np.frombuffer(await recorder.read(recorder.now - 0.2), "<i2")
    assert answer.strip()
    loud = np.abs(sound.astype(int)) > 1000
    assert loud.sum() > 0.2 * SAMPLE_RATE, "the loudspeaker gave no answer"
    trace = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "trace", "last", "--json"),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
    )
    turn = json.loads((await trace.communicate())[0])
    assert turn["audio_ms"] > 500
    assert [call["status"] for call in turn["tool_calls"]] == ["done"]
