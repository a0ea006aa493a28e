"""Tests of real recordings with the wake word and the offline brain."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.brains.offline import OfflineBrain
from audio.frames import SAMPLE_RATE, Framer
from audio.recognize.sphinx import SphinxRecognizer
from audio.sound_files import read_wav
from audio.wake import make_wake_engine
from tests.corpus.runs import Turn, corpus_brain, hear
from tests.corpus.speech import Spoken

HANG_OVER = bytes(2 * SAMPLE_RATE * 7 // 10)  # the silence that ends a turn
CLIPS = ("02", "04", "06", "08", "10", "12", "14", "16", "18", "20")
LONG = bool(os.environ.get("LONG"))
OFFICE_ON = (
    'HassTurnOn {"domain": ["light"], "name": "Office Light"}',
    'HassTurnOn {"area": "Office", "domain": ["light"]}',
)


@pytest.fixture(scope="module")
def brain() -> Iterator[OfflineBrain]:
    brain = corpus_brain(SphinxRecognizer())
    yield brain
    brain.close()


def spoken(pcm: bytes, word: str, engine_name: str) -> Spoken:
    """Return what the listener keeps: the sound from the mark of the first detection on."""
    engine = make_wake_engine(engine_name, [word])
    try:
        for frame in Framer().push(pcm):
            found = engine.hear(frame.pcm, frame.end)
            if found is not None:
                return Spoken(pcm[2 * found.mark :], found.at - found.mark)
    finally:
        engine.close()
    raise AssertionError(f"no {word} in the sound")


async def after_okay_nabu(
    brain: OfflineBrain, speech: Path, clip: str, pause_s: float, engine: str = "micro"
) -> Turn:
    pause = bytes(2 * int(pause_s * SAMPLE_RATE))
    pcm = read_wav(speech / "okay_nabu.wav") + pause + read_wav(speech / clip) + HANG_OVER
    return await hear(brain, spoken(pcm, "okay_nabu", engine))


@pytest.mark.parametrize("engine", ["micro", "open"])
@pytest.mark.parametrize("pause_s", [0.0, 0.5, 1.5])
async def test_ten_people_turn_the_office_lights_on(
    brain: OfflineBrain, speech: Path, pause_s: float, engine: str
) -> None:
    done = []
    # All ten in one breath; of the other combinations two clips, or all with LONG=1.
    clips = CLIPS if LONG or (pause_s, engine) == (0.0, "micro") else CLIPS[::5]
    for number in clips:
        clip = f"turn_on_the_office_lights_{number}.wav"
        turn = await after_okay_nabu(brain, speech, clip, pause_s, engine)
        done.append(turn.done)
    assert sum(call in OFFICE_ON for call in done) >= 0.9 * len(clips)
    assert not [call for call in done if call and call not in OFFICE_ON]


async def test_a_room_alone_means_its_lights(brain: OfflineBrain, speech: Path) -> None:
    pcm = read_wav(speech / "alexa_turn_off_dining_room.wav") + HANG_OVER
    turn = await hear(brain, spoken(pcm, "alexa", "micro"))
    assert turn.heard.startswith("turn off")
    assert turn.done == 'HassTurnOff {"area": "Dining Room", "domain": ["light"]}'


@pytest.mark.parametrize(
    "clip",
    [
        "conversation_with_turn_on_the_office_lights.wav",
        "negative_reference.wav",
        "not_a_wake_word_snowboy.wav",
        "hey_mycroft.wav",
        "hey_rhasspy.wav",
    ],
)
async def test_talk_after_the_wake_word_is_no_command(
    brain: OfflineBrain, speech: Path, clip: str
) -> None:
    turn = await after_okay_nabu(brain, speech, clip, 0.5)
    assert turn.calls == []
    assert not turn.understood
    assert turn.answer
