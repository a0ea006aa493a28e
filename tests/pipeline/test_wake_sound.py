"""Tests of a person who speaks while the wake sound plays, with a microphone that hears both."""

from pathlib import Path

import numpy as np
import pytest

from assistant.conversation.record import as_json
from assistant.conversation.rules.state import Rules
from audio.earcons import earcon
from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS
from audio.player import NullPlayer
from audio.resampling import resample
from audio.sound_files import read_wav, write_wav
from tests.pipeline.gemini_hearing import (
    LONG,
    TAKES,
    Clip,
    assert_bit_for_bit,
    office_lights,
    room,
)
from tests.pipeline.gemini_rig import scene
from tests.pipeline.rig import hear, offline_settings, pipeline, states
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Turn

LEAK_DB = -20  # how much fainter the microphone hears the sound than it was played
LATE_MS = 20  # of the loudspeaker
INTO_MS = 60  # of the sound that has been heard when the person begins
PAUSE_S = 3.0


def _sound_ms() -> float:
    pcm, rate = earcon("wake")
    return len(pcm) / 2 / rate * 1000


async def _detected_ms(folder: Path, word: bytes) -> float:
    """Return when the wake word fires in that sound; the wake sound follows by the turn's rules."""
    path = folder / "word.wav"
    write_wav(path, word + room(PAUSE_S), SAMPLE_RATE)
    async with pipeline(offline_settings(folder / "word")) as app:
        turn = await hear(app, path)
    assert turn is not None
    assert turn.record.wake is not None
    return turn.record.wake.at_ms


def _talked_over(
    path: Path, word: bytes, at_ms: float, command: bytes, *, loud: bool = True
) -> Clip:
    """Record the word, a pause until the sound plays, and the command in the middle of it."""
    tone_ms = at_ms + Rules().wake_sound_ms + LATE_MS
    begin = round((tone_ms + INTO_MS) * SAMPLES_PER_MS)
    quiet = room(PAUSE_S)
    before = (word + quiet)[: begin * 2]
    pcm = before + command + room(1.5, 2)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    tone = np.frombuffer(resample(*earcon("wake"), SAMPLE_RATE), np.int16) * 10 ** (LEAK_DB / 20)
    start = round(tone_ms * SAMPLES_PER_MS)
    samples[start : start + len(tone)] += tone * loud
    mixed = np.clip(np.rint(samples), -32768, 32767).astype("<i2").tobytes()
    write_wav(path, mixed, SAMPLE_RATE)
    return Clip(path, mixed, ((0, begin), (begin, begin + len(command) // 2)))


@pytest.mark.parametrize("take", TAKES if LONG else TAKES[::4])
async def test_nothing_of_what_a_person_says_is_lost(
    take: str, speech: Path, tmp_path: Path
) -> None:
    """Real speech: the local recogniser hears the same as without the sound."""
    word = room(0.5) + read_wav(speech / "okay_nabu.wav")
    command = read_wav(speech / f"turn_on_the_office_lights_{take}.wav")
    at_ms = await _detected_ms(tmp_path, word)
    heard: list[tuple[str | None, str, float]] = []
    for loud in (False, True):
        clip = _talked_over(tmp_path / "clip.wav", word, at_ms, command, loud=loud)
        async with pipeline(offline_settings(tmp_path / str(loud))) as app:
            turn = await hear(app, clip.path)
            shown = states(app)["light.office"]
        assert turn is not None
        heard.append((turn.record.heard, shown, turn.record.timeline["speech_end"]))
    (alone, done, alone_ms), (over, over_done, over_ms) = heard
    assert over_done == done
    assert done == "off" or over == alone  # one of the ten is never recognised
    assert over_ms == pytest.approx(alone_ms, abs=100)


async def test_the_service_gets_it_whole(command: Path, tmp_path: Path) -> None:
    """From the first sample to the last, although the wake sound plays."""
    made = read_wav(command)
    at_ms = await _detected_ms(tmp_path, made)
    after = round(at_ms * SAMPLES_PER_MS) * 2  # where the word has ended, the command begins
    clip = _talked_over(tmp_path / "clip.wav", made[:after], at_ms, made[after:])
    player = NullPlayer(paced=False)
    service = GeminiSimulator([Turn("audio", office_lights())])
    async with scene(tmp_path, service, hears=True, player=player) as on:
        turn = await on.hear(clip.path)
        [heard] = service.turns
    told = as_json(turn.record, turn.outcomes)
    begin, end = clip.places[1]
    assert_bit_for_bit(heard, told, clip.pcm, (begin, end - SAMPLE_RATE))  # the rest is silence
    assert player.played_ms - turn.record.audio_ms == pytest.approx(_sound_ms(), abs=2)
    assert told["error"] is None
