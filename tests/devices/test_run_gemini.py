"""`hearth run` with microphone and loudspeaker and the simulated Gemini Live."""

from pathlib import Path

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from tests.devices.daemon import daemon, settings
from tests.devices.pulse import play, recording
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Tokens, Turn

pytestmark = pytest.mark.devices

LIGHT_OFF = Call("intent__HassTurnOff", {"name": "Dining room light"})
STORY = "Once there was a lamp. " + "It shone and it shone, and it went on shining. " * 12
USED = Tokens(prompt=900, response=40)


async def test_it_is_talked_over_and_does_what_is_then_said(command: Path, tmp_path: Path) -> None:
    """The first answer is a long story; wake word and command are spoken into it."""
    service = GeminiSimulator(
        [
            Turn("audio", [Hear("tell me a story"), Say(STORY), Done(usage=USED)], cut=None),
            Turn("audio", [Hear("turn off the light"), LIGHT_OFF, Say("It is off."), Done()]),
        ]
    )
    async with service:
        surroundings = settings(
            tmp_path,
            BRAIN__ORDER='["gemini-live"]',
            PRIVACY__ACCEPT_CLOUD="true",
            GEMINI__API_KEY=service.key,
            GEMINI__BASE_URL=service.url,
            GEMINI__CA_FILE=str(service.ca_file),
        )
        async with daemon(surroundings) as hearth, recording() as recorder:
            await recorder.until(2.0)  # the microphone opens in the meantime
            await play(command)
            await service.until(lambda: any(turn.ended_at for turn in service.turns), 10)
            await recorder.until(recorder.now + 2.0)  # the story has begun
            await play(command)
            await hearth.shows("light.dining_room on")
            answer = await hearth.says("It is off.")
            sound = np.frombuffer(await recorder.until(recorder.now - 0.2), "<i2")
        assert service.total_sockets == 1
        assert service.stray_bytes == 0
    assert answer.strip() == "It is off."
    loud_s = (np.abs(sound.astype(int)) > 1000).sum() / SAMPLE_RATE
    assert 0.5 < loud_s < 6, "the story was not begun, or it was told to its end"
