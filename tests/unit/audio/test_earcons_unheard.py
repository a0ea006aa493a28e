"""What the loudspeaker gives back to the microphone of our short sounds is nobody's speech."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.earcons import NAMES, earcon
from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.frames import SAMPLE_RATE, Framer
from audio.resampling import resample
from audio.sound_files import read_wav
from audio.vad import VoiceDetector
from audio.vad.silero import SileroDetector
from audio.vad.webrtc import WebrtcDetector, is_tone
from tests.benchmarks import waking

Wave = NDArray[np.float64]
DETECTORS: dict[str, Callable[[], VoiceDetector]] = {
    "silero": SileroDetector,
    "webrtc": WebrtcDetector,
}
# From a loudspeaker far away to one that drives the microphone to its limit; 0: as it is played.
GAINS_DB = (-20, 0, 12)
ROOM = 20.0  # amplitude of the room's own noise: -64 dBFS
LEARN_S = 1.5  # in which a detector gets to know the room


def tone(name: str, gain_db: float) -> Wave:
    pcm = np.frombuffer(resample(*earcon(name), SAMPLE_RATE), np.int16).astype(np.float64)
    return np.asarray(pcm * 10 ** (gain_db / 20))


def room(seconds: float, seed: int = 1) -> Wave:
    noise = np.random.default_rng(seed).normal(0.0, ROOM, round(seconds * SAMPLE_RATE))
    return np.asarray(noise)


def put(into: Wave, at_s: float, sound: Wave) -> None:
    start = round(at_s * SAMPLE_RATE)
    into[start : start + len(sound)] += sound


def pcm_of(wave: Wave) -> bytes:
    return np.clip(np.rint(wave), -32768, 32767).astype("<i2").tobytes()


def speech_in(
    detector: VoiceDetector, wave: Wave, after_s: float = 0.0
) -> list[SpeechStarted | SpeechEnded]:
    """What the ear is told, from `after_s` on."""
    endpointer = Endpointer(chunk_samples=detector.chunk_samples)
    endpointer.reset(after=round(after_s * SAMPLE_RATE))
    heard = (
        endpointer.hear(voicing)
        for frame in Framer().push(pcm_of(wave))
        for voicing in detector.hear(frame.pcm, frame.end)
    )
    return [event for event in heard if event is not None]


@pytest.mark.parametrize("gain_db", GAINS_DB)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_no_sound_of_ours_is_an_utterance(detector: str, name: str, gain_db: float) -> None:
    sound = tone(name, gain_db)
    for shift_ms in (0, 11):  # chunks fall differently
        wave = room(LEARN_S + 3.0)
        put(wave, LEARN_S + shift_ms / 1000, sound)
        put(wave, LEARN_S + 1.5 + shift_ms / 1000, sound)  # and again
        assert speech_in(DETECTORS[detector](), wave, LEARN_S) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_no_sound_of_ours_ends_an_utterance(detector: str, name: str, speech: Path) -> None:
    """It begins where it begins without the sound, and nothing of it is lost."""
    spoken = np.frombuffer(read_wav(speech / "turn_on_the_office_lights_06.wav"), np.int16)
    seconds = len(spoken) / SAMPLE_RATE
    plain = room(LEARN_S + seconds + 1.5)
    put(plain, LEARN_S, spoken.astype(np.float64))
    begun, ended = speech_in(DETECTORS[detector](), plain, LEARN_S)
    assert isinstance(begun, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    for at_s in (0.0, seconds / 2, seconds - 0.2):
        wave = plain.copy()
        put(wave, LEARN_S + at_s, tone(name, -20))
        first, last = speech_in(DETECTORS[detector](), wave, LEARN_S)
        assert isinstance(last, SpeechEnded)
        assert abs(first.at - begun.at) <= 0.1 * SAMPLE_RATE
        assert last.at >= ended.at - 0.1 * SAMPLE_RATE


@pytest.mark.parametrize("engine", waking.ENGINES)
def test_no_sound_of_ours_wakes(engine: str) -> None:
    wake = waking.make(engine)
    for gain_db in GAINS_DB:
        wave = room(LEARN_S + len(NAMES))
        for number, name in enumerate(NAMES):
            put(wave, LEARN_S + number, tone(name, gain_db))
        wake.restart()
        for frame in Framer().push(pcm_of(wave)):
            assert wake.hear(frame.pcm, frame.end) is None, f"{gain_db} dB"
    wake.close()


def test_speech_is_no_tone(speech: Path) -> None:
    """But for one frame in a hundred, of those that are taken for speech."""
    frames = tones = 0
    for path in sorted(speech.glob("turn_on_the_office_lights_*.wav")):
        detector = WebrtcDetector()
        for frame in Framer().push(read_wav(path)):
            [voicing] = detector.hear(frame.pcm, frame.end)
            if voicing.probability > 0.35:
                frames += 1
                tones += is_tone(frame.pcm)
    assert frames > 500
    assert tones <= 0.02 * frames


@pytest.mark.parametrize(
    ("wave", "tonal"),
    [
        (lambda t: 3_000 * np.sin(2 * np.pi * 880 * t), True),
        (lambda t: 3_000 * (np.sin(2 * np.pi * 660 * t) + 0.2 * np.sin(4 * np.pi * 660 * t)), True),
        (lambda t: 3_000 * np.sin(2 * np.pi * 200 * t), False),  # somebody hums
        (lambda t: sum(2_000 * np.sin(2 * np.pi * 150 * n * t) for n in range(1, 9)), False),
        (lambda t: 300 * np.random.default_rng(3).normal(size=len(t)), False),
        (lambda t: 0 * t, False),
    ],
)
def test_what_is_a_tone(wave: Callable[[Wave], Wave], tonal: bool) -> None:
    time = np.arange(320) / SAMPLE_RATE
    assert is_tone(pcm_of(wave(time))) is tonal
